// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "order/engine.h"
#include "order/evs/parts.h"

namespace peal::order::evs {

/// The active list of nodes and the pending list. Decides when this member may reconfigure to the
/// pending list (node_lists.cc).
class NodeLists {
 public:
  NodeLists(const Settings& settings, const Place& place)
      : place_(place), active_(settings.nodes), majority_(settings.majority) {}

  std::uint64_t active() const { return active_.hash; }
  std::uint64_t pending() const { return next_ ? next_->hash : 0; }  ///< 0: no list is pending
  std::size_t size() const { return active_.nodes.size(); }          ///< of the active list
  /// The nodes of both lists, sorted.
  std::vector<NodeId> nodes() const;
  Primary primary_of(std::span<const MemberId> members) const;
  /// What keeps this view from reconfiguring, apart from members that lack the pending list.
  NodesWait adoption_waits() const;
  bool is_configured(NodeId node) const;  ///< true if `node` is in the active or the pending list
  /// True if this member may reconfigure to `list`, the active list of another member. All members
  /// of the last view must have `list` as their pending list, so that all of them can follow. If
  /// there is a majority rule, it must allow the change.
  bool may_follow_to(std::uint64_t list) const;

  /// Replaces the pending list. If `nodes` is the active list, no list is pending from now on.
  void set_pending(const NodeList& nodes);
  /// Notes that every member of the view has the same pending list.
  void all_have_next() { all_have_next_ = true; }
  /// The pending list is active from now on.
  void adopt();
  /// A view begins, or this member adopted the active list within its view.
  void on_view();

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  const Place& place_;
  NodeList active_;
  const bool majority_;
  std::optional<NodeList> next_;
  bool all_have_next_ = false;  ///< all members of the last view have the pending list
  /// This member was in a primary view with the active list, or started with the active list.
  bool confirmed_ = true;
};

}  // namespace peal::order::evs
