// SPDX-License-Identifier: Apache-2.0
// Layouts: the domains, which have ensembles of their own, and their nodes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "order/ridge/layout.h"

namespace peal::order::ridge {
namespace {

std::vector<NodeId> ids(std::initializer_list<std::uint32_t> numbers) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t number : numbers) nodes.push_back(NodeId{number});
  return nodes;
}

const std::vector<NodeId> kNodes = ids({1, 2, 3, 4, 5});

std::string wrong(const DomainNodes& domain) { return validate(Layout{1, {domain}}, kNodes); }

TEST(RidgeLayout, AllNodesAreInDomainZero) {
  const Layout layout{1, {{ids({1, 3}), {}}}};
  EXPECT_TRUE(layout.has(0, NodeId{2}));
  EXPECT_TRUE(layout.has(1, NodeId{3}));
  EXPECT_FALSE(layout.has(1, NodeId{2}));
  EXPECT_FALSE(layout.has(2, NodeId{1})) << "there is none";
  EXPECT_FALSE(layout.one_engine());
  EXPECT_TRUE(Layout{}.one_engine());
}

TEST(RidgeLayout, WhatCannotBeIsRefusedWithTheReason) {
  EXPECT_EQ(wrong({ids({1, 2}), {}}), "");
  EXPECT_EQ(wrong({ids({1, 2, 9}), ids({2})}), "") << "nodes may come later";
  EXPECT_EQ(wrong({ids({1, 1}), {}}), "domain 1 names a node twice");
  EXPECT_EQ(wrong({ids({1, 2}), ids({2, 2})}), "domain 1 names a node twice");
  EXPECT_EQ(wrong({ids({8, 9}), {}}), "domain 1 has none of the configured nodes");
  EXPECT_EQ(wrong({{}, {}}), "domain 1 has none of the configured nodes");
  EXPECT_EQ(wrong({ids({1, 2}), ids({3})}), "domain 1 has an acceptor that is none of its nodes");
  EXPECT_EQ(wrong({ids({1, 9}), ids({9})}), "domain 1 has no acceptor among the configured nodes");
  std::vector<NodeId> many;
  for (std::uint32_t n = 1; n <= 17; ++n) many.push_back(NodeId{n});
  EXPECT_EQ(validate(Layout{1, {{many, many}}}, many), "domain 1 has more than 16 acceptors");
}

TEST(RidgeLayout, CountsHaveBounds) {
  EXPECT_EQ(validate(Layout{0, {}}, kNodes), "ensembles = 0 is not accepted: it must be 1 to 16");
  EXPECT_EQ(validate(Layout{17, {}}, kNodes), "ensembles = 17 is not accepted: it must be 1 to 16");
  EXPECT_EQ(validate(Layout{2, {}, Merging::rotation}, kNodes), "");
  EXPECT_EQ(
      validate(Layout{1, {}, Merging::rotation}, kNodes),
      "merge = \"rotation\" is not accepted with ensembles = 1, which leaves nothing to merge: "
      "leave it out, or set ensembles = 2 or more");
  EXPECT_EQ(validate(Layout{16, {}}, kNodes), "");
  const DomainNodes all{kNodes, {}};
  EXPECT_EQ(validate(Layout{1, {all}, Merging::rotation}, kNodes),
            "merge = \"rotation\" is not accepted together with domains: leave it out");
  EXPECT_EQ(validate(Layout{2, {all}}, kNodes),
            "ensembles = 2 is not accepted together with domains: it must be 1");
  EXPECT_EQ(validate(Layout{1, std::vector<DomainNodes>(15, all)}, kNodes), "");
  EXPECT_EQ(validate(Layout{1, std::vector<DomainNodes>(16, all)}, kNodes),
            "16 domains are not accepted: there are at most 15");
}

TEST(RidgeLayout, ADomainHasThePartOfAListThatIsInIt) {
  const Layout layout{1, {{ids({1, 3, 5, 7}), {}}, {ids({2, 3, 4}), ids({2, 4})}}};
  NodeList list;
  list.hash = 99;
  list.nodes = ids({1, 2, 3, 5});
  list.acceptors = ids({1, 2, 3});
  const NodeList first = part_of(layout, 1, list);
  EXPECT_EQ(first.hash, 99U) << "it is one list for all";
  EXPECT_EQ(first.nodes, ids({1, 3, 5}));
  EXPECT_EQ(first.acceptors, ids({1, 3, 5})) << "as if it was a cluster of these nodes";
  const NodeList second = part_of(layout, 2, list);
  EXPECT_EQ(second.nodes, ids({2, 3}));
  EXPECT_EQ(second.acceptors, ids({2})) << "those that are asked for, and configured";
}

TEST(RidgeLayout, APositionSaysItsDomain) {
  EXPECT_EQ(domain_of(16 * 12345 + 3), 3U);
  EXPECT_EQ(domain_of(16 * 12345), 0U);
}

}  // namespace
}  // namespace peal::order::ridge
