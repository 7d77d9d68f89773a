// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/packets.h"
#include "order/ring/parts.h"

namespace peal::order::ring {

/// Detects a member that receives tokens but no data, and so blocks all other members: for many
/// rotations, the aru does not advance because this member misses the next packet. A member that
/// has this packet suspects the blocking member, and the view excludes it. A member that also
/// misses this packet suspects the other members in turn. One of them may have the packet, but be
/// unable to send it. A member never suspects itself.
class StallWatch {
 public:
  StallWatch(const Parts& parts, const Packets& packets, Seq first)
      : p_(parts), packets_(packets), first_(first) {}

  void on_token(Instant now);
  void begin_view();
  /// Index of the member that, according to the last token, keeps the aru below the token's seq.
  /// kNoIndex if there is no such member.
  std::uint16_t index() const { return index_; }

 private:
  Parts p_;
  const Packets& packets_;
  const Seq first_;
  Seq aru_ = first_;
  std::uint16_t index_ = wire::kNoIndex;
  std::uint32_t rounds_ = 0;
  Instant since_{};
  std::uint32_t suspects_ = 0;  ///< selects the next member to suspect of being unable to send
};

}  // namespace peal::order::ring
