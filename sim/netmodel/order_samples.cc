// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/order_samples.h"

#include <algorithm>

#include "sim/world/world.h"

namespace peal::sim {

OrderSamples::OrderSamples(const World& world, std::uint32_t members)
    : world_(world), members_(members), by_node_(members + 1), index_(members) {
  sim_hooks::set_sampler(this);
}

OrderSamples::~OrderSamples() { sim_hooks::set_sampler(nullptr); }

void OrderSamples::measure(Instant from, Instant until) {
  from_ = from;
  until_ = until;
}

void OrderSamples::take(sim_hooks::Sample sample, std::initializer_list<std::uint64_t> values) {
  using sim_hooks::Sample;
  Member& member = by_node_[*values.begin()];
  const Values rest = values.begin() + 1;
  switch (sample) {
    case Sample::node_joined: joined(member, rest); return;
    case Sample::unit_decided: decided(member, rest); return;
    case Sample::node_ordered: ordered(member, *rest); return;
  }
}

void OrderSamples::joined(Member& member, Values values) {
  const Instant now = world_.now();
  member.measured = now >= from_ && now < until_;
  if (!member.measured) return;
  const std::uint64_t origin = values[0], number = values[1], concurrent = values[2];
  if (concurrent != 0) {
    member.waiting[{origin, number}] = {now, static_cast<std::uint32_t>(concurrent)};
  }
  const auto pending = static_cast<double>(values[3]), candidates = static_cast<double>(values[4]);
  member.bound = members_ + pending + candidates * candidates;
}

void OrderSamples::decided(Member& member, Values values) {
  const std::uint64_t origin = values[0], number = values[1], voters = values[2];
  if (values[3] != member.activation) {
    member.activation = values[3];
    const double candidates = std::max(static_cast<double>(values[4]), 1.0);
    member.bound += members_ * candidates * candidates;
  }
  const auto found = member.waiting.find({origin, number});
  if (found == member.waiting.end()) return;
  index_.add(static_cast<std::uint32_t>(voters), found->second.concurrent);
  waited_ns_ += (world_.now() - found->second.since).ns;
  member.waiting.erase(found);
}

void OrderSamples::ordered(Member& member, std::uint64_t steps) {
  const std::uint64_t made = steps - member.steps;
  member.steps = steps;
  if (!member.measured) return;
  ++nodes_;
  steps_ += made;
  bounds_ += member.bound;
  most_ = std::max(most_, static_cast<double>(made) / member.bound);
}

Duration OrderSamples::mean_wait() const {
  if (index_.messages() == 0) return {};
  return Duration{waited_ns_ / static_cast<std::int64_t>(index_.messages())};
}

WorkFigures OrderSamples::work() const {
  if (nodes_ == 0) return {};
  const auto nodes = static_cast<double>(nodes_);
  return {static_cast<double>(steps_) / nodes, bounds_ / nodes, most_};
}

}  // namespace peal::sim
