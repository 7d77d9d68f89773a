// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sim/baselines/sender.h"
#include "sim/baselines/whitebox/follower.h"
#include "sim/baselines/whitebox/leader.h"
#include "sim/baselines/whitebox/parts.h"
#include "sim/baselines/whitebox/takeover.h"

namespace peal::sim::genuine::whitebox {

/// A node as a member of its domain.
class Server {
 public:
  Server(const Layout& layout, const Options& options, Post& post, std::uint64_t first_clock);

  void on_frame(Instant now, const Frame& frame, order::Effects& out);
  void tick(Instant now, order::Effects& out);
  void on_pause(Instant now) { hearing_.excuse_all(now), leader_seen_ = now; }
  /// Installs the view, delivers what has a place, and proposes what waited.
  void go_on(Instant now, order::Host& host, Sender& sender, order::Effects& out);

  /// The highest key delivered here.
  Key delivered() const { return delivered_; }
  /// The node that is believed to lead.
  NodeId leader() const { return leader_of(rounds_.current); }
  bool is_installed() const { return installed_; }
  order::WaitReason why(Instant now, bool waits) const;
  const Store& store() const { return store_; }
  const Rounds& rounds() const { return rounds_; }
  std::uint64_t takeovers() const { return takeover_.started(); }
  std::size_t open_count() const { return leader_role_.open_count(); }
  void check_invariants() const;

 private:
  void on_multicast(Instant now, const MemberId& from, const Multicast& multicast,
                    order::Effects& out);
  void on_beat(Instant now, const MemberId& from, const Beat& beat, order::Effects& out);
  void after_promise(Instant now, order::Effects& out);
  void send_beats(Instant now, order::Effects& out);
  void consider_takeover(Instant now, order::Effects& out);
  bool is_fit(Instant now) const;
  Ballot highest_promise() const;
  std::uint64_t needed_by_others(Instant now) const;
  void install(Instant now, order::Effects& out);
  bool deliver_one(order::Host& host, Sender& sender, order::Effects& out);

  const Layout& layout_;
  const Options& options_;
  Post& post_;
  Roster roster_;
  Store store_;
  Rounds rounds_;
  Hearing hearing_;
  Parts parts_;
  Leader leader_role_;
  Follower follower_;
  Takeover takeover_;
  bool installed_ = false;
  Key delivered_ = 0;
  Instant next_beat_{};
  Instant leader_seen_{};
  std::optional<Instant> challenged_at_;  ///< since when a server has promised a higher ballot
};

}  // namespace peal::sim::genuine::whitebox
