// SPDX-License-Identifier: Apache-2.0
// Exchanges in a cluster in which only some daemons learn the messages of a domain.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "group/groups.h"

namespace peal::group::test {
namespace {

const MemberId kNodeA{NodeId{1}, 100}, kNodeB{NodeId{2}, 100}, kNodeC{NodeId{3}, 100},
    kStranger{NodeId{4}, 1};
const ViewId kAlone{1, kNodeC}, kElsewhere{1, kNodeA}, kMet{2, kNodeA};

class GapListener final : public Effects {
 public:
  void deliver(std::span<const std::uint32_t>, const Received&) override {}
  void view(std::span<const std::uint32_t>, const GroupView&) override {}
  void transitional(std::uint32_t, std::string_view) override {}
  void left(std::uint32_t, std::string_view) override {}
  void gap(std::span<const std::uint32_t>, std::string_view group) override {
    gaps.emplace_back(group);
  }
  Result<std::uint64_t, Errc> submit(ByteView message, Service, DomainSet) override {
    submitted.assign(message.begin(), message.end());
    return ++count;
  }
  void replace_control(ByteView message, DomainSet /*domains*/) override {
    control.assign(message.begin(), message.end());
  }
  std::uint64_t block(bool) override { return 0; }
  bool may_hold(std::uint64_t) const override { return true; }
  void dropped() override {}
  void settled(const ViewId&, std::uint64_t) override {}

  std::uint64_t count = 0;
  std::vector<std::byte> submitted, control;
  std::vector<std::string> gaps;
};

Options options_of_c() {
  Options options;
  options.node_name = "c";
  options.nodes = 3;
  options.domains = {{{"orders", {kNodeB.node, kNodeC.node}, {"orders", "late orders"}}},
                     kNodeC.node};
  return options;
}

/// Daemon c was alone in a view, and now meets a and b. Only b and c learn messages to the group
/// "orders". A client of c is a member of this group.
struct MeetingInDomains {
  MeetingInDomains() : groups(options_of_c(), host) {
    const std::vector<MemberId> own{kNodeC}, all{kNodeA, kNodeB, kNodeC};
    groups.on_view({false, kAlone, {}, own, {}}, kNodeC);
    EXPECT_TRUE(groups.join(groups.connect("x").value(), "orders"));
    give(kNodeC, host.submitted);
    groups.on_view({true, kMet, kAlone, own, {}}, kNodeC);
    groups.on_view({false, kMet, {}, all, {}}, kNodeC);
  }
  void give(const MemberId& sender, const std::vector<std::byte>& message) {
    ++place;
    groups.on_message({sender, place, Service::agreed, {place, 0}}, message);
  }
  void give_own() { give(kNodeC, std::vector<std::byte>(host.control)); }
  /// Gives c the common table of a and b, which a sends.
  void give_tables(const std::vector<Traffic>& traffic = {}) {
    Tables tables;
    tables.view = kMet;
    tables.synced = {kNodeA, kNodeB};
    tables.traffic = traffic;
    std::vector<std::byte> bytes;
    encode(tables, bytes);
    give(kNodeA, bytes);
  }
  void give_domain(const MemberId& sender, const std::vector<Traffic>& traffic = {}) {
    std::vector<std::byte> bytes;
    encode(DomainTraffic{kMet, traffic}, bytes);
    give(sender, bytes);
  }
  bool completed() const { return groups.state() == Groups::State::operational; }
  std::uint64_t bad() const { return groups.counters().bad_tables; }

  GapListener host;
  Groups groups;
  Seq place = 0;
};

/// The traffic of one message to `name`, in a view of a and b.
std::vector<Traffic> one_message(order::Domain domain, const std::string& name) {
  ViewTraffic view;
  view.view = kElsewhere;
  view.upto = {1, 0};
  view.names = {{name, 1}};
  Traffic traffic;
  traffic.domain = domain;
  traffic.views = {view};
  return {traffic};
}

TEST(DomainExchange, EndsOnceANodeOfTheDomainHasReported) {
  MeetingInDomains c;
  c.give_tables();
  c.give_own();
  EXPECT_FALSE(c.completed()) << "a cannot report on the domain: b does";
  c.give_domain(kNodeB);
  EXPECT_TRUE(c.completed());
  EXPECT_EQ(c.bad(), 0U);
}

TEST(DomainExchange, MayEndWithTables) {
  MeetingInDomains c;
  c.give_domain(kNodeB, one_message(1, "orders"));
  c.give_own();
  EXPECT_FALSE(c.completed());
  c.give_tables();
  EXPECT_TRUE(c.completed());
  EXPECT_EQ(c.host.gaps, std::vector<std::string>{"orders"});
}

TEST(DomainExchange, ReportsOfStrangersAndSecondOnesAreDropped) {
  MeetingInDomains c;
  c.give_tables();
  c.give_own();
  c.give_domain(kStranger);
  EXPECT_EQ(c.bad(), 1U);
  EXPECT_FALSE(c.completed());
  MeetingInDomains other;
  other.give_domain(kNodeB);
  EXPECT_EQ(other.bad(), 0U);
  other.give_domain(kNodeB, one_message(1, "orders"));
  EXPECT_EQ(other.bad(), 1U);
  other.give_tables();
  other.give_own();
  EXPECT_TRUE(other.completed());
  EXPECT_TRUE(other.host.gaps.empty());
}

/// A message to groups of several domains goes to all nodes. A group can miss such a message and a
/// message of its own domain.
TEST(DomainExchange, AGroupMissesMessagesOfItsDomainAndThoseForAllNodes) {
  const auto gaps = [](const std::vector<Traffic>& for_all, const std::vector<Traffic>& of_domain) {
    MeetingInDomains c;
    c.give_tables(for_all);
    c.give_own();
    c.give_domain(kNodeB, of_domain);
    EXPECT_TRUE(c.completed());
    return c.host.gaps;
  };
  const std::vector<std::string> none, orders{"orders"};
  EXPECT_EQ(gaps({}, {}), none);
  EXPECT_EQ(gaps(one_message(0, "orders"), {}), orders);
  EXPECT_EQ(gaps({}, one_message(1, "orders")), orders);
  EXPECT_EQ(gaps(one_message(0, "prices"), one_message(1, "late orders")), none);
}

}  // namespace
}  // namespace peal::group::test
