// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/digest.h"
#include "order/engine.h"
#include "order/evs/parts.h"

namespace peal::order::evs {

/// The last packet that this member passed to another member and that must arrive: the engine's
/// token or the commit token. It is retransmitted on a timer until arrived(). How often that is
/// needed tells whether the link with the successor is bad.
class TrackedPacket {
 public:
  explicit TrackedPacket(const Parts& parts) : p_(parts) {}

  /// Sends the packet. `extra` is added to the first timeout.
  void send(Instant now, const MemberId& to, const BufferRef& packet, Duration extra, Effects& out);
  /// The packet arrived: stops retransmission.
  void arrived() { p_.timers.cancel(Timer::resend); }
  /// A sign of life has come after the packet was sent: restarts the retransmit timer.
  void lives(Instant now) {
    if (p_.timers.armed(Timer::resend)) p_.timers.arm(Timer::resend, now + p_.settings.resend);
  }
  /// Ends the `extra` of send(): the next retransmission is at most the usual timeout from now.
  void end_extra(Instant now);
  /// Retransmits the packet now if its timer, with an `extra`, has more than the usual timeout
  /// left.
  void resend_overdue(Instant now, Effects& out);
  void on_timer(Instant now, Effects& out);
  void forget();

  /// Called before a packet is sent within a view. True if earlier packets had to be retransmitted
  /// so often that the link with `to` should be tested. `testing`: a trial is already under way;
  /// the result is then false.
  bool is_suspect(Instant now, const MemberId& to, bool testing);
  /// A view begins.
  void on_view() {
    resent_ = resent_score_ = 0;
    forget();
  }
  /// The score starts again, and the next suspicion may arise at once.
  void clear_suspicion(Instant now) {
    resent_score_ = 0;
    suspect_again_ = now;
  }
  /// A test of the link has ended: the score starts again.
  void clear_score() { resent_score_ = 0; }

  void add_to(Digest& digest) const { digest.add(resent_score_); }
  void check_invariants() const;

 private:
  Parts p_;
  MemberId to_{};
  BufferRef packet_;
  std::uint32_t resent_ = 0;  ///< retransmissions of the last packet
  std::uint32_t resent_score_ = 0;
  Instant suspect_again_{};
};

}  // namespace peal::order::evs
