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

  /// The consequence of a trial.
  struct Verdict {
    enum class Kind : std::uint8_t {
      nothing,
      invite,  ///< the link works: the view should admit the member
      accuse,  ///< the view should exclude the member
    } kind = Kind::nothing;
    MemberId member{};
  };

  bool active() const { return active_; }
  /// `from` wants to join, and must pass a trial first. `set`: the members of the view or, while
  /// this member gathers, the processes. At most two members of `set` test `from`. This member
  /// begins a trial if it is one of them.
  void consider(Instant now, const MemberId& from, const MemberSet& set);
  /// Tests the link with `member`, because the view makes no progress. See Membership::suspect().
  void suspect(Instant now, const MemberId& member, bool at_fault);
  void give_up(Instant now);

  Verdict on_timer(Instant now, Effects& out);
  Verdict on_echo(Instant now, const MemberId& from, const wire::Trial& frame, Effects& out);
  void on_passed(const MemberId& from, const MemberSet& set);
  void answer(const MemberId& from, wire::Trial ask, Effects& out);

  void add_to(Digest& digest) const { digest.add(number_); }
  void check_invariants() const;

 private:
  /// The tested link, and the reason for the test.
  struct Subject {
    MemberId with{};
    bool in_view = false;
    /// In a second trial: the member that the first trial tested. The suspect is accused if the
    /// link with `with` works.
    MemberId suspect{};
    /// True if the suspect (in a first trial, `with`) is at fault for a stall. Then the suspect is
    /// accused, whatever the trials show.
    bool at_fault = false;
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
  std::array<std::uint32_t, wire::kTrialParts> echoed_{};  ///< by part; bit i: ASK i was echoed
};

}  // namespace peal::order::evs
