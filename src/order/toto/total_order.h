// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fixed_vector.h"
#include "base/ids.h"
#include "base/raw_array.h"
#include "order/toto/member_bits.h"

namespace peal::order::toto {

/// When pending units are delivered.
enum class Rule : std::uint8_t {
  toto,     ///< once they can no longer be beaten (README.md, The criterion)
  all_ack,  ///< once every member has sent a node that follows a candidate
};

/// What a node of the causal graph newly covers: its sender now follows the nodes of `of` up to
/// `upto`.
struct Cover {
  Index of{};
  Seq upto{};
};

/// A node of the causal graph, by its origin and its number.
struct NodeRef {
  Index origin{};
  Seq seq{};
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

/// The nodes that are delivered together: at most one for each origin, by ascending origin.
using Activation = FixedVector<NodeRef, wire::kMembersMax>;

/// The total order of the units in one view: ToTo's delivery criterion, computed incrementally
/// (README.md, The criterion). Input is the causal graph, one node at a time, in any order that
/// respects causality; members with the same graph decide the same activations in the same order.
///
/// A unit is pending from its node's arrival until it is decided. A candidate is a pending unit
/// that follows no other pending unit; there is at most one for each origin. The column of a member
/// is that member's first node that follows any candidate: with that node the member votes for the
/// candidates which the node follows, and against all others.
///
/// Allocates only in begin().
class TotalOrder {
 public:
  struct Shape {
    Index members = 1;
    Index win = 1;  ///< W: above half of `members`, at most `members`
    Rule rule = Rule::toto;
    std::uint32_t capacity = 1;  ///< maximum number of pending units of one origin; a power of two
  };

  /// A view begins: nothing is pending, and every member is alive.
  void begin(const Shape& shape);

  /// A node of `origin` joins the graph. All nodes that it follows have joined before. `past`: for
  /// each member, the last of its nodes that the node follows; for `origin`, `seq` itself.
  /// `covers`: the members for which `past` has grown since the previous node of `origin`, and
  /// `origin` itself. `ordered`: the node carries a unit that needs a place.
  void on_node(Index origin, Seq seq, bool ordered, std::span<const Seq> past,
               std::span<const Cover> covers);
  /// No more nodes of this member come: if its column is undetermined, it votes for no candidate.
  void on_crash(Index member);
  /// Decides the next activation, if the criterion holds. False if it does not hold.
  bool decide(Activation& out);

  bool idle() const { return pending_ == 0; }
  std::uint32_t pending() const { return pending_; }
  std::uint32_t candidates() const { return candidates_.count(); }
  bool full(Index origin) const { return queues_[origin].size() == shape_.capacity; }
  /// The oldest pending unit of an origin that has one; for the view's end.
  MemberBits origins() const;
  NodeRef oldest(Index origin) const { return {origin, at(origin, queues_[origin].head).seq}; }
  /// Members that have not voted on the present candidates. Empty if nothing is pending.
  MemberBits awaited() const;
  /// Number of members that had voted, or crashed, when the last activation was decided: the index
  /// of latency.
  std::uint32_t voters() const { return voters_; }
  /// Elementary steps so far (README.md, Limits).
  std::uint64_t steps() const { return steps_; }

  void check_invariants() const;

 private:
  /// The pending units of one origin: their push numbers, which index slots.
  struct Queue {
    std::uint64_t head = 0, end = 0;
    std::uint64_t size() const { return end - head; }
  };
  struct Slot {
    Seq seq;
  };
  /// Votes on one candidate, by member.
  struct Votes {
    MemberBits for_it;    ///< members whose column is a node that follows the candidate
    MemberBits followed;  ///< members that have sent a node that follows the candidate
  };

  std::size_t slot_of(Index origin, std::uint64_t push) const {
    return std::size_t{origin} * shape_.capacity + (push & (shape_.capacity - 1));
  }
  Slot& at(Index origin, std::uint64_t push) { return slots_[slot_of(origin, push)]; }
  const Slot& at(Index origin, std::uint64_t push) const { return slots_[slot_of(origin, push)]; }
  std::span<Seq> past_of(Index origin, std::uint64_t push) {
    return {&pasts_[slot_of(origin, push) * shape_.members], shape_.members};
  }
  /// For each member, its first node that follows the unit; 0 if there is none.
  std::span<Seq> followers_of(Index origin, std::uint64_t push) {
    return {&followers_[slot_of(origin, push) * shape_.members], shape_.members};
  }
  void push(Index origin, Seq seq, std::span<const Seq> past);
  bool follows_oldest(Index origin, Index other);
  void find_blockers(Index origin);
  void pop(Index origin);
  void add_candidate(Index origin);
  void count_votes();
  bool holds(MemberBits& sources) const;
  bool finds_sources(MemberBits& sources) const;

  Shape shape_;
  std::vector<Queue> queues_;
  // Of each slot, and for each member. push() writes a slot before anything reads it, so begin()
  // leaves the contents of the last view: filling them takes longer than a view may take to form.
  RawArray<Slot> slots_;
  RawArray<Seq> pasts_;
  RawArray<Seq> followers_;
  std::vector<std::uint64_t> cursors_;  ///< [member][origin]: push number of the first unit of the
                                        ///< origin that the member does not follow yet
  std::uint32_t pending_ = 0;

  std::vector<MemberBits> blockers_;  ///< by origin: the origins whose oldest pending unit is
                                      ///< followed by the oldest pending unit of this one
  MemberBits candidates_;  ///< by origin: the oldest pending unit of the origin is a candidate
  std::array<Votes, wire::kMembersMax> votes_;  ///< of the candidates, by origin
  MemberBits voted_;                            ///< members whose column is determined
  MemberBits crashed_;
  bool changed_ = false;  ///< since the criterion was last found not to hold
  std::uint32_t voters_ = 0;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace peal::order::toto
