// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/ids.h"
#include "node/submit_queue.h"
#include "node/unit.h"
#include "order/engine.h"

namespace peal::node {

/// The messages that a unit completes: `completed` of them, with consecutive numbers.
struct Packed {
  std::uint64_t first_completed = 0;
  std::uint32_t completed = 0;
  std::array<Service, kChunksMax> services{};
};

/// Turns the queue into units, in the order submitted. A message that fits into one unit is never
/// cut; one that does not fills all units but its last to the brim, so that their packets are
/// equally long, which is what segmentation offload wants.
class Packer {
 public:
  Packer(SubmitQueue& queue, BufferPool& pool) : queue_(queue), pool_(pool) {}

  /// Builds the next unit, with wire::kDataHeaderBytes of headroom, and takes its messages off the
  /// queue; false if nothing waits or the pool is empty.
  bool next(std::uint32_t unit_bytes_max, order::Unit& out, Packed& packed);
  /// True if the start of the queue's front message is in a unit and its end is not.
  bool half_done() const { return offset_ > 0; }
  /// Begins that message again.
  void restart() { offset_ = 0; }
  std::uint32_t backlog_units() const;

  std::uint64_t units() const { return units_; }
  std::uint64_t parts() const { return parts_; }
  std::uint64_t pool_empty() const { return pool_empty_; }
  void check_invariants() const;
  std::uint64_t digest() const { return units_ * 31 + offset_; }

 private:
  /// Adds what it can of the front message; false if the unit ends before it.
  bool add_front(UnitWriter& writer, Packed& packed);

  SubmitQueue& queue_;
  BufferPool& pool_;
  std::uint32_t offset_ = 0;              ///< bytes of the front message that are in units
  std::uint32_t unit_bytes_max_ = 1'390;  ///< as last asked for; before, an Ethernet frame's worth
  std::uint64_t units_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t pool_empty_ = 0;
};

}  // namespace peal::node
