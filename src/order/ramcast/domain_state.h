// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring_queue.h"
#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// The view of this server's domain, and how far this server and the others have delivered.
class DomainState {
 public:
  explicit DomainState(const Parts& parts) : parts_(parts) {}

  /// The latest view that this server has delivered, or begun with; number 0 before the first.
  const wire::DomainView& view() const { return view_; }
  bool has_view() const { return view_.id.number != 0; }
  /// The server is in its view, and so delivers.
  bool is_member() const { return has_view() && is_member(parts_.place); }
  /// The view since which this server has been a member without a break.
  Seq member_since() const { return member_since_; }
  /// The key of the view before the first one that this server has delivered, as a member or
  /// outside; at least 1. 0 before the first.
  Seq known_since() const { return known_since_; }
  bool is_member(Place place) const { return ((view_.members >> place) & 1U) != 0; }
  /// The incarnation of the node that counts.
  const MemberId& counted(Place place) const { return view_.roster[place]; }
  /// Members of the view, sorted.
  std::vector<MemberId> members() const;

  /// Largest key that this server has delivered; at least the key of its first view.
  Seq delivered() const { return delivered_; }
  void set_delivered(Seq key);
  /// Behind this key no more was delivered than a member can keep: see Options::overwritten_max().
  bool is_recent(Seq key) const { return key >= recent_since_; }

  /// Delivers the view: announces it to the application, if this server is in it. Behind views
  /// without this server, its transitional view has this server alone.
  void install(const wire::DomainView& view, Effects& out);
  /// The roster that an order is about to begin with.
  void bind(const wire::DomainView& roster) { view_ = roster; }

 private:
  const Parts& parts_;
  wire::DomainView view_;
  ViewId announced_{};  ///< the last regular view that the application was told; 0 before
  Seq delivered_ = 0;
  Seq member_since_ = 0;
  Seq known_since_ = 0;
  RingQueue<Seq> recent_;  ///< the last keys that were delivered
  Seq recent_since_ = 0;   ///< those in `recent_` are all behind this key
  bool excluded_ = false;  ///< since the last regular view
};

}  // namespace peal::order::ramcast
