// SPDX-License-Identifier: Apache-2.0
// Variants of the criterion: members that take the same nodes in different orders decide the same
// activations. Each weaker criterion breaks this agreement, or blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "toto_definition.h"
#include "with_mutant.h"

namespace peal::order::toto::test {
namespace {

using sim_hooks::Mutant;

constexpr std::uint64_t kRuns = 6'000;
constexpr std::uint64_t kCrashRuns = 10'000;
constexpr int kReplays = 6;

struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t activations = 0;
  std::uint64_t violations = 0;  ///< runs in which members decided in different orders
  std::uint64_t uneven = 0;      ///< runs after which some member had decided more than another
  std::uint64_t stuck = 0;       ///< runs after which units were pending
};

void print_tally(const char* variant, const Tally& tally) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%-44s %6llu runs %8llu activations %6llu violations %6llu stuck\n", variant,
              number(tally.runs), number(tally.activations), number(tally.violations),
              number(tally.stuck));
}

/// What one member decided, and how many units it left pending.
struct Outcome {
  Decisions decided;
  std::size_t pending = 0;
};
/// Takes all inputs in this order, and decides as a member does. `extra`: how far W is above its
/// lowest legal value.
using Decider = std::function<Outcome(const Graph&, const Inputs&, Index extra)>;

Outcome total_order(const Graph& graph, const Inputs& inputs, Index extra) {
  const auto win = static_cast<Index>(lowest_win(graph.members()) + extra);
  Replica replica(roomy(graph, win));
  for (const Input& input : inputs) replica.take(input);
  return {std::move(replica.decided), replica.order.pending()};
}

/// A member with a criterion that TotalOrder does not have. `below`: how far W is below its lowest
/// legal value.
Decider decider_with(Criterion criterion, Index below = 0) {
  return [=](const Graph& graph, const Inputs& inputs, Index extra) {
    Criterion mine = criterion;
    mine.win = static_cast<Index>(lowest_win(graph.members()) + (below == 0 ? extra : 0) - below);
    Definition definition(graph.members(), mine);
    for (const Input& input : inputs) definition.take(input);
    return Outcome{definition.decided, definition.pending().size()};
  };
}

/// Counts how the members of one run differ.
void count_run(const std::vector<Outcome>& members, Tally& tally) {
  ++tally.runs;
  tally.activations += members.front().decided.size();
  const auto differs = [&](const Outcome& other) {
    return std::ranges::any_of(
        members, [&](const Outcome& one) { return !agree(one.decided, other.decided); });
  };
  if (std::ranges::any_of(members, differs)) ++tally.violations;
  const auto uneven = [&](const Outcome& other) {
    return other.decided.size() != members.front().decided.size();
  };
  if (std::ranges::any_of(members, uneven)) ++tally.uneven;
  if (std::ranges::any_of(members, [](const Outcome& one) { return one.pending != 0; })) {
    ++tally.stuck;
  }
}

/// Runs of 3 to 6 members. Every variant sees the same runs in the same orders.
Tally replay_plain(const Decider& decider) {
  Random random(50);
  Tally tally;
  while (tally.runs < kRuns) {
    const auto members = static_cast<Index>(random.between(3, 6));
    const CausalRun run = random_run(random_shape(members, random), random);
    const std::vector<Seq> all = run.graph.newest();
    const auto extra = static_cast<Index>(random.below(members - lowest_win(members) + 1U));
    std::vector<Outcome> outcomes;
    for (int i = 0; i < kReplays; ++i) {
      outcomes.push_back(decider(run.graph, random_inputs(run.graph, all, random), extra));
    }
    count_run(outcomes, tally);
  }
  return tally;
}

/// The same with crashes: the survivors hold the same nodes, learn of each crash at different
/// moments, and end the view.
Tally replay_crashed(const Decider& decider) {
  Random random(51);
  Tally tally;
  while (tally.runs < kCrashRuns) {
    const auto members = static_cast<Index>(random.between(3, 6));
    const CausalRun run = random_run(random_shape(members, random), random);
    const Flush flush(run, random_survivors(members, random));
    const auto extra = static_cast<Index>(random.below(members - lowest_win(members) + 1U));
    std::vector<Outcome> outcomes;
    for (int i = 0; i < kReplays; ++i) {
      outcomes.push_back(decider(run.graph, flush.random_inputs(random), extra));
    }
    count_run(outcomes, tally);
  }
  return tally;
}

Tally with_mutant(Mutant mutant, Tally (*replay)(const Decider&)) {
  const WithMutant active(mutant);
  return replay(&total_order);
}

TEST(TotoVariants, AsSpecifiedMembersAgreeInAnyOrderOfArrival) {
  const Tally tally = replay_plain(&total_order);
  print_tally("as specified", tally);
  EXPECT_EQ(tally.violations, 0U);
  // A criterion that holds stays true, so members with equal graphs have decided equally much.
  EXPECT_EQ(tally.uneven, 0U);
  EXPECT_GT(tally.activations, 2 * kRuns);
}

TEST(TotoVariants, AsSpecifiedSurvivorsAgreeAndNothingStaysPending) {
  const Tally tally = replay_crashed(&total_order);
  print_tally("as specified, with crashes", tally);
  EXPECT_EQ(tally.violations, 0U);
  EXPECT_EQ(tally.uneven, 0U);
  EXPECT_EQ(tally.stuck, 0U);
  EXPECT_GT(tally.activations, 3 * kCrashRuns);
}

TEST(TotoVariants, EachMutantBreaksTheAgreement) {
  const struct {
    Mutant mutant;
    const char* name;
    Tally (*replay)(const Decider&);
  } kMutants[] = {
      {Mutant::tt_win_one_short, "NVT one short (tt_win_one_short)", &replay_plain},
      {Mutant::tt_no_internal, "no internal stability (tt_no_internal)", &replay_plain},
      {Mutant::tt_future_above, "Future by > (tt_future_above)", &replay_plain},
      {Mutant::tt_crash_column_finite, "crash columns finite (tt_crash_column_finite)",
       &replay_crashed},
  };
  for (const auto& [mutant, name, replay] : kMutants) {
    const Tally tally = with_mutant(mutant, replay);
    print_tally(name, tally);
    EXPECT_GT(tally.violations, 0U) << name;
  }
}

// Variants that TotalOrder does not have: the definition decides.
TEST(TotoVariants, TheOtherVariantsOfTheSpecificationBehaveAsItSays) {
  const Tally no_ntail = replay_plain(decider_with({.checks_ntail = false}));
  print_tally("without NTail(s) >= n-W+1", no_ntail);
  EXPECT_EQ(no_ntail.violations, 0U);  // redundant as long as W is above half

  const Tally low = replay_plain(decider_with({}, 1));
  print_tally("W one below its lowest value", low);
  EXPECT_EQ(low.violations, 0U);

  const Tally no_nvt = replay_plain(decider_with({.checks_nvt = false}));
  print_tally("NTail only, no NVT test", no_nvt);
  EXPECT_GT(no_nvt.violations, 0U);
}

TEST(TotoVariants, ALowerThresholdBlocksOrDisagreesAfterCrashes) {
  const Tally low = replay_crashed(decider_with({}, 1));
  print_tally("W one below, with crashes", low);
  EXPECT_GT(low.stuck, 0U);

  const Tally both = replay_crashed(decider_with({.checks_ntail = false}, 1));
  print_tally("W one below, no NTail test, with crashes", both);
  EXPECT_GT(both.violations, 0U);
}

}  // namespace
}  // namespace peal::order::toto::test
