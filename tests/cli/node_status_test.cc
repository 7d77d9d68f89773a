// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/node/report_lines.h"
#include "daemon/status_json.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kA = "a.7";
const std::string kB = "b.8";

daemon::ViewNotice regular(int number, std::vector<std::string> members) {
  daemon::ViewNotice view;
  view.id = std::to_string(number) + "@a.7";
  view.members = std::move(members);
  return view;
}

TEST(NodeStatus, IsReadBackAsItWas) {
  daemon::Status facts;
  facts.node = "a";
  facts.pid = 77;
  facts.delivered.on_view({1}, regular(3, {kA, kB}));
  facts.delivered.on_message(kB, 1, 1, 5);
  facts.member.waits_for = "b: its application does not read";
  facts.member.queued_messages = 4;
  facts.member.counters = {{"tokens", 5}};
  session::SessionStatus client;
  client.name = "#x\xff#a";  // the client chose this name
  client.waits_for = "b to read";
  client.memberships.resize(1);
  client.memberships[0].group = "chat";
  client.memberships[0].policy = wire::SlowPolicy::evict;
  facts.clients.sessions.push_back(client);
  facts.clients.connections = 2;
  const std::string json = daemon::status_json(facts);
  EXPECT_THAT(json, HasSubstr("\"tokens\":5"));
  EXPECT_THAT(json, HasSubstr("\"connections\":{\"now\":2,"));
  EXPECT_THAT(json, HasSubstr("\"waits_for\":\"b to read\""));
  EXPECT_THAT(json, HasSubstr("\"group\":\"chat\",\"slow\":\"evict\""));
  const auto report = parse_report(json);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->name, "a");
  EXPECT_EQ(report->pid, 77);
  ASSERT_TRUE(report->view);
  EXPECT_EQ(report->view->id, "3@a.7");
  EXPECT_EQ(report->view->shown, "3@a");
  EXPECT_THAT(report->view->members, ElementsAre("a", "b"));
  EXPECT_FALSE(report->view->primary);
  EXPECT_EQ(report->view->messages, 1U);
  EXPECT_EQ(report->view->order.size(), 16U);
  EXPECT_EQ(report->view->gap_ms, 0);
  EXPECT_EQ(report->delivered_messages, 1U);
  EXPECT_EQ(report->delivered_bytes, 5U);
  EXPECT_EQ(report->queued_messages, 4U);
  EXPECT_EQ(report->waits_for, "b: its application does not read");
  EXPECT_EQ(report->views.size(), 1U);
}

TEST(NodeStatus, AViewWithoutAMajorityIsNotPrimaryAnyMore) {
  daemon::Status facts;
  facts.node = "a";
  daemon::ViewNotice view = regular(3, {kA, kB});
  view.primary = true;
  facts.delivered.on_view({1}, view);
  EXPECT_EQ(parse_report(daemon::status_json(facts))->view->primary, true);
  facts.member.without_majority = true;
  const auto report = parse_report(daemon::status_json(facts));
  EXPECT_EQ(report->view->primary, false) << "what is true now";
  EXPECT_EQ(report->views.front().primary, true) << "what was claimed then";
}

TEST(NodeStatus, ClientsAreShownWithWhatWaitsForThem) {
  daemon::Status facts;
  facts.node = "a";
  facts.clients.sessions_count = 300;
  session::SessionStatus client;
  client.name = "#x#a";
  client.identity = "user root (0)";
  client.connected = true;
  client.sent = 7;
  client.settled = 5;
  client.memberships_count = 2;
  client.waits_for = "it does not read";
  client.memberships.resize(2);
  client.memberships[0] = {"chat", "east", wire::SlowPolicy::evict, 10, 20, 0, 0, 0};
  client.memberships[1].group = "nothing waits here";
  facts.clients.sessions.push_back(client);
  const auto report = parse_report(daemon::status_json(facts));
  ASSERT_TRUE(report);
  EXPECT_THAT(
      client_lines(*report),
      ElementsAre("a client=\"#x#a\" who=\"user root (0)\" connected=yes sent=7 settled=5 events=0 "
                  "seen=0 groups=2 waits_for=\"it does not read\"",
                  "a client=\"#x#a\" group=\"chat\" domain=east slow=\"evict\" memory_bytes=10/20 "
                  "disk_bytes=0/0",
                  "a clients=300 shown=1: --clients PREFIX shows others"));
  NodeReport rubbish;
  for (const char* json : {"", "[]", "{\"clients\":3}", "{\"clients\":{\"sessions\":[1,[]]}}"}) {
    rubbish.json = json;
    client_lines(rubbish);
  }
}

TEST(NodeStatus, DomainsAreShownWithTheirNodesAndGroups) {
  daemon::Status facts;
  facts.node = "a";
  EXPECT_THAT(domain_lines({*parse_report(daemon::status_json(facts))}), ElementsAre());
  facts.member.all_domains = {{"east", {"a", "b"}, {"e-*", "x"}, 2}, {"west", {}, {"w-*"}, 17}};
  EXPECT_THAT(domain_lines({*parse_report(daemon::status_json(facts))}),
              ElementsAre("domain=east nodes=a,b groups=\"e-*,x\"",
                          "domain=west nodes= groups=\"w-*\" groups_count=17"));
}

TEST(NodeStatus, DroppedPacketsAreShownByReason) {
  daemon::Status facts;
  facts.node = "a";
  facts.member.counters = {
      {"tokens", 5}, {"other_cluster", 1'200}, {"bad_checksum", 0}, {"duplicate", 7},
      {"stale", 3},  {"bad_magic", 34},        {"udp_probe_bad", 1}};
  const auto report = parse_report(daemon::status_json(facts));
  ASSERT_TRUE(report);
  EXPECT_THAT(drop_lines({*report, NodeReport{}}),
              ElementsAre("a dropped 1,235 packets that it cannot use: bad_magic 34, "
                          "other_cluster 1,200 (of nodes of another cluster), udp_probe_bad 1 "
                          "(probes of multicast, as of another cluster)"));
}

TEST(NodeStatus, AllWhoAreMissingAreNamed) {
  daemon::Status facts;
  facts.node = "a";
  EXPECT_THAT(missing_lines(*parse_report(daemon::status_json(facts))), ElementsAre());
  facts.member.missing = {{"b", ""}, {"c", "node c is ignored: other settings"}, {"d", ""}};
  EXPECT_THAT(
      missing_lines(*parse_report(daemon::status_json(facts))),
      ElementsAre("a missing=b,d", "a missing=c reason=\"node c is ignored: other settings\""));
  NodeReport rubbish;
  for (const char* json : {"", "[]", "{\"missing\":3}", "{\"missing\":[1,[],{\"name\":3}]}"}) {
    rubbish.json = json;
    missing_lines(rubbish);
  }
}

TEST(NodeStatus, DropsSayWhenTheyLastGrew) {
  daemon::Status facts;
  facts.node = "a";
  facts.member.counters = {{"bad_magic", 3}, {"log_lines_dropped", 1}, {"trace_lines_lost", 1'234}};
  facts.dropped_ago = {{"bad_magic", seconds(8)},
                       {"log_lines_dropped", milliseconds(900)},
                       {"trace_lines_lost", seconds(70)}};
  const auto report = parse_report(daemon::status_json(facts));
  ASSERT_TRUE(report);
  EXPECT_THAT(
      drop_lines({*report}),
      ElementsAre(
          "a lost 1,234 lines of its trace (peal check will refuse it; last 70 s ago)",
          "a dropped 1 log line (nobody read them, or the disk or pipe was full; last 0 s ago)",
          "a dropped 3 packets that it cannot use: bad_magic 3 (last 8 s ago)"));
}

TEST(NodeStatus, NonsenseIsNoReport) {
  for (const char* text : {"", "x", "[]", "3", "{", "\xff"}) EXPECT_FALSE(parse_report(text));
  // Values of an unexpected type, as another version may send, are read as if they were missing.
  const auto report = parse_report(
      R"({"node":3,"pid":"x","view":{"members":[1,"a"],"id":[]},"views":[1],"delivered":{}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->name, "");
  EXPECT_THAT(report->view->members, ElementsAre("a"));
}

NodeReport answer(const std::string& name, const std::string& view,
                  std::vector<std::string> members) {
  NodeReport report;
  report.name = name;
  report.view = ViewReport{};
  report.view->id = report.view->shown = view;
  report.view->members = std::move(members);
  return report;
}

TEST(NodeStatus, OneViewMeansAllInTheSame) {
  std::vector<NodeReport> reports = {answer("a", "3@a", {"a", "b"}),
                                     answer("b", "3@a", {"a", "b"})};
  EXPECT_TRUE(in_one_view(reports, 2));
  EXPECT_FALSE(in_one_view(reports, 3));
  reports[1].changing = true;
  EXPECT_FALSE(in_one_view(reports, 2));
  reports[1] = answer("b", "4@a", {"a", "b"});
  EXPECT_FALSE(in_one_view(reports, 2));
  reports[1] = answer("b", "3@a", {"a", "b"});
  reports[1].problem = "does not answer";
  EXPECT_FALSE(in_one_view(reports, 2));
  EXPECT_FALSE(in_one_view({}, 0));
}

TEST(NodeStatus, TableHasAlignedColumns) {
  std::vector<NodeReport> reports = {answer("a", "12@a", {"a", "b"}),
                                     answer("node-b", "3@a", {"b"})};
  reports[0].delivered_messages = 1'234'567;
  NodeReport gone;
  gone.name = "c";
  gone.problem = "does not answer";
  reports.push_back(gone);
  const auto lines = table_of(reports, {1, 2, 3});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].find("members"), lines[1].find("a,b"));
  EXPECT_EQ(lines[0].find("delivered"), lines[1].find("1,234,567"));
  EXPECT_THAT(lines[0], HasSubstr("per second"));
  EXPECT_THAT(lines[3], HasSubstr("does not answer"));
  EXPECT_EQ(table_of(reports, {})[0].find("per second"), std::string::npos);
}

}  // namespace
}  // namespace peal::cli
