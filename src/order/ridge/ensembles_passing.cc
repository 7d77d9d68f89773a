// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// Empty values: an ensemble with nothing to order proposes them, so that values of other ensembles
// can be merged. This file is for the merge by keys, ensembles_rotation.cc for rotation.

namespace peal::order::ridge {
namespace {

/// How far ahead in time a coordinator announces that it has nothing to order, so that the other
/// ensembles need not wait.
constexpr std::uint64_t kAheadUs = 2'000;
/// kWantAgain: time between two requests of a node for such an announcement. kWantLate: how long a
/// node waits for another node's request to take effect.
constexpr Duration kWantAgain = microseconds(500);
constexpr Duration kWantLate = milliseconds(2);
/// An empty value that is not decided after this time may be lost.
constexpr Duration kPassingMax = milliseconds(10);

}  // namespace

// A value is merged after everything that other ensembles may still order before it. An ensemble
// with nothing to order announces that, and repeats the announcement before it expires, as long as
// other ensembles order values.
void Ensembles::let_others_pass() {
  if (rotates()) return skip_turns();
  for (const auto& inner : inner_) {
    const std::uint64_t last = inner->last_of_others();
    if (stopped_ || PEAL_MUTANT(re_never_passes)) return;
    inner->let_pass(std::max(last, inner->others_begin()));
    inner->want_pass(last);
  }
}

/// Greatest key of a unit or view that another ensemble has ordered; 0 if that key is beyond all
/// timestamps, because no empty value can reach such a key.
std::uint64_t Ensembles::Inner::last_of_others() const {
  std::uint64_t last = 0;
  for (const auto& other : all_.inner_) {
    if (other.get() != this) last = std::max(last, other->last_item);
  }
  return last > wire::kStampMax ? 0 : last;
}

/// The greatest key at which this node began in the order of another ensemble. Other nodes may
/// still have to merge values before that key. These values, which this node does not see, wait for
/// this ensemble too. 0 if that key is beyond all timestamps.
std::uint64_t Ensembles::Inner::others_begin() const {
  std::uint64_t from = 0;
  for (const auto& other : all_.inner_) {
    if (other.get() != this) from = std::max(from, other->engine->from());
  }
  return from > wire::kStampMax ? 0 : from;
}

// An ensemble that orders units needs no announcement, unless other nodes ask for one (wanted_):
// keys of the units may be behind the keys of other ensembles, if the senders of the units do not
// learn the other ensembles' values.
void Ensembles::Inner::let_pass(std::uint64_t last) {
  const bool idle = engine->idle();
  const bool enough = last == 0 || engine->key() >= last + kAheadUs / 2;
  const bool wanted =
      engine->key() < wanted_ && (passing_ < wanted_ || all_.now_ >= passing_at_ + kPassingMax);
  if (!wanted && (enough || !idle)) return;
  const std::uint64_t key = std::max({all_.keys_.at(all_.now_), last, wanted_}) + kAheadUs;
  if (!engine->pass(all_.now_, key, *this)) return;
  passing_ = key;
  passing_at_ = all_.now_;
  ++all_.counts_.passed;
  all_.more_ = true;
}

// The coordinator of an ensemble may not learn the values that wait for the ensemble. Then the
// first node that learns both ensembles asks the coordinator. If that does not help, all other
// nodes that learn both ensembles ask too.
void Ensembles::Inner::want_pass(std::uint64_t last) {
  const bool waits = engine->key() < last;
  const std::uint64_t enough = last + kAheadUs / 2;
  if (all_.layout_.domains.empty() || last == 0 || engine->key() >= enough) {
    want_at.reset();
    return;
  }
  const MemberId coordinator = engine->coordinated_by();
  bool learns = true;
  bool first = false;
  for (const auto& other : all_.inner_) {
    if (other->last_item != last || all_.layout_.has(other->domain, coordinator.node)) continue;
    learns = false;
    first = all_.first_to_learn(domain, other->domain);
  }
  // Leave no time in the past, which would trigger the timer again and again.
  if (learns || coordinator == MemberId{} || coordinator == all_.self_) {
    want_at.reset();
    return;
  }
  if (!want_at) want_at = first ? all_.now_ : all_.now_ + kWantLate;
  if (all_.now_ < *want_at) return;
  want_at = all_.now_ + (first ? kWantAgain : kWantLate);
  if (!first && !waits) return;
  engine->want_pass(enough, *this);
  ++all_.counts_.asked;
}

/// True if this node is the first member of the view that learns both domains, or if no member
/// does.
bool Ensembles::first_to_learn(Domain one, Domain other) const {
  for (const MemberId& member : members_) {
    if (layout_.has(one, member.node) && layout_.has(other, member.node)) return member == self_;
  }
  return true;
}

}  // namespace peal::order::ridge
