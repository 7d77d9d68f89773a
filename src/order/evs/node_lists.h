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

/// The active list of nodes and the pending one, and when a member may reconfigure from one to the
/// other (node_lists.cc).
class NodeLists {
 public:
  NodeLists(const Settings& settings, const Place& place)
      : place_(place), active_(settings.nodes), majority_(settings.majority) {}

  std::uint64_t active() const { return active_.hash; }
  std::uint64_t pending() const { return next_ ? next_->hash : 0; }  ///< 0 if none
  std::size_t size() const { return active_.nodes.size(); }          ///< of the active list
  /// The nodes of both lists, sorted.
  std::vector<NodeId> nodes() const;
  Primary primary_of(std::span<const MemberId> members) const;
  /// What keeps this view from reconfiguring, besides members without the pending list.
  NodesWait adoption_waits() const;
  bool is_configured(NodeId node) const;  ///< in the active list or the pending one
  /// True if this member may reconfigure to `list`, the active list of a member that it hears. All
  /// members of the last view must have `list` as their pending list, so that no member is left
  /// behind; and the majority rule must allow the change.
  bool may_follow_to(std::uint64_t list) const;

  /// Replaces the pending list. If `nodes` is the active list, there is no pending list from now
  /// on.
  void set_pending(const NodeList& nodes);
  /// Every member of the view has the pending list.
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
  bool confirmed_ = true;       ///< this member was in a primary view with the active list, or
                                ///< started with that list
};

}  // namespace peal::order::evs
