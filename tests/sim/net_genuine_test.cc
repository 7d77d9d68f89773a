// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "sim/baselines/registry.h"
#include "sim/netmodel/run.h"

// Genuine multicast on the network model, with the figures of the RamCast paper.

namespace peal::sim {
namespace {

NetRunOptions genuine_run(std::string_view engine, const char* cpu, std::uint32_t domains,
                          std::uint32_t outside, std::uint32_t under_way) {
  NetRunOptions options;
  options.net = net_kind("rdma");
  options.cpu = cpu_kind(cpu);
  options.engine = EngineOptions(*find_engine(engine));
  options.domains = domains;
  options.nodes = 3 * domains;
  options.outside = outside;
  options.under_way = under_way;
  options.to_all = true;
  options.payload_bytes = 64;
  options.warm_up = milliseconds(5);
  options.measure = milliseconds(5);
  return options;
}

TEST(NetGenuine, RamcastReachesWhatThePaperDid) {
  for (const auto& [domains, paper] : {std::pair(1U, 233e3), std::pair(2U, 145e3)}) {
    const NetFigures figures = run_net(genuine_run("ramcast", "ramcast", domains, 12, 1));
    EXPECT_EQ(figures.violation, "");
    EXPECT_NEAR(figures.total_messages_per_second, paper, 0.15 * paper) << domains;
    EXPECT_GT(figures.busiest_cpu, 0.98);
  }
}

TEST(NetGenuine, WhiteboxReachesWhatThePaperDid) {
  for (const auto& [domains, paper] : {std::pair(1U, 63e3), std::pair(2U, 50e3)}) {
    const NetFigures figures = run_net(genuine_run("whitebox", "wbcast", domains, 20, 2));
    EXPECT_EQ(figures.violation, "");
    EXPECT_NEAR(figures.total_messages_per_second, paper, 0.25 * paper) << domains;
    EXPECT_EQ(figures.writes, 0);
  }
}

// Three writes after each other, and the completion of one: the message, its stamp, the reply.
TEST(NetGenuine, AReplyTakesThreeWritesAndACompletion) {
  const NetRunOptions options = genuine_run("ramcast", "ramcast", 1, 1, 1);
  const NetFigures figures = run_net(options);
  const double least_us =
      static_cast<double>((options.net->write * 3 + options.net->write_done).ns) / 1e3;
  EXPECT_GT(figures.reply_p50_us, least_us);
  EXPECT_LT(figures.reply_p50_us, 2 * least_us);
  EXPECT_EQ(figures.total_messages_per_second, figures.messages_per_second);
}

TEST(NetGenuine, DomainsOfTheirOwnAddUp) {
  NetRunOptions options = genuine_run("ramcast", "ramcast", 2, 12, 2);
  options.to_all = false;
  const NetFigures figures = run_net(options);
  EXPECT_EQ(figures.violation, "");
  EXPECT_EQ(figures.total_messages_per_second, 2 * figures.messages_per_second);
  EXPECT_GT(figures.messages_per_second, 200e3);
}

// 25 Gb/s carry 92,000 messages of 32 kB a second to each server, with the frames' headers.
TEST(NetGenuine, LargeMessagesAreBoundByTheLink) {
  NetRunOptions options = genuine_run("ramcast", "ramcast", 1, 12, 2);
  options.payload_bytes = 32'768;
  const NetFigures figures = run_net(options);
  EXPECT_EQ(figures.violation, "");
  EXPECT_GT(figures.busiest_port, 0.97);
  EXPECT_NEAR(figures.messages_per_second, 92e3, 3e3);
}

}  // namespace
}  // namespace peal::sim
