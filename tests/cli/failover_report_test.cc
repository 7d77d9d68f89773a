// SPDX-License-Identifier: Apache-2.0
// The figures that `peal bench failover` computes, and its measurement of the disk.
#include "cli/bench/failover_report.h"

#include <gtest/gtest.h>

#include <thread>

#include "cli/bench/clock.h"
#include "cli/bench/sync_probe.h"
#include "temp_dir.h"

namespace peal::cli {
namespace {

TEST(FailoverSpread, HasTheLeastTheMedianAndTheGreatest) {
  const FailoverSpread odd = failover_spread({30, 10, 20});
  EXPECT_EQ(odd.min, 10);
  EXPECT_EQ(odd.median, 20);
  EXPECT_EQ(odd.max, 30);
  EXPECT_EQ(failover_spread({40, 10, 20, 30}).median, 25);
  EXPECT_EQ(failover_spread({7}).max, 7);
  EXPECT_EQ(failover_spread({}).max, 0);
}

TEST(SyncProbe, MeasuresTheSyncsOfItsFolder) {
  const TempDir folder;
  auto probe = SyncProbe::start(folder.path());
  ASSERT_TRUE(probe) << probe.error();
  const std::int64_t begin = now_ns();
  while ((*probe)->count() < 3 && (*probe)->problem().empty()) std::this_thread::yield();
  EXPECT_EQ((*probe)->problem(), "");
  EXPECT_GT((*probe)->longest_since(begin), 0);
  EXPECT_GE((*probe)->longest(), (*probe)->longest_since(begin));
}

TEST(SyncProbe, SaysWhereItCannotWrite) {
  const TempDir folder;
  const auto probe = SyncProbe::start(folder.path() + "/absent");
  ASSERT_FALSE(probe);
  EXPECT_NE(probe.error().find("/absent"), std::string::npos) << probe.error();
}

}  // namespace
}  // namespace peal::cli
