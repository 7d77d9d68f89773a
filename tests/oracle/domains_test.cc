// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/checker.h"

// Histories of four nodes: nodes 1 and 2 are in domain 1, nodes 2 and 3 in domain 2, and node 4 is
// in no domain.

namespace peal::oracle {
namespace {

using trace::Event;
using trace::Kind;

constexpr std::uint64_t kPayloadHash = 0xaa;

MemberId domain_member(std::uint32_t node) { return {NodeId{node}, 1}; }
const ViewId kDomainsView{1, domain_member(1)};

class DomainsHistory {
 public:
  DomainsHistory() : checker_(options()) {
    for (std::uint32_t node = 1; node <= 4; ++node) {
      add(Kind::start, node);
      Event& view = next(Kind::view, node);
      view.view = kDomainsView;
      for (std::uint32_t each = 1; each <= 4; ++each) view.members.push_back(domain_member(each));
      checker_.add(view);
    }
  }

  /// `sender` submits its message `number` to a domain (0: to all nodes). The message gets the
  /// place `seq`.
  void sent(std::uint32_t sender, std::uint64_t number, DomainId domain, Seq seq) {
    Event& submit = next(Kind::submit, sender);
    submit.message = {domain_member(sender), number};
    submit.service = Service::agreed;
    submit.domains = DomainSet::of(domain);
    submit.hash = kPayloadHash;
    submit.bytes = 1;
    checker_.add(submit);
    Event& placed = next(Kind::originate, sender);
    placed.message = {domain_member(sender), number};
    placed.service = Service::agreed;
    placed.domains = DomainSet::of(domain);
    placed.view = kDomainsView;
    placed.seq = seq;
    checker_.add(placed);
  }
  void delivered(const std::vector<std::uint32_t>& nodes, std::uint32_t sender,
                 std::uint64_t number, DomainId domain, Seq seq) {
    for (const std::uint32_t node : nodes) {
      Event& event = next(Kind::deliver, node);
      event.message = {domain_member(sender), number};
      event.service = Service::agreed;
      event.domains = DomainSet::of(domain);
      event.view = kDomainsView;
      event.seq = seq;
      event.hash = kPayloadHash;
      checker_.add(event);
    }
  }
  Report finish() { return checker_.finish(); }

 private:
  static Options options() {
    Options options;
    options.quorum = true;
    options.domains = {{NodeId{1}, NodeId{2}}, {NodeId{2}, NodeId{3}}};
    return options;
  }
  Event& next(Kind kind, std::uint32_t node) {
    event_ = {};
    event_.kind = kind;
    event_.at_ns = ++at_;
    event_.node = domain_member(node);
    return event_;
  }
  void add(Kind kind, std::uint32_t node) { checker_.add(next(kind, node)); }

  Checker checker_;
  Event event_;
  std::int64_t at_ = 0;
};

std::string first_of(const Report& report) {
  return report.violations.empty() ? "none" : report.violations.front().text;
}

/// Three messages in the order of their places: for domain 1, for all nodes, and for domain 2.
void send_three(DomainsHistory& history) {
  history.sent(1, 1, 1, 17);
  history.sent(4, 1, 0, 32);
  history.sent(3, 1, 2, 50);
}

TEST(OracleDomains, EachNodeHasWhatIsForIt) {
  DomainsHistory history;
  send_three(history);
  history.delivered({1, 2}, 1, 1, 1, 17);
  history.delivered({1, 2, 3, 4}, 4, 1, 0, 32);
  history.delivered({2, 3}, 3, 1, 2, 50);
  const Report report = history.finish();
  EXPECT_EQ(report.violations_total, 0U) << first_of(report);
  EXPECT_EQ(report.figures.deliveries, 4U);  // counts messages for all nodes only
}

TEST(OracleDomains, OrdersThatDifferWhereTheyMeetAreNoticed) {
  DomainsHistory history;
  send_three(history);
  history.delivered({1}, 1, 1, 1, 17);
  history.delivered({1, 2, 3, 4}, 4, 1, 0, 32);
  history.delivered({2}, 1, 1, 1, 17);
  EXPECT_GT(history.finish().violations_of[static_cast<std::size_t>(Property::e7_total_order)], 0U);
}

TEST(OracleDomains, TwoPlacesOfOneMessageAreNoticed) {
  DomainsHistory history;
  send_three(history);
  history.delivered({1}, 1, 1, 1, 17);
  history.delivered({2}, 1, 1, 1, 33);
  EXPECT_GT(history.finish().violations_total, 0U);
}

TEST(OracleDomains, WhatOneOfADomainLacksIsNoticed) {
  DomainsHistory history;
  send_three(history);
  history.delivered({2}, 3, 1, 2, 50);
  history.sent(2, 1, 2, 66);
  history.delivered({2, 3}, 2, 1, 2, 66);  // node 3 lacks its own first message
  EXPECT_GT(history.finish().violations_total, 0U);
}

// E7 with domains: node 3 is in domain 2, and also learns messages for all nodes. Node 3 lacks one
// of these messages, and delivers a later one.
TEST(OracleDomains, WhatOneLacksThatIsForAllIsNoticed) {
  DomainsHistory history;
  send_three(history);
  history.delivered({1, 2, 4}, 4, 1, 0, 32);
  history.sent(4, 2, 0, 64);
  history.delivered({1, 2, 3, 4}, 4, 2, 0, 64);
  EXPECT_GT(history.finish().violations_total, 0U);
}

TEST(OracleDomains, AMessageThatReachesOthersIsNoticed) {
  DomainsHistory history;
  send_three(history);
  history.delivered({1, 2, 3}, 1, 1, 1, 17);  // node 3 is not in domain 1
  const Report report = history.finish();
  ASSERT_EQ(report.violations_total, 1U) << first_of(report);
  EXPECT_EQ(report.violations[0].property, Property::e3_integrity);
  EXPECT_EQ(first_of(report), "a message of domain 1 is delivered at a node outside it");
}

}  // namespace
}  // namespace peal::oracle
