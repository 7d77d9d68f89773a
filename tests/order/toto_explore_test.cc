// SPDX-License-Identifier: Apache-2.0
#include "toto_explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "with_mutant.h"

// All causal graphs of a small view, in all orders of arrival.

namespace peal::order::toto::test {
namespace {

using sim_hooks::Mutant;

void print(const std::string& name, const Explored& found) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%s: %llu graphs, %llu orders of arrival, %llu inputs, %llu activations\n",
              name.c_str(), number(found.graphs), number(found.orders), number(found.inputs),
              number(found.activations));
  if (!found.violation.empty()) std::printf("  => %s\n", found.violation.c_str());
}

// ---- the number of graphs, counted by another algorithm ----

/// A node: its origin, and the nodes that it follows, itself included.
using CountedNode = std::pair<Index, std::vector<Seq>>;
using CountedGraph = std::set<CountedNode>;
/// With the number of orders in which the nodes of the graph can arrive.
using CountedGraphs = std::map<CountedGraph, std::uint64_t>;

std::vector<Seq> newest_of(const CountedGraph& graph, Index senders) {
  std::vector<Seq> newest(senders, 0);
  for (const auto& [origin, past] : graph) newest[origin] = std::max(newest[origin], past[origin]);
  return newest;
}

/// Whether the nodes up to `cut` follow no other nodes.
bool is_closed(const CountedGraph& graph, const std::vector<Seq>& cut) {
  return std::ranges::all_of(graph, [&](const CountedNode& node) {
    const auto& [origin, past] = node;
    return past[origin] > cut[origin] || std::ranges::equal(past, cut, std::ranges::less_equal{});
  });
}

/// Increments `cut` like the digits of a number; `most` has the largest digits. Returns false after
/// the last value.
bool count_up(std::vector<Seq>& cut, const std::vector<Seq>& most) {
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (++cut[i] <= most[i]) return true;
    cut[i] = 0;
  }
  return false;
}

/// All graphs with one node more than these.
CountedGraphs extended(const CountedGraphs& graphs, Index senders) {
  CountedGraphs larger;
  for (const auto& [graph, orders] : graphs) {
    const std::vector<Seq> newest = newest_of(graph, senders);
    std::vector<Seq> cut(senders, 0);
    do {
      if (!is_closed(graph, cut)) continue;
      for (Index origin = 0; origin < senders; ++origin) {
        if (cut[origin] != newest[origin]) continue;
        CountedNode node{origin, cut};
        ++node.second[origin];
        CountedGraph with = graph;
        with.insert(std::move(node));
        larger[std::move(with)] += orders;
      }
    } while (count_up(cut, newest));
  }
  return larger;
}

/// The number of graphs of the scope, and the number of orders of arrival of all of them.
std::pair<std::uint64_t, std::uint64_t> counted(const Scope& scope) {
  CountedGraphs graphs{{{}, 1}};
  for (std::uint32_t i = 0; i < scope.nodes; ++i) graphs = extended(graphs, scope.senders);
  std::pair<std::uint64_t, std::uint64_t> sum;
  for (const auto& [graph, orders] : graphs) {
    const std::vector<Seq> newest = newest_of(graph, scope.senders);
    if (scope.sorted_senders && !std::ranges::is_sorted(newest, std::greater<>())) continue;
    ++sum.first;
    sum.second += orders;
  }
  return sum;
}

// ---- all graphs ----

/// Expects that members agree in all graphs of the scope. `graphs`, `orders`: the expected numbers
/// of graphs and of orders of arrival, for one choice of kinds of nodes and one threshold.
void expect_agreement(const std::string& name, const Scope& scope, std::uint64_t graphs,
                      std::uint64_t orders) {
  const Explored found = explore(scope);
  print(name, found);
  EXPECT_EQ(found.violation, "");
  EXPECT_EQ(counted(scope), std::pair(graphs, orders));
  const std::uint64_t kinds = scope.both_kinds ? std::uint64_t{1} << scope.nodes : 1;
  const std::uint64_t thresholds = scope.senders - scope.senders / 2U;
  EXPECT_EQ(found.graphs, kinds * graphs);
  EXPECT_EQ(found.orders, kinds * thresholds * orders);
  EXPECT_GT(found.activations, found.graphs);
}

TEST(TotoExplore, ThreeSendersWithFourNodes) {
  expect_agreement("3 senders, 4 nodes, all kinds", {.nodes = 4, .both_kinds = true}, 321, 933);
}

TEST(TotoExplore, ThreeSendersWithSixNodes) {
  expect_agreement("3 senders, 6 nodes", {}, 13'078, 122'055);
}

TEST(TotoExplore, FourSendersWithFiveNodes) {
  expect_agreement("4 senders, 5 nodes", {.senders = 4, .nodes = 5}, 11'980, 75'268);
}

// Nodes without a unit are votes, but are not ordered themselves.
TEST(TotoExplore, ThreeSendersWithSixNodesOfAllKinds) {
  expect_agreement("3 senders, 6 nodes, all kinds", {.both_kinds = true, .sorted_senders = true},
                   4'806, 50'241);
}

TEST(TotoExplore, FourSendersWithFiveNodesOfAllKinds) {
  expect_agreement("4 senders, 5 nodes, all kinds",
                   {.senders = 4, .nodes = 5, .both_kinds = true, .sorted_senders = true}, 1'815,
                   12'617);
}

// Small scopes, whose graphs are counted by hand.
TEST(TotoExplore, CountsEachGraphOnce) {
  EXPECT_EQ(explore({.senders = 1, .nodes = 6}).graphs, 1U);
  EXPECT_EQ(explore({.senders = 1, .nodes = 6}).orders, 1U);
  // a1 a2; b1 b2; and three graphs of a1 and b1: concurrent, a1 first, b1 first.
  EXPECT_EQ(explore({.senders = 2, .nodes = 2}).graphs, 5U);
  // If a1 and b1 are concurrent, either may arrive first. There is one threshold.
  EXPECT_EQ(explore({.senders = 2, .nodes = 2}).orders, 6U);
  EXPECT_EQ(explore({.senders = 2, .nodes = 2, .both_kinds = true}).graphs, 20U);
  EXPECT_EQ(explore({.senders = 2, .nodes = 2, .sorted_senders = true}).graphs, 4U);
}

TEST(TotoExplore, NoticesTheMutants) {
  // With fewer senders, all have voted by the time that a unit with enough votes has a rival.
  const Scope kFive{.senders = 5, .nodes = 5, .sorted_senders = true};
  const std::pair<Mutant, Scope> kMutants[] = {
      {Mutant::tt_win_one_short, {.senders = 4, .nodes = 5}},
      {Mutant::tt_future_above, {.senders = 4, .nodes = 5}},
      {Mutant::tt_no_internal, kFive}};
  for (const auto& [mutant, scope] : kMutants) {
    const WithMutant active(mutant);
    const Explored found = explore(scope);
    print(std::string(sim_hooks::mutant_name(mutant)), found);
    EXPECT_NE(found.violation, "") << sim_hooks::mutant_name(mutant);
  }
}

}  // namespace
}  // namespace peal::order::toto::test
