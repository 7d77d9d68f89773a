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

/// What is agreed on for one instance. Never changes once it was proposed in a round.
struct Value {
  wire::ValueHead head;
  BufferRef bytes;  ///< of a unit or a view; empty for nothing
};

/// What a value says of its key, or 0. `placed`: units begin with a wire::Placing.
std::uint64_t stamp_of(const wire::ValueHead& head, ByteView bytes, bool placed);

void add_to(Digest& digest, const Round& round);
void add_to(Digest& digest, const Value& value);

/// What the decided instances come to, one after the other: the list of nodes and the view that
/// count, and how many units of each of its members have had their place. A function of the
/// instances alone, so that all who consume them agree, and the same for whoever begins with
/// somebody else's state.
///
/// A unit counts if it is for the view that counts, and the next one of its sender: so no unit has
/// two places, however often it was proposed, and units of one member come in their order.
class OrderState {
 public:
  enum class Outcome : std::uint8_t {
    ignored,  ///< nothing, a unit that came too late or twice, or a view or list that another was
              ///< before
    unit,     ///< this unit has its place
    view,     ///< another view counts from here on
    nodes,    ///< another list of nodes counts from here on
  };

  OrderState() = default;
  explicit OrderState(wire::Checkpoint checkpoint) : at_(std::move(checkpoint)) {}
  /// Nothing is known but the list of nodes that counts if nobody knows of another.
  explicit OrderState(wire::Nodes first) { at_.nodes = std::move(first); }
  /// Before the first instance.
  void begin() { at_.next = 1; }

  /// False: where to begin is not known yet.
  bool known() const { return at_.next != 0; }
  /// The next instance.
  Instance next() const { return at_.next; }
  /// Of the value consumed last: see wire::Placing. Ascends from value to value.
  std::uint64_t key() const { return at_.key; }
  const ViewId& view() const { return at_.view; }
  const std::vector<wire::ViewMember>& members() const { return at_.members; }
  const wire::Checkpoint& checkpoint() const { return at_; }
  /// The list of nodes that counts.
  const wire::Nodes& nodes() const { return at_.nodes; }
  /// Is this a round of that list?
  bool governs(const Round& round) const { return wire::list_of(round) == at_.nodes.number; }

  static constexpr std::size_t kNobody = ~std::size_t{0};
  /// Where `member` stands in members(), or kNobody.
  std::size_t index_of(const MemberId& member) const;
  bool has(const MemberId& member) const { return index_of(member) != kNobody; }
  /// Of the member with this index: units that have had their place.
  std::uint64_t units_of(std::size_t index) const { return at_.numbers[index]; }

  /// The number of the view after the one that counts.
  std::uint64_t next_view() const {
    return at_.view.number == 0 ? wire::first_view_of(at_.nodes) : at_.view.number + 1;
  }
  /// An order that acceptors begin, in these lives.
  void begin_order(std::vector<std::uint64_t> lives) {
    at_.nodes.lives = std::move(lives);
    at_.nodes.first = wire::first_of(at_.nodes);
    begin();
  }

  /// Consumes the value of instance next(). `stamp`: what it says of its key.
  Outcome apply(const wire::ValueHead& head, ByteView bytes, std::uint64_t stamp = 0);

  void add_to(Digest& digest) const;

 private:
  wire::Checkpoint at_;
};

}  // namespace peal::order::paxos
