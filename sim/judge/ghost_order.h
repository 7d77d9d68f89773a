// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "order/paxos/records.h"
#include "wire/paxos.h"

namespace peal::sim {

/// Says what is wrong: the property that broke, and how.
using GhostReport = std::function<void(std::string property, std::string text)>;

/// Who takes something for decided: a node, or what its log would restore.
struct Claimant {
  NodeId node{};
  bool log = false;
  std::string text() const { return (log ? "the log of n" : "n") + std::to_string(node.value); }
};

/// Everything that was decided in the orders of one ensemble, by whatever makes it so: durable
/// votes of a majority of the acceptors that a list names, in one round. Nobody in the cluster
/// knows all of this. Whatever a node takes for decided is compared with it.
///
/// A vote may be lost with the log that an older copy took the place of. If anybody heard of it,
/// it counts still, and else it does not; that shows once somebody takes a value for decided, so
/// votes are remembered until then.
///
/// Memory: the last kInstancesMax instances of each order, and kOrdersMax orders.
class GhostOrders {
 public:
  using Instance = wire::Instance;
  using Round = wire::Round;
  static constexpr std::size_t kInstancesMax = 1U << 17;
  static constexpr std::size_t kOrdersMax = 32;

  /// `counts_votes`: votes are seen. Without them, a value is decided if anybody says so.
  GhostOrders(bool counts_votes, GhostReport report)
      : counts_votes_(counts_votes), report_(std::move(report)) {}

  /// A node goes by this list. True: it is the first list of an order that nobody knew before.
  bool note_list(const wire::Nodes& nodes, const Claimant& who);
  /// Does a list of this order name the acceptor in this life?
  bool names(std::uint64_t order, std::uint64_t number, NodeId node, std::uint64_t life) const;

  /// An acceptor wrote this vote down; it is not durable yet.
  void vote(std::uint64_t order, NodeId node, std::uint64_t life, const Round& round,
            Instance instance, std::uint64_t value);
  /// It is durable.
  void vote_durable(std::uint64_t order, NodeId node, std::uint64_t life, const Round& round,
                    Instance instance, std::uint64_t value);

  /// An older copy of its log was put back: what it does not hold will not be said again.
  void lose_votes(NodeId node, std::uint64_t life);

  /// A node takes this value for what was decided.
  void claim(std::uint64_t order, Instance instance, std::uint64_t value, const Claimant& who);
  /// A node takes all below `next` for decided, whatever it is.
  void claim_all(std::uint64_t order, Instance next, const Claimant& who);
  /// A node is in this state once all before `state.next` is consumed.
  void claim_state(const wire::Checkpoint& state, const Claimant& who);
  /// What was decided, if that is known here.
  std::optional<std::uint64_t> decided(std::uint64_t order, Instance instance) const;
  /// Is it decided, or so old that it is not known any more?
  bool is_decided(std::uint64_t order, Instance instance) const;

 private:
  struct Vote {
    NodeId node{};
    std::uint64_t life = 0;
    Round round{};
    std::uint64_t value = 0;
    bool counts = false;  ///< it is durable, and the list of its round names the acceptor
    bool lost = false;    ///< with its log, unless it is found in the copy that was put back
  };
  struct Slot {
    bool decided = false;
    bool claimed = false;  ///< a node takes it for decided; see also Order::claimed
    std::uint64_t value = 0;
    Round round{};            ///< in which it was decided; none if only a claim says so
    std::vector<Vote> votes;  ///< until it is claimed
  };
  struct Order {
    std::uint64_t first = 0;
    std::map<std::uint64_t, wire::Nodes> lists;  ///< by number
    std::deque<Slot> slots;
    Instance base = 1;                         ///< of the first slot
    Instance decided = 1;                      ///< all below are decided
    Instance claimed = 1;                      ///< somebody takes all below for decided
    std::map<Instance, std::uint64_t> states;  ///< digests, by `next`
  };

  Order* find(std::uint64_t first);
  const Order* find(std::uint64_t first) const;
  Order& order(std::uint64_t first);
  /// Null if it is too old.
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

/// "n1, life 17" and the like, for people.
std::string text_of(const wire::Round& round);

}  // namespace peal::sim
