// SPDX-License-Identifier: Apache-2.0
// Domains: only some nodes learn the messages to the groups of a domain.
#include "group/domains.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "group/groups.h"

namespace peal::group {
namespace {

Domains domains(std::uint32_t self) {
  return {{{"orders", {NodeId{1}, NodeId{2}}, {"orders", "orders.*"}},
           {"prices", {NodeId{2}, NodeId{3}}, {"*"}}},
          NodeId{self}};
}

DomainSet of(const Domains& domains, std::initializer_list<std::string_view> targets) {
  return domains.destinations(std::vector<std::string_view>(targets)).value();
}

DomainSet only(order::Domain domain) { return DomainSet::of(domain); }

TEST(GroupDomains, TheFirstThatNamesAGroupHasIt) {
  const Domains one = domains(1);
  EXPECT_EQ(one.of_group("orders"), 1U);
  EXPECT_EQ(one.of_group("orders.new"), 1U);
  EXPECT_EQ(one.of_group("ordersnew"), 2U);
  EXPECT_EQ(one.at(2).name, "prices");
  EXPECT_EQ(Domains().of_group("orders"), 0U);
}

TEST(GroupDomains, AStarBeforeOthersHasAll) {
  const Domains nested({{"one", {NodeId{1}}, {"*"}}, {"two", {NodeId{2}}, {"news"}}}, NodeId{1});
  EXPECT_EQ(nested.of_group("news"), 1U);
}

TEST(GroupDomains, AMessageToGroupsOfOneDomainIsInIt) {
  const Domains two = domains(2);
  EXPECT_EQ(of(two, {"orders", "orders.new"}), only(1));
  EXPECT_EQ(of(two, {"prices"}), only(2));
  EXPECT_EQ(of(two, {"orders", "prices"}), DomainSet()) << "all nodes learn what is for several";
  EXPECT_EQ(of(two, {"#ann#three"}), DomainSet()) << "a client may be anywhere";
  EXPECT_EQ(of(two, {"prices", "#ann#two"}), DomainSet());
  EXPECT_EQ(of(two, {}), DomainSet());
  EXPECT_EQ(of(Domains(), {"orders"}), DomainSet());
}

TEST(GroupDomains, WhoIsNotInADomainSendsToAll) {
  EXPECT_EQ(of(domains(1), {"prices"}), DomainSet());
  EXPECT_EQ(of(domains(3), {"orders"}), DomainSet());
  EXPECT_TRUE(domains(3).has_self(0));
  EXPECT_TRUE(domains(3).has_self(2));
  EXPECT_FALSE(domains(3).has_self(1));
}

class Host final : public Effects {
 public:
  void deliver(std::span<const std::uint32_t>, const Received&) override {}
  void view(std::span<const std::uint32_t>, const GroupView&) override {}
  void transitional(std::uint32_t, std::string_view) override {}
  void left(std::uint32_t, std::string_view) override {}
  void gap(std::span<const std::uint32_t>, std::string_view) override {}
  Result<std::uint64_t, Errc> submit(ByteView, Service, DomainSet domains) override {
    sent.push_back(domains);
    return sent.size();
  }
  void replace_control(ByteView, DomainSet) override {}
  std::uint64_t block(bool) override { return 0; }
  bool may_hold(std::uint64_t) const override { return true; }
  void dropped() override {}
  void settled(const ViewId&, std::uint64_t) override {}

  std::vector<DomainSet> sent;
};

TEST(GroupDomains, MembershipIsForAllAndMessagesForTheDomain) {
  Host host;
  Options options;
  options.node_name = "one";
  options.nodes = 3;
  options.domains = domains(1);
  Groups groups(options, host);
  const std::uint32_t client = groups.connect("ann").value();
  EXPECT_TRUE(groups.join(client, "orders"));
  const auto refused = groups.join(client, "prices");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Refusal::other_nodes);
  const auto send = [&](std::initializer_list<std::string_view> targets) {
    const std::vector<std::string_view> named(targets);
    Outgoing message;
    message.targets = named;
    EXPECT_TRUE(groups.send(client, message));
  };
  send({"orders"});
  send({"prices"});
  send({"orders", "#bob#one"});
  EXPECT_TRUE(groups.leave(client, "orders"));
  EXPECT_EQ(host.sent, (std::vector<DomainSet>{{}, only(1), {}, {}, {}}));
}

// ---- domains without common nodes ----

/// Nodes one and two are of the domain of orders, node three is of the other, and node four of
/// none.
Domains apart(std::uint32_t self) {
  return {{{"orders", {NodeId{1}, NodeId{2}}, {"orders", "orders.*"}, {"one", "two"}},
           {"rest", {NodeId{3}}, {"prices", "news*"}, {"three"}}},
          NodeId{self},
          Domains::Kind::disjoint};
}

TEST(DisjointDomains, AMessageGoesToTheDomainsOfAllItsTargets) {
  const Domains four = apart(4);
  const DomainSet both = DomainSet::up_to(2);
  EXPECT_EQ(of(four, {"orders", "orders.new"}), only(1));
  EXPECT_EQ(of(four, {"prices"}), only(2));
  EXPECT_EQ(of(four, {"orders", "prices"}), both);
  EXPECT_EQ(of(four, {"#ann#two"}), only(1)) << "a private name is of its node's domain";
  EXPECT_EQ(of(four, {"#ann#one", "news.of.today"}), both);
  for (const std::string_view nowhere : {"gossip", "#ann#four", "#ann#", "#ann#five"}) {
    EXPECT_FALSE(four.destinations(std::array<std::string_view, 2>{"orders", nowhere})) << nowhere;
  }
}

TEST(DisjointDomains, AStarIsForTheRest) {
  const Domains domains({{"one", {NodeId{1}}, {"*"}, {}}, {"two", {NodeId{2}}, {"news", "*"}, {}}},
                        NodeId{1}, Domains::Kind::disjoint);
  EXPECT_EQ(domains.of_group("news"), 2U);
  EXPECT_EQ(domains.of_group("gossip"), 1U);
}

TEST(DisjointDomains, ANodeKnowsTheGroupsOfItsDomain) {
  EXPECT_TRUE(apart(1).may_join("orders.new"));
  EXPECT_FALSE(apart(1).may_join("prices"));
  EXPECT_FALSE(apart(4).may_join("orders"));
  EXPECT_TRUE(apart(1).knows("#ann#two"));
  EXPECT_FALSE(apart(1).knows("#ann#three"));
  EXPECT_EQ(apart(2).home(), only(1));
  EXPECT_EQ(apart(3).home(), only(2));
  EXPECT_TRUE(apart(4).only_sends());
  EXPECT_FALSE(apart(3).only_sends());
  std::vector<NodeId> nodes{NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}};
  apart(2).keep_own(nodes);
  EXPECT_EQ(nodes, (std::vector<NodeId>{NodeId{1}, NodeId{2}}));
}

TEST(DisjointDomains, WithoutDomainsAllNodesAreOne) {
  const Domains whole({}, NodeId{1}, Domains::Kind::disjoint);
  EXPECT_EQ(of(whole, {"orders", "#ann#two"}), DomainSet());
  EXPECT_TRUE(whole.may_join("orders"));
  EXPECT_TRUE(whole.knows("#ann#two"));
  EXPECT_FALSE(whole.only_sends());
}

TEST(DisjointDomains, MembershipIsOfTheDomainAlone) {
  Host host;
  Options options;
  options.node_name = "one";
  options.nodes = 3;
  options.domains = apart(1);
  Groups groups(options, host);
  const std::uint32_t client = groups.connect("ann").value();
  EXPECT_TRUE(groups.join(client, "orders"));
  EXPECT_EQ(groups.join(client, "prices").error(), Refusal::other_nodes);
  EXPECT_EQ(groups.join(client, "gossip").error(), Refusal::no_domain);
  const std::array<std::string_view, 2> two{"orders", "prices"};
  EXPECT_TRUE(groups.send(client, {two, Service::agreed, 0, false, {}}));
  const std::array<std::string_view, 2> nowhere{"orders", "gossip"};
  EXPECT_EQ(groups.send(client, {nowhere, Service::agreed, 0, false, {}}).error(),
            Refusal::no_domain);
  EXPECT_TRUE(groups.leave(client, "orders"));
  EXPECT_TRUE(groups.join(client, "orders"));
  groups.disconnect(client);
  const DomainSet own = only(1);
  EXPECT_EQ(host.sent, (std::vector<DomainSet>{own, DomainSet::up_to(2), own, own, own}));
}

}  // namespace
}  // namespace peal::group
