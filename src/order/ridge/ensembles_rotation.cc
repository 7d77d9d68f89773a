// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// The merge in rotation, as in Multi-Ring Paxos, for comparison: one value of each ensemble in
// turn. A value's key is its place in its ensemble, one more than that of the previous value, and
// the order of (place, ensemble) is the rotation.
//
// An ensemble that orders fewer values than kPlace and kInterval demand skips the rest: its
// coordinator proposes an empty value, in one instance, with the place that the ensemble should
// reach. That place is on a line that all coordinators see alike: it advances by one place per
// kPlace, and a coordinator that is behind another's skip moves its line there. So skips follow
// from decided values and from the time, not from a coordinator's memory; a new coordinator skips
// to the line at once. An ensemble that orders more is ahead of the line: it skips nothing, and its
// values wait until the line has come so far. This is the cost of rotation.

namespace peal::order::ridge {
namespace {

/// From one place of the line to the next: 50,000 values per second.
constexpr Duration kPlace = microseconds(20);
/// Between two ticks; ticks are at multiples of it, as if there had always been some.
constexpr Duration kInterval = milliseconds(1);
/// For so long after the last non-empty value, ensembles keep up with the line.
constexpr Duration kAwake = milliseconds(50);

}  // namespace

/// The present place of the line.
std::uint64_t Ensembles::place_now() const {
  return static_cast<std::uint64_t>(now_.ns / kPlace.ns + places_ahead_);
}

/// An ensemble has reached this key without ordering anything.
void Ensembles::see_nothing(std::uint64_t key) {
  if (!rotates() || key > wire::kStampMax) return;
  const std::uint64_t now = place_now();
  if (key > now) places_ahead_ += static_cast<std::int64_t>(key - now);
}

// Skips before this node started are not repeated. Clocks begin anywhere, but the line has been
// where this node's logs and checkpoints are.
void Ensembles::Inner::see_where_it_begins() {
  const std::uint64_t key = engine->key();
  if (key == key_) return;
  key_ = key;
  all_.see_nothing(key);
}

// While other ensembles have ordered something that this one has not reached, it skips at each
// tick. While there is anything to order, it keeps up with the line, but not before its last skip
// is decided: so soon after the last message nothing is in progress.
void Ensembles::skip_turns() {
  const bool tick = skip_at_ && now_ >= *skip_at_;
  const bool awake = last_at_ && now_ < *last_at_ + kAwake;
  bool again = false;
  for (std::size_t i = 0; i < inner_.size() && !stopped_; ++i) {
    Inner& inner = *inner_[i];
    inner.see_where_it_begins();
    const std::optional<std::uint64_t> tip = inner.engine->tip_key();
    if (!tip) {
      inner.skip_to = 0;  // other ensembles' skips are no concern of this one
      continue;
    }
    const bool behind = *tip < last_of_others(inner);
    again = again || awake || behind;
    if (tick && (behind || (awake && inner.engine->key() >= inner.skip_to))) {
      inner.skip_to = std::min(place_now(), wire::kStampMax);
    }
    if (*tip >= inner.skip_to || PEAL_MUTANT(re_never_passes)) continue;
    // If not possible now, it will be once another value is decided.
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

/// The ensemble for this node's units: as with Multi-Ring Paxos each sender has one, and the
/// senders of the view are spread over all.
std::size_t Ensembles::home_ring() const {
  const std::size_t home = index_in(members_, self_);
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const std::size_t ring = (home + i) % inner_.size();
    if (inner_[ring]->engine->joined()) return ring;
  }
  return 0;
}

}  // namespace peal::order::ridge
