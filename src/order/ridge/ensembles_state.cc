// SPDX-License-Identifier: Apache-2.0
// The state of several ensembles: for status, and for the simulator.

#include <algorithm>

#include "base/assert.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"
#include "order/ridge/vocabulary.h"

namespace peal::order::ridge {
namespace {

/// True for a counter whose total over all ensembles is the maximum, not the sum.
bool is_one_for_all(std::string_view name) {
  return name == "quorum_list" || name == "quorum_acceptors" || name == "quorum_acceptors_heard" ||
         name == "quorum_round" || name == "quorum_owed_bytes" || name == "quorum_owed_dropped";
}

}  // namespace

WaitReason Ensembles::why() const {
  if (host_.receive_room_units() == 0) return {&wait::slow_application, self_, 0};
  const auto of = [this](WaitReason reason, std::size_t ensemble) {
    if (reason.seq != 0) reason.seq = seq_ + 1;
    reason.domain = inner_[ensemble]->domain;
    return reason;
  };
  const auto ask = [&](std::size_t i) { return of(inner_[i]->engine->why(), i); };
  // An ensemble without a majority blocks the merged order, so report it before all other reasons.
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    WaitReason reason = ask(i);
    if (reason.kind->without_majority) return reason;
  }
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    WaitReason reason = ask(i);
    if (reason.kind == &wait::slow_application) return reason;
  }
  // Before a view of the first ensemble admits this node, the node must join the views of the other
  // ensembles.
  for (std::size_t i = 1; i < inner_.size() && !joined_; ++i) {
    if (inner_[i]->engine->joined()) continue;
    const WaitReason reason = ask(i);
    if (reason.kind != &wait::nothing) return reason;
  }
  const std::optional<std::size_t> awaited = merge_.awaited();
  if (awaited) {
    const WaitReason reason = of(inner_[*awaited]->engine->why_awaited(), *awaited);
    const bool named = reason.kind != &wait::quorum || !reason.all.empty();
    if (reason.kind != &wait::nothing && named) return reason;
  }
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const WaitReason reason = ask(i);
    if (reason.kind != &wait::nothing) return reason;
  }
  const bool waits = awaited || !own_.empty() || host_.backlog_units() > 0;
  if (!waits) return {};
  return {&wait::ensemble, {}, seq_ + 1, awaited ? inner_[*awaited]->domain : Domain{0}};
}

std::span<const Counter> Ensembles::counters() const {
  counters_.clear();
  for (const auto& inner : inner_) {
    const std::span<const Counter> its = inner->engine->counters();
    if (counters_.empty()) {
      counters_.assign(its.begin(), its.end());
      continue;
    }
    for (std::size_t i = 0; i < its.size(); ++i) {
      Counter& to = counters_[i];
      to.value =
          is_one_for_all(to.name) ? std::max(to.value, its[i].value) : to.value + its[i].value;
    }
  }
  const std::size_t waiting = [this] {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < inner_.size(); ++i) sum += merge_.waiting(i);
    return sum;
  }();
  for (const Counter& own : std::initializer_list<Counter>{
           {"ensembles", inner_.size()},
           {"ensembles_originated", counts_.originated},
           {"ensembles_delivered", counts_.delivered},
           {"ensembles_views", counts_.views},
           {"ensembles_passed", counts_.passed},
           {"ensembles_asked", counts_.asked},
           {"ensembles_deferred", counts_.deferred},
           {"ensembles_ignored", counts_.ignored},
           {"ensembles_waiting", waiting},
       }) {
    counters_.push_back(own);
  }
  return counters_;
}

void Ensembles::check_invariants() const {
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    inner_[i]->engine->check_invariants();
    // Views and the end of this node's last view are pushed even if there is no space for units.
    PEAL_ASSERT(merge_.waiting(i) <= 2 * std::size_t{waiting_max_} + 64);
  }
  PEAL_ASSERT(!joined_ || contains(members_, self_));
  PEAL_ASSERT(senders_.members() == members_.size());
  own_.check_invariants();
}

std::uint64_t Ensembles::digest() const {
  Digest digest;
  for (const auto& inner : inner_) {
    digest.add(inner->engine->digest());
    digest.add(inner->handed.size());
    digest.add(inner->last_item);
  }
  for (std::size_t i = 0; i < inner_.size(); ++i) digest.add(merge_.waiting(i));
  digest.add((joined_ ? 1U : 0U) | (stopped_ ? 2U : 0U));
  digest.add(view_.number);
  digest.add(seq_);
  digest.add(exclusions_ahead_);
  digest.add(own_.first_number());
  digest.add(own_.size());
  digest.add(own_.again());
  digest.add(keys_.last_stamp());
  digest.add(static_cast<std::uint64_t>(line_.ahead()));
  senders_.add_to(digest);
  return digest.value();
}

}  // namespace peal::order::ridge
