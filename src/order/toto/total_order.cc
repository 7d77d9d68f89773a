// SPDX-License-Identifier: Apache-2.0
#include "order/toto/total_order.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

// README.md (a): why members agree. Let S* be the candidates that no other candidate beats once
// every column is determined. If a member decides the set S, then S = S*:
// - A known candidate outside S is beaten, and columns never change, so it is not in S*.
// - A known candidate in S can be beaten by no known candidate.
// - A candidate that is still unknown comes from a member without a column, and every column that
//   is determined votes against it. At least W columns are, so fewer than W are left to vote for
//   it: it beats nobody. Some unit in S has W votes, so that unit beats it.
// - If all columns are determined, no candidate is unknown.
// S* does not depend on the deciding member, and the next candidates depend on S* alone.
//
// A criterion that holds stays true as nodes join: columns stay as they are, known sources stay
// unbeatable, and a new candidate is beaten at once by the unit with W votes. So a member whose
// graph contains the graph of another one has decided everything that the other one has.

namespace peal::order::toto {

void TotalOrder::begin(const Shape& shape) {
  PEAL_ASSERT(shape.members >= 1 && shape.members <= wire::kMembersMax);
  PEAL_ASSERT(shape.win > shape.members / 2 && shape.win <= shape.members);
  PEAL_ASSERT(shape.capacity != 0 && (shape.capacity & (shape.capacity - 1)) == 0);
  shape_ = shape;
  const std::size_t slots = std::size_t{shape.members} * shape.capacity;
  queues_.assign(shape.members, {});
  slots_.grow(slots);
  pasts_.grow(slots * shape.members);
  followers_.grow(slots * shape.members);
  cursors_.assign(std::size_t{shape.members} * shape.members, 0);
  blockers_.assign(shape.members, {});
  pending_ = 0;
  candidates_.clear();
  voted_.clear();
  crashed_.clear();
  changed_ = false;
}

void TotalOrder::push(Index origin, Seq seq, std::span<const Seq> past) {
  Queue& queue = queues_[origin];
  PEAL_ASSERT(queue.size() < shape_.capacity);
  at(origin, queue.end) = {seq};
  std::ranges::copy(past, past_of(origin, queue.end).begin());
  std::ranges::fill(followers_of(origin, queue.end), 0);
  ++queue.end;
  ++pending_;
  steps_ += shape_.members;
}

/// Whether the oldest pending unit of `origin` follows that of `other`. If it follows any pending
/// unit of `other`, it follows the oldest.
bool TotalOrder::follows_oldest(Index origin, Index other) {
  ++steps_;
  if (other == origin || queues_[other].size() == 0) return false;
  return past_of(origin, queues_[origin].head)[other] >= at(other, queues_[other].head).seq;
}

/// The oldest pending unit of `origin` is another one than before. No unit that joined earlier
/// follows it, unless an older unit of the same origin has just been decided; see pop().
void TotalOrder::find_blockers(Index origin) {
  blockers_[origin].clear();
  if (queues_[origin].size() == 0) return;
  for (Index other = 0; other < shape_.members; ++other) {
    if (follows_oldest(origin, other)) blockers_[origin].set(other);
  }
}

void TotalOrder::add_candidate(Index origin) {
  candidates_.set(origin);
  votes_[origin] = {};
}

/// The oldest pending unit of `origin` is decided. Units that follow it may follow the next one of
/// the same origin, too.
void TotalOrder::pop(Index origin) {
  ++queues_[origin].head;
  --pending_;
  steps_ += shape_.members;
  for (Index other = 0; other < shape_.members; ++other) {
    if (blockers_[other].test(origin) && !follows_oldest(other, origin)) {
      blockers_[other].reset(origin);
    }
  }
}

void TotalOrder::on_node(Index origin, Seq seq, bool ordered, std::span<const Seq> past,
                         std::span<const Cover> covers) {
  PEAL_ASSERT(origin < shape_.members && past.size() == shape_.members);
  if (ordered) {
    push(origin, seq, past);
    if (queues_[origin].size() == 1) {
      find_blockers(origin);
      if (!blockers_[origin].any()) {
        add_candidate(origin);
        changed_ = true;
      }
    }
  }
  MemberBits newly;  // candidates that a node of `origin` follows for the first time
  for (const Cover& cover : covers) {
    ++steps_;
    const Queue& queue = queues_[cover.of];
    std::uint64_t& cursor = cursors_[std::size_t{origin} * shape_.members + cover.of];
    cursor = std::max(cursor, queue.head);
    for (; cursor < queue.end && at(cover.of, cursor).seq <= cover.upto; ++cursor) {
      ++steps_;
      followers_of(cover.of, cursor)[origin] = seq;
      if (cursor == queue.head && candidates_.test(cover.of)) newly.set(cover.of);
    }
  }
  if (!newly.any()) return;
  const bool votes = !voted_.test(origin);
  voted_.set(origin);
  changed_ = true;
  newly.for_each([&](Index candidate) {
    ++steps_;
    votes_[candidate].followed.set(origin);
    if (votes) votes_[candidate].for_it.set(origin);
  });
}

void TotalOrder::on_crash(Index member) {
  if (PEAL_MUTANT(tt_crash_column_finite)) {
    candidates_.for_each([&](Index candidate) { votes_[candidate].for_it.set(member); });
  }
  crashed_.set(member);
  changed_ = true;
}

/// The candidates and their votes, after units were decided.
void TotalOrder::count_votes() {
  steps_ += 2 * std::uint64_t{shape_.members};
  candidates_.clear();
  voted_.clear();
  for (Index origin = 0; origin < shape_.members; ++origin) {
    if (queues_[origin].size() != 0 && !blockers_[origin].any()) add_candidate(origin);
  }
  for (Index member = 0; member < shape_.members; ++member) {
    Seq column = 0;
    const auto follower = [&](Index candidate) {
      ++steps_;
      return followers_of(candidate, queues_[candidate].head)[member];
    };
    candidates_.for_each([&](Index candidate) {
      const Seq seq = follower(candidate);
      if (seq != 0 && (column == 0 || seq < column)) column = seq;
    });
    if (column == 0) continue;
    voted_.set(member);
    candidates_.for_each([&](Index candidate) {
      const Seq seq = follower(candidate);
      if (seq != 0) votes_[candidate].followed.set(member);
      if (seq == column) votes_[candidate].for_it.set(member);
    });
  }
}

/// The candidates that no other one can beat, whatever the columns yet to come say. False if a
/// candidate that is none of them is not beaten yet.
bool TotalOrder::finds_sources(MemberBits& sources) const {
  const std::uint32_t win = shape_.win;
  const std::uint32_t determined = (voted_ | crashed_).count();
  const std::uint32_t open = shape_.members - determined;
  bool stable = true;
  candidates_.for_each([&](Index m) {
    bool source = true, beaten = false;
    candidates_.for_each([&](Index other) {
      if (other == m) return;
      ++steps_;
      const std::uint32_t less = votes_[other].for_it.without(votes_[m].for_it).count();
      if (less >= win) beaten = true;
      const bool may_beat = PEAL_MUTANT(tt_future_above) ? less + open > win : less + open >= win;
      if (may_beat) source = false;
    });
    if (source) {
      sources.set(m);
    } else if (!beaten && !PEAL_MUTANT(tt_no_internal)) {
      stable = false;
    }
  });
  return stable && sources.any();
}

/// The delivery criterion (README.md, The criterion).
bool TotalOrder::holds(MemberBits& sources) const {
  const std::uint32_t determined = (voted_ | crashed_).count();
  if (shape_.rule == Rule::all_ack) {
    sources = candidates_;
    return determined == shape_.members;
  }
  if (!finds_sources(sources)) return false;
  if (determined == shape_.members) return true;
  const std::uint32_t win = shape_.win;
  bool won = false, all_seen = true;
  sources.for_each([&](Index source) {
    ++steps_;
    const std::uint32_t votes = votes_[source].for_it.count();
    if (votes >= win || (PEAL_MUTANT(tt_win_one_short) && votes + 1 >= win)) won = true;
    // Not needed for agreement while W is above half (README.md (a)), but part of the published
    // criterion.
    if (votes_[source].followed.count() < shape_.members - win + 1) all_seen = false;
  });
  return won && all_seen;
}

bool TotalOrder::decide(Activation& out) {
  if (!changed_) return false;
  changed_ = false;
  MemberBits sources;
  if (!candidates_.any() || !holds(sources)) return false;
  voters_ = (voted_ | crashed_).count();
  out.clear();
  sources.for_each([&](Index origin) {
    out.push_back(oldest(origin));
    pop(origin);
  });
  sources.for_each([&](Index origin) { find_blockers(origin); });
  count_votes();
  changed_ = true;
  return true;
}

MemberBits TotalOrder::origins() const {
  MemberBits with;
  for (Index origin = 0; origin < shape_.members; ++origin) {
    if (queues_[origin].size() != 0) with.set(origin);
  }
  return with;
}

MemberBits TotalOrder::awaited() const {
  if (pending_ == 0) return {};
  return MemberBits::first(shape_.members).without(voted_ | crashed_);
}

void TotalOrder::check_invariants() const {
  std::uint64_t pending = 0;
  for (Index origin = 0; origin < queues_.size(); ++origin) {
    PEAL_ASSERT(queues_[origin].size() <= shape_.capacity);
    pending += queues_[origin].size();
    const bool candidate = queues_[origin].size() != 0 && !blockers_[origin].any();
    PEAL_ASSERT(candidates_.test(origin) == candidate);
  }
  PEAL_ASSERT(pending == pending_);
  candidates_.for_each([&](Index m) {
    PEAL_ASSERT(!votes_[m].for_it.without(votes_[m].followed).any() ||
                PEAL_MUTANT(tt_crash_column_finite));
    PEAL_ASSERT(!votes_[m].followed.without(voted_).any());
  });
}

}  // namespace peal::order::toto
