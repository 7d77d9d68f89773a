// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/flow_control.h"
#include "order/ring/list_run.h"
#include "order/ring/parts.h"

namespace peal::order::ring {

/// Decides when this member delays the token: the token rests at the representative while no member
/// has anything to order, and the token waits a while if no member can answer the requests on it.
class TokenRest {
 public:
  TokenRest(const Parts& parts, FlowControl& flow, const ListRun& list)
      : p_(parts), flow_(flow), list_(list) {}

  bool holding() const { return holding_; }
  /// The token has arrived: cancels all timers that wait for it or delay it.
  void on_visit();
  /// The token is ready to be passed on. `quiet`: the token shows no packet as missing or just
  /// sent. `idle`: this visit gives no reason to keep the token moving. `sent_at`: when this member
  /// last sent the token. Returns true if the token rests here.
  bool rests(Instant now, bool quiet, bool idle, Instant sent_at);
  /// Holds the token for the time `pace`.
  void pace(Instant now, Duration pace);
  /// The time of the rest or the pace is over. True if this member passes the token on now.
  bool end_hold();
  bool end_pace();
  /// This member has something to order. True if the token rested here: work on it once more.
  bool release();
  /// Another member wants the token. Result as for release().
  bool on_hold_cancel();
  /// The node has something to order: if the token may be resting, asks the representative to
  /// release it.
  void on_work(Instant now, Effects& out);
  void request(Instant now, Effects& out);
  /// The token that this member sends may rest at the representative, and shows no sign of life
  /// meanwhile.
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
  bool quiet_ = false;  ///< the last visit changed nothing: the token may be resting
  std::uint32_t idle_rounds_ = 0;
  std::uint32_t rests_ = 0;  ///< consecutive rests of the token
};

}  // namespace peal::order::ring
