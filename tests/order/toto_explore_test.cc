// SPDX-License-Identifier: Apache-2.0
#include "toto_explore.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

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

/// In all graphs of the scope, members agree.
Explored expect_agreement(const std::string& name, const Scope& scope) {
  const Explored found = explore(scope);
  print(name, found);
  EXPECT_EQ(found.violation, "");
  EXPECT_GT(found.orders, found.graphs);
  return found;
}

TEST(TotoExplore, ThreeSendersWithFourNodes) {
  expect_agreement("3 senders, 4 nodes, all kinds", {.nodes = 4, .both_kinds = true});
}

TEST(TotoExplore, ThreeSendersWithSixNodes) { expect_agreement("3 senders, 6 nodes", {}); }

TEST(TotoExplore, FourSendersWithFiveNodes) {
  expect_agreement("4 senders, 5 nodes", {.senders = 4, .nodes = 5});
}

// A unit of a node is what is ordered; a node without one is only a vote.
TEST(TotoExplore, ThreeSendersWithSixNodesOfAllKinds) {
  expect_agreement("3 senders, 6 nodes, all kinds", {.both_kinds = true, .sorted_senders = true});
}

TEST(TotoExplore, FourSendersWithFiveNodesOfAllKinds) {
  expect_agreement("4 senders, 5 nodes, all kinds",
                   {.senders = 4, .nodes = 5, .both_kinds = true, .sorted_senders = true});
}

// The smallest graph of two senders: a1 and b1, which follow nothing or one another, and so on.
TEST(TotoExplore, CountsEachGraphOnce) {
  EXPECT_EQ(explore({.senders = 1, .nodes = 6}).graphs, 1U);
  EXPECT_EQ(explore({.senders = 1, .nodes = 6}).orders, 1U);
  // a1 a2, b1 b2, and with a node of each: concurrent, a1 first, b1 first.
  EXPECT_EQ(explore({.senders = 2, .nodes = 2}).graphs, 5U);
  // Of the two that are concurrent, either may arrive first. There is one threshold.
  EXPECT_EQ(explore({.senders = 2, .nodes = 2}).orders, 6U);
  EXPECT_EQ(explore({.senders = 2, .nodes = 2, .both_kinds = true}).graphs, 20U);
  EXPECT_EQ(explore({.senders = 2, .nodes = 2, .sorted_senders = true}).graphs, 4U);
}

TEST(TotoExplore, NoticesTheMutants) {
  for (const Mutant mutant :
       {Mutant::tt_win_one_short, Mutant::tt_no_internal, Mutant::tt_future_above}) {
    const WithMutant active(mutant);
    const Scope scope{.senders = 4, .nodes = 5};
    const Explored found = explore(scope);
    print(std::string(sim_hooks::mutant_name(mutant)), found);
    EXPECT_NE(found.violation, "") << sim_hooks::mutant_name(mutant);
  }
}

}  // namespace
}  // namespace peal::order::toto::test
