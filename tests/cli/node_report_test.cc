// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/node/report_lines.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeReport answer(const std::string& name, const std::string& json) {
  NodeReport report;
  report.name = name;
  report.json = json;
  return report;
}

NodeReport report_of(const std::string& nodes) { return answer("a", "{\"nodes\":" + nodes + "}"); }

TEST(NodeReport, SaysWhereNamesAre) {
  const auto lines = address_lines(report_of(R"([
      {"name":"b","address":"10.0.0.2:4800","at":"10.0.0.2:4800","problem":""},
      {"name":"c","address":"c.test:4800","at":"10.0.0.3:4800","problem":""},
      {"name":"d","address":"d.test:4800","at":"","problem":"no such name"},
      {"name":"e","address":"e.test:4800","at":"10.0.0.5:4800","problem":"no answer"}])"));
  EXPECT_THAT(lines, ElementsAre("a node=\"c\" name=\"c.test:4800\" at=\"10.0.0.3:4800\"",
                                 "a node=\"d\" name=\"d.test:4800\" at=\"not found\" "
                                 "reason=\"no such name\"",
                                 "a node=\"e\" name=\"e.test:4800\" at=\"10.0.0.5:4800\" "
                                 "reason=\"no answer\""));
}

TEST(NodeReport, SaysWhichListItGoesOverTo) {
  const auto report = answer(
      "a", R"({"list":{"nodes":["a","b"],"next":["a","b","c"],"waits_for":"b: reload it"}})");
  EXPECT_THAT(list_lines(report), ElementsAre("a nodes=a,b next=a,b,c waits_for=\"b: reload it\""));
  for (const char* json :
       {R"({"list":{"nodes":["a"]}})", R"({"list":{"next":3}})", "{}", "3", "{\"list\":3}", "}"}) {
    EXPECT_THAT(list_lines(answer("a", json)), IsEmpty()) << json;
  }
}

TEST(NodeReport, SaysHowNodesOrderOnceForAllThatDoItAlike) {
  const std::string two =
      R"({"order":"ridge","dissemination":"ring","merge":"keys","ensembles":2})";
  EXPECT_THAT(order_lines({answer("a", two), answer("b", two)}),
              ElementsAre("a,b order=ridge dissemination=ring merge=keys ensembles=2"));
  EXPECT_THAT(order_lines({answer("a", R"({"order":"ridge","domains":["east"]})"),
                           answer("b", R"({"order":"ridge","domains":["east","west"]})"),
                           answer("c", R"({"order":"ridge","domains":["east"]})")}),
              ElementsAre("a,c order=ridge domains=east", "b order=ridge domains=east,west"));
  EXPECT_THAT(order_lines({answer("a", R"({"order":"toto","delivery":"all-ack"})"),
                           answer("b", R"({"order":"toto","delivery":"toto"})")}),
              ElementsAre("a order=toto delivery=all-ack", "b order=toto"));
  EXPECT_THAT(order_lines({answer("a", R"({"order":"paxos","ensembles":1})")}),
              ElementsAre("a order=paxos"));
  const std::string plain = R"({"order":"paxos","data":"datagrams"})";
  const std::string streams = R"({"order":"paxos","data":"streams; c is not connected"})";
  EXPECT_THAT(order_lines({answer("a", plain), answer("b", streams)}),
              ElementsAre("a order=paxos", "b order=paxos data=\"streams; c is not connected\""));
  const std::string led = R"({"order":"ramcast","leader":"a","round":7,"memory":"b shm, c tcp"})";
  EXPECT_THAT(order_lines({answer("a", led)}),
              ElementsAre("a order=ramcast leader=a round=7", "a memory=\"b shm, c tcp\""));
  const auto with_memory = [](const std::string& memory) {
    return order_lines({answer("a", R"({"order":"ramcast","memory":")" + memory + "\"}")});
  };
  EXPECT_THAT(with_memory("b shm, c shm"), ElementsAre("a order=ramcast memory=shm"));
  EXPECT_THAT(with_memory("b tcp"), ElementsAre("a order=ramcast memory=tcp"));
  const std::string over = R"({"order":"ramcast","memory":"b tcp","data":"streams)";
  EXPECT_THAT(
      order_lines({answer("a", over + "\"}"), answer("b", over + "; c is not connected\"}")}),
      ElementsAre("a order=ramcast memory=tcp",
                  "b order=ramcast memory=tcp data=\"streams; c is not connected\""));
  for (const char* memory :
       {"b tcp (no shm), c tcp (no shm)", "b shm; no rights", "b", "b shm, c"}) {
    EXPECT_THAT(with_memory(memory),
                ElementsAre("a order=ramcast", "a memory=\"" + std::string(memory) + "\""));
  }
  for (const char* json :
       {R"({"order":"ring"})", R"({"order":3,"domains":3})", "{}", "3", "", "}"}) {
    EXPECT_THAT(order_lines({answer("a", json)}), IsEmpty()) << json;
  }
  EXPECT_THAT(order_lines({answer("a", R"({"order":"ridge","domains":{"x":1},"merge":[]})")}),
              ElementsAre("a order=ridge"));
}

TEST(NodeReport, SaysWhichNodesAndGroupsDomainsHave) {
  const std::string two =
      R"({"all_domains":[{"name":"east","nodes":["a","b"],"groups":["*"],"groups_count":1},
                         {"name":"west","nodes":[],"groups":["w-*","x"],"groups_count":40}]})";
  EXPECT_THAT(domain_lines({answer("a", two), answer("b", two)}),
              ElementsAre("domain=east nodes=a,b groups=\"*\"",
                          "domain=west nodes= groups=\"w-*,x\" groups_count=40"));
  for (const char* json :
       {R"({"all_domains":3})", R"({"all_domains":[3,{},{"name":4}]})", "{}", "}"}) {
    EXPECT_THAT(domain_lines({answer("a", json)}), IsEmpty()) << json;
  }
  EXPECT_THAT(domain_lines({answer("a", R"({"all_domains":[{"name":"east","groups":7}]})")}),
              ElementsAre("domain=east nodes= groups=\"\""));
}

TEST(NodeReport, SaysOfWhichDomainAGroupIsForWhichEventsWait) {
  EXPECT_THAT(client_lines(answer("a", R"({"clients":{"sessions":[{"name":"#x#a","groups":[
          {"group":"w-1","domain":"west","memory_bytes":5,"slow":"spill"}]}]}})"))
                  .back(),
              testing::HasSubstr("group=\"w-1\" domain=west slow="));
}

TEST(NodeReport, DomainsWithLeadersHaveViewsOfTheirOwn) {
  const auto view_of = [](const char* json) { return parse_report(json).value().view_of; };
  EXPECT_EQ(view_of(R"({"order":"ramcast","domains":["east"],"leader":"a"})"), "east");
  EXPECT_EQ(view_of(R"({"order":"ridge","domains":["east"]})"), "");
}

TEST(NodeReport, SurvivesAnswersThatAreNone) {
  for (const char* nodes : {"3", "[]", "[3, null, {}]", "[{\"name\":3}]", "}"}) {
    EXPECT_THAT(address_lines(report_of(nodes)), IsEmpty()) << nodes;
  }
}

}  // namespace
}  // namespace peal::cli
