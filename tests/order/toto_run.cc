// SPDX-License-Identifier: Apache-2.0
#include "toto_run.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace peal::order::toto::test {

// ---- graphs ----

Graph::Graph(Index members, Seq first) : first_(first), by_origin_(members) {}

const GraphNode& Graph::add(Index origin, bool ordered, std::vector<Seq> past) {
  std::vector<const GraphNode*>& chain = by_origin_[origin];
  const std::vector<Seq> before =
      chain.empty() ? std::vector<Seq>(members(), first_) : chain.back()->past;
  past[origin] = before[origin] + 1;
  GraphNode node{{origin, past[origin]}, ordered, std::move(past), {}};
  for (Index other = 0; other < members(); ++other) {
    PEAL_ASSERT(node.past[other] >= before[other]);
    if (node.past[other] > before[other]) node.covers.push_back({other, node.past[other]});
  }
  nodes_.push_back(std::move(node));
  chain.push_back(&nodes_.back());
  return nodes_.back();
}

const GraphNode& Graph::add_after(Index origin, bool ordered, std::span<const NodeRef> followed) {
  std::vector<Seq> past(members(), first_);
  const auto follow = [&](const GraphNode& node) {
    for (Index other = 0; other < members(); ++other) {
      past[other] = std::max(past[other], node.past[other]);
    }
  };
  for (const NodeRef& ref : followed) follow(at(ref));
  if (!by_origin_[origin].empty()) follow(*by_origin_[origin].back());
  return add(origin, ordered, std::move(past));
}

std::vector<Seq> Graph::newest() const {
  std::vector<Seq> last;
  for (const auto& chain : by_origin_) last.push_back(first_ + chain.size());
  return last;
}

namespace {

/// Whether a member that holds the nodes up to `held` may take this node next.
bool may_arrive(const GraphNode& node, std::span<const Seq> held) {
  for (Index other = 0; other < held.size(); ++other) {
    const Seq needed = other == node.ref.origin ? node.ref.seq - 1 : node.past[other];
    if (held[other] < needed) return false;
  }
  return held[node.ref.origin] == node.ref.seq - 1;
}

/// The node of `origin` that such a member may take next. Null if it is beyond `last`, or if a
/// predecessor is missing.
const GraphNode* next_of(const Graph& graph, Index origin, std::span<const Seq> held,
                         std::span<const Seq> last) {
  if (held[origin] == last[origin]) return nullptr;
  const GraphNode& node = graph.at({origin, held[origin] + 1});
  return may_arrive(node, held) ? &node : nullptr;
}

}  // namespace

CausalRun random_run(const RunShape& shape, Random& random) {
  CausalRun run{Graph(shape.members, shape.first),
                std::vector(shape.members, std::vector<Seq>(shape.members, shape.first))};
  const auto any_member = [&] { return static_cast<Index>(random.below(shape.members)); };
  while (run.graph.nodes().size() < shape.nodes) {
    const Index member = any_member();
    std::vector<Seq>& held = run.held[member];
    if (random.chance(shape.sends)) {
      if (member == shape.silent) continue;
      run.graph.add(member, random.chance(shape.ordered), held);
      ++held[member];
      continue;
    }
    const Index origin = any_member();
    if (next_of(run.graph, origin, held, run.graph.newest()) != nullptr) ++held[origin];
  }
  return run;
}

RunShape random_shape(Index members, Random& random) {
  RunShape shape;
  shape.members = members;
  shape.nodes = static_cast<std::uint32_t>(random.between(6, 40));
  shape.ordered = 0.4 + 0.6 * random.unit();
  shape.sends = 0.15 + 0.55 * random.unit();
  if (random.chance(0.5)) shape.first = Seq{1} << random.below(62);
  return shape;
}

// ---- arrival ----

namespace {

/// Draws members, some of which far more often than others.
class Preference {
 public:
  Preference(Index members, Random& random) : random_(random) {
    const bool biased = random.chance(0.5);
    for (Index member = 0; member < members; ++member) {
      weights_.push_back(biased && random.chance(0.5) ? 20 : 1);
    }
  }
  /// One of the members for which `possible` is true; there is at least one.
  template <class Possible>
  Index draw(Possible possible) {
    std::uint64_t total = 0;
    for (Index member = 0; member < weights_.size(); ++member) {
      if (possible(member)) total += weights_[member];
    }
    std::uint64_t rest = random_.below(total);
    for (Index member = 0; member < weights_.size(); ++member) {
      if (!possible(member)) continue;
      if (rest < weights_[member]) return member;
      rest -= weights_[member];
    }
    PEAL_ASSERT(false && "no member is possible");
    return 0;
  }

 private:
  Random& random_;
  std::vector<std::uint64_t> weights_;
};

}  // namespace

Inputs random_inputs(const Graph& graph, std::span<const Seq> last, Random& random) {
  Preference preference(graph.members(), random);
  std::vector<Seq> held(graph.members(), graph.first());
  Inputs inputs;
  while (!std::ranges::equal(held, last)) {
    const Index origin = preference.draw(
        [&](Index member) { return next_of(graph, member, held, last) != nullptr; });
    inputs.push_back({&graph.at({origin, ++held[origin]}), 0});
  }
  return inputs;
}

Flush::Flush(const CausalRun& run, std::vector<Index> survivors)
    : graph_(run.graph),
      survivors_(std::move(survivors)),
      cut_(run.graph.members(), run.graph.first()) {
  for (const Index member : survivors_) {
    for (Index origin = 0; origin < cut_.size(); ++origin) {
      cut_[origin] = std::max(cut_[origin], run.held[member][origin]);
    }
  }
  for (const Index member : survivors_) {
    GraphNode node{{member, cut_[member] + 1}, false, cut_, {}};
    node.past[member] = node.ref.seq;
    for (Index other = 0; other < cut_.size(); ++other) {
      node.covers.push_back({other, node.past[other]});
    }
    flushes_.push_back(std::move(node));
  }
}

Inputs Flush::random_inputs(Random& random) const& {
  Inputs inputs = test::random_inputs(graph_, cut_, random);
  std::vector<const GraphNode*> flushes;
  for (const GraphNode& node : flushes_) {
    const auto place = random.below(flushes.size() + 1);
    flushes.insert(flushes.begin() + static_cast<std::ptrdiff_t>(place), &node);
  }
  for (const GraphNode* node : flushes) inputs.push_back({node, 0});
  for (Index member = 0; member < cut_.size(); ++member) {
    if (std::ranges::count(survivors_, member) != 0) continue;
    std::size_t earliest = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].node != nullptr && inputs[i].node->ref.origin == member) earliest = i + 1;
    }
    const auto place = earliest + random.below(inputs.size() - earliest + 1);
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(place), {nullptr, member});
  }
  return inputs;
}

std::vector<Index> random_survivors(Index members, Random& random) {
  std::vector<Index> survivors;
  while (survivors.empty()) {
    for (Index member = 0; member < members; ++member) {
      if (random.chance(0.6)) survivors.push_back(member);
    }
  }
  return survivors;
}

// ---- replicas ----

void Replica::take(const Input& input) {
  if (input.node == nullptr) {
    order.on_crash(input.crashed);
  } else {
    const GraphNode& node = *input.node;
    order.on_node(node.ref.origin, node.ref.seq, node.ordered, node.past, node.covers);
  }
  Activation activation;
  while (order.decide(activation)) decided.emplace_back(activation.begin(), activation.end());
}

TotalOrder::Shape roomy(const Graph& graph, Index win, Rule rule) {
  Seq most = 1;
  for (const Seq last : graph.newest()) most = std::max(most, last - graph.first());
  return {graph.members(), win, rule, static_cast<std::uint32_t>(std::bit_ceil(most))};
}

bool agree(const Decisions& a, const Decisions& b) {
  const std::size_t common = std::min(a.size(), b.size());
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin());
}

std::size_t units_in(const Decisions& decisions) {
  std::size_t units = 0;
  for (const auto& activation : decisions) units += activation.size();
  return units;
}

}  // namespace peal::order::toto::test
