// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "order/inspection/inspection.h"
#include "order/paxos/records.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// The source of a claim that a value is decided: a node, or the content of a node's log.
struct Claimant {
  NodeId node{};
  bool log = false;
  std::string text() const { return (log ? "the log of n" : "n") + std::to_string(node.value); }
};

/// All values that were decided in the orders of one ensemble. A value is decided by durable votes,
/// in one round, of a majority of the acceptors that a list names. No node in the cluster knows all
/// these votes. Each value that a node takes as decided is compared with the value that these votes
/// decided.
///
/// An older copy of a log may lack votes. A missing vote still counts if another node had received
/// it before. Whether a node received the vote shows only when a node takes the value as decided,
/// so votes are kept until then.
///
/// Memory: the last kInstancesMax instances of each order, and kOrdersMax orders.
class GhostOrders {
 public:
  using Instance = wire::Instance;
  using Round = wire::Round;
  static constexpr std::size_t kInstancesMax = 1U << 17;
  static constexpr std::size_t kOrdersMax = 32;

  /// `counts_votes`: true if votes are visible, so that they decide values. If false, a value
  /// counts as decided once any node reports it as decided.
  GhostOrders(bool counts_votes, GhostReport report)
      : counts_votes_(counts_votes), report_(std::move(report)) {}

  /// This list is active at a node. True if the order of the list was unknown so far.
  bool note_list(const wire::Nodes& nodes, const Claimant& who);
  /// True if list `number` of this order names the acceptor in this incarnation.
  bool names(std::uint64_t order, std::uint64_t number, NodeId node, std::uint64_t life) const;

  /// An acceptor wrote this vote to its log; it is not durable yet.
  void vote(std::uint64_t order, NodeId node, std::uint64_t life, const Round& round,
            Instance instance, std::uint64_t value);
  /// The vote is durable.
  void vote_durable(std::uint64_t order, NodeId node, std::uint64_t life, const Round& round,
                    Instance instance, std::uint64_t value);

  /// An older copy replaced the acceptor's log: the acceptor will not repeat votes that the copy
  /// lacks.
  void lose_votes(NodeId node, std::uint64_t life);

  /// A node takes this value as decided.
  void claim(std::uint64_t order, Instance instance, std::uint64_t value, const Claimant& who);
  /// A node takes all instances below `next` as decided, whatever their values.
  void claim_all(std::uint64_t order, Instance next, const Claimant& who);
  /// A node has this state after it has consumed all instances below `state.next`.
  void claim_state(const wire::Checkpoint& state, const Claimant& who);
  /// The decided value, if it is known here.
  std::optional<std::uint64_t> decided(std::uint64_t order, Instance instance) const;
  /// True if the instance is decided, or too old to be known here.
  bool is_decided(std::uint64_t order, Instance instance) const;

 private:
  struct Vote {
    NodeId node{};
    std::uint64_t life = 0;
    Round round{};
    std::uint64_t value = 0;
    bool counts = false;  ///< the vote is durable, and the list of its round names the acceptor
    /// True if the acceptor's log was replaced by an older copy, and this vote has not been found
    /// in that copy.
    bool lost = false;
  };
  struct Slot {
    bool decided = false;
    bool claimed = false;  ///< a node takes the value as decided; see also Order::claimed
    std::uint64_t value = 0;
    Round round{};  ///< the round that decided the value; no round if only a claim shows the value
    std::vector<Vote> votes;  ///< the votes, kept until the slot is claimed
  };
  struct Order {
    std::uint64_t first = 0;
    std::map<std::uint64_t, wire::Nodes> lists;  ///< the lists, by number
    std::deque<Slot> slots;
    Instance base = 1;     ///< instance of the first slot
    Instance decided = 1;  ///< all instances below this one are decided
    Instance claimed = 1;  ///< some node takes all instances below this one as decided
    std::map<Instance, std::uint64_t> states;  ///< digests of checkpoints, by their `next`
  };

  Order* find(std::uint64_t first);
  const Order* find(std::uint64_t first) const;
  Order& order(std::uint64_t first);
  /// Null if the instance is too old.
  Slot* slot(Order& order, Instance instance);
  static const Slot* find_slot(const Order& order, Instance instance);
  static bool is_majority(const Order& order, const Slot& slot, const Vote& vote, bool with_lost);
  static bool decide_with_lost(const Order& order, Slot& slot, std::optional<std::uint64_t> value);
  static void decide(Slot& slot, const Round& round, std::uint64_t value);
  static void close(Slot& slot);
  static bool names(const Order& order, std::uint64_t number, NodeId node, std::uint64_t life);
  static void advance(Order& order);

  const bool counts_votes_;
  GhostReport report_;
  std::deque<Order> orders_;
};

/// Text for messages, for example "round 3 of n1.17".
std::string text_of(const wire::Round& round);

}  // namespace peal::order::paxos
