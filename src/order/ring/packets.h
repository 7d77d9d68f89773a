// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// One packet of a view, as received or as ordered here.
struct Packet {
  wire::Data data;
  BufferRef unit;             ///< empty: not here
  std::uint32_t answers = 0;  ///< times I answered a request for it
};

/// The packets of one view between the discard line and the highest position received. All memory
/// is taken at construction; a position is found by its remainder.
class Packets {
 public:
  /// `capacity` is rounded up to a power of two. The first position is `first` + 1.
  Packets(std::uint32_t capacity, Seq first);

  /// Positions up to here were delivered and discarded.
  Seq discarded() const { return discarded_; }
  /// All positions up to here are here, or were.
  Seq contiguous() const { return contiguous_; }
  /// Highest position received.
  Seq high() const { return high_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(slots_.size()); }

  /// True if `seq` could be stored: above the discard line and within the capacity.
  bool in_window(Seq seq) const { return seq > discarded_ && seq - discarded_ <= slots_.size(); }
  bool has(Seq seq) const { return in_window(seq) && static_cast<bool>(slot(seq).unit); }
  /// True if the position is here or was delivered and discarded.
  bool received(Seq seq) const { return seq <= contiguous_ || has(seq); }
  Packet& at(Seq seq) { return slot(seq); }
  const Packet& at(Seq seq) const { return slot(seq); }
  /// Asks the processor for the bytes of a packet that is wanted next, if it is here.
  void prefetch(Seq seq) const { __builtin_prefetch(slot(seq).unit.view().data()); }
  /// Stores a packet; `in_window(seq)` and not `has(seq)`.
  void put(const wire::Data& data, BufferRef unit);
  /// Discards everything up to `seq`, which is contiguous.
  void discard_to(Seq seq);
  /// Forgets everything; the next position is the first one.
  void clear();
  /// Takes a position out again: only for the simulator's mutants.
  void forget(Seq seq);

 private:
  Packet& slot(Seq seq) { return slots_[seq & mask_]; }
  const Packet& slot(Seq seq) const { return slots_[seq & mask_]; }

  std::vector<Packet> slots_;
  std::uint64_t mask_;
  Seq first_;
  Seq discarded_ = first_;
  Seq contiguous_ = first_;
  Seq high_ = first_;
};

}  // namespace peal::order::ring
