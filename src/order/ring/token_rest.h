// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/flow_control.h"
#include "order/ring/list_run.h"
#include "order/ring/parts.h"

namespace peal::order::ring {

/// Decides when this member delays the token. The token rests at the representative while no member
/// has units to order. The representative also delays the token if no member can answer the
/// requests on it.
class TokenRest {
 public:
  TokenRest(const Parts& parts, FlowControl& flow, const ListRun& list)
      : p_(parts), flow_(flow), list_(list) {}

  bool holding() const { return holding_; }
  /// The token has arrived: cancels all timers that wait for the token or delay it.
  void on_visit();
  /// This member is ready to pass on the token. `quiet`: according to the token, no packet is
  /// missing, and no packet was sent in the last rotation. `idle`: `quiet`, and this member has no
  /// reason to keep the token moving. `sent_at`: when this member last sent the token. Returns true
  /// if the token rests here.
  bool rests(Instant now, bool quiet, bool idle, Instant sent_at);
  /// Holds the token for the time `pace`.
  void pace(Instant now, Duration pace);
  /// The time for which the token rests has passed. True if this member must pass on the token now.
  bool end_hold();
  /// As end_hold(), for the delay that pace() began.
  bool end_pace();
  /// Ends the rest, because a member has units to order. True if the token rested here. Then the
  /// caller works on the token once more.
  bool release();
  /// Another member wants the token. Returns the result of release().
  bool on_hold_cancel();
  /// This node has units to order. If the token may rest now, asks the representative to release
  /// it.
  void on_work(Instant now, Effects& out);
  void request(Instant now, Effects& out);
  /// True if the token may rest at the representative after this member has sent it. While the
  /// token rests, no sign of life comes.
  bool is_expected() const;
  void abandon() { holding_ = pacing_ = false; }
  void begin_view();

  void check_invariants() const;

 private:
  bool is_long_idle() const;

  Parts p_;
  FlowControl& flow_;
  const ListRun& list_;
  bool holding_ = false;
  bool pacing_ = false;
  bool quiet_ = false;  ///< `quiet` of the last visit: if true, the token may rest now
  std::uint32_t idle_rounds_ = 0;
  std::uint32_t rests_ = 0;  ///< consecutive rests of the token
};

}  // namespace peal::order::ring
