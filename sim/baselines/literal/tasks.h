// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/baselines/literal/deliveries.h"
#include "sim/baselines/literal/leader.h"

namespace peal::sim::genuine::literal {

/// Tasks 3, 5 and 10 of the paper: what every server does with the messages in its memory, and when
/// the others' turn comes.
class Tasks {
 public:
  Tasks(const Parts& parts, Leader& leader, Deliveries& deliveries)
      : p_(parts),
        leader_(leader),
        deliveries_(deliveries),
        scratch_(parts.places.unit_cell_bytes()) {}

  /// A unit of this node itself.
  void put_own(const Head& head, ByteView unit);
  void on_relay(Instant now, const Head& head, ByteView unit);
  void on_pull(NodeId from, const Head& head, order::Effects& out);
  /// Looks at everything that others have written, and acts. True if something was delivered.
  bool run(Instant now, order::Host& host, Sender& sender, order::Effects& out);
  /// Reads what the leader of the promised round has written so far.
  void read_log();
  void retry(Instant now, order::Effects& out);
  /// A round begins here, as its leader or as a follower.
  void begin_round();

 private:
  void read_units(Instant now);
  void read_acks(Message& message);
  MemberId client_at(NodeId node);
  bool read_log_cell(const Place& place);
  void read_foreign_cells(const Place& place, Message& message);
  void acknowledge(Instant now, Message& message);
  void write_ack(Instant now, const Message& message);
  bool is_settled(const Message& message, DomainId domain) const;
  void find_key(Message& message);
  void relay(NodeId to, const Message& message, order::Effects& out);

  const Parts& p_;
  Leader& leader_;
  Deliveries& deliveries_;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::sim::genuine::literal
