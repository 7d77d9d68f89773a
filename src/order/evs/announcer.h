// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/digest.h"
#include "base/random.h"
#include "order/engine.h"
#include "order/evs/node_lists.h"
#include "order/evs/parts.h"
#include "order/evs/peers.h"

namespace peal::order::evs {

/// Sends JOINs while this member gathers, PROBEs for members of other views, and EPOCH_NOTICEs to
/// nodes that send with an old epoch. Decides when to send each of these packets.
class Announcer {
 public:
  Announcer(const Parts& parts, const NodeLists& lists, Peers& peers)
      : p_(parts),
        lists_(lists),
        peers_(peers),
        random_(parts.settings.seed),
        join_number_(parts.settings.first_count) {}

  /// Completes and sends a JOIN. Unless the JOIN announces a leave, arms the timer for the next
  /// JOIN.
  void send_join(Instant now, wire::Join join, Effects& out);
  /// True if a JOIN may be sent now. Otherwise arms the timer for the next JOIN at the earliest
  /// time allowed.
  bool expedite_join(Instant now);
  /// This member has a new identity: JOINs are numbered from the beginning.
  void restart() { join_number_ = p_.settings.first_count; }

  void on_probe_timer(Instant now, Effects& out);
  /// `from`, a node outside the view, may not hear this member. Sends a PROBE for `from` if it is
  /// this member's turn to answer.
  void answer(Instant now, const MemberId& from, Effects& out);
  /// Starts to look for other nodes: arms the probe timer.
  void start_probes(Instant now) {
    if (!p_.timers.armed(Timer::probe)) arm_probe(now);
  }

  /// Notifies `node` of its newest incarnation that this member knows. Sends nothing if no
  /// incarnation is known, or if the last notice to `node` is recent.
  void tell_newest(Instant now, NodeId node, Effects& out);

  void add_to(Digest& digest) const { digest.add(join_number_); }

 private:
  void send_probe(Instant now, Effects& out);
  void arm_probe(Instant now);

  Parts p_;
  const NodeLists& lists_;
  Peers& peers_;
  Random random_;
  std::uint64_t join_number_;
  Instant last_join_at_{};
  bool join_sent_ = false;
  std::uint64_t probe_round_ = 0;
  Instant last_probe_at_{};
  bool probe_sent_ = false;
};

}  // namespace peal::order::evs
