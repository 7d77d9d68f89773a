// SPDX-License-Identifier: Apache-2.0
#include "session/backlog.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session {
namespace {

/// Larger limits are reduced to this value, so that sums do not overflow.
constexpr std::uint64_t kSlowBytesMost = 1ULL << 60;

/// Returns true if `bytes` more bytes would exceed the limit `most` of the membership. The limit
/// applies to events that are not yet written to the connection. All unseen events, written or not,
/// may take kUnseenBytesMax more: the client's `seen` may be queued behind its own messages, which
/// this limit may delay.
bool is_beyond(const Membership& member, std::uint64_t bytes, std::uint64_t most) {
  // With policy `spill`, events on disk have a limit of their own.
  if (member.limits.policy != wire::SlowPolicy::spill) bytes += member.disk_bytes;
  most += member.held_bytes;
  return member.unwritten_bytes + bytes > most ||
         member.memory_bytes + bytes > most + kUnseenBytesMax;
}

/// True if at least 1/`part` of any limit of the membership is used.
bool is_near(const Membership& member, std::uint64_t part) {
  const std::uint64_t limit = member.memory_limit();
  return member.unwritten_bytes >= limit / part ||
         member.memory_bytes >= (limit + kUnseenBytesMax) / part ||
         member.disk_bytes >= member.limits.disk_bytes / part;
}

/// Counts a dropped message. Of the messages in a gap that have a place, the gap names the first
/// and the last.
void count_dropped(wire::GapEvent& gap, const wire::Place& place) {
  const bool first = gap.messages++ == 0;
  if (first || (place.has_position() && !gap.first.has_position())) gap.first = place;
  if (place.has_position() || !gap.last.has_position()) gap.last = place;
}

}  // namespace

wire::SlowLimits Backlog::limits_of(const wire::SlowLimits& asked) const {
  const auto or_else = [](auto value, auto normal) { return value > 0 ? value : normal; };
  wire::SlowLimits limits;
  limits.policy =
      asked.policy == wire::SlowPolicy::normal ? context_.options.slow.policy : asked.policy;
  limits.memory_bytes = std::clamp(or_else(asked.memory_bytes, context_.options.slow.memory_bytes),
                                   kSlowBytesMin, kSlowBytesMost);
  limits.disk_bytes = std::clamp(or_else(asked.disk_bytes, context_.options.slow.disk_bytes),
                                 kSlowBytesMin, kSlowBytesMost);
  limits.age_ms = or_else(asked.age_ms, context_.options.slow.age_ms);
  return limits;
}

void Backlog::note_block(Session& it, std::uint32_t slot) {
  const Membership& member = it.events.membership(slot);
  std::erase(it.block_slots, slot);
  if (member.joins > 0 && member.limits.policy == wire::SlowPolicy::block) {
    it.block_slots.push_back(slot);
  }
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint32_t each : it.block_slots) {
    least = std::min(least, it.events.membership(each).limits.memory_bytes);
  }
  it.block_bytes_least = least;
  std::erase(blocking_, &it);
  if (!it.block_slots.empty()) blocking_.push_back(&it);
}

// ---- limits ----

/// The share of one session, in bytes of memory; std::nullopt while at most half of
/// Options::memory_bytes_max is in use. The other half is divided evenly among the sessions with
/// waiting events. Other sessions do not affect a session below its share, and the sum stays
/// bounded.
std::optional<std::uint64_t> Backlog::share() const {
  const std::uint64_t half = context_.options.memory_bytes_max / 2;
  if (chunks_.bytes_in_use() <= half) return std::nullopt;
  return half / std::max<std::uint64_t>(1, waiting_);
}

bool Backlog::is_over(const Session& of, const Membership& member, std::uint64_t bytes) const {
  if (is_beyond(member, bytes, member.limits.memory_bytes)) return true;
  const auto most = share();
  return most && of.events.memory_bytes() + bytes > *most;
}

/// True below three quarters of the limit. Because of this hysteresis, dropping does not start and
/// stop with every message.
bool Backlog::is_under_again(const Session& of, const Membership& member) const {
  return !is_over(of, member, member.limits.memory_bytes / 4);
}

std::uint64_t Backlog::room_bytes() const {
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (const Session* it : blocking_) room = std::min(room, room_of(*it));
  return room;
}

/// How many more bytes the session's memberships with policy `block` accept.
std::uint64_t Backlog::room_of(const Session& it) const {
  // After its goodbye a client sends no `seen`. The session ends only after the client's last
  // messages are ordered, so these messages must not wait for the client.
  if (it.is_ending() || it.leaving) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const auto most = share();
  // Written but unseen events do not count: the client's `seen` may be queued behind its own
  // messages, which this limit may delay. Events on disk do not count either: they have a limit of
  // their own.
  const std::uint64_t all = it.events.unwritten_bytes();
  // This function is called often, and there may be many groups. So skip the loop while few bytes
  // wait in all groups together.
  if (all <= it.block_bytes_least / 2 && (!most || all <= *most)) return it.block_bytes_least - all;
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint32_t slot : it.block_slots) {
    const Membership& member = *it.events.memberships()[slot];
    const std::uint64_t limit = member.limits.memory_bytes;
    room = std::min(room, limit - std::min(limit, member.unwritten_bytes));
    if (most && member.unwritten_bytes > *most) return 0;
  }
  return room;
}

void Backlog::too_slow(Session& it, const Membership& member, std::string_view what) {
  const std::string where = member.group.empty() ? "its private name" : "'" + member.group + "'";
  registry_.end_later(
      it, wire::ClientCode::slow,
      "the client does not take what it is sent in " + where + ": " + std::string(what));
}

// ---- events ----

void Backlog::offer(Session& to, std::uint32_t slot, const ChunkRef& chunk,
                    const wire::Place* message, bool held) {
  if (to.is_ending()) return;
  const std::uint64_t bytes = chunk.cost() + kEventCost;
  Membership& member = to.events.membership(slot);
  if (to.events.released() >= member.held_last) member.held_bytes = 0;
  const std::uint64_t allowed = held ? bytes : 0;
  member.held_bytes += allowed;
  if (message != nullptr && leaves_out(to, slot, chunk, *message)) {
    member.held_bytes -= allowed;
    return;
  }
  if (message == nullptr) {
    push_all_gaps(to);
  } else if (member.gap.messages > 0) {
    push_gap(to, slot);
  }
  if (!make_room(to, slot, bytes)) return;
  push(to, slot, chunk);
  if (held) member.held_last = to.events.pushed();
}

/// Applies policy `drop` to a message: returns true if the message is dropped.
bool Backlog::leaves_out(Session& to, std::uint32_t slot, const ChunkRef& chunk,
                         const wire::Place& place) {
  Membership& member = to.events.membership(slot);
  if (member.limits.policy != wire::SlowPolicy::drop) return false;
  const auto age = member.age(context_.now);
  const bool old = member.limits.age_ms > 0 && age && *age >= milliseconds(member.limits.age_ms);
  const bool leaving_out = to.gaps.contains(slot);
  const bool over =
      leaving_out ? !is_under_again(to, member) : is_over(to, member, chunk.cost() + kEventCost);
  if (!old && !over) {
    to.gaps.erase(slot);
    return false;
  }
  PEAL_PROBE("session.left_out");
  to.gaps.insert(slot);
  ++context_.counters.left_out;
  ++member.left_out;
  if (PEAL_MUTANT(sm4_gap_forgotten)) return true;
  count_dropped(member.gap, place);
  member.gap.bytes += chunk.size();
  // push_gaps() queues the gap when the client sends `seen`. But if no event of the membership
  // waits, the client sends no `seen`, so queue the gap now.
  if (member.events == 0) {
    to.gaps.erase(slot);
    push_gap(to, slot);
  }
  return true;
}

/// Queues a gap for the messages that were dropped.
void Backlog::push_gap(Session& to, std::uint32_t slot) {
  Membership& member = to.events.membership(slot);
  wire::GapEvent gap = std::exchange(member.gap, {});
  gap.group = member.group;
  push(to, slot, encoder_.gap(gap));
}

/// Called before events that are no messages. A dropped message counts for one group only, but may
/// have been sent to other groups too. So the gap must precede the next view of any group.
void Backlog::push_all_gaps(Session& to) {
  const std::vector<std::uint32_t> slots(to.gaps.begin(), to.gaps.end());
  for (const std::uint32_t slot : slots) {
    if (to.events.membership(slot).gap.messages > 0) push_gap(to, slot);
  }
}

/// Queues the gaps of the slots that are again well below their limits.
void Backlog::push_gaps(Session& to) {
  const std::vector<std::uint32_t> slots(to.gaps.begin(), to.gaps.end());
  for (const std::uint32_t slot : slots) {
    const Membership& member = to.events.membership(slot);
    if (!is_under_again(to, member)) continue;
    to.gaps.erase(slot);
    if (member.gap.messages > 0) push_gap(to, slot);
  }
}

/// For policy `block`: true if written but unseen events use so much memory that `bytes` more do
/// not fit.
bool Backlog::keeps_too_much(const Session& of, const Membership& member,
                             std::uint64_t bytes) const {
  if (member.waiting_bytes() + bytes > member.memory_limit() + kUnseenBytesMax) return true;
  const auto most = share();
  return most && member.unwritten_bytes <= *most && of.events.memory_bytes() + bytes > *most;
}

/// Applies the membership's policy to an event of `bytes` bytes that is to be queued. Returns false
/// if the session ends instead.
bool Backlog::make_room(Session& to, std::uint32_t slot, std::uint64_t bytes) {
  const Membership& member = to.events.membership(slot);
  const wire::SlowLimits& limits = member.limits;
  const bool over = is_over(to, member, bytes);
  switch (limits.policy) {
    case wire::SlowPolicy::evict:
      if (!over) break;
      too_slow(to, member, std::to_string(limits.memory_bytes) + " bytes wait");
      return false;
    case wire::SlowPolicy::spill:
      if (over && !to.events.spills()) {
        PEAL_PROBE("session.spills");
        to.events.begin_spill(limits.memory_bytes);
      }
      break;
    case wire::SlowPolicy::drop:
      // leaves_out() has dropped the messages over the limit. Views are not dropped: at twice the
      // limit the session ends.
      if (!is_beyond(member, bytes, 2 * limits.memory_bytes)) break;
      too_slow(to, member, "not even the views of the group");
      return false;
    default:  // `block`: the senders wait, see room_bytes()
      if (to.leaving || !keeps_too_much(to, member, bytes)) break;
      too_slow(to, member, "it reads, and does not say what it has seen");
      return false;
  }
  if (!to.events.spills()) return true;
  if (member.disk_bytes + bytes > limits.disk_bytes ||
      disk_bytes_ + bytes > context_.options.disk_bytes_max) {
    too_slow(to, member, std::to_string(member.disk_bytes) + " bytes wait on the daemon's disk");
    return false;
  }
  return true;
}

void Backlog::push(Session& to, std::uint32_t slot, const ChunkRef& chunk) {
  const bool waited = to.waits();
  const std::uint64_t disk_before = to.events.disk_bytes();
  if (const Result<void, Errc> pushed = to.events.push(context_.now, slot, chunk); !pushed) {
    too_slow(to, to.events.membership(slot),
             "the daemon's disk took no more (" + std::string(errc_name(pushed.error())) + ")");
    return;
  }
  if (!waited) ++waiting_;
  const std::uint64_t spilled = to.events.disk_bytes() - disk_before;
  disk_bytes_ += spilled;
  context_.counters.spilled_bytes += spilled;
  ++context_.counters.events;
  context_.counters.memory_bytes_peak =
      std::max(context_.counters.memory_bytes_peak, chunks_.bytes_in_use());
  context_.outcome.add(to.events.pushed() ^ std::uint64_t{to.id} << 32);
  context_.outcome.add(chunk.size());
  const Membership& member = to.events.membership(slot);
  if (member.limits.age_ms > 0 && member.unwritten == 1) {
    context_.due(context_.now + milliseconds(member.limits.age_ms) / 2);
  }
  if (is_near(member, 2)) warn(to, slot);
  if (to.events.spills()) read_back(to);  // one large event spills even if memory is free
  if (to.link != nullptr) to.link->want_write();
}

/// Warns the client that it is slow in the membership. Warns again only after less than a quarter
/// of each limit was in use.
void Backlog::warn(Session& to, std::uint32_t slot) {
  if (!to.warned.insert(slot).second || to.link == nullptr) return;
  const Membership& member = to.events.membership(slot);
  const wire::SlowLimits& limits = member.limits;
  const bool spills = member.disk_bytes > 0;
  wire::Warning warning;
  warning.group = member.group;
  warning.policy = limits.policy;
  warning.bytes = spills ? member.disk_bytes : member.waiting_bytes();
  warning.bytes_max = spills ? limits.disk_bytes : member.memory_limit();
  warning.age_ms = milliseconds_of(member.age(context_.now).value_or(Duration{}));
  warning.age_max_ms = limits.age_ms;
  to.link->warn(warning);
  ++context_.counters.warnings;
}

void Backlog::check_ages(Session& it) {
  const auto& memberships = it.events.memberships();
  for (std::uint32_t slot = 0; slot < memberships.size(); ++slot) {
    const Membership* member = memberships[slot].get();
    if (member == nullptr || member->limits.age_ms == 0 || member->unwritten == 0) continue;
    const Duration most = milliseconds(member->limits.age_ms);
    if (context_.now >= member->oldest + most) {
      if (member->limits.policy == wire::SlowPolicy::drop) continue;
      too_slow(it, *member, "for " + std::to_string(member->limits.age_ms) + " ms");
      return;
    }
    if (context_.now >= member->oldest + most / 2) {
      warn(it, slot);
      context_.due(member->oldest + most);
    } else {
      context_.due(member->oldest + most / 2);
    }
  }
}

void Backlog::on_written(Session& it) {
  // Written events must stay if the session can be resumed. They must also stay if the client reads
  // them in shared memory, because only their places were written to the connection.
  if (it.keep > Duration{} || it.events.shares()) {
    if (it.events.spills() && read_back(it) && it.events.has_output()) it.link->want_write();
    return;
  }
  // The session cannot be resumed, so it need not keep written events.
  const bool known = release_events(it, it.events.written_events());
  PEAL_ASSERT(known);
}

void Backlog::forget(Session& it) {
  std::erase(blocking_, &it);
  if (it.waits()) --waiting_;
  disk_bytes_ -= it.events.disk_bytes();
}

bool Backlog::release_events(Session& it, std::uint64_t number) {
  const bool waited = it.waits();
  if (!it.events.seen(number)) return false;
  if (waited && !it.waits()) --waiting_;
  if (it.is_ending() || !read_back(it)) return true;
  std::erase_if(it.warned, [&](std::uint32_t slot) {
    const Membership* member = it.events.memberships()[slot].get();
    return member == nullptr || !is_near(*member, 4);
  });
  push_gaps(it);
  if (it.link != nullptr && it.events.has_output()) it.link->want_write();
  return true;
}

/// Reads events back from the disk if there is room. Returns false if the read fails: the session
/// then ends.
bool Backlog::read_back(Session& it) {
  const std::uint64_t disk_before = it.events.disk_bytes();
  const Result<void, Errc> refilled =
      it.events.refill(share().value_or(std::numeric_limits<std::uint64_t>::max()));
  const std::uint64_t read_back = disk_before - it.events.disk_bytes();
  disk_bytes_ -= read_back;
  context_.counters.read_back_bytes += read_back;
  if (!refilled) {
    too_slow(it, it.events.membership(0),
             "what waits on the daemon's disk cannot be read (" +
                 std::string(errc_name(refilled.error())) + ")");
  }
  return refilled.has_value();
}

void Backlog::check_invariants() const {
  std::uint64_t disk_bytes = 0;
  std::uint64_t waiting = 0;
  std::size_t blocking = 0;
  for (const auto& [id, it] : registry_.all()) {
    it->events.check_invariants();
    disk_bytes += it->events.disk_bytes();
    if (it->waits()) ++waiting;
    if (!it->block_slots.empty()) ++blocking;
  }
  PEAL_ASSERT(disk_bytes == disk_bytes_);
  PEAL_ASSERT(waiting == waiting_);
  PEAL_ASSERT(blocking == blocking_.size());
}

}  // namespace peal::session
