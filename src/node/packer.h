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

/// The messages that a unit completes: `completed` of them, with consecutive numbers.
struct Packed {
  std::uint64_t first_completed = 0;  ///< with kControlNumber in it if it is a control message
  std::uint32_t completed = 0;        ///< 0 to kChunksMax
  bool continues = false;             ///< begins with the rest of a message
  Service service{};                  ///< of the unit
};

/// Turns two queues into units, each in the order submitted: `control` goes before all of `queue`,
/// and no unit holds messages of both, or of two domains. A message that fits into one unit is
/// never cut; one that does not fills all units but its last to the brim, so that their packets are
/// equally long, which is what segmentation offload wants.
class Packer {
 public:
  Packer(SubmitQueue& queue, SubmitQueue& control, BufferPool& pool)
      : queue_(queue), control_(control), pool_(pool) {}

  /// Builds the next unit, with room for the engine's header in front, and takes the messages that
  /// it completes (see SubmitQueue); false if nothing may go or the pool is empty.
  bool next(std::uint32_t unit_bytes_max, order::Unit& out, Packed& packed);
  /// Nothing may go: nothing waits, or what waits is blocked.
  bool idle() const { return control_.waiting() == 0 && (blocked_ || queue_.waiting() == 0); }
  /// While true, only control messages go. A message that is half done is begun again afterwards.
  void block(bool blocked);
  /// Forgets the control messages: those whose end is in no unit yet are never in one, and those
  /// whose end is in one are in no other, whatever becomes of that.
  void drop_control();
  /// The units built of messages that are still in their queues are void: these messages wait
  /// again, but for what drop_control() forgot, and a message that is half done begins again.
  void rewind();
  /// True if the start of a queue's front message is in a unit and its end is not.
  bool half_done() const { return offset_ > 0; }
  std::uint32_t backlog_units() const;
  /// Who learns the unit that next() would build now: control messages are for all.
  order::Domain next_domain() const;

  std::uint64_t units() const { return units_; }
  std::uint64_t parts() const { return parts_; }
  std::uint64_t pool_empty() const { return pool_empty_; }
  void check_invariants() const;
  std::uint64_t digest() const { return units_ * 31 + offset_ + (blocked_ ? 1ULL << 40 : 0); }

 private:
  /// Adds what it can of the front message; false if the unit ends before it.
  bool add_front(SubmitQueue& queue, UnitWriter& writer, Packed& packed);
  /// Begins the message that is half done again.
  void restart() { offset_ = 0; }

  SubmitQueue& queue_;
  SubmitQueue& control_;
  BufferPool& pool_;
  bool blocked_ = false;
  bool control_half_done_ = false;        ///< if offset_ > 0: whose front message it is
  std::uint32_t offset_ = 0;              ///< bytes of that front message that are in units
  std::uint32_t unit_bytes_max_ = 1'390;  ///< as last asked for; before, an Ethernet frame's worth
  std::uint64_t units_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t pool_empty_ = 0;
};

}  // namespace peal::node
