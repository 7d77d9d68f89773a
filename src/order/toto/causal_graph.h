// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/digest.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "order/toto/member_bits.h"
#include "order/toto/node_store.h"
#include "order/toto/total_order.h"
#include "wire/toto.h"

namespace peal::order::toto {

/// What became of a received node.
enum class Taken : std::uint8_t {
  stored,         ///< it joins the graph once its predecessors have
  duplicate,      ///< it is in the graph, or stored
  out_of_window,  ///< its number, or one that it names, is too far ahead
  bad_value,      ///< it contradicts itself or the members of the view
};

/// A node that has joined the graph.
struct Joined {
  NodeRef node{};
  wire::NodeKind kind = wire::NodeKind::control;
  std::uint64_t decided = 0;                     ///< see wire::Node
  FixedVector<Cover, wire::kMembersMax> covers;  ///< see TotalOrder::on_node()
};

/// The nodes of one view at this member: which have joined the causal graph, which are stored until
/// their predecessors have joined, and which every member has.
///
/// A node joins after its sender's previous node and after all nodes that it follows, so the graph
/// is causally closed at any time. One number for each member describes it: all nodes of the member
/// up to that number have joined.
///
/// A node is discarded when it is stable (every member has it) and consumed (the engine needs its
/// unit no more). Allocates only in begin().
class CausalGraph {
 public:
  /// A view with `members` members begins, of which this one has the index `self`. Numbers begin
  /// after `first`. `capacity`: nodes of one origin that are stored at a time; a power of two.
  void begin(std::size_t members, Index self, std::uint32_t capacity, Seq first);

  // ---- this member's nodes ----

  /// Members whose nodes have joined since this member's last node.
  std::uint32_t advances() const { return fresh_.count(); }
  /// Fills in the number and the advances of this member's next node: at most `most` advances,
  /// those of the lowest indices.
  void next_node(wire::Node& node, std::size_t most) const;
  /// This member's next node, which next_node() has filled in, joins at once. `packet`: the whole
  /// packet. Requires room().
  Joined append(const wire::Node& node, const BufferRef& packet);
  /// Whether this member can make one more node.
  bool room() const { return stored_.in_window({self_, joined_[self_] + 1}); }
  /// This member's nodes that some member is not known to have.
  std::uint64_t unstable() const { return joined_[self_] - stable_[self_]; }
  /// This member's nodes that are not discarded yet.
  std::uint64_t kept() const { return joined_[self_] - stored_.discarded(self_); }

  // ---- nodes of other members ----

  /// A packet with a node of this view. The graph keeps the packet if it is Taken::stored.
  Taken store(const wire::Node& node, const BufferRef& packet);
  /// Lets the next stored node join whose predecessors have joined. False if there is none.
  bool join(Joined& out);
  /// The number of nodes that can never join, because they follow one another in a circle or name a
  /// node that its origin has not made; they are gone.
  std::uint64_t refused() const { return refused_; }
  /// The origin of the node that was refused last.
  Index refused_origin() const { return refused_origin_; }
  /// Origins whose next node was refused, and none that is right came since.
  const MemberBits& barred() const { return barred_; }
  /// Discards stored nodes of `origin` beyond `last`, which will not join.
  void forget_beyond(Index origin, Seq last);

  // ---- what is in the graph ----

  std::size_t members() const { return joined_.size(); }
  Seq joined(Index origin) const { return joined_[origin]; }
  std::span<const Seq> joined() const { return joined_; }
  /// For each member, the last of its nodes that the newest node of `origin` follows.
  std::span<const Seq> past_of(Index origin) const {
    return std::span(pasts_).subspan(std::size_t{origin} * members(), members());
  }
  /// The packets of the nodes in the graph, and of those that wait to join it.
  const NodeStore& stored() const { return stored_; }

  // ---- gaps ----

  /// Some member has made, or says that some member has made, all nodes up to this one.
  void note_exists(NodeRef node, Index witness);
  /// Highest number of a node of `origin` that is known to exist.
  Seq known(Index origin) const { return known_[origin]; }
  /// The first member that proved that known() exists.
  Index witness(Index origin) const { return witness_[origin]; }
  /// Whether nodes of `origin` are known to exist that are neither in the graph nor stored.
  bool lacks(Index origin) const {
    return gapless_[origin] < known_[origin] && stored_.in_window({origin, gapless_[origin] + 1});
  }
  /// Appends the lacking nodes of `origin` to `out`, as far as there is space.
  void append_lacking(Index origin, wire::TotoLacks& out) const;

  // ---- stability ----

  /// `member` has told that all nodes of `origin` up to `seq` are in its graph.
  void note_seen(Index member, Index origin, Seq seq);
  Seq seen(Index member, Index origin) const { return seen_[row(member) + origin]; }
  /// All nodes of `origin` up to this one are in the graph of every member.
  Seq stable(Index origin) const { return stable_[origin]; }
  /// The engine needs the units of `origin` up to `seq` no more.
  void consume(Index origin, Seq seq) { consumed_[origin] = seq; }
  Seq consumed(Index origin) const { return consumed_[origin]; }
  /// Computes what is stable, and discards what is stable and consumed.
  void discard_stable();

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  std::size_t row(Index member) const { return std::size_t{member} * members(); }
  bool has_next(Index origin) const { return stored_.holds({origin, joined_[origin] + 1}); }
  Joined add(const wire::Node& node);
  bool may_join(const wire::Node& node);
  bool waits_in_circle(Index origin) const;
  void refuse_next(Index origin);

  Index self_ = 0;
  NodeStore stored_;
  std::vector<Seq> joined_, known_, stable_, consumed_;  // by origin
  std::vector<Seq> gapless_;  // by origin: all nodes up to this one have joined or are stored
  std::vector<Seq> least_;    // by origin, in discard_stable(): the least number that a member has
  std::vector<Index> witness_;       // by origin
  std::vector<Seq> pasts_;           // [member][origin]: what the member's newest node follows
  std::vector<Seq> seen_;            // [member][origin]: what the member is known to have
  MemberBits fresh_;                 // members with nodes that joined after this member's last node
  MemberBits ready_;                 // members whose next stored node may be able to join
  std::vector<Index> blocked_on_;    // by origin: the member whose node the next node waits for
  std::vector<Seq> blocked_until_;   // by origin: the number of that node
  std::vector<MemberBits> waiting_;  // by member: the origins that wait for a node of it
  MemberBits blocked_;
  wire::Node arriving_;
  MemberBits barred_;
  std::uint64_t refused_ = 0;
  Index refused_origin_ = 0;
};

}  // namespace peal::order::toto
