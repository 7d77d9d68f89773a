// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/hooks.h"
#include "fake_engine.h"

// Each mutant of the node must change what nodes deliver. Otherwise the simulator could not detect
// it.

namespace peal::node::test {
namespace {

using sim_hooks::Mutant;

class NodeMutant : public ::testing::Test {
 protected:
  ~NodeMutant() override { sim_hooks::activate_mutant(Mutant::none); }

  /// Changes the view in the middle of a large message. Returns how many messages an old member and
  /// a joining member deliver.
  std::pair<std::size_t, std::size_t> view_change() {
    Bench sender(1), old_member(2), joiner(3);
    sender.submit(pattern(5'000, 1));
    old_member.engine->effects->deliver(*sender.order_one(1'000));
    for (Bench* each : {&sender, &old_member, &joiner}) each->install(2);
    sender.order_all(1'000, {&old_member, &joiner});
    EXPECT_EQ(sender.sink.placed.size(), 1U);
    return {old_member.sink.got.size(), joiner.sink.got.size()};
  }
};

TEST_F(NodeMutant, WithoutOneAllDeliver) { EXPECT_EQ(view_change(), (std::pair{1UL, 1UL})); }

TEST_F(NodeMutant, FragmentNotRestartedLosesTheMessage) {
  sim_hooks::activate_mutant(Mutant::fragment_not_restarted);
  EXPECT_EQ(view_change(), (std::pair{0UL, 0UL}));
}

TEST_F(NodeMutant, FragmentTailKeptSplitsTheMembers) {
  sim_hooks::activate_mutant(Mutant::fragment_tail_kept);
  EXPECT_EQ(view_change(), (std::pair{1UL, 0UL}));
}

TEST_F(NodeMutant, PackWrongOrderSwapsTwoMessages) {
  sim_hooks::activate_mutant(Mutant::pack_wrong_order);
  Bench bench;
  bench.submit("a");
  bench.submit("b");
  bench.order_all(1'000, {&bench});
  ASSERT_EQ(bench.sink.got.size(), 2U);
  EXPECT_EQ(bench.sink.got[0].payload, "b");
  EXPECT_EQ(bench.sink.got[0].number, 2U);
  EXPECT_EQ(bench.sink.got[0].index, 0U);
}

}  // namespace
}  // namespace peal::node::test
