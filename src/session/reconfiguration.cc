// SPDX-License-Identifier: Apache-2.0
#include "session/reconfiguration.h"

#include <utility>

namespace peal::session {
namespace {

/// How many memberships are checked in one turn.
constexpr std::size_t kMembershipsPerTurn = 1'000;

}  // namespace

void Reconfiguration::begin(const Options& options) {
  Options& current = context_.options;
  Options next = options;
  next.cluster = current.cluster;
  next.node = current.node;
  next.message_bytes_max = current.message_bytes_max;
  next.tables_bytes_max = current.tables_bytes_max;
  current = std::move(next);
  registry_.reset_rules();
  for (const auto& [id, it] : registry_.all()) {
    const ClientRule* rule = find_rule(current, it->person, it->name);
    registry_.set_rule(*it, rule);
    if (rule == nullptr) {
      registry_.end_later(*it, wire::ClientCode::not_permitted,
                          "no rule allows this client any more");
    }
  }
  done_.emplace();
}

void Reconfiguration::work() {
  waits_for_room_ = false;
  std::size_t left = kMembershipsPerTurn;
  while (done_) {
    const auto at = registry_.all().lower_bound(done_->session);
    if (at == registry_.all().end()) return done_.reset();
    Session& it = *at->second;
    if (it.id != done_->session) *done_ = {it.id, {}};
    auto group = it.groups.upper_bound(done_->group);
    for (; group != it.groups.end(); ++group) {
      if (left-- == 0) return;
      if (!check(it, group->first, it.events.membership(group->second))) {
        waits_for_room_ = true;
        return;
      }
      done_->group = group->first;
    }
    *done_ = {it.id + 1, {}};
  }
}

/// Ends a membership that the rules no longer allow. Returns false if the node cannot accept the
/// leave now.
bool Reconfiguration::check(Session& it, const std::string& group, const Membership& member) {
  if (it.is_ending() || it.leaving) return true;
  const auto why = requests_.why_not(it, group, member.limits);
  if (!why) return true;
  const auto left = groups_.leave(it.id, group);
  // After any other error than would_block, the client has left already.
  if (!left) return left.error() != group::Refusal::would_block;
  if (it.link != nullptr) {
    it.link->membership_ends("the membership in '" + group + "' ends: " + *why);
  }
  return true;
}

}  // namespace peal::session
