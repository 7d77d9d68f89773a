// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "order/ramcast/acks.h"
#include "order/ramcast/inbox.h"
#include "order/ramcast/lead.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"
#include "order/ramcast/takeover.h"

namespace peal::order::ramcast {

/// Finds out why a message has no key after some time, and makes good what is missing, without
/// knowing which process failed. All packets are about one message, between its destinations.
class Repair {
 public:
  Repair(const Parts& parts, Messages& messages, Inbox& inbox, Acks& acks)
      : parts_(parts), messages_(messages), inbox_(inbox), acks_(acks) {}

  void on_timer(Instant now, Effects& out);
  std::optional<Instant> deadline() const;

  void on_pull(NodeIndex node, const wire::MessageId& message, Effects& out);
  void on_query(NodeIndex node, const wire::MessageId& message, Effects& out);
  void on_answer(const wire::AboutMessage& answer, Lead& lead);
  /// `unit`: the bytes behind the header.
  void on_relay(Instant now, const wire::MessageRelay& relay, const BufferRef& unit);
  /// Asks a node for the unit of a message.
  void pull(NodeIndex node, const wire::MessageId& message, Effects& out);

 private:
  Instant attempt_again(Instant now, Effects& out);
  void attempt(Instant now, Record& record, Effects& out);
  void repair(Record& record, Effects& out);
  std::optional<NodeIndex> near_leader() const;
  void ask_near(const Record& record, Effects& out);
  void pull_body(const Record& record, Effects& out);
  void relay(NodeIndex node, const Record& record, Effects& out);
  void query(NodeIndex node, const wire::MessageId& message, Effects& out);
  void send(NodeIndex node, wire::RamcastKind kind, const wire::AboutMessage& about, Effects& out);
  bool is_destination(NodeIndex node, const Record& record) const;

  const Parts& parts_;
  Messages& messages_;
  Inbox& inbox_;
  Acks& acks_;
  unsigned turn_ = 0;  ///< whom to ask next for a unit
  Instant again_at_{};
  std::vector<Record*> again_;  ///< what on_timer() has to attempt again
};

}  // namespace peal::order::ramcast
