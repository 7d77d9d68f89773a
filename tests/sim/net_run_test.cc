// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/netmodel/report.h"
#include "sim/netmodel/run.h"

namespace peal::sim {
namespace {

NetRunOptions experiment(const char* net, const char* cpu) {
  NetRunOptions options;
  options.net = net_kind(net);
  options.cpu = cpu_kind(cpu);
  options.warm_up = milliseconds(30);
  options.measure = milliseconds(50);
  return options;
}

NetFigures original(NetRunOptions options) {
  options.accelerated_window = 0;
  return run_net(options);
}

double rate_of(double mbps, std::uint32_t payload) { return mbps * 1e6 / (8.0 * payload); }

/// All messages had one order in one view, and the figures are not empty.
void expect_sound(const NetFigures& figures) {
  EXPECT_EQ(figures.violation, "");
  EXPECT_EQ(figures.views, 1U);
  EXPECT_GT(figures.messages_compared, 1'000U);
  EXPECT_GT(figures.mbps, 0);
}

TEST(NetRun, IsTheSameForTheSameSeedAndAnotherForAnother) {
  NetRunOptions options = experiment("10g", "daemon");
  options.nodes = 3;
  options.rate = 20'000;
  const NetFigures first = run_net(options);
  expect_sound(first);
  EXPECT_EQ(net_json(options, first), net_json(options, run_net(options)));
  options.seed = 2;
  EXPECT_NE(first.digest, run_net(options).digest);
}

TEST(NetRun, CarriesTheRateThatIsAskedFor) {
  NetRunOptions options = experiment("10g", "peal");
  options.rate = 50'000;
  const NetFigures figures = run_net(options);
  expect_sound(figures);
  EXPECT_NEAR(figures.messages_per_second, 50'000, 1'000);
  EXPECT_TRUE(figures.keeps_up());
}

TEST(NetRun, FallsBehindARateThatIsTooHigh) {
  NetRunOptions options = experiment("1g", "daemon");
  options.rate = rate_of(1'200, options.payload_bytes);
  EXPECT_FALSE(run_net(options).keeps_up());
}

TEST(NetRun, IsBoundByTheProcessorOnAFastNetwork) {
  const NetFigures figures = run_net(experiment("10g", "library"));
  expect_sound(figures);
  EXPECT_GT(figures.busiest_cpu, 0.98);
  // Each packet costs each node the time to send it or to receive it.
  const double each_ns = static_cast<double>(cpu_kind("library")->costs.receive.of(1'443, 1).ns);
  EXPECT_NEAR(figures.messages_per_second * each_ns / 1e9, 1, 0.03);
}

TEST(NetRun, IsBoundByTheWireOnASlowNetwork) {
  const NetFigures figures = run_net(experiment("1g", "library"));
  expect_sound(figures);
  EXPECT_GT(figures.busiest_port, 0.95);
  EXPECT_LT(figures.busiest_cpu, 0.5);
}

TEST(NetRun, LosesWholeDatagramsInPortsThatOverflowAndRepairsThem) {
  NetRunOptions options = experiment("1g", "daemon");
  options.payload_bytes = 8'850;
  options.port_buffer_bytes = 40'000;
  const NetFigures figures = run_net(options);
  expect_sound(figures);
  EXPECT_GT(figures.dropped_frames, 0U);
  EXPECT_GT(figures.retransmitted, 0);
  EXPECT_LE(figures.port_queue_bytes, 40'000U);
}

TEST(NetRun, CutsLargeMessagesAndPacksSmallOnes) {
  NetRunOptions options = experiment("10g", "peal");
  options.nodes = 3;
  options.payload_bytes = 100'000;
  expect_sound(run_net(options));
  options.payload_bytes = 10;
  options.measure = milliseconds(10);
  const NetFigures small = run_net(options);
  expect_sound(small);
  EXPECT_GT(small.messages_per_second, 1e6);
}

TEST(Papers, TheAcceleratedRingFillsAGigabit) {
  for (const char* cpu : {"library", "daemon", "spread"}) {
    const NetFigures figures = run_net(experiment("1g", cpu));
    expect_sound(figures);
    EXPECT_GT(figures.mbps, 920) << cpu;
  }
}

TEST(Papers, MoreThroughputAtLowerLatencyOnAGigabit) {
  NetRunOptions options = experiment("1g", "spread");
  options.rate = rate_of(500, options.payload_bytes);
  const NetFigures before = original(options);
  options.rate = rate_of(800, options.payload_bytes);
  const NetFigures after = run_net(options);
  expect_sound(before);
  expect_sound(after);
  EXPECT_TRUE(after.keeps_up());
  EXPECT_LT(after.mean_us, before.mean_us * 0.55);
}

TEST(Papers, MoreThroughputAtLowerLatencyOnTenGigabits) {
  NetRunOptions options = experiment("10g", "daemon");
  options.rate = rate_of(2'000, options.payload_bytes);
  const NetFigures before = original(options);
  options.rate = rate_of(2'800, options.payload_bytes);
  const NetFigures after = run_net(options);
  EXPECT_TRUE(before.keeps_up());
  EXPECT_TRUE(after.keeps_up());
  EXPECT_LT(after.mean_us, before.mean_us * 0.70);
}

TEST(Papers, SafeCostsTheAcceleratedRingMoreAtLowRatesOnly) {
  NetRunOptions options = experiment("10g", "spread");
  options.service = Service::safe;
  options.measure = milliseconds(200);
  options.rate = rate_of(100, options.payload_bytes);
  EXPECT_GT(run_net(options).mean_us, original(options).mean_us * 1.1);
  options.rate = rate_of(1'500, options.payload_bytes);
  EXPECT_LT(run_net(options).mean_us, original(options).mean_us);
}

TEST(Papers, LossCostsTheAcceleratedRingARotationMore) {
  NetRunOptions options = experiment("10g", "daemon");
  options.rate = rate_of(480, options.payload_bytes);
  options.loss = 0.15;
  const NetFigures before = original(options);
  const NetFigures after = run_net(options);
  expect_sound(before);
  expect_sound(after);
  EXPECT_GT(after.mean_us, before.mean_us);
  // Each of seven receivers may miss a packet, so nodes retransmit more packets than a single
  // receiver loses.
  EXPECT_GT(after.retransmitted, 5 * 0.15);
}

}  // namespace
}  // namespace peal::sim
