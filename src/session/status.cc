// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/core.h"

// Status for people and tests.

namespace peal::session {
namespace {

constexpr std::size_t kMembershipsLookedAt = 256;

/// Nearly as much is unacknowledged as allowed. A client that knows the limits stops there by
/// itself, so the daemon never pauses it.
bool has_sent_its_fill(const Account& account, const Options& options) {
  constexpr std::uint64_t kNearly = 16;
  return account.unsettled_messages >= options.unsettled_messages_max ||
         account.unsettled_bytes >
             options.unsettled_bytes_max - options.unsettled_bytes_max / kNearly;
}

std::string wait_text(const Session& it, const Options& options) {
  if (it.ending != wire::ClientCode::ok) return it.ending_text;
  for (const std::uint32_t slot : it.block_slots) {
    const Membership* member = it.events.memberships()[slot].get();
    if (member->unwritten_bytes < member->limits.memory_bytes) continue;
    return "everybody who sends waits until this client takes what waits in '" + member->group +
           "'";
  }
  if (it.connection == nullptr) return "the client, which is not connected";
  switch (it.connection->pause) {
    case Connection::Pause::none:
      if (!has_sent_its_fill(it.account, options)) break;
      [[fallthrough]];
    case Connection::Pause::unsettled: return "what was sent before, which is not settled yet";
    case Connection::Pause::node: return "the node, which has too much to order";
    case Connection::Pause::input: return "other clients, whose large messages come in";
    case Connection::Pause::output: return "the client, which does not read its replies";
  }
  if (it.leaving) return "what was sent before the goodbye, which is not settled yet";
  if (it.events.spills()) return "the client, for which events are on disk";
  return {};
}

SessionStatus status_of(const Session& it, const Options& options, Instant now) {
  SessionStatus status;
  status.name = it.private_name;
  status.identity = person_text(it.person);
  status.connected = it.connection != nullptr;
  status.sent = it.account.received;
  status.settled = it.account.settled;
  status.events = it.events.pushed();
  status.events_seen = it.events.released();
  if (const auto oldest = it.events.oldest()) status.oldest = now - *oldest;
  status.waits_for = wait_text(it, options);
  status.memberships_count = it.groups.size() + 1;
  // List memberships with waiting events first, as far as a bounded search finds them.
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
    status.memberships.push_back({member.group, member.limits.policy, member.memory_bytes,
                                  member.limits.memory_bytes, member.disk_bytes,
                                  member.limits.disk_bytes, member.left_out});
  }
  return status;
}

}  // namespace

Sessions::Counters Sessions::Core::counters() const {
  Counters counters = counters_;
  counters.shared = draft_.put();
  counters.shared_no_room = draft_.no_room();
  return counters;
}

Status Sessions::Core::status(Instant now, std::string_view prefix) const {
  Status status;
  status.connections = connections_.size();
  status.memory_bytes = chunks_.bytes_in_use();
  status.disk_bytes = disk_bytes_;
  status.input_bytes = input_bytes_;
  status.regions = shelves_.size();
  for (const auto& shelf : shelves_) {
    status.region_bytes += shelf->region.bytes();
    status.region_bytes_in_use += shelf->region.bytes_in_use();
  }
  for (const bool held : {true, false}) {
    for (const auto& [id, it] : sessions_) {
      if (it->private_name.rfind(prefix, 0) != 0) continue;
      if (held) ++status.sessions_count;
      if (status.sessions.size() >= kStatusSessionsMax) continue;
      if (wait_text(*it, options_).empty() == held) continue;
      status.sessions.push_back(status_of(*it, options_, now));
    }
  }
  return status;
}

void Sessions::Core::check_invariants() const {
  std::uint64_t disk_bytes = 0;
  std::uint64_t waiting = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t input_waiters = 0;
  for (const auto& [id, it] : sessions_) {
    it->events.check_invariants();
    disk_bytes += it->events.disk_bytes();
    if (it->waits()) ++waiting;
    PEAL_ASSERT(it->account.settled <= it->account.received);
    PEAL_ASSERT(it->connection == nullptr || it->connection->session == it.get());
    PEAL_ASSERT((it->keep > Duration{}) == tokens_.contains(it->token));
  }
  for (const auto& [id, it] : connections_) {
    input_bytes += it->reserved;
    PEAL_ASSERT(it->record_bytes == 0 || it->input.size() <= it->record_bytes);
    if (it->pause == Connection::Pause::input) ++input_waiters;
    PEAL_ASSERT((it->state == State::open) == (it->session != nullptr));
    PEAL_ASSERT(it->control_offset <= kControlKept);
  }
  for (const auto& shelf : shelves_) {
    shelf->region.check_invariants();
    const auto sessions = std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& each) {
      return each.second->shelf == shelf.get();
    });
    PEAL_ASSERT(static_cast<std::size_t>(sessions) == shelf->sessions);
  }
  PEAL_ASSERT(disk_bytes == disk_bytes_);
  PEAL_ASSERT(waiting == waiting_);
  PEAL_ASSERT(input_bytes == input_bytes_ && input_bytes_ <= options_.input_bytes_max);
  PEAL_ASSERT(input_waiters == input_waiters_);
  groups_.check_invariants();
}

}  // namespace peal::session
