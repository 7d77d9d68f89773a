// SPDX-License-Identifier: Apache-2.0
#include "io/faults.h"

#include <gtest/gtest.h>

#include "stations.h"

namespace peal::io {
namespace {

// run() sends 600 packets from node 1 to node 2, and returns those that the faults do not drop.
class FaultsTest : public testing::Test {
 protected:
  void open(std::uint64_t seed = 1) {
    nodes_.reset();  // the old transports release their addresses
    nodes_ = std::make_unique<Stations>(2, [&](std::uint32_t, UdpConfig& config) {
      config.faults.emplace();
      config.fault_seed = seed;
    });
  }
  Stations& nodes() { return *nodes_; }
  std::vector<std::string> run() {
    nodes()[2].received.clear();
    for (int i = 0; i < 200; ++i) {
      nodes()[1].multicast(Lane::data, "d" + std::to_string(1'000 + i));
      nodes()[1].send(2, Lane::token, "t" + std::to_string(1'000 + i));
      nodes()[1].multicast(Lane::control, "c" + std::to_string(1'000 + i));
    }
    nodes()[1].transport->flush();
    while (nodes()[2].turn().more) {
    }
    std::vector<std::string> texts;
    for (const auto& one : nodes()[2].received) texts.emplace_back(one.text());
    return texts;
  }
  static std::size_t of(char lane, const std::vector<std::string>& texts) {
    std::size_t count = 0;
    for (const std::string& text : texts) count += text[0] == lane ? 1U : 0U;
    return count;
  }
  std::unique_ptr<Stations> nodes_;
};

TEST_F(FaultsTest, NoneLoseNothing) {
  open();
  EXPECT_EQ(run().size(), 600U);
}

TEST_F(FaultsTest, LoseIncomingBySeed) {
  Faults faults;
  faults.drop_in = 0.3;
  std::vector<std::vector<std::string>> runs;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    open(seed);
    nodes()[2].transport->set_faults(faults);
    runs.push_back(run());
    EXPECT_EQ(nodes()[2].counters().drop_fault_in + runs.back().size(), 600U);
    EXPECT_GT(runs.back().size(), 350U);
    EXPECT_LT(runs.back().size(), 490U);
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(FaultsTest, LoseOutgoing) {
  open();
  Faults faults;
  faults.drop_out = 0.5;
  nodes()[1].transport->set_faults(faults);
  const auto texts = run();
  EXPECT_EQ(nodes()[1].counters().drop_fault_out + texts.size(), 600U);
  for (const char lane : {'d', 't', 'c'}) {
    EXPECT_GT(of(lane, texts), 60U);
    EXPECT_LT(of(lane, texts), 140U);
  }
}

TEST_F(FaultsTest, CutOneDirection) {
  open();
  Faults faults;
  faults.deaf_to = {NodeId{1}};
  nodes()[2].transport->set_faults(faults);
  EXPECT_TRUE(run().empty());
  nodes()[2].send(1, Lane::token, "back");
  ASSERT_TRUE(nodes().run_until([&] { return nodes()[1].received.size() == 1; }));
  nodes()[2].transport->set_faults({});
  EXPECT_EQ(run().size(), 600U);
  faults = {};
  faults.mute_to = {NodeId{2}};
  nodes()[1].transport->set_faults(faults);
  EXPECT_TRUE(run().empty());
}

TEST_F(FaultsTest, TouchOneLane) {
  open();
  Faults faults;
  faults.drop_out = 1;
  faults.only = Lane::data;
  nodes()[1].transport->set_faults(faults);
  auto texts = run();
  EXPECT_EQ(of('d', texts), 0U);
  EXPECT_EQ(texts.size(), 400U);
  faults.only = Lane::control;
  nodes()[1].transport->set_faults(faults);
  texts = run();
  EXPECT_EQ(of('c', texts), 0U);
  EXPECT_EQ(texts.size(), 400U);
  nodes()[1].transport->set_faults({});
  faults = {};
  faults.deaf_to = {NodeId{1}};
  faults.only = Lane::token;  // drops control packets too: both lanes share a socket
  nodes()[2].transport->set_faults(faults);
  texts = run();
  EXPECT_EQ(of('d', texts), 200U);
  EXPECT_EQ(texts.size(), 200U);
}

TEST_F(FaultsTest, MuteKeepsMulticastFromANode) {
  Stations nodes(4, [](std::uint32_t, UdpConfig& config) {
    config.multicast = MulticastMode::automatic;
    config.faults.emplace();
  });
  ASSERT_TRUE(nodes.run_until([&] {
    for (const PeerReach& peer : nodes[1].transport->reach()) {
      if (!peer.by_multicast) return false;
    }
    return true;
  }));
  Faults faults;
  faults.mute_to = {NodeId{4}};
  nodes[1].transport->set_faults(faults);
  nodes[1].multicast(Lane::data, "x");
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 1 && nodes[3].received.size() == 1; }));
  nodes.turn();
  EXPECT_TRUE(nodes[4].received.empty());
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 0U);
}

}  // namespace
}  // namespace peal::io
