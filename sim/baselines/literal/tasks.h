// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "sim/baselines/literal/parts.h"
#include "sim/baselines/sender.h"

namespace peal::sim::genuine::literal {

/// Tasks 2 to 6 and 10 of the paper: what a server does with the messages in its memory.
class Tasks {
 public:
  explicit Tasks(const Parts& parts);

  /// A unit of this node itself.
  void put_own(const Head& head, ByteView unit);
  void on_relay(Instant now, const Head& head, ByteView unit);
  void on_pull(NodeId from, const Head& head, order::Effects& out);
  /// Looks at everything that others have written, and acts. True if something was delivered.
  bool run(Instant now, order::Host& host, Sender& sender, order::Effects& out);
  /// Reads what the leader of the promised round has written so far.
  void read_log();
  void finish_writes();
  void retry(Instant now, order::Effects& out);
  /// Tells clients which of their slots are free. `released`: all servers that count have
  /// delivered up to this key.
  void release(Instant now, Key released);

  /// At a leader: the member has what the round began with, and has exposed its T.
  void grant(NodeId member);
  /// A round begins here, as its leader or as a follower.
  void begin_round();

 private:
  void read_units(Instant now);
  void read_acks(Message& message);
  void read_foreign(Message& message);
  MemberId client_at(NodeId node);
  bool read_log_cell(const Place& place);
  void read_foreign_cells(const Place& place, Message& message);
  std::uint64_t foreign_offset(const Place& place, DomainId domain) const;
  void propose(Instant now);
  void propose(Instant now, Message& message);
  void write_log(const Message& message);
  void write_log(const Message& message, NodeId member);
  void write_foreign(const Message& message, DomainId domain, NodeId member);
  void write_stamp(Instant now, const Message& message, bool to_all);
  void copy_foreign(Message& message);
  void acknowledge(Instant now, Message& message);
  void write_ack(Instant now, const Message& message);
  bool is_settled(const Message& message, DomainId domain) const;
  void find_key(Message& message);
  Message* next();
  bool deliver(Instant now, order::Host& host, Sender& sender, order::Effects& out);
  void reply(Instant now, const Message& message);
  void relay(NodeId to, const Message& message, order::Effects& out);
  void start_timer(Instant now, Message& message) const;
  Key lowest(const Message& message) const;

  const Parts& p_;
  std::array<NodeId, kDomainMax + 1> leaders_{};  ///< by domain: who is believed to lead it
  std::set<NodeId> granted_;
  bool took_over_ = false;  ///< what waits when a round begins is proposed by task 9
  std::map<std::uint64_t, Place> under_way_;  ///< by token: stamps that are being written
  std::uint64_t token_ = 0;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::sim::genuine::literal
