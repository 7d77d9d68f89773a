// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "sim/baselines/registry.h"
#include "sim/netmodel/run.h"

// Genuine multicast on the network model, beside the figures of the RamCast paper.

namespace peal::sim {
namespace {

/// Messages of 64 bytes to domains of three; clients are nodes outside.
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

NetRunOptions ramcast_run(std::uint32_t domains, std::uint32_t outside, std::uint32_t under_way) {
  return genuine_run("ramcast", "ramcast", domains, outside, under_way);
}
NetRunOptions whitebox_run(std::uint32_t domains, std::uint32_t outside, std::uint32_t under_way) {
  return genuine_run("whitebox", "wbcast", domains, outside, under_way);
}

/// Thousand messages a second to so many domains, in the paper's figure 5.
struct Published {
  std::uint32_t domains;
  double thousands;
  double tolerance;
};

// The costs of a write and of a message were fitted to 2 and 4 domains.
TEST(NetGenuine, RamcastCarriesWhatThePaperMeasured) {
  for (const Published& paper : {Published{1, 233, 0.15}, Published{2, 145, 0.1},
                                 Published{4, 80, 0.1}, Published{8, 40, 0.15}}) {
    NetRunOptions options = ramcast_run(paper.domains, 12, 1);
    if (paper.domains > 2) options.warm_up = options.measure = milliseconds(2);
    const NetFigures figures = run_net(options);
    EXPECT_EQ(figures.violation, "");
    EXPECT_NEAR(figures.total_messages_per_second / 1e3, paper.thousands,
                paper.tolerance * paper.thousands)
        << paper.domains;
    EXPECT_GT(figures.busiest_cpu, 0.98);
  }
}

TEST(NetGenuine, WhiteboxCarriesWhatThePaperMeasured) {
  for (const Published& paper : {Published{1, 63, 0.25}, Published{2, 50, 0.05},
                                 Published{4, 35, 0.05}, Published{8, 27, 0.25}}) {
    const NetFigures figures = run_net(whitebox_run(paper.domains, 20, 2));
    EXPECT_EQ(figures.violation, "");
    EXPECT_NEAR(figures.total_messages_per_second / 1e3, paper.thousands,
                paper.tolerance * paper.thousands)
        << paper.domains;
    EXPECT_EQ(figures.writes, 0);
  }
}

// The median of one client and one domain: 7 us, and 200 us with packets.
TEST(NetGenuine, RepliesTakeAsLongAsInThePaper) {
  const NetRunOptions options = ramcast_run(1, 1, 1);
  const NetFigures ramcast = run_net(options);
  // Three writes after each other, and the completion of one: the message, its stamp, the reply.
  const double least_us =
      static_cast<double>((options.net->write * 3 + options.net->write_done).ns) / 1e3;
  EXPECT_GT(ramcast.reply.p50_us, least_us);
  EXPECT_NEAR(ramcast.reply.p50_us, 7, 0.2 * 7);
  EXPECT_NEAR(run_net(whitebox_run(1, 1, 1)).reply.p50_us, 200, 0.1 * 200);
}

// A sender that leads needs one write and its completion.
TEST(NetGenuine, ASenderThatLeadsNeedsOneWrite) {
  NetRunOptions options = ramcast_run(1, 0, 0);
  options.senders = 1;
  options.rate = 20'000;
  const NetFigures figures = run_net(options);
  EXPECT_EQ(figures.violation, "");
  const double least_us =
      static_cast<double>((options.net->write + options.net->write_done).ns) / 1e3;
  EXPECT_GT(figures.reply.p50_us, least_us);
  EXPECT_LT(figures.reply.p50_us, 2 * least_us);
}

TEST(NetGenuine, DomainsWithMessagesOfTheirOwnAddUp) {
  double first = 0;
  for (const std::uint32_t domains : {1U, 2U, 4U}) {
    NetRunOptions options = ramcast_run(domains, 6 * domains, 2);
    options.to_all = false;
    const NetFigures figures = run_net(options);
    EXPECT_EQ(figures.violation, "");
    if (domains == 1) first = figures.total_messages_per_second;
    EXPECT_NEAR(figures.total_messages_per_second, domains * first, 0.05 * domains * first);
  }
  EXPECT_GT(first, 233e3);
}

// 25 Gb/s carry 92,000 messages of 32 kB a second to each server, with the frames' headers.
TEST(NetGenuine, LargeMessagesAreBoundByTheLink) {
  NetRunOptions options = ramcast_run(1, 12, 1);
  options.payload_bytes = 32'768;
  const NetFigures figures = run_net(options);
  EXPECT_EQ(figures.violation, "");
  EXPECT_GT(figures.busiest_port, 0.97);
  EXPECT_NEAR(figures.messages_per_second, 92e3, 3e3);
}

}  // namespace
}  // namespace peal::sim
