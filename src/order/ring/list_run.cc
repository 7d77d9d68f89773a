// SPDX-License-Identifier: Apache-2.0
#include "order/ring/list_run.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::ring {

using wire::kNoIndex;

void ListRun::on_set() {
  best_ = 0;
  wanted_ = p_.membership.lists().pending() != 0;
}

void ListRun::begin_view(Instant now, Effects& out) {
  best_ = 0;
  block_ = kNoIndex;
  moves_ = false;
  if (p_.alone() && p_.membership.lists().pending() != 0) {
    p_.membership.lists().all_have_next();
    p_.membership.try_adopt(now, out);
  }
}

NodesWait ListRun::waits() const {
  const NodesWait view = p_.membership.lists().adoption_waits();
  if (p_.membership.lists().pending() == 0 || view.kind == NodesWait::Kind::view) return view;
  // A node that the pending list lacks never gets this list. First report such a node if it still
  // runs, because an operator can stop it.
  if (view.kind == NodesWait::Kind::running) return view;
  const MemberSet& members = p_.membership.members();
  if (block_ < members.size()) return {NodesWait::Kind::member, members[block_]};
  return view;
}

void ListRun::on_token(Instant now, Effects& out) {
  moves_ = wanted_ = false;
  const auto n = static_cast<std::uint16_t>(p_.membership.members().size());
  const auto enough = static_cast<std::uint16_t>(2 * n);
  const std::uint64_t next = p_.membership.lists().pending();
  const bool mine = next != 0 && p_.token.list == next;
  block_ = mine && p_.token.list_run < n ? p_.token.list_block : kNoIndex;
  const bool had = p_.token.list != 0 && p_.token.list == p_.membership.lists().active();
  // Only a member with a pending list begins a count. If a member that has already adopted the list
  // could also begin a count, the count would never stay 0. Then no member could begin a count for
  // another pending list.
  if (had && p_.token.list_run == 0 && next == 0) return;
  if (mine || (had && p_.token.list_run > 0 && !(next != 0 && p_.token.list_run >= enough))) {
    p_.token.list_run =
        std::min<std::uint16_t>(static_cast<std::uint16_t>(p_.token.list_run + 1), enough);
    // While the count grows, the token does not rest.
    moves_ = mine && p_.token.list_run > best_;
    best_ = std::max(best_, p_.token.list_run);
    if (mine && p_.token.list_run >= n) p_.membership.lists().all_have_next();
    if (mine && p_.token.list_run >= enough) p_.membership.try_adopt(now, out);
    return;
  }
  const bool settled =
      p_.token.list == p_.membership.lists().active() && p_.token.list_run >= enough;
  if (next != 0 && (p_.token.list_run == 0 || settled)) {
    p_.token.list = next;
    p_.token.list_run = 1;
    p_.token.list_block = kNoIndex;
  } else if (p_.token.list != 0) {
    p_.token.list_run = 0;
    p_.token.list_block = p_.membership.index();
  }
}

void ListRun::check_invariants() const { PEAL_ASSERT(best_ <= wire::kListRunMax); }

}  // namespace peal::order::ring
