// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/bench/plot.h"
#include "cli/bench/summary.h"
#include "temp_dir.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

BenchResult result(std::uint64_t delivered, std::uint64_t digest) {
  BenchResult made;
  made.due = 100;
  made.sent = 50;
  made.delivered = delivered;
  made.delivered_bytes = 1'000 * delivered;
  made.cpu_s = 0.5;
  made.latency.add(delivered * 1'000);
  made.early.add(delivered * 500);
  made.counters = {
      {"retransmitted", 1}, {"data_sent", 50}, {"quorum_delivered", 50}, {"opt_mistakes", 2}};
  made.gauges = {{"global_window", 20}};
  BenchView view;
  view.id = "1@a.1";
  view.digest.value = digest;
  view.digest.messages = delivered;
  made.views = {view};
  return made;
}

TEST(BenchSummary, AddsUpWhatTheNodesSaw) {
  const BenchRun run = summarise({result(1'000, 7), result(3'000, 7)}, 2);
  const BenchFigures& f = run.figures;
  EXPECT_DOUBLE_EQ(f.throughput_mbit_per_s, 8);  // 2 nodes got 4 MB in all in 2 s
  EXPECT_THAT(run.receivers_mbit_per_s, ElementsAre(4, 12));
  EXPECT_DOUBLE_EQ(f.messages_per_s, 1'000);
  EXPECT_DOUBLE_EQ(f.due_messages_per_s, 100);
  EXPECT_DOUBLE_EQ(f.sent_percent, 50);
  EXPECT_DOUBLE_EQ(f.latency_min_us, 1'000);
  EXPECT_DOUBLE_EQ(f.latency_max_us, 3'000);
  EXPECT_DOUBLE_EQ(f.cpu_s_per_delivered_gb, 250);  // 1 s of processor time for 4 MB
  EXPECT_DOUBLE_EQ(f.cores_per_node, 0.25);
  EXPECT_DOUBLE_EQ(f.retransmitted_percent, 2);
  EXPECT_DOUBLE_EQ(f.global_window_packets, 20);
  EXPECT_DOUBLE_EQ(f.early_p99_us, 1'500);
  EXPECT_DOUBLE_EQ(f.mistaken_percent, 4);
  EXPECT_TRUE(run.one_order);
}

TEST(BenchSummary, NoticesAnotherOrder) {
  EXPECT_FALSE(summarise({result(10, 7), result(10, 8)}, 1).one_order);
}

TEST(BenchSummary, NoticesAViewThatOnlyTheLastNodeDeliveredIn) {
  std::vector<BenchResult> results = {result(10, 7), result(10, 7)};
  BenchView more;
  more.id = "2@b.1";
  more.digest.messages = 1;
  results[1].views.push_back(more);
  EXPECT_FALSE(summarise(results, 1).one_order);
}

/// The result of a node that delivered these messages of one sender, by number.
BenchResult result_of(const std::vector<std::uint64_t>& numbers, bool have_places) {
  BenchResult made;
  made.views.push_back({"1@a.1", {}, 0, 0});
  for (const std::uint64_t number : numbers) {
    const std::byte payload{static_cast<unsigned char>(number)};
    made.views.back().add("a.1", number, have_places, ByteView(&payload, 1));
  }
  return made;
}

TEST(BenchSummary, MessagesWithoutAPlaceMayHaveAnotherOrderButAreTheSame) {
  const auto compare = [](const std::vector<std::uint64_t>& numbers, bool have_places) {
    return summarise({result_of({1, 2, 3}, have_places), result_of(numbers, have_places)}, 1);
  };
  EXPECT_TRUE(compare({1, 2, 3}, true).one_order);
  EXPECT_FALSE(compare({1, 3, 2}, true).one_order);
  const BenchRun other = compare({3, 1, 2}, false);
  EXPECT_TRUE(other.one_order);
  EXPECT_EQ(other.messages, 3U);
  EXPECT_EQ(other.unplaced_messages, 3U);
  EXPECT_EQ(other.views, 1U);
  EXPECT_FALSE(compare({1, 2}, false).one_order) << "one is missing";
  EXPECT_FALSE(compare({1, 2, 3, 3}, false).one_order) << "one came twice";
  EXPECT_FALSE(compare({1, 2, 4}, false).one_order) << "another one came";
  EXPECT_FALSE(summarise({result_of({1}, false), result_of({1}, true)}, 1).one_order);
  EXPECT_FALSE(summarise({result_of({}, false), result_of({1}, false)}, 1).one_order);
}

TEST(BenchSummary, DomainsHaveViewsOfTheirOwnAndTheSameMessages) {
  const auto in_domain = [](std::uint32_t domain, std::uint64_t digest) {
    BenchResult made = result(10, digest);
    made.domain = domain;
    made.views.back().id = std::to_string(domain) + "@a.1";
    made.all.digest.value = digest;
    return made;
  };
  EXPECT_TRUE(summarise({in_domain(1, 7), in_domain(1, 7), in_domain(2, 7)}, 1).one_order);
  EXPECT_FALSE(summarise({in_domain(1, 7), in_domain(1, 8), in_domain(2, 7)}, 1).one_order);
  EXPECT_FALSE(summarise({in_domain(1, 7), in_domain(1, 7), in_domain(2, 8)}, 1).one_order);
}

TEST(BenchSummary, ANodeOutsideAllDomainsIsNoReceiver) {
  BenchResult outside;
  outside.domain = 0;
  outside.due = outside.sent = 100;
  outside.own.add(5'000);
  const BenchRun run = summarise({result(1'000, 7), result(3'000, 7), outside}, 2);
  EXPECT_TRUE(run.one_order);
  EXPECT_DOUBLE_EQ(run.figures.messages_per_s, 1'000);
  EXPECT_THAT(run.receivers_mbit_per_s, ElementsAre(4, 12));
  EXPECT_DOUBLE_EQ(run.figures.own_p50_us, 5);
}

BenchPlan plan_with(std::uint32_t nodes, std::uint32_t domains, bool outside,
                    BenchSenders senders) {
  BenchPlan plan;
  plan.nodes = nodes;
  plan.domains = domains;
  plan.outside = outside;
  plan.senders = senders;
  plan.poll = 2;
  return plan;
}

TEST(BenchPlan, SaysWhatEachNodeDoes) {
  const BenchPlan two = plan_with(4, 2, false, BenchSenders::all);
  EXPECT_EQ(senders_of(two), 4U);
  EXPECT_EQ(role_of(two, 1).domain, 1U);
  EXPECT_EQ(role_of(two, 2).domain, 2U);
  EXPECT_EQ(role_of(two, 3).domain_nodes, 2U);
  EXPECT_TRUE(role_of(two, 0).starts && role_of(two, 3).sends);
  EXPECT_TRUE(role_of(two, 1).polls);
  EXPECT_FALSE(role_of(two, 2).polls);
  const BenchPlan first = plan_with(4, 2, false, BenchSenders::first);
  EXPECT_EQ(senders_of(first), 1U);
  EXPECT_TRUE(role_of(first, 0).sends);
  EXPECT_FALSE(role_of(first, 3).sends);
  // A sender outside is told nothing: it says when to begin, and polls first.
  const BenchPlan outside = plan_with(4, 1, true, BenchSenders::last);
  EXPECT_EQ(role_of(outside, 3).domain, 0U);
  EXPECT_EQ(role_of(outside, 0).domain_nodes, 3U);
  EXPECT_TRUE(role_of(outside, 3).starts && role_of(outside, 3).sends);
  EXPECT_FALSE(role_of(outside, 0).starts);
  EXPECT_TRUE(role_of(outside, 3).polls && role_of(outside, 0).polls);
  EXPECT_FALSE(role_of(outside, 1).polls);
}

TEST(BenchPlanFiles, KeepRolesAndDomains) {
  const TempDir folder;
  const BenchPlan plan = plan_with(4, 1, true, BenchSenders::last);
  ASSERT_TRUE(write_plan(folder.path(), plan));
  const auto read = read_plan(folder.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->domains, 1U);
  EXPECT_TRUE(read->outside);
  EXPECT_EQ(read->senders, BenchSenders::last);
  EXPECT_EQ(read->poll, 2U);
  BenchResult made = result(10, 7);
  made.domain = 3;
  made.own.add(1'500);
  made.all.digest.value = 9;
  ASSERT_TRUE(write_result(folder.path(), "n1", made));
  const auto back = read_result(folder.path(), "n1");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->domain, 3U);
  EXPECT_EQ(back->own.max_ns, 1'500U);
  EXPECT_EQ(back->all.digest.value, 9U);
}

TEST(BenchPlanFiles, KeepServicesAndWhatWasDelivered) {
  const TempDir folder;
  for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    BenchPlan plan;
    plan.service = service;
    ASSERT_TRUE(write_plan(folder.path(), plan));
    const auto read = read_plan(folder.path());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->service, service);
  }
  BenchResult made = result_of({1, 2}, false);
  made.views.back().add("b.1", 1, true, {});
  ASSERT_TRUE(write_result(folder.path(), "a", made));
  const auto read = read_result(folder.path(), "a");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->views.size(), 1U);
  const BenchView &was = made.views.back(), &is = read->views.back();
  EXPECT_EQ(is.digest.value, was.digest.value);
  EXPECT_EQ(is.digest.messages, 1U);
  EXPECT_EQ(is.unplaced_digest, was.unplaced_digest);
  EXPECT_EQ(is.unplaced_messages, 2U);
}

TEST(BenchSummary, LimitCountsANodesOwnPacketsThatOthersReceived) {
  LimitResult node;
  node.packet_bytes = 1'250;  // 10 kbit
  node.one.packets_received = 100;
  node.all.packets_received = 200;
  node.all.packets_lost = 200;
  node.all.packets_sent = 1'000;
  LimitResult first = node;
  first.one.packets_received = 0;  // this node is the sender
  const LimitFigures f = summarise({first, node, node}, 1);
  EXPECT_DOUBLE_EQ(f.one_mbit_per_s, 1);
  EXPECT_DOUBLE_EQ(f.all_mbit_per_s, 3);  // each node receives 2 and sends 1
  EXPECT_DOUBLE_EQ(f.all_lost_percent, 50);
}

TEST(BenchSummary, SpreadHasTheMedianOfEachFigureByItself) {
  std::vector<BenchFigures> runs(4);
  const double values[] = {4, 1, 3, 10};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].throughput_mbit_per_s = values[i];
    runs[i].latency_p50_us = -values[i];
  }
  const auto even = spread_of(runs);
  EXPECT_EQ(even.min.throughput_mbit_per_s, 1);
  EXPECT_EQ(even.median.throughput_mbit_per_s, 3.5);
  EXPECT_EQ(even.max.throughput_mbit_per_s, 10);
  EXPECT_EQ(even.min.latency_p50_us, -10);
  runs.pop_back();
  EXPECT_EQ(spread_of(runs).median.throughput_mbit_per_s, 3);
}

TEST(BenchPlot, TableHasANameForEveryColumn) {
  SweepPoint point;
  point.rate_mbit_per_s = 12.5;
  point.figures.throughput_mbit_per_s = 12;
  const std::string csv = csv_of({point, point});
  EXPECT_THAT(csv, testing::StartsWith("rate_mbit_per_s,throughput_mbit_per_s,"));
  EXPECT_THAT(csv, HasSubstr("\n12.500,12.000,"));
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  EXPECT_EQ(lines, 3);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ',') % lines, 0);
}

TEST(BenchPlot, TitleNamesTheService) {
  BenchCommand command;
  EXPECT_THAT(plot_script(command, "x.csv", "x.png"), HasSubstr("1,350 bytes, agreed"));
  command.service = Service::causal;
  EXPECT_THAT(plot_script(command, "x.csv", "x.png"), HasSubstr("1,350 bytes, causal"));
}

TEST(BenchPlot, FileNamesCannotBecomeCommands) {
  BenchCommand command;
  EXPECT_EQ(csv_path("a/b.png"), "a/b.csv");
  const std::string script = plot_script(command, "it's.csv", "it's.png");
  EXPECT_THAT(script, HasSubstr("'it''s.csv'"));
  EXPECT_THAT(script, HasSubstr("'it''s.png'"));
  EXPECT_THAT(script, Not(HasSubstr("it's")));
}

}  // namespace
}  // namespace peal::cli
