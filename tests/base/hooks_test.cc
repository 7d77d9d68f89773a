// SPDX-License-Identifier: Apache-2.0
// The hooks of simulator builds.
#include "base/hooks.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace peal {
namespace {

using sim_hooks::Mutant;
using sim_hooks::Probe;
using sim_hooks::Sample;

void rare_branch() { PEAL_PROBE("base_test.rare"); }
void never_taken() { PEAL_PROBE("base_test.never"); }

const Probe* find(std::string_view name) {
  for (const Probe* probe = Probe::first(); probe != nullptr; probe = probe->next()) {
    if (probe->name() == name) return probe;
  }
  return nullptr;
}

TEST(Probe, CountsHowOftenItsPlaceRan) {
  EXPECT_EQ(find("base_test.rare"), nullptr);
  rare_branch();
  ASSERT_NE(find("base_test.rare"), nullptr);
  EXPECT_EQ(find("base_test.rare")->hits(), 1U);
  for (int i = 0; i < 9; ++i) rare_branch();
  EXPECT_EQ(find("base_test.rare")->hits(), 10U);
  EXPECT_EQ(find("base_test.never"), nullptr);
  never_taken();
  EXPECT_NE(find("base_test.never"), nullptr);
}

TEST(Probe, CountsFromAllThreads) {
  const auto many = [] {
    for (int i = 0; i < 1'000; ++i) PEAL_PROBE("base_test.threads");
  };
  std::thread one(many);
  std::thread two(many);
  one.join();
  two.join();
  EXPECT_EQ(find("base_test.threads")->hits(), 2'000U);
}

TEST(Mutant, NoneIsActiveUntilChosen) {
  EXPECT_EQ(sim_hooks::active_mutant(), Mutant::none);
  EXPECT_FALSE(PEAL_MUTANT(checksum_ignored));
  sim_hooks::activate_mutant(Mutant::checksum_ignored);
  EXPECT_TRUE(PEAL_MUTANT(checksum_ignored));
  EXPECT_FALSE(PEAL_MUTANT(hold_forever));
  sim_hooks::activate_mutant(Mutant::none);
  EXPECT_FALSE(PEAL_MUTANT(checksum_ignored));
}

TEST(Mutant, EachThreadHasItsOwn) {
  sim_hooks::activate_mutant(Mutant::hold_forever);
  Mutant seen = Mutant::count;
  std::thread([&] { seen = sim_hooks::active_mutant(); }).join();
  EXPECT_EQ(seen, Mutant::none);
  EXPECT_TRUE(PEAL_MUTANT(hold_forever));
  sim_hooks::activate_mutant(Mutant::none);
}

TEST(Mutant, NamesAndTextsAreDistinct) {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (int i = 1; i < static_cast<int>(Mutant::count); ++i) {
    const auto mutant = static_cast<Mutant>(i);
    EXPECT_TRUE(names.insert(sim_hooks::mutant_name(mutant)).second);
    EXPECT_TRUE(texts.insert(sim_hooks::mutant_text(mutant)).second);
    EXPECT_FALSE(sim_hooks::mutant_text(mutant).empty());
  }
  EXPECT_EQ(sim_hooks::mutant_name(Mutant::none), "none");
  EXPECT_GE(names.size(), 40U);
}

struct Recorded final : sim_hooks::Sampler {
  void take(Sample sample, std::initializer_list<std::uint64_t> values) override {
    samples.push_back(sample);
    last.assign(values.begin(), values.end());
  }
  std::vector<Sample> samples;
  std::vector<std::uint64_t> last;
};

TEST(Sampler, TakesTheValuesOfItsThreadWhileItIsSet) {
  int computed = 0;
  const auto value = [&] { return static_cast<std::uint64_t>(++computed); };
  PEAL_SAMPLE(node_ordered, 3U, value());
  EXPECT_EQ(computed, 0) << "nobody takes the value";

  Recorded recorded;
  sim_hooks::set_sampler(&recorded);
  PEAL_SAMPLE(node_ordered, 3U, value());
  EXPECT_EQ(recorded.samples, std::vector{Sample::node_ordered});
  EXPECT_EQ(recorded.last, (std::vector<std::uint64_t>{3, 1}));
  std::thread([&] { PEAL_SAMPLE(node_ordered, 4U, value()); }).join();
  EXPECT_EQ(computed, 1);

  sim_hooks::set_sampler(nullptr);
  PEAL_SAMPLE(node_ordered, 3U, value());
  EXPECT_EQ(recorded.samples.size(), 1U);
}

}  // namespace
}  // namespace peal
