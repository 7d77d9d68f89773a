// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/parts.h"

// The status that people read.

namespace peal::session {
namespace {

constexpr std::size_t kMembershipsLookedAt = 256;

/// True if the unacknowledged messages have reached the limit of their number, or nearly the limit
/// of their bytes. A client that knows these limits then stops sending, so the daemon never pauses
/// its connection.
bool has_sent_its_fill(const Account& account, const Options& options) {
  constexpr std::uint64_t kNearly = 16;
  return account.unsettled_messages >= options.unsettled_messages_max ||
         account.unsettled_bytes >
             options.unsettled_bytes_max - options.unsettled_bytes_max / kNearly;
}

std::string wait_text(const Session& it, const Options& options) {
  if (it.is_ending()) return it.ending_text;
  for (const std::uint32_t slot : it.block_slots) {
    const Membership* member = it.events.memberships()[slot].get();
    if (member->unwritten_bytes < member->limits.memory_bytes) continue;
    return "all senders wait until this client reads its messages of '" + member->group + "'";
  }
  if (it.link == nullptr) return "the client, which is not connected";
  switch (it.link->pause) {
    case Link::Pause::none:
      if (!has_sent_its_fill(it.account, options)) break;
      [[fallthrough]];
    case Link::Pause::unsettled: return "acknowledgements of its earlier messages";
    case Link::Pause::node: return "the node, which has too much to order";
    case Link::Pause::input: return "other clients, whose large messages come in";
    case Link::Pause::output: return "the client, which does not read its replies";
  }
  if (it.leaving) return "acknowledgements of its messages from before the goodbye";
  if (it.events.spills()) return "the client, for which events are on disk";
  return {};
}

/// The name of the group's domain; empty if all nodes are in it, and for the private name.
std::string domain_of(const std::string& group, const group::Domains& domains) {
  const order::Domain domain = domains.of_group(group);
  return domain == 0 ? std::string() : domains.at(domain).name;
}

SessionStatus status_of(const Session& it, const Options& options, Instant now) {
  SessionStatus status;
  status.name = it.private_name;
  status.identity = person_text(it.person);
  status.connected = it.link != nullptr;
  status.sent = it.account.received;
  status.settled = it.account.settled;
  status.events = it.events.pushed();
  status.events_seen = it.events.released();
  if (const auto oldest = it.events.oldest()) status.oldest = now - *oldest;
  status.waits_for = wait_text(it, options);
  status.memberships_count = it.groups.size() + 1;
  // Prefer memberships with waiting events, as far as a bounded search finds them.
  const auto& memberships = it.events.memberships();
  const std::size_t seen = std::min(memberships.size(), kMembershipsLookedAt);
  std::vector<std::size_t> slots;
  for (const bool waiting : {true, false}) {
    for (std::size_t slot = 0; slot < seen && slots.size() < kStatusMembershipsMax; ++slot) {
      const Membership* member = memberships[slot].get();
      if (member != nullptr && (member->waiting_bytes() > 0) == waiting) slots.push_back(slot);
    }
  }
  std::sort(slots.begin(), slots.end());
  for (const std::size_t slot : slots) {
    const Membership& member = *memberships[slot];
    status.memberships.push_back({member.group, domain_of(member.group, options.domains),
                                  member.limits.policy, member.memory_bytes,
                                  member.limits.memory_bytes, member.disk_bytes,
                                  member.limits.disk_bytes, member.left_out});
  }
  return status;
}

}  // namespace

std::string Sessions::groups_wait_for() const {
  if (parts_->groups.is_settled()) return {};
  std::string text;
  for (const MemberId& member : parts_->groups.awaited()) {
    const std::string_view name = parts_->context.host.node_name(member.node);
    text += text.empty() ? "the group tables of " : ", ";
    text += name.empty() ? std::to_string(member.node.value) : std::string(name);
  }
  return text;
}

Status Sessions::status(Instant now, std::string_view prefix) const {
  const Options& options = parts_->context.options;
  Status status;
  status.waits_for = groups_wait_for();
  status.connections = parts_->connections.count();
  status.memory_bytes = parts_->backlog.memory_bytes();
  status.disk_bytes = parts_->backlog.disk_bytes();
  status.input_bytes = parts_->connections.input_bytes();
  status.regions = parts_->regions.count();
  status.region_bytes = parts_->regions.bytes();
  status.region_bytes_in_use = parts_->regions.bytes_in_use();
  for (const bool held : {true, false}) {
    for (const auto& [id, it] : parts_->registry.all()) {
      if (it->private_name.rfind(prefix, 0) != 0) continue;
      if (held) ++status.sessions_count;
      if (status.sessions.size() >= kStatusSessionsMax) continue;
      if (wait_text(*it, options).empty() == held) continue;
      status.sessions.push_back(status_of(*it, options, now));
    }
  }
  return status;
}

}  // namespace peal::session
