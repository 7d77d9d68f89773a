// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "group_reference.h"
#include "group_text.h"
#include "oracle/groups.h"
#include "random_groups.h"

// Compares the checker of groups with a slow and simple checker, on random histories.

namespace peal::oracle::test {
namespace {

constexpr std::uint64_t kSeeds = 400;

GroupReport judge(const std::vector<GroupEvent>& events, bool at_once = true) {
  GroupChecker::Options options;
  options.at_once = at_once;
  GroupChecker checker(options);
  for (const GroupEvent& event : events) play(checker, event);
  return checker.finish();
}

std::set<std::string> ids_of(const GroupReport& report) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kGroupPropertyCount; ++i) {
    if (report.violations_of[i] != 0) ids.emplace(group_property_id(static_cast<GroupProperty>(i)));
  }
  return ids;
}

std::string texts_of(const GroupReport& report) {
  std::string out;
  for (const GroupViolation& violation : report.violations) {
    out += std::string(group_property_id(violation.property)) + ": " + violation.text + "\n";
  }
  return out;
}

TEST(GroupDifferential, LegalHistoriesPass) {
  GroupFigures sum;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const std::vector<GroupEvent> events = random_groups(random);
    const GroupReport report = judge(events);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << texts_of(report);
    ASSERT_EQ(judge_groups_slowly(events), std::set<std::string>()) << "seed " << seed;
    sum.deliveries += report.figures.deliveries;
    sum.network_views += report.figures.network_views;
    sum.compared += report.figures.compared;
    sum.left += report.figures.left;
    sum.gaps += report.figures.gaps;
  }
  EXPECT_GT(sum.deliveries, 10 * kSeeds);
  EXPECT_GT(sum.network_views, 5 * kSeeds);
  EXPECT_GT(sum.compared, 5 * kSeeds);
  EXPECT_GT(sum.left, kSeeds);
  EXPECT_GT(sum.gaps, kSeeds);
}

TEST(GroupDifferential, DamagedHistoriesBreakTheSameProperties) {
  std::map<std::string, std::uint64_t> count;
  std::uint64_t legal = 0;
  for (std::uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<GroupEvent> events = random_groups(random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) damage_groups(events, random);
    const GroupReport report = judge(events);
    const std::set<std::string> ids = ids_of(report);
    ASSERT_EQ(ids, judge_groups_slowly(events)) << "seed " << seed << "\n" << texts_of(report);
    for (const std::string& id : ids) ++count[id];
    if (ids.empty()) ++legal;
  }
  for (const char* id : {"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G10"}) {
    EXPECT_GE(count[id], 20U) << id;
  }
  EXPECT_LT(legal, 5 * kSeeds / 2);
}

// Clients with sessions receive the same events, but later.
TEST(GroupDifferential, LegalHistoriesPassWithSessions) {
  std::uint64_t gaps = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const std::vector<GroupEvent> events = told_later(random_groups(random), random);
    const GroupReport report = judge(events, false);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << texts_of(report);
    ASSERT_EQ(judge_groups_slowly(events, false), std::set<std::string>()) << "seed " << seed;
    gaps += report.figures.gaps;
  }
  EXPECT_GT(gaps, kSeeds);
}

TEST(GroupDifferential, DamagedHistoriesBreakTheSamePropertiesWithSessions) {
  std::map<std::string, std::uint64_t> count;
  for (std::uint64_t seed = 0; seed < 5 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<GroupEvent> events = told_later(random_groups(random), random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) damage_groups(events, random);
    const GroupReport report = judge(events, false);
    const std::set<std::string> ids = ids_of(report);
    ASSERT_EQ(ids, judge_groups_slowly(events, false)) << "seed " << seed << "\n"
                                                       << texts_of(report);
    for (const std::string& id : ids) ++count[id];
  }
  EXPECT_GE(count["G8"], 20U);
}

// Any sequence of calls is valid input for the checkers.
TEST(GroupDifferential, ChaosBreaksTheSameProperties) {
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    std::vector<GroupEvent> events = random_groups(random);
    for (std::size_t n = events.size(); n > 0; --n) damage_groups(events, random);
    const GroupReport report = judge(events);
    ASSERT_EQ(ids_of(report), judge_groups_slowly(events)) << "seed " << seed << "\n"
                                                           << texts_of(report);
    if (!report.ok()) ++broken;
  }
  EXPECT_GT(broken, kSeeds * 9 / 10);
}

}  // namespace
}  // namespace peal::oracle::test
