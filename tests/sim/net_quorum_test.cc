// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/netmodel/command.h"
#include "sim/netmodel/report.h"
#include "sim/netmodel/run.h"

// Runs engines with quorums on the network model, also without multicast.

namespace peal::sim {
namespace {

NetRunOptions quorum_experiment(const order::Descriptor* order, std::uint32_t nodes) {
  NetRunOptions options;
  options.net = net_kind("1g");
  options.cpu = cpu_kind("peal-offload");
  options.engine = EngineOptions(*order);
  options.nodes = nodes;
  options.warm_up = milliseconds(50);
  options.measure = milliseconds(50);
  return options;
}

/// One node sends large messages at its maximum rate.
NetRunOptions flood(const order::Descriptor* order, std::uint32_t nodes) {
  NetRunOptions options = quorum_experiment(order, nodes);
  options.senders = 1;
  options.payload_bytes = 65'536;
  return options;
}

NetRunOptions at_rate(const order::Descriptor* order, double mbps) {
  NetRunOptions options = quorum_experiment(order, 5);
  options.rate = mbps * 1e6 / (8.0 * options.payload_bytes);
  return options;
}

void expect_orderly(const NetFigures& figures) {
  EXPECT_EQ(figures.violation, "");
  EXPECT_EQ(figures.views, 1U);
  EXPECT_GT(figures.messages_compared, 100U);
  EXPECT_GT(figures.mbps, 0);
  EXPECT_TRUE(figures.keeps_up());
}

TEST(NetQuorum, EachEngineCarriesARateInOneOrder) {
  for (const order::Descriptor* order :
       {order::find_engine("ring"), order::find_engine("paxos"), order::find_engine("ridge")}) {
    SCOPED_TRACE(order->name);
    NetRunOptions options = at_rate(order, 100);
    expect_orderly(run_net(options));
    options.loss = 0.02;
    const NetFigures lossy = run_net(options);
    EXPECT_EQ(lossy.violation, "");
    EXPECT_EQ(lossy.views, 1U);
    EXPECT_GT(lossy.mbps, 20);
    EXPECT_GT(lossy.retransmitted, 0);
    EXPECT_EQ(net_json(options, lossy), net_json(options, run_net(options)));
  }
}

TEST(NetQuorum, ASyncIsPartOfTheLatencyAndIsShared) {
  for (const order::Descriptor* order :
       {order::find_engine("paxos"), order::find_engine("ridge")}) {
    SCOPED_TRACE(order->name);
    NetRunOptions options = at_rate(order, 200);
    const NetFigures memory = run_net(options);
    options.disk = milliseconds(1);
    const NetFigures disk = run_net(options);
    expect_orderly(memory);
    expect_orderly(disk);
    // A vote waits for the end of the sync in progress, and then for its own sync.
    EXPECT_GT(disk.mean_us, memory.mean_us + 1'000);
    EXPECT_LT(disk.max_us, memory.max_us + 4'000);
    // 18 units arrive per millisecond: one sync for each of them would be far too slow.
    EXPECT_GT(disk.messages_per_second, 15'000);
  }
}

TEST(NetQuorum, WithoutMulticastAllEnginesSendToEach) {
  NetRunOptions paxos = at_rate(order::find_engine("paxos"), 100);
  const NetFigures cheap = run_net(paxos);
  paxos.multicast = false;
  const NetFigures dear = run_net(paxos);
  expect_orderly(dear);
  EXPECT_GT(dear.busiest_cpu, cheap.busiest_cpu * 1.5);
  NetRunOptions ring = flood(order::find_engine("ring"), 5);
  ring.multicast = false;
  const NetFigures fanned = run_net(ring);
  expect_orderly(fanned);
  // The sender's link carries each message four times.
  EXPECT_NEAR(fanned.mbps, 890.0 / 4, 20);
}

// If nodes announced messages on arrival, a third of the messages would be in a wrong order at some
// node.
TEST(NetQuorum, EarlyMessagesComeSoonAndMostlyInTheOrderThatIsDecided) {
  for (const double megabits : {50.0, 300.0}) {
    SCOPED_TRACE(megabits);
    NetRunOptions options = at_rate(order::find_engine("ridge"), megabits);
    const NetFigures plain = run_net(options);
    ASSERT_TRUE(options.engine.read("optimistic", "yes"));
    const NetFigures early = run_net(options);
    expect_orderly(early);
    EXPECT_LT(early.early.p50_us, plain.p50_us * 0.75);
    EXPECT_LT(early.early.p50_us, early.p50_us * 0.6);
    EXPECT_LT(early.guesses.mistaken, 0.03);
    EXPECT_LE(early.guesses.inverted, early.guesses.mistaken);
    EXPECT_EQ(plain.early.p50_us, 0);
  }
}

TEST(NetQuorum, MembersGetEqualShares) {
  NetRunOptions options = quorum_experiment(order::find_engine("ridge"), 4);
  options.port_buffer_bytes = 4U << 20;
  const NetFigures figures = run_net(options);
  expect_orderly(figures);
  EXPECT_GT(figures.least_sender, 0.9);
}

TEST(RidgePaper, ThroughputHardlyDependsOnTheNumberOfDestinations) {
  const NetFigures few = run_net(flood(order::find_engine("ridge"), 4));
  const NetFigures many = run_net(flood(order::find_engine("ridge"), 35));
  expect_orderly(few);
  expect_orderly(many);
  EXPECT_GT(few.mbps, 750);
  EXPECT_NEAR(many.mbps / few.mbps, 1, 0.05);
}

TEST(RidgePaper, VotesThatShareASyncLeaveRoomForFourFifths) {
  for (const std::uint32_t nodes : {4U, 35U}) {
    NetRunOptions options = flood(order::find_engine("ridge"), nodes);
    options.disk = microseconds(50);
    options.warm_up = options.measure = milliseconds(100);
    const NetFigures figures = run_net(options);
    expect_orderly(figures);
    EXPECT_GT(figures.mbps, 800) << nodes;
  }
}

// If all nodes send, each node distributes its own values, so all links become full together. When
// one link became full before the others, the limit was 744 Mb/s.
TEST(NetQuorum, IfAllSendWithRidgeItCarriesFourFifthsOfALink) {
  NetRunOptions options = at_rate(order::find_engine("ridge"), 800);
  options.nodes = 7;
  const NetFigures figures = run_net(options);
  expect_orderly(figures);
  EXPECT_LT(figures.mean_us, 500);
}

// If all nodes send more than the links carry, full ports reduce the throughput only a little.
TEST(NetQuorum, MoreThanLinksCarryIsSlowedDown) {
  NetRunOptions options = quorum_experiment(order::find_engine("ridge"), 8);
  options.payload_bytes = 65'536;
  options.warm_up = seconds(1);
  const NetFigures figures = run_net(options);
  expect_orderly(figures);
  EXPECT_GT(figures.mbps, 650);
  EXPECT_LT(figures.retransmitted, 0.05);
}

TEST(RidgePaper, ClassicBroadcastIsDividedByTheDestinations) {
  for (const std::uint32_t nodes : {4U, 7U, 11U}) {
    NetRunOptions options = flood(order::find_engine("paxos"), nodes);
    options.multicast = false;
    options.warm_up = options.measure = milliseconds(200);
    const NetFigures figures = run_net(options);
    expect_orderly(figures);
    EXPECT_NEAR(figures.mbps * (nodes - 1), 890, 40) << nodes;
  }
}

// ---- the command line ----

struct NetOutcome {
  int status;
  std::string error;
};

NetOutcome net_command(std::vector<std::string> words) {
  words.insert(words.begin(), {"peal-sim", "--net", "1g"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int status = run_net_command(static_cast<int>(argv.size()), argv.data());
  testing::internal::GetCapturedStdout();
  return {status, testing::internal::GetCapturedStderr()};
}

void expect_refused(const std::vector<std::string>& words, const std::string& why) {
  const NetOutcome outcome = net_command(words);
  EXPECT_EQ(outcome.status, 2) << why;
  EXPECT_EQ(outcome.error, "peal sim: " + why + "\n");
}

TEST(NetCommand, RefusesWhatMakesNoSense) {
  expect_refused({"--acceptors", "3"}, "--acceptors is not accepted here: ring has no acceptors");
  expect_refused({"--order", "ring", "--disk-us", "50"},
                 "--disk-us is not accepted here: ring has no acceptors");
  expect_refused({"--optimistic"},
                 "--optimistic is not accepted here: it must come with --order paxos or ridge");
  expect_refused(
      {"--order", "ridge", "--ensembles", "2", "--optimistic"},
      "ridge.optimistic = true does not go with ridge.ensembles = 2: leave one of the two out");
  expect_refused({"--order", "paxos", "--dissemination", "ring"},
                 "--dissemination is not accepted here: it must come with --order ridge");
  expect_refused({"--merge", "keys"},
                 "--merge is not accepted here: it must come with --order ridge");
  expect_refused(
      {"--order", "ridge", "--merge", "rotation"},
      "ridge.merge = \"rotation\" does not go with ridge.ensembles = 1: leave it out, or set "
      "ridge.ensembles = 2 or more");
  for (const char* window : {"--personal-window", "--accelerated-window", "--global-window"}) {
    expect_refused({"--order", "ridge", window, "20"},
                   std::string(window) + " is not accepted here: it must come with --order ring");
  }
  expect_refused({"--order", "paxos", "--nodes", "4", "--acceptors", "5"},
                 "--acceptors 5: accepted is 1 to 4: acceptors are nodes");
  expect_refused({"--order", "ridge", "--nodes", "32", "--acceptors", "17"},
                 "--acceptors 17: accepted is 1 to 15: the engine takes no more");
  expect_refused({"--nodes", "4", "--senders", "5"},
                 "--senders 5: accepted is 1 to 4: senders are nodes");
  EXPECT_EQ(net_command({"--order", "raft"}).status, 2);
}

TEST(NetCommand, TakesFewerAcceptorsOnFewerNodes) {
  const std::vector<std::string> two{"--order",   "ridge", "--nodes",       "2", "--rate", "20M",
                                     "--seconds", "0.02",  "--no-multicast"};
  const NetOutcome outcome = net_command(two);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error, "");
}

}  // namespace
}  // namespace peal::sim
