// SPDX-License-Identifier: Apache-2.0
#include "oracle/genuineness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Nodes 1 and 2 are in domain 1, nodes 3 and 4 in domain 2, node 5 is in domain 3, and node 6 is in
// no domain.

namespace peal::oracle {
namespace {

trace::MessageId message_of(std::uint32_t node, std::uint64_t number = 1) {
  return {{NodeId{node}, 1}, number};
}

class Genuineness : public testing::Test {
 protected:
  Genuineness() {
    for (std::uint32_t n = 1; n <= 6; ++n) names_.set(NodeId{n}, "n" + std::to_string(n));
    checker_.add_message(message_of(1), DomainSet::of(1));
    checker_.add_message(message_of(3), DomainSet::up_to(2));
    checker_.add_message(message_of(6), DomainSet::up_to(2));
    checker_.add_message(message_of(5), DomainSet::of(2));
  }

  /// The violation of this transfer, or nothing.
  std::string judged(std::uint32_t from, std::uint32_t to,
                     const std::vector<trace::MessageId>& messages) {
    const std::size_t before = checker_.violations().size();
    checker_.add({++at_, NodeId{from}, NodeId{to}, messages});
    if (checker_.violations().size() == before) return "";
    EXPECT_EQ(checker_.violations().back().at_ns, at_);
    return checker_.violations().back().text;
  }

  trace::Names names_;
  GenuinenessChecker checker_{
      {{{NodeId{1}, NodeId{2}}, {NodeId{3}, NodeId{4}}, {NodeId{5}}}, 100, &names_}};
  std::int64_t at_ = 0;
};

TEST_F(Genuineness, AMessageConcernsItsSenderAndItsDestinations) {
  EXPECT_EQ(judged(1, 2, {message_of(1)}), "");
  EXPECT_EQ(judged(3, 1, {message_of(3)}), "");
  EXPECT_EQ(judged(2, 4, {message_of(3), message_of(6)}), "");
  EXPECT_EQ(judged(6, 4, {message_of(6)}), "");  // a sender in no domain
  EXPECT_EQ(judged(4, 6, {message_of(6)}), "");  // its answer
  EXPECT_EQ(judged(5, 3, {message_of(5)}), "");  // a sender in another domain
  EXPECT_EQ(checker_.naming(), 6U);
}

TEST_F(Genuineness, AMessageConcernsNobodyElse) {
  EXPECT_EQ(judged(1, 3, {message_of(1)}),
            "what n1 sends to n3 names n1.1:1 to the domains 1, which n3 neither sent nor is to "
            "learn");
  EXPECT_EQ(judged(5, 1, {message_of(3)}),
            "what n5 sends to n1 names n3.1:1 to the domains 1,2, which n5 neither sent nor is to "
            "learn");
  EXPECT_NE(judged(5, 6, {message_of(6)}), "");
  EXPECT_NE(judged(6, 1, {message_of(3)}), "");  // a node in no domain that did not send it
}

// Each message that a transfer names must concern both nodes: no message may travel with another.
TEST_F(Genuineness, NoMessageTravelsWithAnother) {
  EXPECT_EQ(judged(2, 4, {message_of(3), message_of(1)}),
            "what n2 sends to n4 names n1.1:1 to the domains 1, which n4 neither sent nor is to "
            "learn");
}

TEST_F(Genuineness, WorkWithoutAMessageStaysInADomain) {
  EXPECT_EQ(judged(1, 2, {}), "");
  EXPECT_EQ(judged(5, 5, {}), "");
  EXPECT_EQ(judged(6, 6, {}), "");
  EXPECT_EQ(judged(1, 3, {}),
            "what n1 sends to n3 names no message, although the two are in no domain together");
  EXPECT_NE(judged(6, 1, {}), "");
  EXPECT_NE(judged(1, 6, {}), "");
}

TEST_F(Genuineness, MessagesAreKnownBeforeTheyAreNamed) {
  EXPECT_EQ(judged(1, 2, {message_of(1, 7)}), "what n1 sends to n2 names n1.1:7, which is unknown");
}

TEST_F(Genuineness, KeepsSomeTextsAndCountsAll) {
  GenuinenessChecker checker({{{NodeId{1}}, {NodeId{2}}}, 2, nullptr});
  for (int i = 0; i < 5; ++i) checker.add({i, NodeId{1}, NodeId{2}, {}});
  EXPECT_EQ(checker.violations_total(), 5U);
  EXPECT_EQ(checker.violations().size(), 2U);
  EXPECT_EQ(checker.transfers(), 5U);
  EXPECT_EQ(checker.naming(), 0U);
}

// Without domains all nodes are one domain, and a message without destinations is for all nodes.
TEST_F(Genuineness, WithoutDomainsAllNodesAreOne) {
  GenuinenessChecker checker({{}, 2, nullptr});
  checker.add_message(message_of(1), {});
  const std::vector<trace::MessageId> messages{message_of(1)};
  checker.add({1, NodeId{2}, NodeId{9}, messages});
  checker.add({2, NodeId{2}, NodeId{9}, {}});
  EXPECT_EQ(checker.violations_total(), 0U);
}

}  // namespace
}  // namespace peal::oracle
