// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// Empty values. An ensemble with nothing to order proposes them, so that values of other ensembles
// can be merged. This file is for the merge by keys; ensembles_rotation.cc is for rotation.

namespace peal::order::ridge {
namespace {

/// The key of an empty value is this many microseconds ahead of the coordinator's clock. So values
/// of other ensembles need not wait for this ensemble during this time.
constexpr std::uint64_t kAheadUs = 2'000;
/// kWantAgain: time between two requests of a node for an empty value. kWantLate: how long a node
/// waits for another node's request to take effect.
constexpr Duration kWantAgain = microseconds(500);
constexpr Duration kWantLate = milliseconds(2);
/// An empty value that is not decided after this time may be lost.
constexpr Duration kPassingMax = milliseconds(10);

}  // namespace

// A value can be merged only when no other ensemble can still order a value before it. So while
// other ensembles order values, an ensemble with nothing to order proposes empty values. It
// proposes the next empty value before the keys of the other ensembles reach the key of its last
// one.
void Ensembles::let_others_pass() {
  if (rotates()) return skip_turns();
  for (const auto& inner : inner_) {
    const std::uint64_t last = inner->last_of_others();
    if (stopped_ || PEAL_MUTANT(re_never_passes)) return;
    inner->let_pass(std::max(last, inner->others_begin()));
    inner->want_pass(last);
  }
}

/// Greatest key that another ensemble has ordered, without the keys of empty values. 0 if that key
/// is above kStampMax, because no empty value can reach such a key.
std::uint64_t Ensembles::Inner::last_of_others() const {
  std::uint64_t last = 0;
  for (const auto& other : all_.inner_) {
    if (other.get() != this) last = std::max(last, other->last_item);
  }
  return last > wire::kStampMax ? 0 : last;
}

/// The greatest key from which this node knows the order of another ensemble. Other nodes may still
/// have to merge values before that key. This node does not see those values, but they wait for
/// this ensemble too. 0 if that key is above kStampMax.
std::uint64_t Ensembles::Inner::others_begin() const {
  std::uint64_t from = 0;
  for (const auto& other : all_.inner_) {
    if (other.get() != this) from = std::max(from, other->engine->from());
  }
  return from > wire::kStampMax ? 0 : from;
}

// Proposes an empty value if the ensemble needs one and this node coordinates it. An ensemble that
// orders units usually needs no empty values. But if the senders of its units do not learn the
// other ensembles, the keys of the units may be behind the keys of those ensembles. Then other
// nodes ask for an empty value (wanted_).
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

// Values of another ensemble may wait for this ensemble, while the coordinator of this ensemble
// does not learn the other ensemble. Then the first node that learns both ensembles asks the
// coordinator for an empty value. If no such value comes in time, the other nodes that learn both
// ensembles ask too.
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
  // Reset want_at: a time in the past would trigger the timer again and again.
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
/// learns both.
bool Ensembles::first_to_learn(Domain one, Domain other) const {
  for (const MemberId& member : members_) {
    if (layout_.has(one, member.node) && layout_.has(other, member.node)) return member == self_;
  }
  return true;
}

}  // namespace peal::order::ridge
