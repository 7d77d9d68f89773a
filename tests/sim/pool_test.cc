// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/assert.h"
#include "sim/run/summary.h"

namespace peal::sim {
namespace {

std::map<std::uint64_t, RunResult> run(const PoolOptions& options,
                                       const std::function<RunResult(std::uint64_t)>& work) {
  std::map<std::uint64_t, RunResult> found;
  run_pool(options, work, [&found](const RunResult& finding) {
    EXPECT_TRUE(found.emplace(finding.index, finding).second);
  });
  return found;
}

TEST(Pool, RunsEveryIndexOnceAndBringsBackEverything) {
  PoolOptions options;
  options.first = 5;
  options.last = 60;
  options.jobs = 3;
  const auto found = run(options, [](std::uint64_t index) {
    RunResult finding;
    finding.property = index % 7 == 0 ? "E5" : "";
    finding.text = std::string(index, 'x');
    finding.figures.events = index * 10;
    finding.faults.add(Fault::crash, index);
    finding.digest = index * index;
    return finding;
  });
  ASSERT_EQ(found.size(), 56U);
  for (const auto& [index, finding] : found) {
    EXPECT_EQ(finding.text.size(), index);
    EXPECT_EQ(finding.figures.events, index * 10);
    EXPECT_EQ(finding.faults.of(Fault::crash), index);
    EXPECT_EQ(finding.digest, index * index);
    EXPECT_EQ(finding.property, index % 7 == 0 ? "E5" : "");
  }
}

TEST(Pool, ReportsAnAssertionAndGoesOn) {
  PoolOptions options;
  options.last = 20;
  options.jobs = 2;
  const auto found = run(options, [](std::uint64_t index) {
    PEAL_ASSERT(index != 3 && index != 11);
    return RunResult{};
  });
  ASSERT_EQ(found.size(), 20U);
  for (const auto& [index, finding] : found) {
    const bool died = index == 3 || index == 11;
    EXPECT_EQ(finding.property, died ? "assert" : "");
    if (died) {
      EXPECT_NE(finding.text.find("index != 3"), std::string::npos) << finding.text;
    }
  }
}

TEST(Pool, GivesUpWhatNeverEnds) {
  PoolOptions options;
  options.last = 3;
  options.jobs = 1;
  options.hang_seconds = 0.2;
  const auto found = run(options, [](std::uint64_t index) {
    volatile bool forever = index == 2;
    while (forever) {
    }
    return RunResult{};
  });
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.at(2).property, "hang");
  EXPECT_EQ(found.at(1).property, "");
  EXPECT_EQ(found.at(3).property, "");
}

TEST(Pool, StopsAboveAFailureIfAsked) {
  PoolOptions options;
  options.last = 100'000;
  options.jobs = 2;
  options.stop_at_failure = true;
  const auto found = run(options, [](std::uint64_t index) {
    RunResult finding;
    if (index == 9) finding.property = "E1";
    return finding;
  });
  EXPECT_LT(found.size(), 100'000U);
  for (std::uint64_t index = 1; index <= 9; ++index) EXPECT_TRUE(found.contains(index));
}

TEST(Summary, AddsUpAndSortsFailures) {
  Summary summary;
  for (const std::uint64_t index : {4U, 2U, 3U}) {
    RunResult finding;
    finding.index = index;
    finding.figures.deliveries_checked = 100;
    finding.probes["a.probe"] = 2;
    if (index != 3) finding.property = "E1";
    finding.text = "say \"why\"\n";
    summary.add(finding);
  }
  EXPECT_EQ(summary.seeds, 3U);
  EXPECT_EQ(summary.violations, 2U);
  ASSERT_EQ(summary.failures.size(), 2U);
  EXPECT_EQ(summary.failures[0].index, 2U);
  EXPECT_EQ(summary.failures[1].index, 4U);
  const std::string json = summary.json();
  EXPECT_EQ(json.find("{\"violations\":2,\"seeds\":3,"), 0U) << json;
  EXPECT_NE(json.find("\"deliveries_checked\":300"), std::string::npos) << json;
  EXPECT_NE(json.find("\"a.probe\":6"), std::string::npos) << json;
  EXPECT_NE(json.find(R"({"seed":2,"property":"E1","text":"say \"why\"\u000a"})"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace peal::sim
