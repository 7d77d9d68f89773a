// SPDX-License-Identifier: Apache-2.0
#include "config/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/text.h"

namespace peal::config {
namespace {

using testing::HasSubstr;

io::HostPort at(std::uint16_t number) {
  return {"10.0.0.1", static_cast<std::uint16_t>(5'000 + 2 * number)};
}

NodeEntry entry(const std::string& name, std::uint16_t number) {
  return {name, at(number), {number}};
}

Settings three_nodes() {
  Settings settings;
  settings.cluster = "c";
  settings.name = "a";
  settings.insecure = true;
  settings.nodes = {entry("a", 1), entry("b", 2), entry("c", 3)};
  return settings;
}

std::string problem(const Settings& now, const Listing& wanted) {
  const auto change = validate(now, wanted);
  return change ? "" : change.error();
}

TEST(NodeLists, AreEqualIfNumbersAndNamesAre) {
  const order::NodeList list = list_of(three_nodes().nodes);
  EXPECT_THAT(list.nodes, testing::ElementsAre(NodeId{1}, NodeId{2}, NodeId{3}));
  EXPECT_NE(list.hash, 0U);

  Settings other = three_nodes();
  std::swap(other.nodes[0], other.nodes[2]);
  other.nodes[1].address.port = 9;
  EXPECT_EQ(list_of(other.nodes).hash, list.hash);
  EXPECT_EQ(list_of(other.nodes).nodes, list.nodes);

  const std::vector<void (*)(Settings&)> differences{
      [](Settings& s) { s.nodes.pop_back(); },
      [](Settings& s) { s.nodes.push_back(entry("d", 4)); },
      [](Settings& s) { s.nodes[1].number = {7}; },
      [](Settings& s) { s.nodes[1].name = "x"; },
      [](Settings& s) { std::swap(s.nodes[0].name, s.nodes[1].name); },
  };
  for (const auto& differ : differences) {
    other = three_nodes();
    differ(other);
    EXPECT_NE(list_of(other.nodes).hash, list.hash);
    EXPECT_EQ(cluster_id(other), cluster_id(three_nodes()));
  }
}

TEST(NodeLists, SayOnQuorumsWhoVotes) {
  Settings paxos = three_nodes();
  const std::uint64_t ring = list_of(paxos).hash;
  EXPECT_EQ(ring, list_of(paxos.nodes).hash);
  EXPECT_TRUE(list_of(paxos).acceptors.empty());
  paxos.order = order::find_engine("paxos");
  const order::NodeList list = list_of(paxos);
  EXPECT_NE(list.hash, ring);
  EXPECT_EQ(list.acceptors, list.nodes);
  Settings other = paxos;
  other.acceptors = {NodeId{3}, NodeId{1}, NodeId{2}};  // the default acceptors
  EXPECT_EQ(list_of(other).hash, list.hash);
  other.acceptors = {NodeId{2}};
  EXPECT_NE(list_of(other).hash, list.hash);
  EXPECT_EQ(list_of(other).acceptors, other.acceptors);
}

TEST(NodeLists, MustNotHaveTooManyNewAcceptors) {
  Settings now = three_nodes();
  now.order = order::find_engine("paxos");
  now.data_dir = "d";
  Listing wanted = listing_of(now);
  wanted.nodes[2].address.port = 7'777;
  EXPECT_EQ(problem(now, wanted), "") << "only an address differs";
  wanted.nodes.push_back(entry("d", 4));
  wanted.nodes.push_back(entry("e", 5));
  EXPECT_EQ(problem(now, wanted), "") << "two of five";
  wanted.acceptors = {NodeId{1}, NodeId{4}, NodeId{5}};
  EXPECT_THAT(problem(now, wanted), HasSubstr("2 of 3 acceptors would be new: add one node"));
  wanted.acceptors = {NodeId{4}};
  EXPECT_THAT(problem(now, wanted), HasSubstr("1 of 1 acceptors would be new"));
  wanted = listing_of(now);
  now.acceptors = {NodeId{2}};
  now.data_dir.clear();
  EXPECT_THAT(problem(now, wanted),
              HasSubstr("would be an acceptor, and has no data_dir: restart"));
}

TEST(NodeLists, CanBeGoneOverTo) {
  const std::vector<void (*)(Settings&)> changes{
      [](Settings&) {},
      [](Settings& s) { s.nodes.push_back(entry("d", 4)); },
      [](Settings& s) { s.nodes.erase(s.nodes.begin() + 1); },
      [](Settings& s) {
        s.nodes = {entry("x", 9), entry("y", 10), entry("a", 1)};
      },
      [](Settings& s) { s.nodes[1].address.port = 9'000; },
  };
  for (const auto& change : changes) {
    Settings wanted = three_nodes();
    change(wanted);
    EXPECT_EQ(problem(three_nodes(), listing_of(wanted)), "");
  }
}

struct Refused {
  const char* what;
  std::function<void(Settings& now, Settings& wanted)> change;
  std::vector<std::string> said;
};

TEST(NodeLists, ThatCannotBeAreRefusedWithTheRemedy) {
  const auto majority = [](Settings& now) { now.options.set("primary", 1); };
  const std::vector<Refused> all{
      {"without this node",
       [](Settings&, Settings& s) { s.nodes.erase(s.nodes.begin()); },
       {"node \"a\", which this is, is not in the list", "stop it and reload the others"}},
      {"elsewhere",
       [](Settings&, Settings& s) { s.nodes[0].address = at(9); },
       {"\"a\", which this is, is at 10.0.0.1:5002", "restart it, or take 10.0.0.1:5018 back"}},
      {"another number",
       [](Settings&, Settings& s) {
         s.nodes = {entry("a", 1), entry("c", 2)};
       },
       {"\"c\" has number 3 and would get 2", "write number = 3"}},
      {"another name",
       [](Settings&, Settings& s) { s.nodes[1].name = "x"; },
       {"\"x\" would get number 2, which \"b\" has", "number = 4 into the [[nodes]] of \"x\""}},
      {"an address of one that is removed",
       [](Settings&, Settings& s) {
         s.nodes[1] = {"x", at(2), {4}};
       },
       {"\"x\" would be at 10.0.0.1:5004, and \"b\" is at 10.0.0.1:5004", "remove \"b\" first"}},
      {"longer than it may be",
       [](Settings& now, Settings& s) {
         now.nodes_max = 3;
         s.nodes.push_back(entry("d", 4));
       },
       {"the list has 4 nodes", "nodes_max, which is 3"}},
      {"two with a majority",
       [&](Settings& now, Settings& s) {
         majority(now);
         s.nodes[2] = entry("d", 4);
       },
       {"differs from the one that counts by 2 nodes", "one node at a time"}},
      {"more than a view can have",
       [](Settings& now, Settings& s) {
         now.nodes_max = 128;
         for (std::uint16_t i = 4; i <= 66; ++i)
           now.nodes.push_back(entry("n" + std::to_string(i), i));
         for (std::uint16_t i = 67; i <= 129; ++i)
           s.nodes.push_back(entry("n" + std::to_string(i), i));
       },
       {"have 129 nodes together: accepted are 128", "remove nodes first"}},
  };
  for (const Refused& refused : all) {
    Settings now = three_nodes(), wanted = three_nodes();
    refused.change(now, wanted);
    const std::string said = problem(now, listing_of(wanted));
    for (const std::string& part : refused.said) EXPECT_THAT(said, HasSubstr(part)) << refused.what;
  }
  Settings now = three_nodes(), wanted = three_nodes();
  majority(now);
  wanted.nodes.push_back(entry("d", 4));
  EXPECT_EQ(problem(now, listing_of(wanted)), "") << "one node";
}

TEST(NodeLists, EveryWaitForOneHasWords) {
  trace::Names names;
  names.set({3}, "c");
  using Kind = order::NodesWait::Kind;
  for (int kind = 1; kind <= static_cast<int>(Kind::outdated); ++kind) {
    EXPECT_FALSE(nodes_wait_text({static_cast<Kind>(kind), {NodeId{3}, 1}}, names).empty());
  }
  EXPECT_EQ(nodes_wait_text({}, names), "");
  EXPECT_EQ(nodes_wait_text({Kind::member, {NodeId{3}, 1}}, names),
            "c, which does not have this list yet: run peal reload there");
  EXPECT_EQ(
      nodes_wait_text({Kind::running, {NodeId{3}, 1}}, names),
      "c, which is not in this list and still runs: stop it, or if the list here is outdated, "
      "bring it up to date and run peal reload here");
  EXPECT_THAT(names_in({entry("c", 9), entry("a", 1), entry("b", 4)}),
              testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(runtime::incompatible_text({NodeId{3}, 1}, wire::Drop::other_list, names),
              HasSubstr("node c is ignored: its list of nodes"));
  constexpr order::GatherReason kMessage{"messages", "a message"};
  constexpr auto kReason = static_cast<std::uint64_t>(wire::Drop::bad_checksum);
  EXPECT_EQ(
      runtime::bad_record_text(
          {&order::event::bad_record, {}, {NodeId{3}, 1}, kReason, 0, &kMessage}, names),
      "node c has written a message into this node's memory that breaks a rule "
      "(bad_checksum): it is ignored, and what needs it waits; run the same version on c, and "
      "restart it there");
}

}  // namespace
}  // namespace peal::config
