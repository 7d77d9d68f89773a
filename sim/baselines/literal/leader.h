// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "sim/baselines/literal/parts.h"

namespace peal::sim::genuine::literal {

/// Tasks 2 and 4 of the paper: what a leader writes into T of others.
class Leader {
 public:
  explicit Leader(const Parts& parts);

  /// A round begins here.
  void begin_round();
  /// Reads how writes into T have ended.
  void finish_writes();
  /// Task 2: stamps for messages that have none.
  void propose(Instant now);
  /// The member has what the round began with, and has exposed its T.
  void grant(NodeId member);
  /// Writes the message's stamp to the leaders of its other domains, or to all their servers.
  void write_stamp(Instant now, const Message& message, bool to_all);
  /// Task 4: what leaders of other domains have written here, which goes to the followers.
  void read_foreign(Message& message);
  void copy_foreign(Message& message);

 private:
  void propose(Instant now, Message& message);
  void write_log(const Message& message);
  void write_log(const Message& message, NodeId member);
  void write_foreign(const Message& message, DomainId domain, NodeId member);

  const Parts& p_;
  std::array<NodeId, kDomainMax + 1> leaders_{};  ///< by domain: who is believed to lead it
  std::set<NodeId> granted_;
  bool took_over_ = false;  ///< what waits when a round begins is proposed by task 9
  std::map<std::uint64_t, Place> under_way_;  ///< by token: stamps that are being written
  std::uint64_t token_ = 0;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::sim::genuine::literal
