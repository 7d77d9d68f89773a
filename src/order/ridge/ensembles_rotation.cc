// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// The merge in rotation, as in Multi-Ring Paxos, for comparison: one value of each ensemble in
// turn. A value's key is its place in its ensemble: one more than the place of the previous value.
// The order of the pairs (place, ensemble) is the rotation.
//
// An ensemble that orders fewer values than the line (rotation_line.h) demands skips the rest: its
// coordinator proposes one empty value with the place that the ensemble should reach. This place is
// on the line, which is nearly the same at all coordinators: the line advances with the time, and a
// coordinator moves its line up to the place of another coordinator's skip. So skips follow from
// decided values and from the time, not from a coordinator's memory. A new coordinator skips to the
// line at once. An ensemble that orders more values is ahead of the line. It skips nothing, and its
// values wait until the line has reached their places. This wait is the cost of rotation.

namespace peal::order::ridge {

// This node does not see skips from before its start, and the clocks of nodes begin at different
// values. But the line of the other nodes has certainly reached the places in this node's logs and
// checkpoints. So this node moves its line up to these places.
void Ensembles::Inner::see_where_it_begins() {
  const std::uint64_t key = engine->key();
  if (key == key_) return;
  key_ = key;
  all_.line_.see_nothing(all_.now_, key);
}

// An ensemble skips at each tick while it is behind a value of another ensemble. While any ensemble
// has ordered a value lately (RotationLine::awake), all ensembles keep up with the line, but each
// of them skips again only after its last skip was decided. Therefore nothing remains in progress
// soon after the last message.
void Ensembles::skip_turns() {
  const bool tick = line_.tick_due(now_);
  const bool awake = line_.awake(now_);
  bool again = false;
  for (std::size_t i = 0; i < inner_.size() && !stopped_; ++i) {
    Inner& inner = *inner_[i];
    inner.see_where_it_begins();
    const std::optional<std::uint64_t> tip = inner.engine->tip_key();
    if (!tip) {
      inner.skip_to = 0;  // only the coordinator of an ensemble skips
      continue;
    }
    const bool behind = *tip < inner.last_of_others();
    again = again || awake || behind;
    if (tick && (behind || (awake && inner.engine->key() >= inner.skip_to))) {
      inner.skip_to = std::min(line_.place(now_), wire::kStampMax);
    }
    if (*tip >= inner.skip_to || PEAL_MUTANT(re_never_passes)) continue;
    // If a skip is not possible now, it becomes possible once another value is decided.
    if (!inner.engine->pass(now_, inner.skip_to, inner)) continue;
    if (PEAL_MUTANT(rt_skip_undecided)) merge_.advance(i, inner.skip_to);
    ++counts_.passed;
    more_ = true;
  }
  if (again) return line_.keep_ticking(now_);
  line_.end_ticks();
}

/// The index of the ensemble for this node's units. As in Multi-Ring Paxos, each sender uses one
/// ensemble, and the members of the view are spread over all ensembles.
std::size_t Ensembles::home_ring() const {
  const std::size_t home = index_in(members_, self_);
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const std::size_t ring = (home + i) % inner_.size();
    if (inner_[ring]->engine->joined()) return ring;
  }
  return 0;
}

}  // namespace peal::order::ridge
