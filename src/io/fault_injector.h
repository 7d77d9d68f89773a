// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/random.h"
#include "io/faults.h"

namespace peal::io {

/// Decides for each packet which injected faults apply.
class FaultInjector {
 public:
  FaultInjector(const Faults& faults, std::uint64_t seed) : faults_(faults), random_(seed) {}

  void set(const Faults& faults) { faults_ = faults; }

  /// True if an incoming datagram on the socket of `lane` is lost.
  bool loses_in(NodeId from, Lane lane, bool by_multicast) {
    if (by_multicast && faults_.multicast_in_lost) return true;
    if (!touches(lane)) return false;
    if (faults_.deaf_to.contains(from)) return true;
    return faults_.drop_in > 0 && random_.chance(faults_.drop_in);
  }
  /// Decides at random whether an outgoing packet is lost.
  bool loses_out(Lane lane) {
    return touches(lane) && faults_.drop_out > 0 && random_.chance(faults_.drop_out);
  }
  /// True if packets to node `to` on `lane` are lost.
  bool mutes(NodeId to, Lane lane) const { return touches(lane) && faults_.mute_to.contains(to); }
  /// True if some node must not get data, so that multicast is forbidden.
  bool forbids_multicast() const { return touches(Lane::data) && !faults_.mute_to.empty(); }
  bool loses_multicast_out() const { return faults_.multicast_out_lost; }
  /// True if packets are lost individually, so that each must be sent as a separate message.
  bool by_packet(Lane lane) const { return touches(lane) && faults_.drop_out > 0; }

 private:
  bool touches(Lane lane) const { return !faults_.only || *faults_.only == lane; }

  Faults faults_;
  Random random_;
};

}  // namespace peal::io
