// SPDX-License-Identifier: Apache-2.0
// The choice of the node that sends decided values to the other nodes.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "order/ridge/distributors.h"

namespace peal::order::ridge::test {
namespace {

constexpr NodeId kA{3}, kB{4}, kC{7};

TEST(RidgeDistributors, TakeTurnsIfValuesAreEquallyLong) {
  Distributors distributors;
  std::vector<NodeId> chosen;
  for (int i = 0; i < 6; ++i) chosen.push_back(distributors.choose({kA, kB, kC}, 1'000));
  EXPECT_EQ(chosen, (std::vector<NodeId>{kA, kB, kC, kA, kB, kC}));
}

TEST(RidgeDistributors, ShareBytesAndNotValues) {
  Distributors distributors;
  std::map<NodeId, std::uint64_t> sent;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const std::uint64_t bytes = i % 7 == 0 ? 60'000 : 300 + i % 100;
    sent[distributors.choose({kA, kB, kC}, bytes)] += bytes;
  }
  const auto [least, most] = std::minmax({sent[kA], sent[kB], sent[kC]});
  EXPECT_LE(most - least, 60'400U) << "one value more than the others";
}

TEST(RidgeDistributors, WhoComesBackHasNothingToCatchUpOn) {
  Distributors distributors;
  for (int i = 0; i < 100; ++i) distributors.choose({kA, kB}, 1'000);
  std::map<NodeId, int> chosen;
  for (int i = 0; i < 30; ++i) ++chosen[distributors.choose({kA, kB, kC}, 1'000)];
  EXPECT_LE(chosen[kC], 11);
  EXPECT_GE(chosen[kC], 9);
}

TEST(RidgeDistributors, WhoHasTheValueGoesFirstButNotFarAheadOfTheOthers) {
  Distributors distributors;
  const std::vector<NodeId> all{kA, kB, kC};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(distributors.choose(all, 1'000, kB), kB) << i;
  EXPECT_EQ(distributors.choose(all, 1'000, kB), kA) << "it would be nine ahead";
  EXPECT_EQ(distributors.choose(all, 1'000, kB), kC);
  EXPECT_EQ(distributors.choose(all, 1'000, kB), kB) << "the others have caught up by one";
  EXPECT_EQ(distributors.choose(all, 1'000, kA), kA);
}

TEST(RidgeDistributors, IfAllSendAsMuchEachDistributesItsOwn) {
  Distributors distributors;
  int own = 0;
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    const NodeId sender = std::vector<NodeId>{kA, kB, kC}[i * 7 % 3];
    own += distributors.choose({kA, kB, kC}, 1'000, sender) == sender ? 1 : 0;
  }
  EXPECT_EQ(own, 3'000);
}

TEST(RidgeDistributors, WhoIsNotAbleIsNotChosenAlthoughItHasTheValue) {
  Distributors distributors;
  EXPECT_EQ(distributors.choose({kA, kC}, 1'000, kB), kA);
  EXPECT_EQ(distributors.choose({kA, kC}, 1'000, {}), kC);
}

TEST(RidgeDistributors, OnlyWhoIsAbleIsChosen) {
  Distributors distributors;
  EXPECT_EQ(distributors.choose({kC}, 1), kC);
  EXPECT_EQ(distributors.choose({kC}, 1), kC);
  EXPECT_EQ(distributors.choose({kB}, 1), kB);
}

}  // namespace
}  // namespace peal::order::ridge::test
