// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/byte_ring.h"
#include "base/digest.h"
#include "order/paxos/order_state.h"

namespace peal::order::paxos {

/// A node's knowledge of one instance that it has not consumed: its own vote, and the value.
struct Slot {
  /// Round of this node's vote as an acceptor; no round: this node has not voted.
  Round vote_round{};
  Value vote;
  Round heard_round{};  ///< the highest round in which a value was received
  Value heard;          ///< the value proposed in `heard_round`; once decided, the decided value
  bool decided = false;
};

/// The instances from the next one to be consumed on. Also the history, for nodes that are behind:
/// the last decided values before that instance, as many as fit into a fixed amount of memory.
class Store {
 public:
  /// `ahead_max`: limit of the number of slots, including the slot of next().
  Store(std::uint32_t ahead_max, std::uint64_t history_bytes);

  /// Forgets everything; the next instance is `next`.
  void begin(Instance next);
  /// Moves the next instance up to `next`. Keeps the slots from `next` on, and drops the history.
  void skip_to(Instance next);
  Instance next() const { return next_; }
  std::uint32_t ahead_max() const { return ahead_max_; }
  /// One above the highest slot.
  Instance end() const { return next_ + slots_.size(); }
  /// Null if the instance has no slot: it is below next(), or not below end().
  Slot* find(Instance instance);
  const Slot* find(Instance instance) const;
  /// The slot of the instance, made if there is none; null if the instance is below next() or too
  /// far ahead.
  Slot* make(Instance instance);
  /// The value of next() was consumed, and moves to the history.
  void consume();
  /// As consume(), for a value without a slot. Call it only while no slots exist.
  void add_past(const wire::ValueHead& head, ByteView bytes);

  /// Drops the history below `oldest`.
  void forget_below(Instance oldest);

  struct Decided {
    wire::ValueHead head;
    ByteView bytes;  ///< valid until the store changes
  };
  /// The oldest instance of the history; next() if there is none.
  Instance oldest() const { return next_ - past_.size(); }
  /// The decided value, if it is known here.
  std::optional<Decided> decided(Instance instance) const;
  /// The first instance whose value is not known to be decided.
  Instance undecided() const;

  /// Adds the length of the history, but not its values.
  void add_to(Digest& digest) const;

 private:
  struct Record {
    wire::ValueHead head;
    const std::byte* bytes = nullptr;
    std::uint32_t size = 0;
    std::uint64_t tail = 0;  ///< offset in the ring buffer at which the value ends
  };
  void drop_oldest();
  void add_to_history(const wire::ValueHead& head, ByteView bytes);
  std::byte* room_for(std::uint32_t size);

  std::uint32_t ahead_max_;
  Instance next_ = 1;
  std::deque<Slot> slots_;
  ByteRing ring_;
  std::deque<Record> past_;
};

}  // namespace peal::order::paxos
