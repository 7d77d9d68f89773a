// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "base/hooks.h"
#include "damage.h"
#include "story.h"
#include "with_mutant.h"

namespace peal::wal::test {
namespace {

using sim_hooks::Mutant;

constexpr std::uint64_t kSeedsMax = 5'000;

/// Runs random histories until one detects the mutant; fails if none does.
void expect_noticed_by_stories(Mutant mutant) {
  const WithMutant active(mutant);
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    Story story(seed);
    const std::string wrong = story.run();
    if (wrong.empty()) continue;
    std::printf("%s: %s\n", std::string(sim_hooks::mutant_name(mutant)).c_str(), wrong.c_str());
    return;
  }
  FAIL() << "no story of " << kSeedsMax << " noticed it";
}

TEST(Mutants, ChecksumsNotLookedAtAreNoticed) {
  expect_noticed_by_stories(Mutant::wm1_no_checksum);
}
TEST(Mutants, SyncNotAwaitedIsNoticed) { expect_noticed_by_stories(Mutant::wm2_sync_not_awaited); }
TEST(Mutants, TailNotCutIsNoticed) { expect_noticed_by_stories(Mutant::wm3_tail_not_cut); }
TEST(Mutants, FolderNotSyncedIsNoticed) {
  expect_noticed_by_stories(Mutant::wm4_folder_not_synced);
}
TEST(Mutants, StaleRecordsAcceptedAreNoticed) {
  expect_noticed_by_stories(Mutant::wm5_stale_accepted);
}
TEST(Mutants, TrimThatIsNotDurableIsNoticed) {
  expect_noticed_by_stories(Mutant::wm7_trim_not_durable);
}
TEST(Mutants, ReadingWithoutSyncIsNoticed) {
  expect_noticed_by_stories(Mutant::wm8_read_not_synced);
}
TEST(Mutants, RemovingTooEarlyAtAStartIsNoticed) {
  expect_noticed_by_stories(Mutant::wm9_removed_at_start);
}
TEST(Mutants, CallingDurableTooEarlyIsNoticed) {
  expect_noticed_by_stories(Mutant::wm10_durable_too_early);
}
TEST(Mutants, NamingAFileBeforeItIsLongIsNoticed) {
  expect_noticed_by_stories(Mutant::wm12_named_before_it_is_long);
}
TEST(Mutants, CutFilesTakenForTornWritesAreNoticed) {
  EXPECT_EQ(cut_at_every_byte(), "");
  const WithMutant active(Mutant::wm11_cut_not_noticed);
  EXPECT_NE(cut_at_every_byte(), "");
}
TEST(Mutants, DamageTakenForATornWriteIsNoticed) {
  EXPECT_EQ(flip_every_byte(), "");
  const WithMutant active(Mutant::wm6_damage_taken_for_torn);
  EXPECT_NE(flip_every_byte(), "");
}

}  // namespace
}  // namespace peal::wal::test
