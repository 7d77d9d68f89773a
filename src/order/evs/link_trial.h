// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/digest.h"
#include "order/engine.h"
#include "order/evs/parts.h"
#include "order/evs/peers.h"
#include "order/evs/tracked_packet.h"
#include "order/member_set.h"
#include "wire/trial.h"

namespace peal::order::evs {

/// Tests the link with one other member at a time, and answers the tests of other members.
/// link_trial.cc explains the reasons and the consequences.
class LinkTrial {
 public:
  LinkTrial(const Parts& parts, Peers& peers, TrackedPacket& tracked)
      : p_(parts), peers_(peers), tracked_(tracked) {}

  /// What follows from a trial.
  struct Verdict {
    enum class Kind : std::uint8_t {
      nothing,
      invite,  ///< the link works: the member may come into the view
      accuse,  ///< the view should exclude the member
    } kind = Kind::nothing;
    MemberId member{};
  };

  bool active() const { return active_; }
  /// `from` wants to join, and must pass a trial first. `set`: the members of the view or, while
  /// this member gathers, the processes. One or two of `set` begin a trial.
  void consider(Instant now, const MemberId& from, const MemberSet& set);
  /// The view makes no progress: see Membership::suspect().
  void suspect(Instant now, const MemberId& member, bool at_fault);
  void give_up(Instant now);

  Verdict on_timer(Instant now, Effects& out);
  Verdict on_echo(Instant now, const MemberId& from, const wire::Trial& frame, Effects& out);
  void on_passed(const MemberId& from, const MemberSet& set);
  void answer(const MemberId& from, wire::Trial ask, Effects& out);

  void add_to(Digest& digest) const { digest.add(number_); }
  void check_invariants() const;

 private:
  /// Which link is tested, and why.
  struct Subject {
    MemberId with{};
    bool in_view = false;
    MemberId suspect{};     ///< in a second trial: the member tested in the first trial, to be
                            ///< accused if the link with `with` works
    bool at_fault = false;  ///< `suspect`, or `with` if there is no `suspect`, is at fault for a
                            ///< stall, and is accused whatever the trials show
    ViewId view{};
  };

  void start(Instant now, const Subject& subject);
  void stop();
  Verdict end(Instant now, Effects& out);
  Verdict end_suspicion(Instant now, const Subject& subject, bool stays);
  int echoes() const;
  void send(const wire::Trial& frame, Effects& out);

  Parts p_;
  Peers& peers_;
  TrackedPacket& tracked_;
  bool active_ = false;
  Subject subject_;
  std::uint64_t number_ = 0;                               ///< number of the last trial
  std::uint32_t sent_ = 0;                                 ///< ASKs sent in each part
                                                           ///< (wire/trial.h)
  std::array<std::uint32_t, wire::kTrialParts> echoed_{};  ///< by part: bit i means that the ASK
                                                           ///< with index i was echoed
};

}  // namespace peal::order::evs
