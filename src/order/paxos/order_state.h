// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/ids.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

using wire::Instance;
using wire::Round;

/// A value for one instance. In a round, at most one value is proposed for each instance.
struct Value {
  wire::ValueHead head;
  BufferRef bytes;  ///< bytes of a unit, a view or a list; empty for an empty value
};

/// The lower bound that a value names for its own key: a unit in its wire::Placing, other values in
/// `head.number`. 0 if the value names none. `placed`: units begin with a wire::Placing.
std::uint64_t stamp_of(const wire::ValueHead& head, ByteView bytes, bool placed);

void add_to(Digest& digest, const Round& round);
void add_to(Digest& digest, const Value& value);

/// The result of the decided instances, one after the other: the active list of nodes, the active
/// view, and how many units of each member have a place. This state is a function of the instances
/// alone, so all nodes that consume them agree, even if a node begins with the state of another
/// node.
///
/// A unit gets a place if it is for the active view and is the next one of its sender. So no unit
/// has two places, however often it was proposed, and the units of one member stay in their order.
class OrderState {
 public:
  enum class Outcome : std::uint8_t {
    /// The value has no effect: it is empty, a unit for another view, a unit that is not the next
    /// one of its sender, or a view or list that is not the next one.
    ignored,
    unit,   ///< this unit has its place
    view,   ///< another view is active from the next instance on
    nodes,  ///< another list of nodes is active from the next instance on
  };

  OrderState() = default;
  explicit OrderState(wire::Checkpoint checkpoint) : at_(std::move(checkpoint)) {}
  /// Nothing is known; `first` is the list of nodes to use if no other node knows another list.
  explicit OrderState(wire::Nodes first) { at_.nodes = std::move(first); }
  /// Sets the state before the first instance.
  void begin() { at_.next = 1; }

  /// False: the instance to begin with is not known yet.
  bool known() const { return at_.next != 0; }
  /// The next instance.
  Instance next() const { return at_.next; }
  /// Key of the last consumed value (wire::Placing). Ascends from value to value.
  std::uint64_t key() const { return at_.key; }
  const ViewId& view() const { return at_.view; }
  const std::vector<wire::ViewMember>& members() const { return at_.members; }
  const wire::Checkpoint& checkpoint() const { return at_; }
  /// The active list of nodes.
  const wire::Nodes& nodes() const { return at_.nodes; }
  /// Does this round belong to the active list?
  bool governs(const Round& round) const { return wire::list_of(round) == at_.nodes.number; }

  static constexpr std::size_t kNobody = ~std::size_t{0};
  /// Index of `member` in members(), or kNobody.
  std::size_t index_of(const MemberId& member) const;
  bool has(const MemberId& member) const { return index_of(member) != kNobody; }
  /// The number of placed units of the member with this index.
  std::uint64_t units_of(std::size_t index) const { return at_.numbers[index]; }

  /// The number of the view after the active one.
  std::uint64_t next_view() const {
    return at_.view.number == 0 ? wire::first_view_of(at_.nodes) : at_.view.number + 1;
  }
  /// Begins the order that acceptors in the incarnations `lives` bootstrap.
  void begin_order(std::vector<std::uint64_t> lives) {
    at_.nodes.lives = std::move(lives);
    at_.nodes.first = wire::first_of(at_.nodes);
    begin();
  }

  /// Consumes the value of instance next(). `stamp`: the result of stamp_of() for this value.
  Outcome apply(const wire::ValueHead& head, ByteView bytes, std::uint64_t stamp = 0);

  void add_to(Digest& digest) const;

 private:
  wire::Checkpoint at_;
};

}  // namespace peal::order::paxos
