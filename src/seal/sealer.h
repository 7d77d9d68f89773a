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

/// Seals the packets that one incarnation of a node sends. Allocates nothing per packet. Thread:
/// its owner's, for everything.
class Sealer {
 public:
  /// Only the constructor reads `keys`. No two Sealers may have the same `self`, even within one
  /// process: each incarnation has an epoch of its own and a salt of its own from random_salt().
  /// `cluster` is a number that all nodes of the cluster know and nodes of other clusters do not.
  Sealer(const Keys& keys, std::uint64_t cluster, const Incarnation& self);

  /// Seals with the sending key of `keys` from now on. Counters continue, so that returning to an
  /// earlier key is safe.
  void set_keys(const Keys& keys);
  /// Sets the 4 bytes that every data packet carries from now on. They are authenticated but not
  /// encrypted, and zero at first.
  void set_mark(std::uint32_t mark) { mark_ = mark; }
  const MemberId& self() const { return self_.member; }

  /// Seals `plain` for node `to`, or for everyone if `to` is 0; for data, `to` must be 0. Writes
  /// the packet to `out`, which is overhead(lane) bytes longer than `plain`. `plain` lies at
  /// out.subspan(headroom(lane)), or does not overlap `out`. False if this incarnation has sealed
  /// kCounterMax packets in the lane. It can seal no more packets in the lane, and the node has to
  /// restart.
  [[nodiscard]] bool seal(Lane lane, NodeId to, ByteView plain, ByteSpan out);

  /// For tests: continues as if `counter` packets had been sealed in `lane`. `counter` must be at
  /// least the number of packets that were really sealed.
  void skip_to(Lane lane, std::uint64_t counter);

 private:
  std::uint64_t cluster_;
  Incarnation self_;
  KeyId key_{};
  std::uint64_t badge_ = 0;
  std::uint32_t mark_ = 0;
  std::unique_ptr<GcmSealer> cipher_;
  std::array<std::uint64_t, kLanes> sealed_{};  ///< number of packets in each lane, under all keys
};

}  // namespace peal::seal
