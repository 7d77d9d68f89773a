// SPDX-License-Identifier: Apache-2.0
// The causal graph of members that receive nodes in random orders, with duplicates and gaps,
// compared with a model that computes everything from the set of received nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "order/toto/causal_graph.h"
#include "toto_packets.h"

namespace peal::order::toto::test {
namespace {

using wire::NodeKind;

using Ref = std::pair<Index, Seq>;
using Refs = std::set<Ref>;

Ref key(NodeRef node) { return {node.origin, node.seq}; }

NodeKind kind_in_test(const GraphNode& node) {
  // A node with a unit has no space for more advances. The cover of its own origin needs none.
  if (node.covers.size() > wire::kUnitAdvancesMax + 1) return NodeKind::control;
  if (node.ordered) return node.ref.seq % 2 == 0 ? NodeKind::agreed : NodeKind::safe;
  return node.ref.seq % 2 == 0 ? NodeKind::causal : NodeKind::control;
}

/// The largest set of received nodes that contains all predecessors of each of its nodes.
std::vector<Seq> closure(const Graph& graph, const Refs& received) {
  std::vector<Seq> joined(graph.members(), graph.first());
  for (bool grew = true; grew;) {
    grew = false;
    for (Index origin = 0; origin < graph.members(); ++origin) {
      const NodeRef next{origin, joined[origin] + 1};
      if (!received.contains(key(next))) continue;
      std::vector<Seq> needed = graph.at(next).past;
      needed[origin] = joined[origin];
      if (!std::ranges::equal(needed, joined, std::ranges::less_equal{})) continue;
      ++joined[origin];
      grew = true;
    }
  }
  return joined;
}

/// The nodes that a request must name: those that are known to exist and were not received.
Refs lacking_in_model(const CausalGraph& graph, const Refs& received) {
  Refs lacking;
  for (Index origin = 0; origin < graph.members(); ++origin) {
    for (Seq seq = graph.joined(origin) + 1; seq <= graph.known(origin); ++seq) {
      if (!received.contains({origin, seq})) lacking.insert({origin, seq});
    }
  }
  return lacking;
}

/// Expects that the graph requests these nodes, in legal ranges. If they need more ranges than a
/// request holds, only the first nodes are requested.
void expect_lacking(const CausalGraph& graph, const Refs& lacking) {
  wire::TotoLacks lacks;
  for (Index origin = 0; origin < graph.members(); ++origin) {
    const std::size_t before = lacks.ranges.size();
    const bool full = lacks.ranges.full();
    graph.append_lacking(origin, lacks);
    EXPECT_TRUE(full || graph.lacks(origin) == (lacks.ranges.size() != before));
  }
  Refs named;
  Ref last{0, 0};
  for (const wire::NodeRange& range : lacks.ranges) {
    EXPECT_GT((Ref{range.origin, range.first}), last);
    EXPECT_GE(range.count, 1U);
    EXPECT_LE(range.count, wire::kNodeRangeMax);
    for (Seq seq = range.first; seq < range.first + range.count; ++seq) {
      named.insert({range.origin, seq});
    }
    last = {range.origin, range.first + range.count - 1};
  }
  ASSERT_TRUE(named.size() == lacking.size() || lacks.ranges.full());
  ASSERT_LE(named.size(), lacking.size());
  ASSERT_TRUE(std::equal(named.begin(), named.end(), lacking.begin()));
}

/// Expects that a joined node has the content, past and covers that it has in the graph of the run.
void expect_as_made(const CausalGraph& graph, const Joined& joined, const GraphNode& made) {
  EXPECT_EQ(joined.kind, kind_in_test(made));
  EXPECT_EQ(joined.decided, made.ref.seq);
  EXPECT_TRUE(std::ranges::equal(graph.past_of(made.ref.origin), made.past));
  const auto by_member = [](const Cover& a, const Cover& b) { return a.of < b.of; };
  std::vector<Cover> covers(joined.covers.begin(), joined.covers.end());
  std::ranges::sort(covers, by_member);
  ASSERT_EQ(covers.size(), made.covers.size());
  for (std::size_t i = 0; i < covers.size(); ++i) {
    EXPECT_EQ(covers[i].of, made.covers[i].of);
    EXPECT_EQ(covers[i].upto, made.covers[i].upto);
  }
}

wire::Node as_wire(const Graph& graph, const GraphNode& node) {
  std::vector<Seq> before(graph.members(), graph.first());
  if (node.ref.seq > graph.first() + 1) {
    before = graph.at({node.ref.origin, node.ref.seq - 1}).past;
  }
  wire::Node made = wire_node(node, before, kind_in_test(node));
  made.decided = node.ref.seq;
  return made;
}

/// All nodes of a run, each once or more, in a random order that ignores causality. Some orders are
/// almost causal.
std::vector<const GraphNode*> random_packets(const Graph& graph, Random& random) {
  std::vector<const GraphNode*> order;
  for (const GraphNode& node : graph.nodes()) {
    do {
      order.push_back(&node);
    } while (random.chance(0.2));
  }
  const std::size_t reach = random.chance(0.5) ? order.size() : 4;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::size_t span = std::min(reach, order.size() - i);
    std::swap(order[i], order[i + random.below(span)]);
  }
  return order;
}

struct Received {
  std::uint64_t packets = 0, duplicates = 0, waited = 0;
};

/// A member that makes no node itself receives all nodes of a run.
void receive_all(const RunShape& shape, Random& random, Received& tally) {
  const CausalRun run = random_run(shape, random);
  Packets packets(shape.nodes + 1);  // outlives the graph, which refers to its packets
  CausalGraph graph;
  graph.begin(shape.members, *shape.silent, std::bit_ceil(shape.nodes), shape.first);
  Refs received, joined_once;
  for (const GraphNode* node : random_packets(run.graph, random)) {
    const wire::Node made = as_wire(run.graph, *node);
    const bool first = received.insert(key(node->ref)).second;
    EXPECT_EQ(graph.store(made, packets.make(made)), first ? Taken::stored : Taken::duplicate);
    std::size_t joins = 0;
    for (Joined joined; graph.join(joined); ++joins) {
      EXPECT_TRUE(joined_once.insert(key(joined.node)).second);
      expect_as_made(graph, joined, run.graph.at(joined.node));
    }
    graph.note_exists(node->ref, node->ref.origin);
    graph.check_invariants();
    ASSERT_TRUE(std::ranges::equal(graph.joined(), closure(run.graph, received)));
    expect_lacking(graph, lacking_in_model(graph, received));
    ASSERT_EQ(packets.held(), received.size());
    ++tally.packets;
    if (!first) ++tally.duplicates;
    if (first && joins == 0) ++tally.waited;
  }
  EXPECT_TRUE(std::ranges::equal(graph.joined(), run.graph.newest()));
  EXPECT_EQ(graph.refused(), 0U);
}

TEST(TotoGraphRandom, NodesJoinWhenTheirPredecessorsHaveInAnyOrderOfArrival) {
  Random random(20);
  Received tally;
  for (int i = 0; i < 2'000 && !HasFatalFailure(); ++i) {
    RunShape shape = random_shape(static_cast<Index>(random.between(3, 9)), random);
    shape.silent = static_cast<Index>(random.below(shape.members));
    receive_all(shape, random, tally);
  }
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("packets: %llu, duplicates: %llu, nodes that waited: %llu\n", number(tally.packets),
              number(tally.duplicates), number(tally.waited));
  EXPECT_GT(tally.duplicates, 1'000U);
  EXPECT_GT(tally.waited, 1'000U);
}

TEST(TotoGraphRandom, SoTheyDoInViewsOfManyMembers) {
  Random random(21);
  Received tally;
  for (const Index members : {Index{63}, Index{64}, Index{65}, Index{128}}) {
    RunShape shape;
    shape.members = members;
    shape.nodes = 2U * members;
    shape.sends = 0.02;
    shape.ordered = 0.5;
    shape.silent = static_cast<Index>(members - 1);
    receive_all(shape, random, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.waited, 50U);
}

// ---- members that make nodes themselves ----

/// One member, and a model of what it knows about the others.
struct Peer {
  Peer(Index index, Index members)
      : self(index), packets(1'024), seen(members, std::vector<Seq>(members)), consumed(members) {
    graph.begin(members, index, kCapacity, 0);
  }

  static constexpr std::uint32_t kCapacity = 16;

  Index self;
  Packets packets;  // outlives the graph, which refers to its packets
  CausalGraph graph;
  Refs received;                       ///< or made
  std::vector<std::vector<Seq>> seen;  ///< [member][origin]
  std::vector<Seq> consumed;
};

/// Members that exchange nodes. Each keeps what it received in a pool of its own.
class Peers {
 public:
  Peers(Index members, std::uint64_t seed) : random_(seed), made_(members) {
    for (Index index = 0; index < members; ++index) {
      peers_.push_back(std::make_unique<Peer>(index, members));
    }
  }

  void step() {
    Peer& peer = *peers_[random_.below(peers_.size())];
    switch (random_.below(6)) {
      case 0: make(peer); break;
      case 1:
      case 2: receive(peer); break;
      case 3: report(peer); break;
      case 4: consume(peer); break;
      default: discard(peer); break;
    }
    peer.graph.check_invariants();
  }
  std::uint64_t joins() const { return joins_; }
  std::uint64_t discards() const { return discards_; }
  std::uint64_t out_of_window() const { return out_of_window_; }

 private:
  Index members() const { return static_cast<Index>(peers_.size()); }

  void make(Peer& peer) {
    if (!peer.graph.room()) return;
    wire::Node node = wire_node({}, NodeKind::agreed);
    // Sometimes the node has space for only one advance.
    peer.graph.next_node(node, random_.chance(0.2) ? 1 : wire::kMembersMax);
    std::vector<Seq> past(members(), 0);
    if (node.seq > 1) past = pasts_.at({peer.self, node.seq - 1});
    for (const wire::Advance& advance : node.advances) past[advance.index] += advance.count;
    past[peer.self] = node.seq;
    pasts_[{peer.self, node.seq}] = past;
    made_[peer.self].push_back(node);
    note_joined(peer, peer.graph.append(node, peer.packets.make(node)));
    peer.received.insert({peer.self, node.seq});
  }

  /// The peer receives any node that was ever made, whether or not it has the node.
  void receive(Peer& peer) {
    const auto origin = static_cast<Index>(random_.below(members()));
    if (origin == peer.self || made_[origin].empty()) return;
    // Mostly a node that the peer may lack.
    const Seq base = random_.chance(0.8) ? peer.graph.joined(origin) : 0;
    const Seq seq = base + 1 + random_.below(8);
    if (seq > made_[origin].size()) return;
    const wire::Node& node = made_[origin][seq - 1];
    const bool known = peer.received.contains({origin, seq});
    const Taken taken = peer.graph.store(node, peer.packets.make(node));
    if (taken == Taken::out_of_window) {
      ++out_of_window_;
    } else {
      EXPECT_EQ(taken, known ? Taken::duplicate : Taken::stored);
      peer.received.insert({origin, seq});
    }
    Joined joined;
    while (peer.graph.join(joined)) note_joined(peer, joined);
    expect_closed(peer);
  }

  void note_joined(Peer& peer, const Joined& joined) {
    ++joins_;
    const std::vector<Seq>& past = pasts_.at(key(joined.node));
    EXPECT_TRUE(std::ranges::equal(peer.graph.past_of(joined.node.origin), past));
    for (Index origin = 0; origin < members(); ++origin) {
      Seq& seen = peer.seen[joined.node.origin][origin];
      seen = std::max(seen, past[origin]);
    }
    peer.seen[peer.self][joined.node.origin] = joined.node.seq;
  }

  /// No node that could join waits.
  void expect_closed(const Peer& peer) {
    for (Index origin = 0; origin < members(); ++origin) {
      const Ref next{origin, peer.graph.joined(origin) + 1};
      if (!peer.received.contains(next)) continue;
      const std::vector<Seq>& past = pasts_.at(next);
      bool joins = true;
      for (Index other = 0; other < members(); ++other) {
        if (other != origin && past[other] > peer.graph.joined(other)) joins = false;
      }
      EXPECT_FALSE(joins) << "member " << peer.self << " node " << origin << ":" << next.second;
    }
  }

  /// A STATUS of another member arrives.
  void report(Peer& peer) {
    const Peer& other = *peers_[random_.below(peers_.size())];
    if (other.self == peer.self) return;
    for (Index origin = 0; origin < members(); ++origin) {
      const Seq have = other.graph.joined(origin);
      peer.graph.note_seen(other.self, origin, have);
      Seq& seen = peer.seen[other.self][origin];
      seen = std::max(seen, have);
    }
  }

  void consume(Peer& peer) {
    const auto origin = static_cast<Index>(random_.below(members()));
    const Seq rest = peer.graph.joined(origin) - peer.consumed[origin];
    peer.consumed[origin] += random_.below(rest + 1);
    peer.graph.consume(origin, peer.consumed[origin]);
  }

  /// Exactly the packets of nodes that are stable and consumed are discarded.
  void discard(Peer& peer) {
    peer.graph.discard_stable();
    std::size_t held = 0;
    for (Index origin = 0; origin < members(); ++origin) {
      Seq stable = peer.graph.joined(origin);
      for (const auto& seen : peer.seen) stable = std::min(stable, seen[origin]);
      ASSERT_EQ(peer.graph.stable(origin), stable);
      const Seq discarded = std::min(stable, peer.consumed[origin]);
      for (Seq seq = 1; seq <= made_[origin].size(); ++seq) {
        const bool holds = peer.received.contains({origin, seq}) && seq > discarded;
        ASSERT_EQ(peer.graph.stored().holds({origin, seq}), holds);
        if (holds) ++held;
      }
    }
    ASSERT_EQ(peer.packets.held(), held);
    ++discards_;
  }

  Random random_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::vector<wire::Node>> made_;  ///< by origin
  std::map<Ref, std::vector<Seq>> pasts_;
  std::uint64_t joins_ = 0, discards_ = 0, out_of_window_ = 0;
};

TEST(TotoGraphRandom, PacketsAreHeldUntilTheirNodesAreStableAndConsumed) {
  std::uint64_t joins = 0, discards = 0, out_of_window = 0;
  for (std::uint64_t seed = 0; seed < 30 && !HasFatalFailure(); ++seed) {
    Peers peers(static_cast<Index>(2 + seed % 6), seed);
    for (int i = 0; i < 5'000 && !HasFatalFailure(); ++i) peers.step();
    joins += peers.joins();
    discards += peers.discards();
    out_of_window += peers.out_of_window();
  }
  EXPECT_GT(joins, 10'000U);
  EXPECT_GT(discards, 10'000U);
  EXPECT_GT(out_of_window, 100U);
}

}  // namespace
}  // namespace peal::order::toto::test
