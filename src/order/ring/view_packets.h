// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/digest.h"
#include "order/ring/packets.h"
#include "order/ring/parts.h"

namespace peal::order::ring {

/// The packets of the current view at this member. Orders this member's packets, and stores the
/// packets of other members. Delivers all packets in order, up to the first packet that is missing,
/// or that is safe and not yet stable.
class ViewPackets {
 public:
  ViewPackets(const Parts& parts, std::uint32_t capacity, Seq first)
      : p_(parts), first_(first), stored_(capacity, first) {}

  const Packets& stored() const { return stored_; }
  Packets& stored() { return stored_; }
  Seq delivered() const { return delivered_; }
  /// All members are known to have every packet up to this position.
  Seq safe_line() const { return safe_line_; }

  /// Number of units that this member could order now: limited by the agreed max_gap, and by the
  /// space in this member's store.
  std::uint64_t room() const;
  /// Assigns the next positions to at most `limit` units of this node. Returns their number.
  std::uint32_t order_units(std::uint32_t limit, Effects& out);
  /// Sends a packet that this member ordered. `post`: the packet is sent after the token.
  void send_own(Seq seq, bool post, Effects& out);
  /// Stores a received packet. Returns false, and counts the packet as dropped, if the packet is a
  /// duplicate, outside the window or too large.
  bool store(const wire::Data& data, const BufferRef& packet);
  /// This member has sent the token with the aru `aru_sent`. Delivers the packets that can be
  /// delivered now, and discards packets that are stable and delivered.
  void settle(Seq aru_sent, Effects& out);
  void deliver_ready(Effects& out);
  void deliver(const Packet& packet, bool transitional, Effects& out);
  /// A view begins: forgets all packets.
  void begin_view();
  /// Only for a mutant of the simulator: forgets the retransmitted packets that are not yet
  /// delivered.
  void forget_repaired();

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  std::uint32_t unit_bytes_max() const {
    return p_.limits.packet_bytes_max - static_cast<std::uint32_t>(wire::kDataHeaderBytes);
  }

  Parts p_;
  const Seq first_;
  Packets stored_;
  Seq delivered_ = first_;
  Seq safe_line_ = first_;
  Seq aru_sent_before_ = first_;  ///< aru on the token that this member sent in the last rotation
};

}  // namespace peal::order::ring
