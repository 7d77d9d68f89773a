// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/ramcast/backlogs.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/follower.h"
#include "order/ramcast/lead.h"
#include "order/ramcast/links.h"
#include "order/ramcast/members.h"
#include "order/ramcast/repair.h"
#include "order/ramcast/replies.h"
#include "order/ramcast/takeover.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// The rounds of a domain: the beginning of the order, who takes over, and when a candidate leads.
class Rounds {
 public:
  Rounds(const Parts& parts, Links& links, Messages& messages, DomainState& state,
         Follower& follower, Lead& lead, Takeover& takeover, Watch& watch, Members& members,
         Replies& replies, Repair& repair, Backlogs& backlogs)
      : parts_(parts),
        links_(links),
        messages_(messages),
        state_(state),
        follower_(follower),
        lead_(lead),
        takeover_(takeover),
        watch_(watch),
        members_(members),
        replies_(replies),
        repair_(repair),
        backlogs_(backlogs) {}

  /// At each beat.
  void watch(Instant now, Effects& out);
  /// A candidate that knows enough becomes the leader, once it has all units of its base. True if
  /// this server leads now.
  bool try_to_lead(Instant now, Effects& out);
  /// Another server leads, or will.
  void step_down();

  void on_takeover(Instant now, const MemberId& from, NodeIndex node,
                   const wire::Takeover& takeover, Effects& out);
  void on_state(const MemberId& from, NodeIndex node, const wire::MemberState& state);

 private:
  void watch_leader(Instant now);
  void begin_order(Instant now, Effects& out);
  void take_over(Instant now, bool bootstrap, const wire::DomainView& view, Effects& out);
  bool is_quorum_of(const wire::DomainView& proposed) const;
  bool gather_units(Instant now, Effects& out);
  void pull(const BaseMessage& message, Effects& out);
  bool has_unit(Instant now, const BaseMessage& message);

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  DomainState& state_;
  Follower& follower_;
  Lead& lead_;
  Takeover& takeover_;
  Watch& watch_;
  Members& members_;
  Replies& replies_;
  Repair& repair_;
  Backlogs& backlogs_;
  std::optional<Decision> decision_;  ///< of a candidate that lacks units
  std::size_t lacks_ = 0;             ///< units
  Instant progress_at_{};             ///< when a unit came last
  unsigned pulls_ = 0;                ///< how often units were asked for
  Instant pull_at_{};
  Duration pull_gap_{};
};

}  // namespace peal::order::ramcast
