// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "order/ramcast/domain_state.h"
#include "order/ramcast/lead.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/links.h"
#include "order/ramcast/takeover.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// A leader's care for the servers of its domain: who is in the view, and who has a stream of the
/// log.
class Members {
 public:
  Members(const Parts& parts, Links& links, Messages& messages, DomainState& state, LeaderLog& log,
          Lead& lead, Takeover& takeover, Watch& watch)
      : parts_(parts),
        links_(links),
        messages_(messages),
        state_(state),
        log_(log),
        lead_(lead),
        takeover_(takeover),
        watch_(watch) {}

  /// This server leads; `answered` have given their states and regions to it.
  void begin(std::uint16_t answered);
  void end() { to_base_ = owed_ = 0; }
  /// At each beat.
  void watch(Instant now, Effects& out);
  /// The server at this place has given its state and a new region to this leader.
  void on_state(Place place);
  /// Servers that have exposed new regions get their bases.
  void give_bases();
  /// This server has delivered a view behind `before`.
  void on_view(const wire::DomainView& before);

 private:
  NodeIndex node_at(Place place) const { return parts_.layout.servers(parts_.domain)[place]; }
  void change_view(Instant now);
  bool may_join(Instant now, Place place) const;
  template <class Gone>
  void leave_out(wire::DomainView& next, Gone is_gone) const;
  bool has_restarted(Place place) const;
  void replace_member(Instant now, wire::DomainView& next);
  bool are_units_held(Place without) const;
  bool has_unit(Place place, const Record& record) const;
  bool all_in_view(const wire::DomainView& next) const;
  void renew_streams(Instant now, Effects& out);
  bool needs_stream(Instant now, Place place);
  bool is_owed(const wire::MemberState& state, Place place) const;

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  DomainState& state_;
  LeaderLog& log_;
  Lead& lead_;
  Takeover& takeover_;
  Watch& watch_;
  std::uint16_t to_base_ = 0;  ///< bit i: the server at place i waits for its base
  /// Bit i: the server at place i was excluded while it lived. It gets a base once it has delivered
  /// everything up to the view without it.
  std::uint16_t owed_ = 0;
  std::vector<Seq> asked_in_;  ///< by place: the view in which the server was asked last
};

}  // namespace peal::order::ramcast
