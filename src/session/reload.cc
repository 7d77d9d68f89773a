// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/core.h"

// Applies new rules to existing sessions and memberships.

namespace peal::session {
namespace {

/// How many memberships are checked in one turn.
constexpr std::size_t kMembershipsPerTurn = 1'000;

}  // namespace

void Sessions::Core::reconfigure(Instant now, const Options& options) {
  now_ = now;
  Options next = options;
  next.cluster = options_.cluster;
  next.node = options_.node;
  next.message_bytes_max = options_.message_bytes_max;
  options_ = std::move(next);
  by_rule_.assign(options_.clients.size(), 0);
  for (const auto& [id, it] : sessions_) {
    const ClientRule* rule = find_rule(options_, it->person, it->name);
    count_rule(*it, rule);
    if (rule == nullptr) {
      end_later(*it, wire::ClientCode::not_permitted, "no rule allows this client any more");
    }
  }
  judged_.emplace();
}

/// Sets the session's rule; null: none.
void Sessions::Core::count_rule(Session& it, const ClientRule* rule) {
  it.rule_index.reset();
  if (rule == nullptr) return;
  it.rule = *rule;
  it.rule_index = static_cast<std::size_t>(rule - options_.clients.data());
  ++by_rule_[*it.rule_index];
}

/// Ends memberships that the rules no longer allow: a bounded number per turn, while the node
/// accepts the leaves.
void Sessions::Core::end_memberships() {
  waits_for_room_ = false;
  std::size_t left = kMembershipsPerTurn;
  while (judged_) {
    const auto at = sessions_.lower_bound(judged_->session);
    if (at == sessions_.end()) return judged_.reset();
    Session& it = *at->second;
    if (it.id != judged_->session) *judged_ = {it.id, {}};
    auto group = it.groups.upper_bound(judged_->group);
    for (; group != it.groups.end(); ++group) {
      if (left-- == 0) return;
      if (!end_membership(it, group->first, it.events.membership(group->second))) {
        waits_for_room_ = true;
        return;
      }
      judged_->group = group->first;
    }
    *judged_ = {it.id + 1, {}};
  }
}

/// Ends a membership that the rules no longer allow. Returns false if the node cannot accept the
/// leave now.
bool Sessions::Core::end_membership(Session& it, const std::string& group,
                                    const Membership& member) {
  if (it.ending != wire::ClientCode::ok || it.leaving) return true;
  const auto why = why_not(it, group, member.limits);
  if (!why) return true;
  const auto left = groups_.leave(it.id, group);
  if (!left) return left.error() != group::Refusal::would_block;  // else it is leaving already
  if (it.connection != nullptr && it.connection->control.size() < kControlKept) {
    reply(*it.connection, 0, wire::ClientCode::not_permitted,
          "the membership in '" + group + "' ends: " + *why);
  }
  return true;
}

}  // namespace peal::session
