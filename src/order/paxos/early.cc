// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/early.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "wire/paxos.h"

namespace peal::order::paxos {
namespace {

/// Timestamps move clocks up to this limit only, which is decades ahead of any honest timestamp.
/// Otherwise one timestamp could move a clock to the largest possible value, and all later units
/// would get equal timestamps.
constexpr std::uint64_t kClockMax = wire::kEarlyStampMax / 2;
/// A timestamp that is older than this counts as exactly this old. Units that were retransmitted,
/// or that waited for a full link, are less late than this. A sender that claims very old
/// timestamps gains no more than this lead.
constexpr std::uint64_t kOldestNs = 1'000'000'000;

}  // namespace

void Lateness::took(Duration late) {
  kept_[taken_ % kKept] = late.ns;
  ++taken_;
  if (taken_ % kEvery != 0 && taken_ > kEvery) return;
  std::array<std::int64_t, kKept> sorted = kept_;
  const std::size_t count = std::min(taken_, kKept);
  auto* const at = sorted.begin() + (count - 1 - kLater * count / kKept);
  std::nth_element(sorted.begin(), at, sorted.begin() + count);
  wait_ns_ = *at;
}

// ---- timestamps ----

std::uint64_t Early::clock(Instant now) const {
  const std::int64_t most = static_cast<std::int64_t>(wire::kEarlyStampMax);
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(now.ns + ahead_ns_, 1, most));
}

std::uint64_t Early::stamp(Instant now) {
  stamped_ = std::min(std::max(clock(now), stamped_ + 1), wire::kEarlyStampMax);
  see(now, stamped_);
  return stamped_;
}

std::uint64_t Early::see(Instant now, std::uint64_t stamp) {
  const std::uint64_t was = clock(now);
  if (stamp >= was && stamp <= kClockMax) ahead_ns_ += static_cast<std::int64_t>(stamp - was + 1);
  const std::uint64_t is = clock(now);
  return std::clamp(stamp, is > kOldestNs ? is - kOldestNs : 1, is);
}

Instant Early::due(std::uint64_t stamp) const {
  return Instant{static_cast<std::int64_t>(stamp) - ahead_ns_} + lateness_.wait();
}

// ---- announcing ----

void Early::begin_view(std::size_t members) {
  for (const Member& each : members_) counts_.forgotten += each.guesses.size();
  if (!PEAL_MUTANT(op_told_kept) || members != members_.size()) members_.assign(members, {});
  waiting_ = 0;
  told_ = 0;
  last_ = {};
  guess_ = 0;
}

wire::Drop Early::take(Instant now, std::size_t index, std::uint64_t number, Unit unit, bool own) {
  PEAL_ASSERT(index < members_.size());
  Member& member = members_[index];
  const std::uint64_t placed = member.told - member.guesses.size();
  if (number <= member.told) return wire::Drop::duplicate;
  if (number - placed > window_) return wire::Drop::out_of_window;
  // A retransmitted unit does not measure the network's delay. A unit does not measure it either if
  // its sender had not seen other nodes' timestamps yet.
  const std::uint64_t is = clock(now);
  const Duration late{static_cast<std::int64_t>(is - std::min(unit.stamp, is))};
  if (!own && number > member.newest && late < wait_max_) lateness_.took(late);
  member.newest = std::max(member.newest, number);
  if (waiting_ >= waiting_max_) return wire::Drop::out_of_window;
  if (!member.waiting.emplace(number, std::move(unit)).second) return wire::Drop::duplicate;
  ++waiting_;
  return wire::Drop::none;
}

std::optional<Early::Rank> Early::first() const {
  std::optional<Rank> best;
  for (std::size_t index = 0; index < members_.size(); ++index) {
    const Member& member = members_[index];
    const auto unit = member.waiting.begin();
    // The sender's earlier units will be placed before this unit, so this unit is not announced
    // before them.
    if (unit == member.waiting.end() || unit->first != member.told + 1) continue;
    const Rank rank{unit->second.stamp, index};
    if (!best || rank < *best) best = rank;
  }
  return best;
}

std::optional<Instant> Early::next_at() const {
  const std::optional<Rank> rank = first();
  if (!rank) return std::nullopt;
  return due(rank->stamp);
}

std::optional<std::size_t> Early::next(Instant now) const {
  const std::optional<Rank> rank = first();
  if (!rank || due(rank->stamp) > now) return std::nullopt;
  return rank->index;
}

bool Early::is_told(std::size_t index, std::uint64_t number) const {
  return number <= members_[index].told;
}

Early::Unit Early::take_next(std::size_t index) {
  Member& member = members_[index];
  const auto unit = member.waiting.begin();
  if (unit == member.waiting.end() || unit->first != member.told + 1) return {};
  --waiting_;
  return std::move(member.waiting.extract(unit).mapped());
}

Seq Early::tell(std::size_t index, std::uint64_t stamp) {
  Member& member = members_[index];
  ++member.told;
  ++counts_.told;
  const Rank rank{stamp, index};
  if (stamp != 0 && rank < last_) {
    PEAL_PROBE("early.late");
    ++counts_.late;
  }
  last_ = std::max(last_, rank);
  ++told_;
  member.guesses.push_back(told_);
  return told_;
}

Seq Early::placed(std::size_t index, Seq seq) {
  Member& member = members_[index];
  PEAL_ASSERT(!member.guesses.empty());
  const Seq guess = member.guesses.front();
  member.guesses.pop_front();
  if (guess != seq) {
    PEAL_PROBE("early.mistake");
    ++counts_.mistakes;
  }
  if (guess < guess_) ++counts_.inversions;
  guess_ = guess;
  return guess;
}

void Early::append_counters(std::vector<Counter>& counters) const {
  counters.push_back({"opt_delivered", counts_.told});
  counters.push_back({"opt_mistakes", counts_.mistakes});
  counters.push_back({"opt_inversions", counts_.inversions});
  counters.push_back({"opt_late", counts_.late});
  counters.push_back({"opt_void", counts_.forgotten});
  counters.push_back({"opt_wait_us", static_cast<std::uint64_t>(lateness_.wait().ns / 1'000)});
}

void Early::check_invariants() const {
  Seq told = 0;
  std::size_t waiting = 0;
  for (const Member& member : members_) {
    PEAL_ASSERT(member.guesses.size() <= window_ && member.guesses.size() <= member.told);
    PEAL_ASSERT(member.waiting.empty() || member.waiting.begin()->first > member.told);
    PEAL_ASSERT(member.waiting.size() <= window_);
    told += member.told;
    waiting += member.waiting.size();
  }
  PEAL_ASSERT(waiting == waiting_ && waiting <= waiting_max_);
  PEAL_ASSERT(told == told_ || PEAL_MUTANT(op_told_kept));
}

void Early::add_to(Digest& digest) const {
  digest.add(told_);
  for (const Member& member : members_) {
    digest.add(member.told);
    digest.add(member.guesses.empty() ? 0 : member.guesses.front());
    digest.add(member.waiting.size());
  }
}

}  // namespace peal::order::paxos
