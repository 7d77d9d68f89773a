// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "members.h"

namespace peal::test {
namespace {

using ::testing::HasSubstr;

Config good() { return config_of(1, 3); }

struct Bad {
  const char* what;
  std::function<void(Config&)> change;
  std::vector<std::string> message;  ///< holds all of these: key, value, what is accepted
};

void expect_refused(const std::vector<Bad>& all) {
  for (const Bad& bad : all) {
    Config config = good();
    bad.change(config);
    const auto made = Member::embed(config);
    ASSERT_FALSE(made) << bad.what;
    if (bad.what != std::string("trace")) {
      EXPECT_EQ(made.error().code, ErrorCode::invalid_option) << bad.what;
    }
    for (const std::string& part : bad.message) {
      EXPECT_THAT(made.error().message, HasSubstr(part)) << bad.what;
    }
    EXPECT_EQ(made.error().message.find('\n'), std::string::npos) << bad.what;
  }
}

TEST(MemberConfig, HeadersOfAnotherVersionAreRefused) {
  const auto made = Member::embed(good(), PEAL_VERSION + 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::wrong_version);
  EXPECT_THAT(made.error().message, HasSubstr(PEAL_VERSION_TEXT));
}

TEST(MemberConfig, EachBadValueIsRefusedWithKeyValueAndRemedy) {
  const std::vector<Bad> all{
      {"no cluster", [](Config& c) { c.cluster = ""; }, {"cluster = \"\"", "1 to 255 letters"}},
      {"cluster", [](Config& c) { c.cluster = "a b"; }, {"cluster = \"a b\"", "letters"}},
      {"name", [](Config& c) { c.name = "n9"; }, {"name = \"n9\"", "n1, n2, n3"}},
      {"no nodes", [](Config& c) { c.nodes.clear(); }, {"nodes", "0 entries", "1 to 128"}},
      {"many nodes", [](Config& c) { c.nodes.resize(129, c.nodes[0]); }, {"129", "1 to 128"}},
      {"node name", [](Config& c) { c.nodes[1].name = "a/b"; }, {"nodes[1].name = \"a/b\""}},
      {"same name",
       [](Config& c) { c.nodes[2].name = "n1"; },
       {"nodes[2].name = \"n1\"", "different"}},
      {"number",
       [](Config& c) { c.nodes[1].number = 70'000; },
       {"nodes[1].number = 70000", "65535"}},
      {"same number",
       [](Config& c) { c.nodes[0].number = 2; },
       {"nodes[1].number = 2", "\"n1\" and \"n2\"", "place in the list"}},
      {"more than ever",
       [](Config& c) { c.nodes_max = 2; },
       {"nodes has 3", "limits.nodes_max = 2"}},
      {"nodes_max", [](Config& c) { c.nodes_max = 129; }, {"nodes_max = 129", "1 to 128"}},
      {"address",
       [](Config& c) { c.nodes[0].address = "127.0.0.1"; },
       {"nodes[0].address", "port"}},
      {"address port",
       [](Config& c) { c.nodes[0].address = "127.0.0.1:99999"; },
       {"nodes[0].address = \"127.0.0.1:99999\"", "\"10.0.0.1:4800\""}},
      {"not ours", [](Config& c) { c.nodes[0].address = "192.0.2.1:4800"; }, {"192.0.2.1:4800"}},
      {"multicast", [](Config& c) { c.multicast = "on"; }, {"multicast = \"on\"", "\"auto\""}},
      {"group",
       [](Config& c) { c.multicast = "10.0.0.1:4800"; },
       {"multicast = \"10.0.0.1:4800\"", "239.192.7.1:4800"}},
      {"packet", [](Config& c) { c.packet_bytes_max = 255; }, {"packet_bytes = 255", "256"}},
      {"message", [](Config& c) { c.message_bytes_max = 0; }, {"message_bytes_max is 0", "1 to"}},
      {"submit", [](Config& c) { c.submit_bytes_max = 1; }, {"submit_bytes_max = 1 ", "at least"}},
      {"messages",
       [](Config& c) { c.submit_messages_max = 0; },
       {"submit_messages_max is 0", "1 to"}},
      {"receive", [](Config& c) { c.receive_bytes_max = 9; }, {"receive_bytes_max = 9", "1048576"}},
      {"thread", [](Config& c) { c.thread = "none"; }, {"thread = \"none\"", "\"caller\""}},
      {"primary", [](Config& c) { c.primary = "all"; }, {"primary = \"all\"", "\"majority\""}},
      {"tunable", [](Config& c) { c.ring["speed"] = 1; }, {"ring.speed = 1", "token_loss_ms"}},
      {"low", [](Config& c) { c.ring["token_loss_ms"] = 4.5; }, {"token_loss_ms = 4.5", "5 to"}},
      {"high", [](Config& c) { c.ring["max_gap"] = 1e9; }, {"ring.max_gap = 1000000000", "16 to"}},
      {"part", [](Config& c) { c.ring["max_gap"] = 20.5; }, {"ring.max_gap = 20.5", "whole"}},
      {"nan",
       [](Config& c) { c.ring["max_gap"] = std::numeric_limits<double>::quiet_NaN(); },
       {"ring.max_gap", "16 to"}},
      {"twice",
       [](Config& c) { c.ring["packet_bytes_max"] = 1'000; },
       {"unknown key ring.packet_bytes_max = 1000", "accepted keys are"}},
      {"rule",
       [](Config& c) { c.ring["hold_ms"] = 1'000; },
       {"hold_ms = 1000", "token_retransmit"}},
      {"trace", [](Config& c) { c.trace = "/nonexistent/x"; }, {"trace", "/nonexistent/x"}},
  };
  expect_refused(all);
}

TEST(MemberConfig, WhatAnEngineDoesNotHaveIsRefused) {
  const std::vector<Bad> all{
      {"engine",
       [](Config& c) { c.order = "toto"; },
       {"order = \"toto\"", "\"ring\", \"paxos\" or \"ridge\""}},
      {"acceptors of the ring",
       [](Config& c) { c.acceptors = {1}; },
       {"acceptors", "order = \"ring\"", "leave it out"}},
      {"data of the ring",
       [](Config& c) { c.data_dir = "/x"; },
       {"data_dir", "order = \"ring\"", "leave it out"}},
      {"ring of paxos",
       [](Config& c) { c.order = "paxos"; },
       {"ring.token_loss_ms = 3000", "order = \"paxos\"", "leave it out"}},
      {"primary of paxos",
       [](Config& c) { c.order = "paxos", c.ring.clear(), c.primary = "majority"; },
       {"primary = \"majority\"", "order = \"paxos\"", "leave it out"}},
      {"unknown acceptor",
       [](Config& c) {
         c.order = "paxos", c.ring.clear(), c.acceptors = {1, 2, 9};
       },
       {"acceptors has 9", "which is no number of [[nodes]]"}},
      {"acceptor twice",
       [](Config& c) {
         c.order = "paxos", c.ring.clear(), c.acceptors = {1, 2, 2};
       },
       {"acceptors has 2 twice", "each node votes once"}},
      {"even acceptors",
       [](Config& c) {
         c.order = "paxos", c.ring.clear(), c.acceptors = {1, 2};
       },
       {"acceptors has 2 nodes", "an odd number"}},
      {"ways that there are not",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.dissemination = "bus"; },
       {"dissemination = \"bus\"", "\"distributors\" or \"ring\""}},
      {"ridge's ways for paxos",
       [](Config& c) { c.order = "paxos", c.ring.clear(), c.dissemination = "ring"; },
       {"dissemination = \"ring\"", "order = \"paxos\"", "leave it out", "\"ridge\""}},
      {"a way of data that there is not",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.data = "tcp"; },
       {"data = \"tcp\"", "\"datagrams\" or \"streams\""}},
      {"streams for the ring",
       [](Config& c) { c.data = "streams"; },
       {"data = \"streams\"", "order = \"ring\"", "leave it out", "\"ridge\""}},
      {"ridge's ways for the ring",
       [](Config& c) { c.dissemination = "ring"; },
       {"dissemination = \"ring\"", "order = \"ring\"", "leave it out", "\"ridge\""}},
      {"a chain that is too long",
       [](Config& c) {
         c = config_of(1, 17);
         c.order = "ridge", c.ring.clear();
         for (std::uint32_t node = 1; node <= 17; ++node) c.acceptors.push_back(node);
       },
       {"acceptors has 17 nodes", "order = \"ridge\"", "at most 15"}},
      {"no data",
       [](Config& c) { c.order = "paxos", c.ring.clear(); },
       {"data_dir is missing", "n1 is one of the acceptors"}},
      {"data nowhere",
       [](Config& c) { c.order = "paxos", c.ring.clear(), c.data_dir = "/nonexistent"; },
       {"data_dir: \"/nonexistent\"", "No such file", "accepted is a folder"}},
  };
  expect_refused(all);
}

TEST(MemberConfig, EnsemblesAreRidgesAndNotTooMany) {
  const std::vector<Bad> all{
      {"no ensemble",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.ensembles = 0; },
       {"ensembles = 0", "1 to 16"}},
      {"too many ensembles",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.ensembles = 17; },
       {"ensembles = 17", "1 to 16"}},
      {"ensembles of paxos",
       [](Config& c) { c.order = "paxos", c.ring.clear(), c.ensembles = 2; },
       {"ensembles = 2", "order = \"paxos\"", "leave it out", "\"ridge\""}},
      {"another merge",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.ensembles = 2, c.merge = "turns"; },
       {"merge = \"turns\"", "\"keys\" or \"rotation\""}},
      {"rotation of one",
       [](Config& c) { c.order = "ridge", c.ring.clear(), c.merge = "rotation"; },
       {"merge = \"rotation\"", "ensembles = 1", "leave it out", "2 or more"}},
      {"rotation of the ring",
       [](Config& c) { c.merge = "rotation"; },
       {"merge = \"rotation\"", "order = \"ring\"", "leave it out", "\"ridge\""}},
      {"ensembles of the ring",
       [](Config& c) { c.ensembles = 16; },
       {"ensembles = 16", "order = \"ring\"", "leave it out", "\"ridge\""}},
  };
  expect_refused(all);
}

TEST(MemberConfig, AnAddressInUseIsNamed) {
  const auto first = Member::embed(good());
  ASSERT_TRUE(first) << first.error().message;
  const auto second = Member::embed(good());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr(address(1)));
}

TEST(MemberConfig, TheStateDirectoryRemembersTheIncarnation) {
  char path[] = "/tmp/peal-member-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  std::string before;
  for (int i = 0; i < 3; ++i) {
    Config config = config_of(1, 1);
    config.state_dir = path;
    auto member = Member::embed(config);
    ASSERT_TRUE(member) << member.error().message;
    EXPECT_GT(member->id(), before);  // same length, until the year 2297
    before = member->id();
  }
  ::unlink((std::string(path) + "/n1.epoch").c_str());
  EXPECT_EQ(::rmdir(path), 0);
}

TEST(MemberConfig, AStateDirectoryThatCannotBeUsedIsAWarning) {
  Sites sites = start(1, [](Config& config) { config.state_dir = "/nonexistent"; });
  ASSERT_EQ(sites.size(), 1U);
  ASSERT_EQ(sites[0]->warnings.size(), 1U);
  EXPECT_THAT(sites[0]->warnings[0], HasSubstr("/nonexistent/n1.epoch"));
}

TEST(MemberConfig, AnotherClusterOrOtherSettingsAreReported) {
  for (const bool other_name : {true, false}) {
    Sites sites;
    sites.push_back(std::make_unique<Site>(config_of(1, 2)));
    Config odd = config_of(2, 2);
    if (other_name) {
      odd.cluster += "-other";
    } else {
      odd.message_bytes_max = 1'000;
    }
    sites.push_back(std::make_unique<Site>(odd));
    ASSERT_NE(sites[0]->member, nullptr);
    ASSERT_NE(sites[1]->member, nullptr);
    ASSERT_TRUE(read_until(sites, [&] { return !sites[0]->warnings.empty(); }));
    EXPECT_THAT(sites[0]->warnings[0], HasSubstr("node n2 is ignored"));
    EXPECT_THAT(sites[0]->warnings[0],
                HasSubstr(other_name ? "another cluster" : "message_bytes_max"));
  }
}

}  // namespace
}  // namespace peal::test
