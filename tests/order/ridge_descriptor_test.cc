// SPDX-License-Identifier: Apache-2.0
// The descriptor of Ridge: which options can be combined, and which resources a node has to
// provide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "order/ridge/descriptor.h"
#include "order/ridge/dissemination.h"

namespace peal::order::ridge {
namespace {

using testing::HasSubstr;

OptionValues with(std::initializer_list<std::pair<std::string_view, std::int64_t>> values) {
  OptionValues all;
  for (const auto& [key, value] : values) all.set(key, value);
  return all;
}
std::string wrong(const OptionValues& values, bool domains = false) {
  std::vector<DomainNodes> all;
  if (domains) all.push_back({{{1}, {2}}, {}});
  const auto checked = kDescriptor.validate(values, all);
  return checked ? std::string() : checked.error();
}

constexpr std::string_view kEnsembles = "ridge.ensembles", kMerge = "ridge.merge",
                           kOptimistic = "ridge.optimistic", kStorage = "paxos.storage";

TEST(RidgeDescriptor, EachOptionGoesByItself) {
  EXPECT_EQ(wrong({}), "");
  EXPECT_EQ(wrong({}, true), "");
  EXPECT_EQ(wrong(with({{kEnsembles, 3}})), "");
  EXPECT_EQ(wrong(with({{kEnsembles, 2}, {kMerge, 1}})), "");
  EXPECT_EQ(wrong(with({{kOptimistic, 1}})), "");
  EXPECT_EQ(wrong(with({{kStorage, 1}})), "");
  EXPECT_EQ(wrong(with({{kStorage, 1}, {kOptimistic, 1}})), "");
}

TEST(RidgeDescriptor, TwoOptionsThatDoNotGoTogetherAreBothNamed) {
  EXPECT_EQ(wrong(with({{kMerge, 1}})),
            "ridge.merge = \"rotation\" does not go with ridge.ensembles = 1: leave it out, or set "
            "ridge.ensembles = 2 or more");
  EXPECT_EQ(wrong(with({{kEnsembles, 2}, {kOptimistic, 1}})),
            "ridge.optimistic = true does not go with ridge.ensembles = 2: leave one of the two "
            "out");
  EXPECT_EQ(wrong(with({{kEnsembles, 2}, {kStorage, 1}})),
            "paxos.storage = \"memory\" does not go with ridge.ensembles = 2: leave one of the two "
            "out");
  EXPECT_THAT(wrong(with({{kEnsembles, 2}}), true),
              HasSubstr("[[domain]] does not go with ridge.ensembles = 2"));
  EXPECT_THAT(wrong(with({{kOptimistic, 1}}), true),
              HasSubstr("[[domain]] does not go with ridge.optimistic = true"));
  EXPECT_THAT(wrong(with({{kStorage, 1}}), true),
              HasSubstr("[[domain]] does not go with paxos.storage = \"memory\""));
}

TEST(RidgeDescriptor, ANodeProvidesWhatTheOptionsNeed) {
  const Needs usual = kDescriptor.needs({}, 3);
  EXPECT_EQ(usual.ensembles, 1U);
  EXPECT_TRUE(usual.log);
  EXPECT_FALSE(usual.optimistic);
  EXPECT_EQ(kDescriptor.needs(with({{kEnsembles, 4}}), 3).ensembles, 4U);
  EXPECT_TRUE(kDescriptor.needs(with({{kOptimistic, 1}}), 3).optimistic);
  EXPECT_TRUE(kDescriptor.needs(with({{"paxos.optimistic", 1}}), 3).optimistic);
  EXPECT_FALSE(kDescriptor.needs(with({{kStorage, 1}}), 3).log);
}

TEST(RidgeDescriptor, ADomainsPartOfAListIsThatOfItsNodes) {
  const NodeList part = kDescriptor.part_of({{{2}, {3}, {5}}, {{3}}}, {8, {{1}, {2}, {3}}, {{1}}});
  EXPECT_EQ(part.hash, 8U);
  EXPECT_EQ(part.nodes, (std::vector<NodeId>{{2}, {3}}));
  EXPECT_EQ(part.acceptors, (std::vector<NodeId>{{3}}));
}

TEST(RidgeDescriptor, ItsOptionsAreItsOwnAndThoseOfPaxosForTests) {
  std::size_t own = 0;
  for (const Option& option : kDescriptor.options()) {
    if (option.table() != "ridge") continue;
    ++own;
    EXPECT_FALSE(option.internal) << option.key;
  }
  EXPECT_EQ(own, 4U);
}

}  // namespace
}  // namespace peal::order::ridge
