// SPDX-License-Identifier: Apache-2.0
#include "group/table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "group/held_messages.h"
#include "group/message.h"
#include "samples.h"

namespace peal::group::test {
namespace {

using Outcome = Table::Outcome;

constexpr std::uint64_t kPlenty = 1U << 20;
const MemberId kA{NodeId{1}, 10}, kB{NodeId{2}, 20}, kC{NodeId{3}, 30};
const ViewId kView{7, kA};

Table with(std::initializer_list<std::pair<MemberId, std::string>> members,
           std::string_view group = "g") {
  Table table(kPlenty);
  std::uint32_t connection = 0;
  for (const auto& [daemon, name] : members) {
    EXPECT_EQ(table.join({daemon, ++connection}, name, group), Outcome::done);
  }
  return table;
}

/// A daemon tells the groups that changes of an earlier view have made, and others take them.
TEST(Table, AGroupThatAHeldJoinMakesCanBeTold) {
  std::vector<std::byte> join;
  encode(Join{{3, "x"}, "g"}, join);
  HeldMessages held;
  held.add({kB, 1, Service::agreed, {5, 0}, kView}, join, false);
  held.end_view();
  Table table(kPlenty);
  const ViewId next{8, kA};
  const order::MemberSet both{kA, kB};
  held.apply_earlier(both, next, table);
  std::vector<std::byte> bytes;
  encode(table.tables(next, both), bytes);
  Tables told;
  EXPECT_EQ(decode(bytes, told), wire::Drop::none);
  ASSERT_EQ(told.groups.size(), 1U);
  EXPECT_TRUE(told.groups[0].changed) << "it gets an id of the view once the tables are merged";
}

TEST(Table, MembersAreSortedByDaemonThenByName) {
  Table table = with({{kB, "x"}, {kA, "z"}, {kA, "y"}});
  const auto& daemons = table.find("g")->second.daemons;
  ASSERT_EQ(daemons.size(), 2U);
  EXPECT_EQ(daemons[0].id, kA);
  EXPECT_EQ(daemons[0].clients[0].name, "y");
  EXPECT_EQ(daemons[0].clients[1].name, "z");
  EXPECT_EQ(daemons[1].clients[0].connection, 1U);
  EXPECT_EQ(table.find("g")->second.at(kC), nullptr);
  EXPECT_EQ(table.find("h"), nullptr);
  table.check_invariants();
}

TEST(Table, RefusesWhatContradictsIt) {
  Table table = with({{kA, "x"}});
  EXPECT_EQ(table.join({kA, 1}, "x", "g"), Outcome::member_already);
  EXPECT_EQ(table.join({kA, 2}, "x", "g"), Outcome::another_name);
  EXPECT_EQ(table.join({kA, 1}, "y", "h"), Outcome::another_name);
  EXPECT_EQ(table.leave({kA, 1}, "x", "h"), Outcome::no_member);
  EXPECT_EQ(table.leave({kA, 1}, "y", "g"), Outcome::no_member);
  EXPECT_EQ(table.leave({kA, 2}, "x", "g"), Outcome::no_member);
  EXPECT_EQ(table.leave({kB, 1}, "x", "g"), Outcome::no_member);
  EXPECT_EQ(table.join({kB, 1}, "x", "g"), Outcome::done) << "names are a daemon's own";
  EXPECT_EQ(table.find("h"), nullptr);
  table.check_invariants();
}

TEST(Table, AGroupGoesWithItsLastMember) {
  Table table = with({{kA, "x"}, {kB, "y"}});
  EXPECT_EQ(table.leave({kA, 1}, "x", "g"), Outcome::done);
  EXPECT_EQ(table.leave({kB, 2}, "y", "g"), Outcome::done);
  EXPECT_TRUE(table.groups().empty());
  EXPECT_EQ(table.bytes_of(kA) + table.bytes_of(kB), 0U);
  EXPECT_TRUE(table.groups_of({kA, 1}, "x").empty());
  table.check_invariants();
}

TEST(Table, KnowsTheGroupsOfAClientByName) {
  Table table = with({{kA, "x"}}, "m");
  EXPECT_EQ(table.join({kA, 1}, "x", "z"), Outcome::done);
  EXPECT_EQ(table.join({kA, 1}, "x", "a"), Outcome::done);
  const auto groups = table.groups_of({kA, 1}, "x");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0]->first, "a");
  EXPECT_EQ(groups[2]->first, "z");
  EXPECT_TRUE(table.groups_of({kA, 1}, "y").empty());
}

TEST(Table, KeepingDaemonsMarksTheGroupsThatLostSomebody) {
  Table table = with({{kA, "x"}, {kB, "y"}});
  EXPECT_EQ(table.join({kA, 1}, "x", "only a"), Outcome::done);
  EXPECT_EQ(table.join({kB, 2}, "y", "only b"), Outcome::done);
  table.keep_daemons(std::vector{kA, kC});
  EXPECT_TRUE(table.find("g")->second.changed);
  EXPECT_FALSE(table.find("only a")->second.changed);
  EXPECT_EQ(table.find("only b"), nullptr);
  EXPECT_EQ(table.bytes_of(kB), 0U);
  EXPECT_TRUE(table.groups_of({kB, 2}, "y").empty());
  table.check_invariants();
}

TEST(Table, ADaemonTakesNoMoreThanItMay) {
  const std::uint64_t two = 2 * Table::bytes_of("x", "g1");
  Table table(two);
  EXPECT_EQ(table.join({kA, 1}, "x", "g1"), Outcome::done);
  EXPECT_EQ(table.join({kA, 2}, "y", "g1"), Outcome::done) << "shares what names the group";
  EXPECT_EQ(table.join({kA, 1}, "x", "g2"), Outcome::no_room);
  EXPECT_EQ(table.find("g2"), nullptr);
  EXPECT_EQ(table.join({kB, 1}, "x", "g2"), Outcome::done);
  EXPECT_EQ(table.leave({kA, 2}, "y", "g1"), Outcome::done);
  EXPECT_EQ(table.join({kA, 1}, "x", "g2"), Outcome::done);
  EXPECT_EQ(table.bytes_of(kA), two);
  table.check_invariants();
}

/// The limits on the entries of each daemon also limit the message with the whole table.
TEST(Table, ItsMessageIsNoLongerThanWhatItsDaemonsTake) {
  Table table = with({{kA, "x"}, {kB, std::string(kClientNameBytesMax, 'y')}, {kC, "z"}},
                     std::string(kNameBytesMax, 'g'));
  table.find(std::string(kNameBytesMax, 'g'))->second.id = {kView, 1};
  std::vector<std::byte> bytes;
  encode(table.tables(kView, std::vector{kA, kB, kC}), bytes);
  EXPECT_LE(bytes.size(), table.bytes_of(kA) + table.bytes_of(kB) + table.bytes_of(kC) + 27 + 36);
}

TEST(Table, ComesBackFromItsMessage) {
  Table table = with({{kB, "x"}, {kA, "z"}, {kA, "y"}});
  table.find("g")->second.id = {kView, 9};
  table.find("g")->second.changed = true;
  Tables tables = table.tables(kView, std::vector{kA, kB});
  EXPECT_TRUE(Table::is_consistent(tables, kPlenty));
  Table copy(kPlenty);
  copy.add(std::move(tables));
  EXPECT_EQ(copy.hash(), table.hash());
  EXPECT_EQ(copy.bytes_of(kA), table.bytes_of(kA));
  EXPECT_EQ(copy.leave({kA, 3}, "y", "g"), Outcome::done);
  EXPECT_NE(copy.hash(), table.hash());
  copy.check_invariants();
}

TEST(Table, AGroupOfTwoMessagesIsChangedAndOthersKeepTheirIds) {
  Table a = with({{kA, "x"}}), b = with({{kB, "x"}});
  EXPECT_EQ(a.join({kA, 1}, "x", "only a"), Outcome::done);
  a.find("g")->second.id = {kView, 1};
  a.find("only a")->second.id = {kView, 2};
  Table merged(kPlenty);
  merged.add(b.tables(kView, std::vector{kB}));
  merged.add(a.tables(kView, std::vector{kA}));
  EXPECT_TRUE(merged.find("g")->second.changed);
  EXPECT_FALSE(merged.find("only a")->second.changed);
  EXPECT_EQ(merged.find("only a")->second.id, (GroupId{kView, 2}));
  EXPECT_EQ(merged.find("g")->second.daemons.size(), 2U);
  merged.check_invariants();
}

TEST(Table, MessagesThatContradictThemselvesAreNotConsistent) {
  EXPECT_TRUE(Table::is_consistent(sample_tables(), kPlenty));
  EXPECT_FALSE(Table::is_consistent(sample_tables(), 10));
  Tables two_names = sample_tables();
  two_names.groups[1].daemons[0].clients[0].name = "other";
  EXPECT_FALSE(Table::is_consistent(two_names, kPlenty));
  Tables twice = sample_tables();
  twice.groups[0].daemons[0].clients[1].connection = 1;
  EXPECT_FALSE(Table::is_consistent(twice, kPlenty));
}

/// Applies 100,000 random changes to a table and to a plain set of memberships, which must agree.
TEST(Table, DoesWhatASetOfMembershipsDoes) {
  Random random(4);
  const std::vector<MemberId> daemons{kA, kB, kC};
  Table table(kPlenty);
  std::set<std::pair<std::string, ClientKey>> model;
  const auto name_of = [](std::uint32_t connection) { return "c" + std::to_string(connection); };
  for (int step = 0; step < 100'000; ++step) {
    const std::string group = "g" + std::to_string(random.below(30));
    const ClientKey client{daemons[random.below(3)],
                           static_cast<std::uint32_t>(random.between(1, 9))};
    const std::string name = name_of(client.connection);
    if (random.chance(0.001)) {
      const MemberId lost = daemons[random.below(3)];
      std::vector<MemberId> kept;
      for (const MemberId& each : daemons) {
        if (each != lost) kept.push_back(each);
      }
      table.keep_daemons(kept);
      std::erase_if(model, [&](const auto& entry) { return entry.second.daemon == lost; });
    } else if (random.chance(0.01)) {
      for (auto* entry : table.groups_of(client, name)) {
        const std::string left = entry->first;
        ASSERT_EQ(model.erase({left, client}), 1U);
        ASSERT_EQ(table.leave(client, name, left), Outcome::done);
      }
      for (const auto& entry : model) ASSERT_NE(entry.second, client);
    } else if (random.chance(0.5)) {
      const bool fresh = model.insert({group, client}).second;
      ASSERT_EQ(table.join(client, name, group) == Outcome::done, fresh);
    } else {
      const bool was = model.erase({group, client}) == 1;
      ASSERT_EQ(table.leave(client, name, group) == Outcome::done, was);
    }
    if (step % 1'000 == 0) table.check_invariants();
  }
  std::size_t members = 0;
  for (const auto& [name, group] : table.groups()) {
    for (const auto& daemon : group.daemons) {
      for (const auto& client : daemon.clients) {
        ++members;
        EXPECT_TRUE(model.contains({name, {daemon.id, client.connection}}));
      }
    }
  }
  EXPECT_EQ(members, model.size());
}

}  // namespace
}  // namespace peal::group::test
