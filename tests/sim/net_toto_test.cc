// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/netmodel/command.h"
#include "sim/netmodel/report.h"
#include "sim/netmodel/run.h"

// ToTo on the network model: the experiments of its paper on a bus, and its latency on a switched
// network beside that of the other engines.

namespace peal::sim {
namespace {

const order::Descriptor* engine(std::string_view name) { return order::find_engine(name); }

/// Messages of 1 kB at a rate, on the paper's bus, without acknowledgements.
NetRunOptions on_bus(Arrivals arrivals, double rate, const char* delivery, double messages) {
  NetRunOptions options;
  options.net = net_kind("bus10");
  options.cpu = cpu_kind("peal");
  options.engine = EngineOptions(*engine("toto"));
  EXPECT_TRUE(options.engine.read("delivery", delivery));
  options.payload_bytes = 1'000;
  options.rate = rate;
  options.arrivals = arrivals;
  options.ack_rate = 0;
  const auto time_of = [rate](double count) {
    return Duration{static_cast<std::int64_t>(count / rate * 1e9)};
  };
  options.warm_up = time_of(20.0 * options.nodes);
  options.measure = time_of(messages);
  return options;
}

void expect_one_order(const NetFigures& figures) {
  EXPECT_EQ(figures.violation, "");
  EXPECT_EQ(figures.views, 1U);
  EXPECT_GT(figures.messages_compared, 1'000U);
}

// ---- the paper's tables ----

struct Measured {
  double index = 0, concurrent = 0, wait_ms = 0, expected_ms = 0;
  std::array<double, 4> shares{};
};

/// The mean of three runs with 4,000 messages each.
Measured measure(Arrivals arrivals, double load, const char* delivery,
                 std::optional<Duration> latency) {
  Measured mean;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    NetRunOptions options = on_bus(arrivals, load, delivery, 4'000);
    options.latency = latency;
    options.seed = seed;
    const NetFigures figures = run_net(options);
    expect_one_order(figures);
    EXPECT_TRUE(figures.keeps_up());
    mean.index += figures.index / 3;
    mean.concurrent += figures.concurrent / 3;
    mean.wait_ms += figures.wait_us / 3e3;
    mean.expected_ms += figures.expected_us / 3e3;
    for (std::size_t i = 0; i < mean.shares.size(); ++i) {
      mean.shares[i] += figures.index_shares[i] / 3;
    }
  }
  return mean;
}

/// One load of table 2 (periodic) or 3 (Poisson). The last row of table 2 for all-ack lies 18 %
/// above the paper's own model (table 4), so the test ignores it.
struct PaperRow {
  double load;
  double index, concurrent, wait_ms;
  double all_ack_ms;
};
constexpr PaperRow kTable2[] = {{50, 5.10, 1.12, 76.68, 135.02},
                                {100, 5.42, 1.39, 42.31, 68.78},
                                {150, 5.36, 1.44, 29.17, 45.59},
                                {200, 5.90, 1.72, 23.80, 0}};
constexpr PaperRow kTable3[] = {{50, 5.11, 1.15, 114.10, 385.25},
                                {100, 5.31, 1.29, 60.98, 188.06},
                                {150, 5.54, 1.42, 44.10, 133.09},
                                {200, 5.89, 1.63, 39.37, 102.33}};

struct Tolerance {
  double index, concurrent, wait, all_ack, formula;
};

void expect_near(double value, double printed, double share, const std::string& what) {
  EXPECT_NEAR(value / printed, 1, share) << what << ": " << value << ", printed " << printed;
}

void expect_rows(Arrivals arrivals, std::span<const PaperRow> rows, const Tolerance& allowed,
                 std::optional<Duration> latency = {}) {
  Measured before;
  std::array<double, 4> all_loads{};
  for (const PaperRow& row : rows) {
    SCOPED_TRACE(row.load);
    const Measured toto = measure(arrivals, row.load, "toto", latency);
    const Measured all_ack = measure(arrivals, row.load, "all-ack", latency);
    expect_near(toto.index, row.index, allowed.index, "index of latency");
    EXPECT_NEAR(toto.concurrent, row.concurrent, allowed.concurrent);
    expect_near(toto.wait_ms, row.wait_ms, allowed.wait, "wait");
    if (row.all_ack_ms > 0) expect_near(all_ack.wait_ms, row.all_ack_ms, allowed.all_ack, "all");
    // Tables 4 and 5: the formulas, with the indices and concurrent messages that were measured.
    expect_near(toto.expected_ms, toto.wait_ms, allowed.formula, "formula");
    expect_near(all_ack.expected_ms, all_ack.wait_ms, allowed.formula, "formula, all");
    EXPECT_EQ(all_ack.index, 8);
    // Figures 5 and 6: nothing is decided with fewer votes than a majority.
    EXPECT_NEAR(toto.shares[0] + toto.shares[1] + toto.shares[2] + toto.shares[3], 1, 1e-9);
    for (std::size_t i = 0; i < 4; ++i) all_loads[i] += toto.shares[i];
    // While most messages are concurrent to no other, the smallest majority decides most often.
    if (row.load <= 100) {
      EXPECT_EQ(std::ranges::max(toto.shares), toto.shares[0]);
    }
    // With more load there are more concurrent messages and more votes, and messages wait less.
    EXPECT_GT(toto.index, before.index);
    EXPECT_GT(toto.concurrent, before.concurrent);
    if (before.wait_ms > 0) {
      EXPECT_LT(toto.wait_ms, before.wait_ms);
    }
    before = toto;
  }
  EXPECT_EQ(std::ranges::max(all_loads), all_loads[0]);
}

TEST(TotoNet, GivesTheTablesForPeriodicSources) {
  expect_rows(Arrivals::periodic, kTable2,
              {.index = 0.08, .concurrent = 0.3, .wait = 0.12, .all_ack = 0.08, .formula = 0.08});
}

TEST(TotoNet, GivesTheTablesForPoissonSources) {
  expect_rows(Arrivals::poisson, kTable3,
              {.index = 0.08, .concurrent = 0.3, .wait = 0.3, .all_ack = 0.08, .formula = 0.08});
}

TEST(TotoNet, IsNearerToThePaperWithAShorterDelay) {
  expect_rows(Arrivals::poisson, kTable3,
              {.index = 0.08, .concurrent = 0.3, .wait = 0.2, .all_ack = 0.08, .formula = 0.08},
              milliseconds(1));
}

TEST(TotoNet, SpeedsUpMoreWithMoreMembers) {
  const struct {
    std::uint32_t members;
    double poisson, periodic;
  } kIdeal[] = {{4, 2.20, 1.50}, {8, 3.41, 1.75}, {16, 4.57, 1.88}};
  for (const auto& ideal : kIdeal) {
    SCOPED_TRACE(ideal.members);
    for (const Arrivals arrivals : {Arrivals::periodic, Arrivals::poisson}) {
      const auto wait_us = [&](const char* delivery) {
        NetRunOptions options = on_bus(arrivals, 10, delivery, 2'000);
        options.nodes = ideal.members;
        options.warm_up = seconds(2 * std::int64_t{ideal.members});
        const NetFigures figures = run_net(options);
        expect_one_order(figures);
        return figures.wait_us;
      };
      const double speed_up = wait_us("all-ack") / wait_us("toto");
      expect_near(speed_up, arrivals == Arrivals::poisson ? ideal.poisson : ideal.periodic, 0.1,
                  "speed-up");
    }
  }
}

// The paper's hosts carried 250 messages of 1 kB in a second.
TEST(TotoNet, CarriesTheThroughputOfThePaper) {
  for (const Arrivals arrivals : {Arrivals::periodic, Arrivals::poisson}) {
    const NetFigures figures = run_net(on_bus(arrivals, 250, "toto", 4'000));
    expect_one_order(figures);
    EXPECT_NEAR(figures.messages_per_second, 250, 5);
    EXPECT_GT(figures.busiest_port, 250 * 0.85e-3);
    EXPECT_LT(figures.busiest_port, 0.25);
  }
}

TEST(TotoNet, IsTheSameForTheSameSeedAndAnotherForAnother) {
  NetRunOptions options = on_bus(Arrivals::poisson, 200, "toto", 500);
  const NetFigures first = run_net(options);
  EXPECT_EQ(net_json(options, first), net_json(options, run_net(options)));
  options.seed = 2;
  EXPECT_NE(first.digest, run_net(options).digest);
}

// ---- a switched network ----

NetRunOptions on_switch(std::string_view order, Service service) {
  NetRunOptions options;
  options.net = net_kind("1g");
  options.cpu = cpu_kind("peal-offload");
  options.engine = EngineOptions(*engine(order));
  options.payload_bytes = 200;
  options.rate = 1'000;
  options.service = service;
  return options;
}

NetFigures run_on_switch(std::string_view order, Service service, Duration slow_node = {}) {
  NetRunOptions options = on_switch(order, service);
  options.slow_node = slow_node;
  const NetFigures figures = run_net(options);
  expect_one_order(figures);
  EXPECT_TRUE(figures.keeps_up());
  return figures;
}

TEST(TotoNet, OrdersInTwoDelaysWhoeverSends) {
  const double toto = run_on_switch("toto", Service::agreed).p50_us;
  EXPECT_LT(toto, 150);
  EXPECT_LT(toto, run_on_switch("ring", Service::agreed).p50_us / 2);
  for (const char* order : {"paxos", "ridge"}) {
    EXPECT_LT(toto, run_on_switch(order, Service::agreed).p50_us) << order;
  }
}

TEST(TotoNet, DeliversCausalMessagesAfterOneDelay) {
  EXPECT_LT(run_on_switch("toto", Service::causal).p50_us, 85);
}

TEST(TotoNet, OtherEnginesDeliverCausalMessagesAsAgreed) {
  for (const char* order : {"ring", "paxos", "ridge"}) {
    EXPECT_EQ(run_on_switch(order, Service::causal).p50_us,
              run_on_switch(order, Service::agreed).p50_us)
        << order;
  }
}

TEST(TotoNet, ASlowNodeDelaysItsOwnMessagesAlone) {
  const Duration away = milliseconds(20);
  EXPECT_LT(run_on_switch("toto", Service::agreed, away).p50_us, 1'000);
  EXPECT_LT(run_on_switch("toto", Service::causal, away).p50_us, 1'000);
  NetRunOptions all_ack = on_switch("toto", Service::agreed);
  ASSERT_TRUE(all_ack.engine.read("delivery", "all-ack"));
  EXPECT_LT(run_net(all_ack).p50_us, 150);
  all_ack.slow_node = away;
  const NetFigures slowed = run_net(all_ack);
  expect_one_order(slowed);
  EXPECT_GT(slowed.p50_us, 40'000);
  EXPECT_GT(run_on_switch("ring", Service::agreed, away).p50_us, 20'000);
}

// A low rate delays messages. A rate of 20,000 is the default.
TEST(TotoNet, AcknowledgesAtMostAtTheRateThatWasSet) {
  NetRunOptions options = on_switch("toto", Service::agreed);
  options.ack_rate = 100;
  const NetFigures rare = run_net(options);
  expect_one_order(rare);
  EXPECT_GT(rare.p50_us, 1'000);
  options.ack_rate = 20'000;
  EXPECT_EQ(net_json(options, run_net(options)),
            net_json(options, run_on_switch("toto", Service::agreed)));
}

// ---- work ----

TEST(TotoNet, OrdersWithTheWorkThatThePaperAllows) {
  double before = 0;
  for (const std::uint32_t members : {4U, 8U, 16U, 32U}) {
    SCOPED_TRACE(members);
    NetRunOptions options = on_bus(Arrivals::poisson, 100, "toto", 1'000);
    options.nodes = members;
    const NetFigures figures = run_net(options);
    expect_one_order(figures);
    EXPECT_GT(figures.work.mean, members);
    EXPECT_LT(figures.work.mean, 4 * figures.work.bound);
    EXPECT_GT(figures.work.mean, before);
    before = figures.work.mean;
  }
}

// ---- the command line ----

struct TotoOutcome {
  int status;
  std::string output, error;
};

TotoOutcome toto_command(std::vector<std::string> words) {
  words.insert(words.begin(), "peal-sim");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int status = run_net_command(static_cast<int>(argv.size()), argv.data());
  const std::string output = testing::internal::GetCapturedStdout();
  return {status, output, testing::internal::GetCapturedStderr()};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(TotoNetCommand, RunsThePapersLoadsOnTheBus) {
  const TotoOutcome outcome = toto_command(
      {"--net", "bus10", "--arrivals", "periodic", "--ack-rate", "0", "--seconds", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.output.find("8 nodes, bus10, processor peal, 1000 bytes, agreed, periodic, "
                                "toto, no acknowledgements\n"),
            0U)
      << outcome.output;
  // A title, two lines of headers, and a line for each of four loads with each of two rules.
  EXPECT_EQ(lines_of(outcome.output), 11U);
  for (const char* load : {"        50  toto", "       200  all-ack"}) {
    EXPECT_NE(outcome.output.find(load), std::string::npos) << outcome.output;
  }
}

TEST(TotoNetCommand, RunsOneRuleOrOneLoadIfAsked) {
  const TotoOutcome one_rule =
      toto_command({"--net", "bus10", "--arrivals", "poisson", "--ack-rate", "0", "--seconds", "2",
                    "--delivery", "all-ack"});
  EXPECT_EQ(one_rule.status, 0);
  EXPECT_EQ(lines_of(one_rule.output), 7U);
  const TotoOutcome one_load = toto_command({"--net", "bus10", "--arrivals", "poisson",
                                             "--ack-rate", "0", "--seconds", "2", "--rate", "250"});
  EXPECT_EQ(one_load.status, 0);
  EXPECT_NE(one_load.output.find("members had voted"), std::string::npos) << one_load.output;
}

void expect_refusal(const std::vector<std::string>& words, const std::string& why) {
  const TotoOutcome outcome = toto_command(words);
  EXPECT_EQ(outcome.status, 2) << why;
  EXPECT_EQ(outcome.error, "peal sim: " + why + "\n");
}

TEST(TotoNetCommand, RefusesWhatMakesNoSense) {
  expect_refusal({"--net", "1g", "--ack-rate", "0"},
                 "--ack-rate is not accepted here: it must come with --order toto");
  expect_refusal({"--net", "1g", "--order", "toto", "--personal-window", "3"},
                 "--personal-window is not accepted here: it must come with --order ring");
  expect_refusal({"--net", "1g", "--arrivals", "poisson"},
                 "--arrivals is not accepted here: it must come with a --rate");
  expect_refusal({"--net", "1g", "--rate", "100", "--arrivals", "periodic", "--burst-us", "10"},
                 "--burst-us is not accepted here: it must come with --arrivals even");
  expect_refusal({"--net", "bus10", "--buffer", "3000"},
                 "--buffer is not accepted here: a bus has no ports");
  expect_refusal({"--net", "1g", "--nodes", "1", "--slow-node", "20ms"},
                 "--slow-node is not accepted here: there is no other node");
  EXPECT_EQ(toto_command({"--net", "1g", "--slow-node", "far"}).status, 2);
  EXPECT_EQ(toto_command({"--net", "1g", "--arrivals", "never", "--rate", "1"}).status, 2);
}

}  // namespace
}  // namespace peal::sim
