// SPDX-License-Identifier: Apache-2.0
// RamCast under random faults: crashes, restarts, pauses, cut links, lost packets, slow and torn
// writes. Each seed is a run; all of them must keep the order, and end.
#include "ramcast_faults.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/hooks.h"

namespace peal::order::ramcast::test {
namespace {

/// PEAL_RAMCAST_SEEDS=first-last runs those in place of the usual ones.
std::pair<std::uint64_t, std::uint64_t> seeds(Strain strain) {
  const char* const chosen = std::getenv("PEAL_RAMCAST_SEEDS");
  if (chosen == nullptr) return {1, last_seed(strain)};
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(chosen, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first};
}

/// PEAL_RAMCAST_MUTANT=name runs with this deliberate fault.
void activate_chosen_mutant() {
  const char* const chosen = std::getenv("PEAL_RAMCAST_MUTANT");
  if (chosen == nullptr) return;
  for (unsigned id = 0; id < static_cast<unsigned>(sim_hooks::Mutant::count); ++id) {
    const auto mutant = static_cast<sim_hooks::Mutant>(id);
    if (sim_hooks::mutant_name(mutant) == chosen) sim_hooks::activate_mutant(mutant);
  }
}

void run_seeds(Strain strain) {
  activate_chosen_mutant();
  const auto [first, last] = seeds(strain);
  std::uint64_t delivered = 0, rounds = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Outcome outcome = run_seed(seed, strain);
    EXPECT_EQ(outcome.broken, "") << "seed " << seed;
    EXPECT_TRUE(outcome.ended) << "seed " << seed << ": " << outcome.stuck;
    delivered += outcome.delivered;
    rounds += outcome.rounds;
  }
  std::printf("%llu seeds: %llu deliveries, %llu rounds\n",
              static_cast<unsigned long long>(last - first + 1),
              static_cast<unsigned long long>(delivered), static_cast<unsigned long long>(rounds));
  EXPECT_GT(delivered, 0U);
}

TEST(RamcastFaults, EverySeedKeepsTheOrderAndEnds) { run_seeds(Strain::usual); }

TEST(RamcastFaults, HardSeedsToo) { run_seeds(Strain::hard); }

TEST(RamcastFaults, RegionsThatLoseWrites) { run_seeds(Strain::regions); }

TEST(RamcastFaults, ServersThatAreCutOffInTurns) { run_seeds(Strain::turns); }

/// A leader whose messages are large and small is lost, and the unit of a large one with it.
TEST(RamcastFaults, MessagesOfASenderKeepTheirOrder) {
  const Outcome outcome = run_seed(86, Strain::regions);
  EXPECT_EQ(outcome.broken, "");
  EXPECT_TRUE(outcome.ended) << outcome.stuck;
}

/// An entry is in a member's memory, and the leader does not learn it, as the link closes before
/// the write's end is told. All slots of the senders are full, so no later write tells it.
TEST(RamcastFaults, EntriesCountWhoseWritesHaveNoEnd) {
  const Outcome outcome = run_seed(65);
  EXPECT_EQ(outcome.broken, "");
  EXPECT_TRUE(outcome.ended) << outcome.stuck;
}

TEST(RamcastFaults, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(run_seed(seed).history, run_seed(seed).history) << "seed " << seed;
  }
}

}  // namespace
}  // namespace peal::order::ramcast::test
