// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/ids.h"
#include "seal/key.h"
#include "seal/packet.h"

namespace peal::seal {

/// Seals what one incarnation of a node sends. Nothing is allocated per packet.
/// Thread: its owner's, for everything.
class Sealer {
 public:
  /// `keys` are only read here. `self` must not have been given to a Sealer before: another
  /// incarnation has another epoch and a salt of its own from random_salt(), also if the process is
  /// the same. `cluster` is a number that all nodes of the cluster know, and nodes of others do
  /// not.
  Sealer(const Keys& keys, std::uint64_t cluster, const Incarnation& self);

  /// Sends with the sending key of these keys from now on. Counters go on, so that it is safe to go
  /// back to a key that was used before.
  void set_keys(const Keys& keys);
  /// Every data packet bears these 4 bytes of the caller's from now on, for everyone to read and
  /// for nobody to change; before, zeros.
  void set_mark(std::uint32_t mark) { mark_ = mark; }
  const MemberId& self() const { return self_.member; }

  /// Seals `plain` for one node, or for everyone if `to` is 0, as it always is of data. Writes the
  /// packet to `out`, which is overhead(lane) bytes longer. `plain` may be at
  /// out.subspan(headroom(lane)) already, or lies apart from `out`. False if this incarnation has
  /// sent kCounterMax packets in the lane: then nothing may be sent, ever again, and the node has
  /// to start anew.
  [[nodiscard]] bool seal(Lane lane, NodeId to, ByteView plain, ByteSpan out);

  /// For tests: as if so many packets had been sealed in a lane. Counters never go back.
  void skip_to(Lane lane, std::uint64_t counter);

 private:
  std::uint64_t cluster_;
  Incarnation self_;
  KeyId key_{};
  std::uint64_t badge_ = 0;
  std::uint32_t mark_ = 0;
  std::unique_ptr<GcmSealer> cipher_;
  std::array<std::uint64_t, kLanes> sealed_{};  ///< packets, in each lane, under whichever key
};

}  // namespace peal::seal
