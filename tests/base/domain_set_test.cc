// SPDX-License-Identifier: Apache-2.0
#include "base/domain_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace peal {
namespace {

std::vector<int> domains_in(DomainSet set) {
  std::vector<int> domains;
  for (const DomainId domain : set) domains.push_back(domain);
  return domains;
}

TEST(DomainSet, OfNoDomainMeansAllNodes) {
  EXPECT_TRUE(DomainSet().empty());
  EXPECT_EQ(DomainSet::of(0), DomainSet());
  EXPECT_EQ(DomainSet().first(), 0);
  EXPECT_FALSE(DomainSet().has(0));
  EXPECT_TRUE(domains_in(DomainSet()).empty());
}

TEST(DomainSet, ListsItsDomainsInAscendingOrder) {
  DomainSet set = DomainSet::of(15);
  set.add(3);
  set.add(1);
  set.add(3);
  EXPECT_EQ(domains_in(set), (std::vector<int>{1, 3, 15}));
  EXPECT_EQ(set.size(), 3U);
  EXPECT_EQ(set.first(), 1);
  EXPECT_TRUE(set.has(15));
  EXPECT_FALSE(set.has(2));
}

TEST(DomainSet, SurvivesItsBits) {
  for (std::uint32_t bits = 0; bits < 1U << 16; bits += 2) {
    const DomainSet set = DomainSet::of_bits(bits);
    ASSERT_EQ(set.bits(), bits);
    DomainSet again;
    for (const DomainId domain : set) again.add(domain);
    ASSERT_EQ(again, set);
  }
  EXPECT_EQ(DomainSet::of_bits(1), DomainSet()) << "bit 0 is no domain";
}

TEST(DomainSet, OfTheFirstDomains) {
  EXPECT_EQ(DomainSet::up_to(0), DomainSet());
  EXPECT_EQ(domains_in(DomainSet::up_to(3)), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(DomainSet::up_to(kDomainMax).size(), kDomainMax);
}

TEST(DomainSet, MeetsASetWithACommonDomain) {
  EXPECT_TRUE(DomainSet::up_to(2).meets(DomainSet::of(2)));
  EXPECT_FALSE(DomainSet::up_to(2).meets(DomainSet::of(3)));
  EXPECT_FALSE(DomainSet().meets(DomainSet()));
}

}  // namespace
}  // namespace peal
