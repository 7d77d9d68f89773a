// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "sim/baselines/literal/takeover.h"

namespace peal::sim::genuine::literal {

/// A node as a member of its domain.
class Server {
 public:
  Server(const Layout& layout, const Options& options, const Places& places, Post& post,
         Links& links, std::uint64_t first_clock);

  void on_frame(Instant now, const Frame& frame, order::Effects& out);
  void tick(Instant now, order::Effects& out);
  void on_pause(Instant now);
  void go_on(Instant now, order::Host& host, Sender& sender, order::Effects& out);
  void put_own(const Head& head, ByteView unit) { tasks_.put_own(head, unit); }

  bool is_installed() const { return installed_; }
  Key delivered() const { return standing_.delivered; }
  const Standing& standing() const { return standing_; }
  const Store& store() const { return store_; }
  std::uint64_t takeovers() const { return takeover_.started(); }
  /// All servers of the domain that count have delivered this node's messages up to this index.
  std::uint64_t own_released(Instant now) const;
  order::WaitReason why(Instant now, bool waits) const;
  void check_invariants() const;

 private:
  void install(Instant now, order::Effects& out);
  void send_beats(order::Effects& out);
  void on_beat(Instant now, const MemberId& from, wire::ByteReader in);
  bool is_fit(Instant now) const;
  void consider_takeover(Instant now, order::Effects& out);
  Key delivered_by_all(Instant now) const;

  const Options& options_;
  Post& post_;
  Roster roster_;
  Store store_;
  Standing standing_;
  std::map<NodeId, Peer> peers_;
  Parts parts_;
  Leader leader_;
  Deliveries deliveries_;
  Tasks tasks_;
  Takeover takeover_;
  bool installed_ = false;
  Instant leader_seen_{};
};

}  // namespace peal::sim::genuine::literal
