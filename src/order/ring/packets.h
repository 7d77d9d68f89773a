// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// One packet of a view, received or ordered at this member.
struct Packet {
  wire::Data data;
  BufferRef unit;             ///< empty if this member does not have the packet
  std::uint32_t answers = 0;  ///< times that this member retransmitted the packet
};

/// The packets of one view above the last discarded position, up to the highest position received.
/// Allocates only at construction. The slot of a position is the position modulo the capacity.
class Packets {
 public:
  /// `capacity` is rounded up to a power of two. The first position is `first` + 1.
  Packets(std::uint32_t capacity, Seq first);

  /// The packets up to this position were delivered and discarded.
  Seq discarded() const { return discarded_; }
  /// This member has, or had, all packets up to this position.
  Seq contiguous() const { return contiguous_; }
  /// Highest position that this member received or ordered.
  Seq high() const { return high_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(slots_.size()); }

  /// True if `seq` could be stored: above the last discarded position and within the capacity.
  bool in_window(Seq seq) const { return seq > discarded_ && seq - discarded_ <= slots_.size(); }
  bool has(Seq seq) const { return in_window(seq) && static_cast<bool>(slot(seq).unit); }
  /// True if the position is stored, or was delivered and discarded.
  bool received(Seq seq) const { return seq <= contiguous_ || has(seq); }
  Packet& at(Seq seq) { return slot(seq); }
  const Packet& at(Seq seq) const { return slot(seq); }
  /// Prefetches the bytes of the packet at `seq` into the processor's cache.
  void prefetch(Seq seq) const { __builtin_prefetch(slot(seq).unit.view().data()); }
  /// Stores a packet. Requires `in_window(seq)` and not `has(seq)`.
  void put(const wire::Data& data, BufferRef unit);
  /// Discards all packets up to `seq`. Requires `seq` <= contiguous().
  void discard_to(Seq seq);
  /// Forgets all packets. The next position is `first` + 1 again.
  void clear();
  /// Removes a packet: only for the simulator's mutants.
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
