// SPDX-License-Identifier: Apache-2.0
// Domains: only some nodes learn the messages to the groups of a domain.
#include "group/domains.h"

#include <gtest/gtest.h>

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

order::Domain of(const Domains& domains, std::initializer_list<std::string_view> targets) {
  return domains.of_message(std::vector<std::string_view>(targets));
}

TEST(GroupDomains, TheFirstThatNamesAGroupHasIt) {
  const Domains one = domains(1);
  EXPECT_EQ(one.of_group("orders"), 1U);
  EXPECT_EQ(one.of_group("orders.new"), 1U);
  EXPECT_EQ(one.of_group("ordersnew"), 2U);
  EXPECT_EQ(one.at(2).name, "prices");
  EXPECT_EQ(Domains().of_group("orders"), 0U);
}

TEST(GroupDomains, AMessageToGroupsOfOneDomainIsInIt) {
  const Domains two = domains(2);
  EXPECT_EQ(of(two, {"orders", "orders.new"}), 1U);
  EXPECT_EQ(of(two, {"prices"}), 2U);
  EXPECT_EQ(of(two, {"orders", "prices"}), 0U) << "all nodes learn what is for several";
  EXPECT_EQ(of(two, {"#ann#three"}), 0U) << "a client may be anywhere";
  EXPECT_EQ(of(two, {"prices", "#ann#two"}), 0U);
  EXPECT_EQ(of(two, {}), 0U);
  EXPECT_EQ(of(Domains(), {"orders"}), 0U);
}

TEST(GroupDomains, WhoIsNotInADomainSendsToAll) {
  EXPECT_EQ(of(domains(1), {"prices"}), 0U);
  EXPECT_EQ(of(domains(3), {"orders"}), 0U);
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
  Result<void, Errc> submit(ByteView, Service, order::Domain domain) override {
    sent.push_back(domain);
    return {};
  }
  void replace_control(ByteView) override {}
  void block(bool) override {}
  void settled(const ViewId&) override {}

  std::vector<order::Domain> sent;
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
  EXPECT_EQ(host.sent, (std::vector<order::Domain>{0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace peal::group
