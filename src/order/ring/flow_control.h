// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/ring/parts.h"
#include "order/ring/windows.h"

namespace peal::order::ring {

/// Decides how many units this member may order on a visit. Also writes on the token what the other
/// members need for the same decision: the numbers of packets that this member sent, missed and
/// still has to send, and the number of units that its application can take.
class FlowControl {
 public:
  explicit FlowControl(const Parts& parts) : p_(parts) {}

  /// Number of packets that the other members sent in the last rotation.
  std::uint32_t others() const { return minus(p_.token.fcc, fcc_before_); }
  /// Number of units that this member may order after it has answered `answered` requests. `room`:
  /// see ViewPackets::room().
  std::uint32_t allowance(std::uint32_t answered, std::uint64_t room);
  /// The results of a visit at this member.
  struct Visit {
    std::uint32_t limit = 0, sent = 0;  ///< units that it might order; units that it ordered
    std::uint32_t answered = 0;         ///< packets that it retransmitted
    std::uint32_t requested = 0;        ///< positions that it requested for the first time
  };
  /// Writes the results of a visit on the token.
  void update_token(Instant now, const Visit& visit);
  /// True if all members wait until the application of the member credit_index() can take units.
  bool is_blocked() const { return credit_ == 0 && credit_index_ != wire::kNoIndex; }
  std::uint16_t credit_index() const { return credit_index_; }
  /// True if this member wants the token. If credit_ is above 0, it wants the token if it has units
  /// to order. If credit_ is 0, all members wait for one application. Then the member of this
  /// application wants the token as soon as the application can take units again.
  bool wants_token() const;

  AcceleratedWindow& accelerated() { return accelerated_; }
  const AcceleratedWindow& accelerated() const { return accelerated_; }
  std::uint32_t global_window() const { return global_window_; }
  std::uint32_t personal_window() const { return personal_window_; }
  /// The global window discards the measurements of the current epoch (windows.h).
  void spoil() { window_.spoil(); }
  void begin_view();
  void check_invariants() const;

 private:
  /// Maximum number of packets per rotation. With more packets, max_gap could be used up before
  /// members request missing packets.
  std::uint32_t largest_window() const {
    return std::max(1U, p_.limits.max_gap / (p_.limits.request_lag + 3));
  }

  Parts p_;
  /// This member's contributions to the token's sums in the last rotation.
  std::uint32_t fcc_before_ = 0, losses_before_ = 0, limited_before_ = 0, backlog_before_ = 0;
  std::uint32_t credit_ = 0;  ///< credit_ and credit_index_ are those of the last token
  std::uint16_t credit_index_ = wire::kNoIndex;
  std::uint32_t personal_window_ = 0, global_window_ = 0;  ///< as used on the last visit
  GlobalWindow window_;
  AcceleratedWindow accelerated_;
};

}  // namespace peal::order::ring
