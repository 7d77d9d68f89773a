// SPDX-License-Identifier: Apache-2.0
// `peal bench` from the command line. Its figures are not checked, because other tests run at the
// same time.
#include <nlohmann/json.hpp>

#include "tool.h"

namespace peal::cli {
namespace {

using Json = nlohmann::json;

class Bench : public Tool {
 protected:
  /// Runs a command that must succeed, and parses its output.
  Json json(const std::string& command) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 0) << ran.err;
    Json parsed = Json::parse(ran.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << ran.out;
    return parsed.is_object() ? parsed : Json::object();
  }
};

TEST_F(Bench, MeasuresAndChecksTheOrder) {
  const Json out = json(
      "peal bench --loopback --nodes 2 --seconds 0.3 --warm-up 0.1 --rate 500 --payload 100 "
      "--runs 2 --json");
  EXPECT_TRUE(out.value("one_order", false));
  ASSERT_TRUE(out.contains("setting") && out.contains("each_run"));
  EXPECT_EQ(out["setting"]["network"], "loopback");
  EXPECT_EQ(out["setting"]["rate_messages_per_s"], 500);
  for (const char* part : {"median", "least", "greatest"}) {
    SCOPED_TRACE(part);
    ASSERT_TRUE(out.contains(part));
    for (const char* name :
         {"throughput_mbit_per_s", "latency_min_us", "latency_p50_us", "latency_p99_us",
          "latency_p99_9_us", "latency_max_us", "cpu_s_per_delivered_gb", "retransmitted_packets",
          "global_window_packets"}) {
      EXPECT_TRUE(out[part].contains(name)) << name;
    }
  }
  ASSERT_EQ(out["each_run"].size(), 2U);
  for (const Json& each : out["each_run"]) {
    EXPECT_TRUE(each.value("one_order", false));
    EXPECT_EQ(each["receivers_mbit_per_s"].size(), 2U);
    EXPECT_GT(each["messages_compared"].get<int>(), 100);
    EXPECT_TRUE(each["counters"].contains("udp_send_calls"));
  }
}

/// The last message is due long before the end of the measured time. The processor time counts
/// until that end.
TEST_F(Bench, ProcessorTimeIsThatOfTheWholeTime) {
  const Json out = json("peal bench --loopback --nodes 2 --seconds 0.5 --rate 8 --json");
  EXPECT_GT(out["median"]["cpu_s_per_delivered_gb"].get<double>(), 0);
  EXPECT_GT(out["median"]["cores_per_node"].get<double>(), 0);
}

TEST_F(Bench, SoManyAreUnderWayAsAskedFor) {
  for (const char* how : {"", " --daemon", " --thread own", " --order paxos"}) {
    SCOPED_TRACE(how);
    const Json out =
        json("peal bench --loopback --nodes 2 --seconds 0.2 --warm-up 0.1 --under-way 3 --json" +
             std::string(how));
    EXPECT_TRUE(out.value("one_order", false));
    EXPECT_EQ(out["setting"]["messages_under_way_per_node"], 3);
    EXPECT_GT(out["median"]["throughput_mbit_per_s"].get<double>(), 0);
  }
  const Ran said = run("peal bench --loopback --nodes 2 --seconds 0.1 --under-way 1");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("as fast as possible with 1 of each node under way"));
  EXPECT_THAT(said.out, testing::HasSubstr("from sent to delivered"));
}

TEST_F(Bench, AcceptorsWithLogsOrderTheSame) {
  const Json out = json(
      "peal bench --order paxos --loopback --seconds 0.3 --warm-up 0.1 --rate 2000 --runs 2 "
      "--json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["order"], "paxos");
  // Only the sum is checked: on a busy disk, one sync may take longer than a whole run.
  int delivered = 0;
  for (const Json& each : out["each_run"]) {
    delivered += each["counters"]["quorum_delivered"].get<int>();
  }
  EXPECT_GT(delivered, 0);
}

TEST_F(Bench, NodesThatAreNoAcceptorsLearnTheSameOrder) {
  for (const char* order : {"paxos", "ridge"}) {
    SCOPED_TRACE(order);
    const std::string command = "peal bench --loopback --nodes 4 --acceptors 1 --seconds 0.3 " +
                                ("--warm-up 0.1 --rate 2000 --order " + std::string(order));
    const Json out = json(command + " --json");
    EXPECT_TRUE(out.value("one_order", false));
    EXPECT_EQ(out["setting"]["acceptors"], 1);
  }
  const Ran said = run("peal bench --loopback --order paxos --acceptors 3 --seconds 0.1");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("ordered by paxos with 3 acceptors"));
}

TEST_F(Bench, ValuesInARingAreOrderedTheSame) {
  const Json out = json(
      "peal bench --order ridge --dissemination ring --loopback --seconds 0.3 --warm-up 0.1 "
      "--rate 2000 --json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["order"], "ridge");
  EXPECT_EQ(out["setting"]["dissemination"], "ring");
  EXPECT_GT(out["each_run"][0]["counters"]["quorum_delivered"].get<int>(), 0);
}

TEST_F(Bench, SeveralEnsemblesOrderTheSame) {
  const std::string command = "peal bench --order ridge --ensembles 3 --loopback --warm-up 0.1 ";
  const Json out = json(command + "--seconds 0.3 --rate 2000 --json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["ensembles"], 3);
  EXPECT_GT(out["each_run"][0]["counters"]["ensembles_delivered"].get<int>(), 0);
  EXPECT_EQ(out["each_run"][0]["counters"]["quorum_no_buffer"], 0);
  const Ran said = run(command + "--seconds 0.1");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("ordered by 3 ensembles of ridge"));
  EXPECT_EQ(out["setting"]["merge"], "keys");
}

TEST_F(Bench, RingsInRotationOrderTheSame) {
  const std::string command =
      "peal bench --order ridge --dissemination ring --ensembles 3 --merge rotation --loopback "
      "--warm-up 0.1 --seconds 0.3 --rate 2000 ";
  const Json out = json(command + "--json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["merge"], "rotation");
  EXPECT_GT(out["each_run"][0]["counters"]["ensembles_passed"].get<int>(), 0);
  EXPECT_THAT(run(command).out,
              testing::HasSubstr("ordered by 3 ensembles of ridge (ring), merged in rotation"));
}

TEST_F(Bench, MessagesThatAreToldEarlyAreOrderedTheSame) {
  const std::string command = "peal bench --order ridge --optimistic --loopback --warm-up 0.1 ";
  const Json out = json(command + "--seconds 0.3 --rate 2000 --json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["optimistic"], true);
  const Json& first = out["each_run"][0];
  EXPECT_GT(first["early_p50_us"].get<double>(), 0);
  EXPECT_LE(first["early_p50_us"].get<double>(), first["latency_p50_us"].get<double>());
  EXPECT_GT(first["counters"]["opt_delivered"].get<int>(), 0);
  const Ran said = run(command + "--seconds 0.1");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("ordered by ridge, optimistic"));
  EXPECT_THAT(said.out, testing::HasSubstr("told early"));
}

TEST_F(Bench, EveryServiceIsMeasuredAndNamed) {
  for (const std::string how : {"--order ring", "--order toto", "--daemon"}) {
    for (const std::string service : {"fifo", "causal", "agreed", "safe"}) {
      SCOPED_TRACE(how + ", " + service);
      const Json out =
          json("peal bench --loopback --nodes 2 --seconds 0.2 --warm-up 0.1 --rate 500 --json " +
               how + " --service " + service);
      EXPECT_TRUE(out.value("one_order", false));
      EXPECT_EQ(out["setting"]["service"], service);
      const Json& run = out["each_run"][0];
      EXPECT_GT(run["messages_compared"], 0);
      const bool unplaced = how == "--order toto" && (service == "fifo" || service == "causal");
      EXPECT_EQ(run["messages_without_place"], unplaced ? run["messages_compared"] : Json(0));
    }
  }
  const Ran said =
      run("peal bench --loopback --nodes 2 --seconds 0.1 --order toto --service causal");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("1,350 bytes, causal, as fast as possible; on"));
  EXPECT_THAT(said.out, testing::HasSubstr(", ordered by toto"));
  EXPECT_THAT(said.out, testing::Not(testing::HasSubstr("token")));
  EXPECT_THAT(said.out, testing::Not(testing::HasSubstr("windows")));
  EXPECT_THAT(said.out, testing::HasSubstr("that of each sender, and the same messages at all"));
  const Ran alone =
      run("peal bench --loopback --nodes 1 --seconds 0.1 --order toto --service causal");
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, testing::HasSubstr("none measured"));
}

TEST_F(Bench, DataOverStreamsIsOrderedTheSame) {
  const Json out = json(
      "peal bench --order paxos --data streams --loopback --seconds 0.3 --warm-up 0.1 --rate 2000 "
      "--json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["data"], "streams");
  EXPECT_GT(out["each_run"][0]["counters"]["stream_packets_in"].get<int>(), 0);
  EXPECT_EQ(out["each_run"][0]["counters"]["udp_data_packets_in"], 0);
}

TEST_F(Bench, WithLossEverythingIsDeliveredAllTheSame) {
  const Json out = json(
      "peal bench --loopback --seconds 0.3 --warm-up 0.1 --rate 2000 --loss 10 --service safe "
      "--json");
  EXPECT_TRUE(out.value("one_order", false));
  EXPECT_EQ(out["setting"]["loss_percent"], 10);
  EXPECT_GT(out["each_run"][0]["counters"]["udp_drop_fault_in"].get<int>(), 0);
}

TEST_F(Bench, ClientsOfDaemonsAgreeOnTheOrder) {
  const Json out = json(
      "peal bench --daemon --loopback --nodes 2 --seconds 0.3 --warm-up 0.1 --rate 500 --json");
  EXPECT_TRUE(out.value("one_order", false));
  ASSERT_TRUE(out.contains("setting") && out.contains("each_run"));
  EXPECT_EQ(out["setting"]["daemon"], true);
  EXPECT_GT(out["each_run"][0]["messages_compared"].get<int>(), 100);
  EXPECT_GT(out["median"]["latency_p50_us"].get<double>(), 0);
}

TEST_F(Bench, ClientsOfOneDaemonHaveATable) {
  const Json out = json("peal bench clients --clients 5 --groups 10 --seconds 0.1 --json");
  ASSERT_TRUE(out.contains("one_of_100_stopped"));
  EXPECT_EQ(out["groups"], 10);
  EXPECT_GT(out["join_p50_us"].get<double>(), 0);
  ASSERT_EQ(out["one_of_100_stopped"].size(), 3U);
  for (const Json& each : out["one_of_100_stopped"]) {
    EXPECT_GT(each["one_stopped_messages_per_s"].get<double>(), 0) << each["policy"];
  }
}

TEST_F(Bench, LimitMeasuresTheSocketsAlone) {
  const Json out = json("peal bench limit --loopback --nodes 2 --seconds 0.2 --json");
  ASSERT_TRUE(out.contains("limit") && !out.contains("each_run"));
  const Json& median = out["limit"]["median"];
  EXPECT_GT(median["one_mbit_per_s"].get<double>(), 0);
  EXPECT_GT(median["all_mbit_per_s"].get<double>(), 0);
  EXPECT_GT(median["round_trip_p50_us"].get<double>(), 0);
}

TEST_F(Bench, ThroughputIsAPartOfTheLimitIfAskedFor) {
  const Json out = json("peal bench --loopback --limit --nodes 2 --seconds 0.2 --json");
  EXPECT_GT(out["median"]["of_limit_percent"].get<double>(), 0);
  EXPECT_EQ(out["limit"]["each_run"].size(), 1U);
}

TEST_F(Bench, RunsInNamespacesOrSaysWhatToDo) {
  const Ran ran = run("peal bench --nodes 2 --seconds 0.2 --rate 500 --link 100mbit --json");
  if (ran.status == 0) {
    EXPECT_EQ(Json::parse(ran.out)["setting"]["network"], "namespaces");
  } else {
    expect_refused(ran.status, ran.err, "--loopback");
  }
}

TEST_F(Bench, WithoutTheRightToMakeNamespacesItSaysWhatToDo) {
  const std::string without = "echo 0 > /proc/sys/user/max_net_namespaces && ";
  if (run("unshare -Ur sh -c '" + without + "true'").status != 0) {
    GTEST_SKIP() << "this machine lets nobody make a user namespace in which to forbid others";
  }
  const Ran ran = run("unshare -Ur sh -c '" + without + PEAL_PROGRAM " bench'");
  expect_refused(ran.status, ran.err, "this user may not make network namespaces");
  EXPECT_THAT(ran.err, testing::HasSubstr("--loopback"));
}

TEST_F(Bench, KillsTheNodeThatLeadsAndSaysHowLongItTook) {
  for (const std::string how : {"ring", "paxos", "ridge --storage memory"}) {
    SCOPED_TRACE(how);
    const Json out = json("peal bench failover --loopback --kills 2 --settle 0.1 --rate 500 " +
                          ("--dir $DIR --json --order " + how));
    ASSERT_EQ(out.value("kills", 0), 2);
    EXPECT_GT(out.value("longest_sync_ms", 0.0), 0);
    EXPECT_GT(out["delivery_ms"].value("min", 0.0), 0);
    EXPECT_LE(out["delivery_ms"].value("median", 1e9), out["delivery_ms"].value("max", 0.0));
    for (const Json& kill : out["each_kill"]) {
      ASSERT_EQ(kill["survivors"].size(), 2U);
      for (const Json& each : kill["survivors"]) {
        EXPECT_NE(each["node"], kill["victim"]);
        EXPECT_GT(each.value("view_ms", 0.0), 0);
        EXPECT_GE(each.value("delivery_ms", 0.0), each.value("view_ms", 1e9));
        EXPECT_GT(each.value("sent_later_ms", 0.0), 0);
      }
    }
  }
  const Ran said = run(
      "peal bench failover --loopback --order paxos --kills 1 --settle 0 --rate 500 --dir $DIR");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::HasSubstr("1 kill of the coordinator"));
  EXPECT_THAT(said.out, testing::HasSubstr("of a 4 KiB file in " + dir_));
}

TEST_F(Bench, WhatDoesNotGoTogetherIsOneLine) {
  const std::pair<const char*, const char*> rows[] = {
      {"--nodes 0", "--nodes = \"0\": accepted is a whole number from 1 to 32"},
      {"--payload 1048577", "accepted is a whole number from 10 to 1048576"},
      {"--rate 0.5", "--rate = \"0.5\": accepted is \"max\""},
      {"--rate 10kbit", "accepted is at least 10.8kbit"},
      {"--loopback --link 1gbit", "leave out one of them"},
      {"--plot x.jpg", "ends in .png"},
      {"--plot /nonexistent/x.png", "a folder where you may write"},
      {"--plot x.png --rate 5", "leave out --rate"},
      {"--plot x.png --limit", "leave out --limit"},
      {"--limit --nodes 1", "--nodes from 2 to 32"},
      {"--daemon --thread own", "leave out one of them"},
      {"--daemon --loss 1", "without --daemon"},
      {"clients --clients 0", "--clients = \"0\": accepted is a whole number from 1 to 3000"},
      {"limit --nodes 1", "a whole number from 2 to 32"},
      {"failover --nodes 2", "a whole number from 3 to 32"},
      {"failover --dir /nonexistent", "cannot make a folder there"},
      {"limit --rate 5", "unknown option \"--rate\""},
  };
  for (const auto& [arguments, what] : rows) {
    SCOPED_TRACE(arguments);
    const Ran ran = run(std::string("peal bench ") + arguments);
    expect_refused(ran.status, ran.err, what);
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace peal::cli
