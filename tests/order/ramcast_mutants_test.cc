// SPDX-License-Identifier: Apache-2.0
// Deliberate faults of RamCast that runs with random faults notice: for each, a seed that does so.
// RamcastRules has the others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/hooks.h"
#include "ramcast_faults.h"

namespace peal::order::ramcast::test {
namespace {

using sim_hooks::Mutant;

struct Row {
  Mutant mutant;
  std::uint64_t seed;
  Strain strain = Strain::usual;
};

constexpr Row kRows[] = {
    {Mutant::rc_checksum_ignored, 2, Strain::hard},
    {Mutant::rc_backlog_forgotten, 2, Strain::hard},
    {Mutant::rc_causes_ignored, 3, Strain::hard},
    {Mutant::rc_digests_ignored, 2, Strain::hard},
    {Mutant::rc_incomplete_is_enough, 2},
    {Mutant::rc_later_rounds_count, 2, Strain::hard},
    {Mutant::rc_mark_without_clock, 2},
    {Mutant::rc_no_body_no_stamp, 2},
    {Mutant::rc_one_holder_less, 2, Strain::hard},
    {Mutant::rc_quorum_not_needed, 4},
    {Mutant::rc_released_before_view, 1},
    {Mutant::rc_released_in_other_view, 1},
    {Mutant::rc_released_by_one, 2},
    {Mutant::rc_revoke_forgotten, 6, Strain::hard},
    {Mutant::rc_sets_mixed, 4},
};

class RamcastMutants : public testing::TestWithParam<Row> {};

TEST_P(RamcastMutants, IsNoticed) {
  const auto [mutant, seed, strain] = GetParam();
  // Without its fault the seed is clean and ends, or anything would count as noticed. RamcastFaults
  // shows that for the first seeds.
  if (seed > last_seed(strain)) {
    const Outcome outcome = run_seed(seed, strain);
    ASSERT_EQ(outcome.broken, "");
    ASSERT_TRUE(outcome.ended) << outcome.stuck;
  }
  // In a process of its own, as an assertion may fail.
  const auto run = [] {
    sim_hooks::activate_mutant(GetParam().mutant);
    const Outcome outcome = run_seed(GetParam().seed, GetParam().strain);
    std::exit(outcome.broken.empty() && outcome.ended ? 0 : 1);
  };
  EXPECT_EXIT(
      run(), [](int status) { return status != 0; }, "");
}

INSTANTIATE_TEST_SUITE_P(Deliberate, RamcastMutants, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) {
                           return std::string(sim_hooks::mutant_name(row.param.mutant));
                         });

}  // namespace
}  // namespace peal::order::ramcast::test
