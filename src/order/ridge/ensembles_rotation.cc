// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// The merge in rotation, as Multi-Ring Paxos has it, to compare with: one value of each ensemble in
// turn. A value's key is then its place in its ensemble, one more than that of the value before,
// and the order of (place, ensemble) is the rotation.
//
// An ensemble that orders fewer values than kPlace and kInterval say skips the rest: its
// coordinator proposes nothing, in one instance, with the place at which the ensemble is to be.
// That is where the line is, which all coordinators see alike: it goes on by a place in each
// kPlace, and whoever is behind what another one skipped to is moved there. So what is skipped
// follows from what is decided and from the time, not from what a coordinator remembers; one that
// takes over skips to the line at once. An ensemble that is ahead of the line, since it orders more
// than that, skips nothing, and what it orders waits until the line has come so far: this is what
// rotation costs.

namespace peal::order::ridge {
namespace {

/// Of the line, from one place to the next: 50,000 values in a second.
constexpr Duration kPlace = microseconds(20);
/// From one tick to the next; ticks are at multiples of it, as if there had always been some.
constexpr Duration kInterval = milliseconds(1);
/// So long after the last value that was more than nothing, ensembles keep up with the line.
constexpr Duration kAwake = milliseconds(50);

}  // namespace

/// Where the line is.
std::uint64_t Ensembles::place_now() const {
  return static_cast<std::uint64_t>(now_.ns / kPlace.ns + places_ahead_);
}

/// An ensemble has come to this key without ordering anything.
void Ensembles::see_nothing(std::uint64_t key) {
  if (!rotates() || key > wire::kStampMax) return;
  const std::uint64_t now = place_now();
  if (key > now) places_ahead_ += static_cast<std::int64_t>(key - now);
}

// What was skipped before this node came is not told again. Clocks begin anywhere, so where its
// logs and checkpoints stand, the line has been.
void Ensembles::Inner::see_where_it_begins() {
  const std::uint64_t key = engine->key();
  if (key == key_) return;
  key_ = key;
  all_.see_nothing(key);
}

// As long as others order something that this ensemble has not come to, it skips at each tick, and
// while there is anything to order it keeps up: but then not before its last skip is decided, so
// that soon after the last message nothing is under way.
void Ensembles::skip_turns() {
  const bool tick = skip_at_ && now_ >= *skip_at_;
  const bool awake = last_at_ && now_ < *last_at_ + kAwake;
  bool again = false;
  for (std::size_t i = 0; i < inner_.size() && !stopped_; ++i) {
    Inner& inner = *inner_[i];
    inner.see_where_it_begins();
    const std::optional<std::uint64_t> tip = inner.engine->tip_key();
    if (!tip) {
      inner.skip_to = 0;  // what another one skips is its business
      continue;
    }
    const bool behind = *tip < last_of_others(inner);
    again = again || awake || behind;
    if (tick && (behind || (awake && inner.engine->key() >= inner.skip_to))) {
      inner.skip_to = std::min(place_now(), wire::kStampMax);
    }
    if (*tip >= inner.skip_to || PEAL_MUTANT(re_never_passes)) continue;
    // If it cannot now, it can once something else is decided.
    if (!inner.engine->pass(now_, inner.skip_to, inner)) continue;
    if (PEAL_MUTANT(rt_skip_undecided)) merge_.advance(i, inner.skip_to);
    ++counts_.passed;
    more_ = true;
  }
  if (!again) {
    skip_at_.reset();
  } else if (!skip_at_ || tick) {
    skip_at_ = Instant{(now_.ns / kInterval.ns + 1) * kInterval.ns};
  }
}

/// The ensemble for this node's units: as with Multi-Ring Paxos a sender has one, and those of the
/// view are shared out to all.
std::size_t Ensembles::home_ring() const {
  const std::size_t home = index_in(members_, self_);
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const std::size_t ring = (home + i) % inner_.size();
    if (inner_[ring]->engine->joined()) return ring;
  }
  return 0;
}

}  // namespace peal::order::ridge
