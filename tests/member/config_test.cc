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
  std::vector<std::string> message;  ///< parts of the error: key, value, what is accepted
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
      {"multicast",
       [](Config& c) { c.multicast = MulticastGroup{"on"}; },
       {"network.multicast = \"on\"", "\"auto\""}},
      {"group",
       [](Config& c) { c.multicast = MulticastGroup{"10.0.0.1:4800"}; },
       {"multicast = \"10.0.0.1:4800\"", "239.192.7.1:4800"}},
      {"packet", [](Config& c) { c.packet_bytes = 255; }, {"packet_bytes = 255", "256"}},
      {"message", [](Config& c) { c.message_bytes_max = 0; }, {"message_bytes_max is 0", "1 to"}},
      {"submit", [](Config& c) { c.submit_bytes_max = 1; }, {"submit_bytes_max = 1 ", "at least"}},
      {"messages",
       [](Config& c) { c.submit_messages_max = 0; },
       {"submit_messages_max is 0", "1 to"}},
      {"receive", [](Config& c) { c.receive_bytes_max = 9; }, {"receive_bytes_max = 9", "1048576"}},
      {"primary",
       [](Config& c) { ring_of(c).primary = static_cast<PrimaryRule>(2); },
       {"primary = 2", "\"majority\""}},
      {"tunable",
       [](Config& c) { ring_of(c).tunables["speed"] = 1; },
       {"ring.speed = 1", "token_loss_ms"}},
      {"low",
       [](Config& c) { ring_of(c).tunables["token_loss_ms"] = 4.5; },
       {"token_loss_ms = 4.5", "5 to"}},
      {"high",
       [](Config& c) { ring_of(c).tunables["max_gap"] = 1e9; },
       {"ring.max_gap = 1000000000", "16 to"}},
      {"part",
       [](Config& c) { ring_of(c).tunables["max_gap"] = 20.5; },
       {"ring.max_gap = 20.5", "whole"}},
      {"nan",
       [](Config& c) { ring_of(c).tunables["max_gap"] = std::numeric_limits<double>::quiet_NaN(); },
       {"ring.max_gap", "16 to"}},
      {"twice",
       [](Config& c) { ring_of(c).tunables["packet_bytes_max"] = 1'000; },
       {"unknown key ring.packet_bytes_max = 1000", "accepted keys are"}},
      {"rule",
       [](Config& c) { ring_of(c).tunables["hold_ms"] = 1'000; },
       {"hold_ms = 1000", "token_retransmit"}},
      {"trace", [](Config& c) { c.trace = "/nonexistent/x"; }, {"trace", "/nonexistent/x"}},
  };
  expect_refused(all);
}

TEST(MemberConfig, WhatAnEngineDoesNotTakeIsRefused) {
  const std::vector<Bad> all{
      {"unknown acceptor",
       [](Config& c) {
         c.order = Paxos{.acceptors = {1, 2, 9}};
       },
       {"paxos.acceptors has 9", "which is no number of [[nodes]]: accepted are 1, 2, 3"}},
      {"acceptor twice",
       [](Config& c) {
         c.order = Paxos{.acceptors = {1, 2, 2}};
       },
       {"acceptors has 2 twice", "each node votes once"}},
      {"even acceptors",
       [](Config& c) {
         c.order = Paxos{.acceptors = {1, 2}};
       },
       {"acceptors has 2 nodes", "an odd number"}},
      {"streams for the ring",
       [](Config& c) { c.data = Data::streams; },
       {"network.data = \"streams\"", "order = \"ring\"", "leave it out", "\"ridge\""}},
      {"a chain that is too long",
       [](Config& c) {
         c = config_of(1, 17);
         Ridge ridge;
         for (std::uint32_t node = 1; node <= 17; ++node) ridge.acceptors.push_back(node);
         c.order = ridge;
       },
       {"acceptors has 17 nodes", "order = \"ridge\"", "at most 15"}},
      {"no data",
       [](Config& c) { c.order = Paxos{}; },
       {"data_dir is missing", "n1 is one of the acceptors"}},
      {"data and no log",
       [](Config& c) { c.order = Paxos{.data_dir = "/x", .storage = Storage::memory}; },
       {"data_dir = \"/x\"", "not accepted with paxos.storage = \"memory\"",
        "leave one of them out"}},
      {"data nowhere",
       [](Config& c) { c.order = Paxos{.data_dir = "/nonexistent"}; },
       {"data_dir: \"/nonexistent\"", "No such file", "accepted is a folder"}},
  };
  expect_refused(all);
}

TEST(MemberConfig, EnsemblesHaveARange) {
  const std::vector<Bad> all{
      {"no ensemble",
       [](Config& c) { c.order = Ridge{.ensembles = 0}; },
       {"ridge.ensembles = 0", "1 to 16"}},
      {"too many ensembles",
       [](Config& c) { c.order = Ridge{.ensembles = 17}; },
       {"ridge.ensembles = 17", "1 to 16"}},
      {"a value that the enumeration does not have",
       [](Config& c) { c.order = Ridge{.ensembles = 2, .merge = static_cast<Merge>(7)}; },
       {"ridge.merge = 7", "\"keys\" or \"rotation\""}},
      {"rotation of one",
       [](Config& c) { c.order = Ridge{.merge = Merge::rotation}; },
       {"ridge.merge = \"rotation\"", "ridge.ensembles = 1", "leave it out", "2 or more"}},
      {"memory of several",
       [](Config& c) { c.order = Ridge{.storage = Storage::memory, .ensembles = 2}; },
       {"paxos.storage = \"memory\"", "ridge.ensembles = 2", "leave one of the two out"}},
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
    EXPECT_GT(member->id(), before);  // ids have the same length until the year 2051
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
