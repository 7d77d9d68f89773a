// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/ids.h"
#include "node/submit_queue.h"
#include "node/unit.h"
#include "order/engine.h"

namespace peal::node {

/// The messages that a unit completes. They have consecutive numbers.
struct Packed {
  /// The number of the first completed message. If the unit completes no message: the number of the
  /// message of which the unit has a part. Includes kControlNumber for control messages.
  std::uint64_t first_completed = 0;
  std::uint32_t completed = 0;  ///< number of completed messages, 0 to kChunksMax
  bool continues = false;       ///< the unit begins with the rest of a message
  Service service{};            ///< the unit's service
  DomainSet domains{};          ///< the unit's destinations
};

/// Turns the messages of two queues into units, in the order of each queue. All messages of
/// `control` go before those of `queue`. A unit never mixes messages of both queues, with
/// other destinations, or of services that need different units (unit_service()). A message that
/// fits into one unit is never cut. A larger message fills all its units but the last. So the
/// packets of these units have the same length, as segmentation offload requires.
class Packer {
 public:
  /// `causal`: see order::Traits::causal.
  Packer(SubmitQueue& queue, SubmitQueue& control, BufferPool& pool, bool causal)
      : queue_(queue), control_(control), pool_(pool), causal_(causal) {}

  /// Builds the next unit, with headroom for the engine's header. Takes the messages that the unit
  /// completes (see SubmitQueue). False if there is nothing to build (see idle()), or if the pool
  /// is empty.
  bool next(std::uint32_t unit_bytes_max, order::Unit& out, Packed& packed);
  /// True if next() has nothing to build: no messages wait, or all waiting messages are blocked.
  bool idle() const { return control_.waiting() == 0 && (blocked_ || queue_.waiting() == 0); }
  /// While `blocked`, only control messages go into units. A half-done message of `queue` restarts
  /// afterwards.
  void block(bool blocked);
  /// Drops the control messages that no unit completes yet. A message that a unit completes already
  /// stays in that unit; if the unit is voided, the message is dropped too.
  void drop_control();
  /// Voids the units whose messages are still in their queues. These messages wait again, except
  /// those that drop_control() dropped. A half-done message restarts.
  void rewind();
  /// True if the start of a queue's front message is in a unit and its end is not.
  bool half_done() const { return offset_ > 0; }
  std::uint32_t backlog_units() const;
  /// The destinations of the unit that next() would build now. Control messages go to all nodes.
  DomainSet next_domains() const;

  std::uint64_t units() const { return units_; }
  std::uint64_t parts() const { return parts_; }
  std::uint64_t pool_empty() const { return pool_empty_; }
  void check_invariants() const;
  std::uint64_t digest() const { return units_ * 31 + offset_ + (blocked_ ? 1ULL << 40 : 0); }

 private:
  /// Adds as much of the front message as fits; false if the unit is full before the message ends.
  bool add_front(SubmitQueue& queue, UnitWriter& writer, Packed& packed);
  /// Restarts the half-done message.
  void restart() { offset_ = 0; }

  SubmitQueue& queue_;
  SubmitQueue& control_;
  BufferPool& pool_;
  const bool causal_;
  bool blocked_ = false;
  bool control_half_done_ = false;        ///< the half-done message is a control message
  std::uint32_t offset_ = 0;              ///< bytes of the half-done message that are in units
  std::uint32_t unit_bytes_max_ = 1'390;  ///< argument of the last next(); initially for Ethernet
  std::uint64_t units_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t pool_empty_ = 0;
};

}  // namespace peal::node
