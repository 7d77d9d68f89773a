// SPDX-License-Identifier: Apache-2.0
// Reconfiguring to another list of nodes within a view: what the token carries for it.
// evs/node_lists.cc has the rules.

#include <algorithm>

#include "order/ring/engine.h"

namespace peal::order::ring {

using wire::kNoIndex;

void RingEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  membership_.set_nodes(now, nodes, out);
  list_best_ = 0;
  list_wanted_ = membership_.lists().pending() != 0;
  if (list_wanted_ && !membership_.left()) on_work(now, out);  // the list travels on the token
}

NodesWait RingEngine::nodes_wait() const {
  const NodesWait view = membership_.lists().adoption_waits();
  if (membership_.lists().pending() == 0 || view.kind == NodesWait::Kind::view) return view;
  // A removed node never gets the pending list. Report that it still runs, since that can be fixed.
  if (view.kind == NodesWait::Kind::running) return view;
  const MemberSet& members = membership_.members();
  if (list_block_ < members.size()) return {NodesWait::Kind::member, members[list_block_]};
  return view;
}

// Counts consecutive members that have the same pending list: see evs/node_lists.cc. After one
// rotation all members have it; after two all know that.
void RingEngine::note_list(Instant now, Effects& out) {
  list_moves_ = list_wanted_ = false;
  const auto n = static_cast<std::uint16_t>(membership_.members().size());
  const auto enough = static_cast<std::uint16_t>(2 * n);
  const std::uint64_t next = membership_.lists().pending();
  const bool mine = next != 0 && token_.list == next;
  list_block_ = mine && token_.list_run < n ? token_.list_block : kNoIndex;
  const bool had = token_.list != 0 && token_.list == membership_.lists().active();
  // Only a member with a pending list begins a count. If members with the list already active
  // could, the count would never be zero, and no other pending list could begin.
  if (had && token_.list_run == 0 && next == 0) return;
  if (mine || (had && token_.list_run > 0 && !(next != 0 && token_.list_run >= enough))) {
    token_.list_run =
        std::min<std::uint16_t>(static_cast<std::uint16_t>(token_.list_run + 1), enough);
    // A token that advances the count does not rest; one that makes no progress may.
    list_moves_ = mine && token_.list_run > list_best_;
    list_best_ = std::max(list_best_, token_.list_run);
    if (mine && token_.list_run >= n) membership_.lists().all_have_next();
    if (mine && token_.list_run >= enough) membership_.try_adopt(now, out);
    return;
  }
  const bool settled = token_.list == membership_.lists().active() && token_.list_run >= enough;
  if (next != 0 && (token_.list_run == 0 || settled)) {
    token_.list = next;
    token_.list_run = 1;
    token_.list_block = kNoIndex;
  } else if (token_.list != 0) {
    token_.list_run = 0;
    token_.list_block = membership_.index();
  }
}

}  // namespace peal::order::ring
