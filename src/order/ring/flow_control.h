// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/ring/parts.h"
#include "order/ring/windows.h"

namespace peal::order::ring {

/// How many units this member may order on a visit. Also what this member writes on the token so
/// that the others can decide how many they may order: the packets that this member sent, missed
/// and still has to send, and the room of its application.
class FlowControl {
 public:
  explicit FlowControl(const Parts& parts) : p_(parts) {}

  /// Packets that the other members sent in the last rotation.
  std::uint32_t others() const { return minus(p_.token.fcc, fcc_before_); }
  /// Number of units that this member may order after it has answered `answered` requests. `room`:
  /// see ViewPackets::room().
  std::uint32_t allowance(std::uint32_t answered, std::uint64_t room);
  /// What this member did on a visit.
  struct Visit {
    std::uint32_t limit = 0, sent = 0;  ///< units that it was allowed to order, and that it ordered
    std::uint32_t answered = 0;         ///< packets that it retransmitted
    std::uint32_t requested = 0;        ///< positions that it requested for the first time
  };
  /// Writes the results of a visit on the token.
  void update_token(Instant now, const Visit& visit);
  /// All members wait for the application of the member credit_index().
  bool is_blocked() const { return credit_ == 0 && credit_index_ != wire::kNoIndex; }
  std::uint16_t credit_index() const { return credit_index_; }
  /// True if this member wants the token. While credit_ is above 0: this member has units to order.
  /// While credit_ is 0: all members wait for this member's application, which has read messages.
  bool wants_token() const;

  AcceleratedWindow& accelerated() { return accelerated_; }
  const AcceleratedWindow& accelerated() const { return accelerated_; }
  std::uint32_t global_window() const { return global_window_; }
  std::uint32_t personal_window() const { return personal_window_; }
  /// The global window ignores the current epoch (windows.h).
  void spoil() { window_.spoil(); }
  void begin_view();
  void check_invariants() const;

 private:
  /// Maximum number of packets per rotation with which members notice missing packets before
  /// max_gap is used up.
  std::uint32_t largest_window() const {
    return std::max(1U, p_.limits.max_gap / (p_.limits.request_lag + 3));
  }

  Parts p_;
  /// This member's contributions to the token's sums in the last rotation.
  std::uint32_t fcc_before_ = 0, losses_before_ = 0, limited_before_ = 0, backlog_before_ = 0;
  std::uint32_t credit_ = 0;  ///< from the last token, like credit_index_
  std::uint16_t credit_index_ = wire::kNoIndex;
  std::uint32_t personal_window_ = 0, global_window_ = 0;  ///< as used on the last visit
  GlobalWindow window_;
  AcceleratedWindow accelerated_;
};

}  // namespace peal::order::ring
