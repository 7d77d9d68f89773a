// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <gtest/gtest.h>

#include <string>

#include "config/cluster_wide.h"
#include "runtime/text.h"

namespace peal::config {
namespace {

Settings good() {
  Settings settings;
  settings.cluster = "c";
  settings.name = "a";
  settings.insecure = true;
  settings.nodes = {{"a", {}, {1}}, {"b", {}, {2}}};
  return settings;
}

TEST(Settings, TheClusterIdTellsNamesAndRulesApart) {
  const std::uint64_t id = cluster_id(good());
  EXPECT_EQ(cluster_id(good()), id);
  const auto rules = [](std::uint64_t value) { return value & 0xffff'ffffU; };

  Settings other = good();
  other.cluster = "d";
  EXPECT_NE(cluster_id(other) >> 32U, id >> 32U);
  EXPECT_EQ(rules(cluster_id(other)), rules(id));

  const std::vector<void (*)(Settings&)> differences{
      [](Settings& s) { s.nodes_max = 33; },
      [](Settings& s) { s.options.set("ring.token_loss_ms", milliseconds(999).ns); },
      [](Settings& s) { s.options.set("primary", 1); },
      [](Settings& s) { s.limits.message_bytes_max = 5; },
  };
  for (const auto& differ : differences) {
    other = good();
    differ(other);
    EXPECT_NE(rules(cluster_id(other)), rules(id));
    EXPECT_EQ(cluster_id(other) >> 32U, id >> 32U);
  }
  // Settings that each node may choose for itself do not change the cluster id.
  other = good();
  other.name = "b";
  other.options.set("ring.max_gap", 100);
  other.packet_bytes = 9'000;
  other.limits.submit_messages_max = 7;
  other.trace = "x";
  // The list of nodes may change while the nodes run, so it does not change the cluster id.
  other.nodes.push_back({"c", {}, {3}});
  EXPECT_EQ(cluster_id(other), id);
}

TEST(Settings, TheClusterIdTellsEnginesAndTheirAcceptorsApart) {
  Settings paxos = good();
  paxos.nodes.push_back({"c", {}, {3}});
  const std::uint64_t ring = cluster_id(paxos);
  paxos.order = order::find_engine("paxos");
  const std::uint64_t id = cluster_id(paxos);
  EXPECT_NE(id, ring);
  EXPECT_EQ(id >> 32U, ring >> 32U);

  Settings other = paxos;
  other.acceptors = {NodeId{2}};  // acceptors may change while nodes run
  other.data_dir = "x";
  other.options.set("ring.token_loss_ms", milliseconds(999).ns);
  EXPECT_EQ(cluster_id(other), id);
  other = paxos;
  other.packet_bytes = 9'000;
  EXPECT_NE(cluster_id(other), id);
  other = paxos;
  other.streams = true;
  EXPECT_NE(cluster_id(other), id);
  other = paxos;
  other.order = order::find_engine("ridge");
  const std::uint64_t ridge = cluster_id(other);
  EXPECT_NE(ridge, id);
  other.options.set("ridge.dissemination", 1);
  EXPECT_NE(cluster_id(other), ridge);
  other.options.set("ridge.dissemination", 0);
  other.options.set("ridge.ensembles", 2);
  const std::uint64_t two = cluster_id(other);
  EXPECT_NE(two, ridge);
  other.options.set("ridge.merge", 1);
  EXPECT_NE(cluster_id(other), two);
  other.options.set("ridge.merge", 0);
  EXPECT_EQ(cluster_id(other), two);
  other.options.set("ridge.ensembles", 3);
  EXPECT_NE(cluster_id(other), two);
  EXPECT_NE(cluster_id(other), ridge);
}

// Nodes of different releases compare their cluster ids, so these numbers must never change.
TEST(Settings, TheClusterIdIsThatOfEarlierReleases) {
  Settings settings = good();
  EXPECT_EQ(cluster_id(settings), 0x30562e695b90d5c7U);
  settings.options.set("ring.token_loss_ms", milliseconds(999).ns);
  EXPECT_EQ(cluster_id(settings), 0x30562e69069f3806U);
  settings.options = {};
  settings.order = order::find_engine("paxos");
  settings.packet_bytes = 9'000;
  EXPECT_EQ(cluster_id(settings), 0x30562e69ed0da43bU);
  settings.packet_bytes = 0;
  settings.order = order::find_engine("ridge");
  settings.domains = {{"east", {NodeId{2}, NodeId{1}}, {NodeId{1}}, {"e-*", "x"}}};
  EXPECT_EQ(cluster_id(settings), 0x30562e6952001903U);
}

TEST(Settings, AllThatTheClusterIdHasCanBeTold) {
  const auto value_of = [](const Settings& settings, const std::string& key) {
    for (const ClusterWide& each : cluster_wide_settings(settings)) {
      if (each.key == key) return each.value + (each.value == each.normal ? " by default" : "");
    }
    return std::string("absent");
  };
  Settings settings = good();
  EXPECT_EQ(value_of(settings, "order"), "\"ring\" by default");
  EXPECT_EQ(value_of(settings, "limits.nodes_max"), "32 by default");
  EXPECT_EQ(value_of(settings, "cluster"), "absent");
  EXPECT_EQ(value_of(settings, "ring.max_gap"), "absent");
  EXPECT_EQ(value_of(settings, "network.packet_bytes"), "absent");
  EXPECT_EQ(value_of(settings, "[[domain]]"), "absent");
  settings.options.set("ring.token_loss_ms", milliseconds(999).ns);
  EXPECT_EQ(value_of(settings, "ring.token_loss_ms"), "999");
  settings.order = order::find_engine("ridge");
  EXPECT_EQ(value_of(settings, "ring.token_loss_ms"), "absent");
  EXPECT_EQ(value_of(settings, "network.packet_bytes"), "1472");
  settings.domains = {{"east", {NodeId{2}, NodeId{1}}, {NodeId{1}}, {"e-*", "x"}},
                      {"west", {NodeId{2}}, {}, {}}};
  EXPECT_EQ(value_of(settings, "[[domain]]"),
            "east: nodes 1 2, acceptors 1, groups e-*, x; west: nodes 2");
  // Long lists with a difference near the end still have different texts.
  settings.domains[0].groups.assign(40, "a-group");
  const std::string before = value_of(settings, "[[domain]]");
  EXPECT_EQ(before.size(), 255U);
  settings.domains[0].groups.back() = "A-group";
  EXPECT_NE(value_of(settings, "[[domain]]"), before);
  EXPECT_EQ(value_of(settings, "[[domain]]").substr(0, 230), before.substr(0, 230));
}

TEST(Settings, ThoseWhoVoteAreThoseNamedOrTheLowest) {
  Settings paxos = good();
  EXPECT_FALSE(votes(paxos));
  paxos.order = order::find_engine("paxos");
  for (std::uint32_t number = 3; number <= 7; ++number) {
    paxos.nodes.push_back({"n" + std::to_string(number), {}, {number}});
  }
  EXPECT_EQ(acceptors_of(paxos).size(), 5U);
  EXPECT_TRUE(votes(paxos));
  paxos.name = "n6";
  EXPECT_FALSE(votes(paxos));
  paxos.acceptors = {NodeId{7}, NodeId{6}, NodeId{2}};
  EXPECT_TRUE(votes(paxos));
  EXPECT_EQ(acceptors_of(paxos), (std::vector<NodeId>{NodeId{2}, NodeId{6}, NodeId{7}}));
}

TEST(Settings, EveryOptionThatMustBeEqualIsInTheClusterId) {
  for (const order::Descriptor* engine : order::engines()) {
    Settings normal = good();
    normal.order = engine;
    for (const order::Option& option : engine->options()) {
      if (option.internal || option.kind == order::Option::Kind::acceptors) continue;
      Settings other = normal;
      other.options.set(option.key, option.normal);
      EXPECT_EQ(cluster_id(other), cluster_id(normal)) << option.key << ": its default";
      other.options.set(option.key, option.normal == option.most ? option.least : option.most);
      EXPECT_EQ(cluster_id(other) != cluster_id(normal), option.cluster_wide) << option.key;
    }
  }
}

TEST(WaitText, NamesNodesAndPositionsInThePlaceOfBraces) {
  trace::Names names;
  names.set({1}, "a");
  for (const order::WaitKind* kind :
       {&order::wait::packet, &order::wait::slow_application, &order::wait::window,
        &order::wait::gathering, &order::wait::recovering, &order::wait::not_heard,
        &order::wait::coordinator, &order::wait::quorum, &order::wait::majority,
        &order::wait::bootstrap, &order::wait::bound, &order::wait::other_list,
        &order::wait::amnesiac, &order::wait::unheard, &order::wait::disk}) {
    for (const MemberId who : {MemberId{NodeId{1}, 1}, MemberId{}}) {
      const std::string text = runtime::wait_text({kind, who, 5}, names);
      EXPECT_FALSE(text.empty()) << kind->name;
      EXPECT_EQ(text.find('{'), std::string::npos) << text;
    }
  }
  EXPECT_EQ(runtime::wait_text({}, names), "");
  EXPECT_EQ(runtime::wait_text({&order::wait::packet, {}, 5}, names),
            "position 5, which did not arrive here");
  EXPECT_EQ(runtime::wait_text({&order::wait::coordinator, {}, 0}, names),
            "a coordinator to be elected");
  EXPECT_EQ(runtime::wait_text({&order::wait::coordinator, {NodeId{1}, 1}, 0}, names),
            "a to be elected coordinator");
  EXPECT_EQ(runtime::wait_text({&order::wait::quorum, {NodeId{1}, 1}, 5}, names),
            "a majority of the acceptors to vote for position 5; a has not");
  names.set({2}, "b");
  names.set({3}, "c");
  order::WaitReason all{&order::wait::majority, {NodeId{1}, 1}, 5};
  EXPECT_EQ(runtime::wait_text(all, names), "a majority of the acceptors; a is not heard");
  all.all = {{NodeId{1}, 1}, {NodeId{2}, 0}, {NodeId{3}, 7}};
  EXPECT_EQ(runtime::wait_text(all, names),
            "a majority of the acceptors; a, b and c are not heard");
  all.kind = &order::wait::gathering;
  EXPECT_EQ(runtime::wait_text(all, names), "a, b and c to agree on the members");
}

}  // namespace
}  // namespace peal::config
