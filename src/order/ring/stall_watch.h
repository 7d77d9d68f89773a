// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/packets.h"
#include "order/ring/parts.h"

namespace peal::order::ring {

/// Notices a member that receives tokens but no data, and so blocks all others. If that member
/// keeps the aru from advancing for many rotations, a member that has the next packet above the aru
/// suspects the blocking member, and the view excludes it. A member never suspects itself. A member
/// that misses the same packet suspects each other member in turn, to find one that has the packet
/// and cannot send it.
class StallWatch {
 public:
  StallWatch(const Parts& parts, const Packets& packets, Seq first)
      : p_(parts), packets_(packets), first_(first) {}

  void on_token(Instant now);
  void begin_view();
  /// Index of the member that keeps the aru below the token's seq, as the last token said; kNoIndex
  /// if no member does.
  std::uint16_t index() const { return index_; }

 private:
  Parts p_;
  const Packets& packets_;
  const Seq first_;
  Seq aru_ = first_;
  std::uint16_t index_ = wire::kNoIndex;
  std::uint32_t rounds_ = 0;
  Instant since_{};
  std::uint32_t suspects_ = 0;  ///< members suspected so far of being unable to send
};

}  // namespace peal::order::ring
