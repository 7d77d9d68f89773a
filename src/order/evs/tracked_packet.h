// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/digest.h"
#include "order/engine.h"
#include "order/evs/parts.h"

namespace peal::order::evs {

/// The last packet that this member sent with Membership::send_tracked(): the engine's token or the
/// commit token. TrackedPacket retransmits this packet on a timer until arrived(). If it must
/// retransmit to a successor often, the link with that successor may be bad.
class TrackedPacket {
 public:
  explicit TrackedPacket(const Parts& parts) : p_(parts) {}

  /// Sends the packet. `extra` is added to the first timeout.
  void send(Instant now, const MemberId& to, const BufferRef& packet, Duration extra, Effects& out);
  /// The packet arrived: stops retransmission.
  void arrived() { p_.timers.cancel(Timer::resend); }
  /// A sign of life came after the packet was sent: restarts the retransmit timer if it is armed.
  void lives(Instant now) {
    if (p_.timers.armed(Timer::resend)) p_.timers.arm(Timer::resend, now + p_.settings.resend);
  }
  /// Ends the `extra` of send(): the next retransmission is at most the usual timeout from now.
  void end_extra(Instant now);
  /// Retransmits the packet now if its timer, because of an `extra`, has more than the usual
  /// timeout left.
  void resend_overdue(Instant now, Effects& out);
  void on_timer(Instant now, Effects& out);
  void forget();

  /// Called before the next packet of a view is sent. True if earlier packets to `to` had to be
  /// retransmitted so often that the link with `to` should be tested. `testing`: a trial already
  /// runs, so the result is false.
  bool is_suspect(Instant now, const MemberId& to, bool testing);
  /// A view begins.
  void on_view() {
    resent_ = resent_score_ = 0;
    forget();
  }
  /// Resets the score, and permits the next suspicion at once.
  void clear_suspicion(Instant now) {
    resent_score_ = 0;
    suspect_again_ = now;
  }
  /// A test of the link has ended: resets the score.
  void clear_score() { resent_score_ = 0; }

  void add_to(Digest& digest) const { digest.add(resent_score_); }
  void check_invariants() const;

 private:
  Parts p_;
  MemberId to_{};
  BufferRef packet_;
  std::uint32_t resent_ = 0;  ///< number of retransmissions of the last packet
  std::uint32_t resent_score_ = 0;
  Instant suspect_again_{};
};

}  // namespace peal::order::evs
