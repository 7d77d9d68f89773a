// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "site.h"

// The list of nodes changes while daemons run.

namespace peal::daemon::test {
namespace {

using testing::HasSubstr;
using wire::RecordKind;

/// Options of node `self`, whose list has the first `count` of three nodes.
Options listed(const Folder& folder, std::uint32_t self, std::uint32_t count) {
  Options options = options_of(folder, self, 3);
  options.member.nodes.resize(count);
  return options;
}

/// The active list, the pending list, and the reason why the pending list waits.
std::string list_of(const Site& site) {
  Client asker(site.socket(), hello_as(""));
  wire::AskRequest ask;
  ask.request = 3;
  ask.what = "list";
  asker.say(ask);
  const auto reply = asker.until(RecordKind::reply);
  return reply ? std::string(reply->as<wire::Reply>().text) : "no answer";
}

void wait_list(const Site& site, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::string found;
  while ((found = list_of(site)) != text && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_EQ(found, text);
}

void wait_members(Client& client, std::size_t count) {
  while (const auto got = client.until(RecordKind::group_view)) {
    ASSERT_EQ(got->kind, RecordKind::group_view);
    if (got->as<wire::GroupViewEvent>().members.size() == count) return;
  }
}

TEST(Nodes, AreAddedAndRemovedAndComeBackWithoutARestart) {
  Folder folder;
  Site one(listed(folder, 1, 2));
  auto two = std::make_unique<Site>(listed(folder, 2, 2));
  Client ann(one.socket(), hello_as("ann"));
  auto bob = std::make_unique<Client>(two->socket(), hello_as("bob"));
  ann.join("g");
  bob->join("g");
  wait_members(ann, 2);
  EXPECT_EQ(list_of(one), "n1,n2; ; ");

  EXPECT_TRUE(one.reconfigure(listed(folder, 1, 3))) << one.refused();
  wait_list(one, "n1,n2; n1,n2,n3; n2, which does not have this list yet: run peal reload there");
  EXPECT_TRUE(two->reconfigure(listed(folder, 2, 3)));
  one.wait_nodes("n1,n2,n3");
  two->wait_nodes("n1,n2,n3");
  ann.send("g", "two of three");
  EXPECT_EQ(bob->message(), "two of three");

  Site three(listed(folder, 3, 3));
  Client cat(three.socket(), hello_as("cat"));
  cat.join("g");
  wait_members(ann, 3);
  cat.send("g", "I am here");
  EXPECT_EQ(bob->message(), "I am here");

  // Node 2 is removed from the lists, but still runs.
  const auto without = [&](std::uint32_t self) {
    Options options = listed(folder, self, 3);
    options.member.nodes.erase(options.member.nodes.begin() + 1);
    return options;
  };
  EXPECT_TRUE(one.reconfigure(without(1)));
  EXPECT_TRUE(three.reconfigure(without(3)));
  wait_list(
      one,
      "n1,n2,n3; n1,n3; n2, which is not in this list and still runs: stop it, or if the list "
      "here is outdated, bring it up to date and run peal reload here");
  bob.reset();
  two.reset();
  one.wait_nodes("n1,n3");
  three.wait_nodes("n1,n3");
  wait_list(three, "n1,n3; ; ");

  EXPECT_TRUE(one.reconfigure(listed(folder, 1, 3)));
  EXPECT_TRUE(three.reconfigure(listed(folder, 3, 3)));
  one.wait_nodes("n1,n2,n3");
  two = std::make_unique<Site>(listed(folder, 2, 3));
  bob = std::make_unique<Client>(two->socket(), hello_as("bob"));
  bob->join("g");
  wait_members(ann, 3);
  ann.send("g", "again");
  EXPECT_EQ(bob->message(), "again");
}

TEST(Nodes, AListIsTakenBackOrReplacedBeforeItCounts) {
  Folder folder;
  Site one(listed(folder, 1, 2));
  Site two(listed(folder, 2, 2));
  Client ann(one.socket(), hello_as("ann")), bob(two.socket(), hello_as("bob"));
  ann.join("g");
  bob.join("g");
  wait_members(ann, 2);
  EXPECT_TRUE(one.reconfigure(listed(folder, 1, 3)));
  EXPECT_TRUE(one.reconfigure(listed(folder, 1, 2))) << one.refused();
  wait_list(one, "n1,n2; ; ");
  EXPECT_TRUE(one.reconfigure(listed(folder, 1, 3)));
  Options other = listed(folder, 1, 3);
  other.member.nodes[2].name = "other";
  other.member.nodes[2].number = {9};
  EXPECT_TRUE(one.reconfigure(other)) << one.refused();
  other.member = [&] {
    Options same = listed(folder, 2, 3);
    same.member.nodes = other.member.nodes;
    return same.member;
  }();
  EXPECT_TRUE(two.reconfigure(other)) << two.refused();
  one.wait_nodes("n1,n2,other");
  two.wait_nodes("n1,n2,other");
}

TEST(Nodes, AListThatCannotBeIsRefusedAndChangesNothing) {
  Folder folder;
  Site one(listed(folder, 1, 2));
  Options bad = listed(folder, 1, 3);
  bad.member.nodes[1].number = {3};
  bad.member.nodes[2].number = {2};
  EXPECT_FALSE(one.reconfigure(bad));
  EXPECT_THAT(one.refused(), HasSubstr("nodes: node \"n2\" has number 2 and would get 3: write"));
  bad = listed(folder, 1, 3);
  bad.member.nodes.erase(bad.member.nodes.begin());
  EXPECT_FALSE(one.reconfigure(bad));
  EXPECT_THAT(one.refused(), HasSubstr("stop it and reload the others"));
  bad = listed(folder, 1, 3);
  bad.member.nodes[2].address = {"::1", 4'800};
  EXPECT_FALSE(one.reconfigure(bad));
  EXPECT_THAT(one.refused(), HasSubstr("all nodes must have IPv4"));
  bad = listed(folder, 1, 3);
  bad.member.nodes[2].address = bad.member.nodes[1].address;
  EXPECT_FALSE(one.reconfigure(bad));
  EXPECT_THAT(one.refused(), HasSubstr("at least 2 apart"));
  bad = listed(folder, 1, 2);
  bad.member.nodes[1].name = "two words";
  bad.member.nodes[1].number = {7};
  EXPECT_FALSE(one.reconfigure(bad));
  EXPECT_EQ(list_of(one), "n1,n2; ; ");
}

}  // namespace
}  // namespace peal::daemon::test
