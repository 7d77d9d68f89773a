// SPDX-License-Identifier: Apache-2.0
#include "order/ring/flow_control.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ring {

using wire::kNoIndex;

std::uint32_t FlowControl::allowance(std::uint32_t answered, std::uint64_t room) {
  const auto n = static_cast<std::uint32_t>(p_.membership.members().size());
  global_window_ = p_.membership.index() == 0 ? window_.value()
                   : p_.token.window != 0     ? p_.token.window
                                              : 16 * n;
  const std::uint32_t bound = largest_window();
  global_window_ = std::min(global_window_, std::max(bound, p_.options.global_window));
  personal_window_ = p_.options.personal_window;
  if (personal_window_ == 0) {
    // Share the window by backlog: a lone sender gets the whole window, and senders with equal
    // backlogs get equal parts.
    const std::uint64_t mine = p_.host.backlog_units();
    const std::uint64_t all =
        std::max<std::uint64_t>(std::uint64_t{minus(p_.token.backlog, backlog_before_)} + mine, 1);
    const std::uint64_t share = std::uint64_t{global_window_} * mine / all;
    personal_window_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        share, std::max(1U, global_window_ / n), std::max(1U, global_window_)));
  }
  const std::uint64_t limit = std::min<std::uint64_t>(
      {room, personal_window_, minus(minus(global_window_, others()), answered)});
  const std::uint32_t receivable = p_.host.receive_room_units();
  if (p_.alone()) return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, receivable));
  const std::uint32_t credit =
      p_.token.credit_index == kNoIndex || p_.token.credit_index == p_.membership.index()
          ? receivable
          : std::min(p_.token.credit, receivable);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, credit));
}

void FlowControl::update_token(Instant now, const Visit& visit) {
  PEAL_ASSERT(visit.sent <= visit.limit);
  const std::uint16_t index = p_.membership.index();
  const std::uint64_t rotation_packets = std::uint64_t{others()} + visit.answered + visit.sent;
  p_.token.fcc = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(rotation_packets, std::numeric_limits<std::uint32_t>::max() / 2));
  fcc_before_ = visit.answered + visit.sent;

  p_.token.losses = minus(p_.token.losses, losses_before_) + visit.requested;
  losses_before_ = visit.requested;
  const std::uint32_t waiting = p_.host.backlog_units();
  const std::uint32_t limited = visit.sent == visit.limit && waiting > 0 ? 1 : 0;
  p_.token.limited = minus(p_.token.limited, limited_before_) + limited;
  limited_before_ = limited;
  const std::uint32_t backlog = std::min(waiting + visit.sent, 1U << 20);
  p_.token.backlog = std::min(minus(p_.token.backlog, backlog_before_), 1U << 28) + backlog;
  backlog_before_ = backlog;

  const std::uint32_t room = p_.host.receive_room_units();
  if (p_.token.credit_index == kNoIndex || p_.token.credit_index == index ||
      room < p_.token.credit) {
    p_.token.credit = room;
    p_.token.credit_index = index;
  }
  credit_ = p_.token.credit;
  credit_index_ = p_.token.credit_index;
  if (index == 0) {
    window_.on_rotation(now, rotation_packets, p_.token.losses, p_.token.limited > 0);
    p_.token.window = window_.value();
  }
}

bool FlowControl::wants_token() const {
  if (credit_ != 0) return p_.can_originate();
  return credit_index_ == p_.membership.index() && p_.host.receive_room_units() > 0;
}

void FlowControl::begin_view() {
  fcc_before_ = losses_before_ = limited_before_ = backlog_before_ = 0;
  credit_ = 0;
  credit_index_ = kNoIndex;
  window_.reset(static_cast<std::uint32_t>(p_.membership.members().size()), p_.limits.request_lag,
                largest_window(), p_.options.global_window);
  accelerated_.reset(p_.options.accelerated_window);
}

void FlowControl::check_invariants() const {
  PEAL_ASSERT(p_.options.personal_window != 0 || personal_window_ <= std::max(1U, global_window_));
}

}  // namespace peal::order::ring
