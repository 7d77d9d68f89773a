// SPDX-License-Identifier: Apache-2.0
#include "trace/names.h"

#include <gtest/gtest.h>

namespace peal::trace {
namespace {

TEST(Names, GivesFreshIdsInOrder) {
  Names names;
  EXPECT_EQ(names.intern("a"), NodeId{1});
  EXPECT_EQ(names.intern("b"), NodeId{2});
  EXPECT_EQ(names.intern("a"), NodeId{1});
  EXPECT_EQ(names.name(NodeId{2}), "b");
}

TEST(Names, GivesIdsAboveThoseThatAreSet) {
  Names names;
  EXPECT_TRUE(names.set(NodeId{7}, "seven"));
  EXPECT_EQ(names.intern("next"), NodeId{8});
  EXPECT_EQ(names.intern("seven"), NodeId{7});
}

TEST(Names, RefusesASecondNodeOfOneName) {
  Names names;
  EXPECT_TRUE(names.set(NodeId{1}, "a"));
  EXPECT_TRUE(names.set(NodeId{1}, "a"));
  EXPECT_FALSE(names.set(NodeId{2}, "a"));
}

TEST(Names, LetsANodeChangeItsName) {
  Names names;
  EXPECT_TRUE(names.set(NodeId{1}, "old"));
  EXPECT_TRUE(names.set(NodeId{1}, "new"));
  EXPECT_EQ(names.name(NodeId{1}), "new");
  EXPECT_EQ(names.intern("old"), NodeId{2});
}

TEST(Names, WritesNodesWithoutNamesAsNumbers) {
  Names names;
  EXPECT_EQ(names.name(NodeId{12}), "#12");
  EXPECT_EQ(names.intern("#12"), NodeId{12});
  EXPECT_EQ(names.name(NodeId{12}), "#12");
  EXPECT_EQ(names.intern("a"), NodeId{13});
}

TEST(Names, KeepsANumberApartFromANameThatHasIt) {
  Names names;
  EXPECT_EQ(names.intern("a"), NodeId{1});
  const NodeId other = names.intern("#1");
  EXPECT_EQ(other, NodeId{2});
  EXPECT_EQ(names.name(other), "#1");
  EXPECT_EQ(names.intern("#1"), other);
}

TEST(Names, AcceptsHostNames) {
  for (const char* good : {"a", "node-3", "rack_1.example.org", "10.0.0.1", "A9"}) {
    EXPECT_TRUE(Names::valid(good)) << good;
    EXPECT_NE(Names().intern(good), NodeId{}) << good;
  }
}

TEST(Names, RefusesWhatWouldNotReadBack) {
  const std::string too_long(256, 'x');
  for (const char* bad : {"", "a b", "a:1", "a@b", "a>b", "a\"", "a\\", "\xc3\xa4", "#", "#x", "#0",
                          "#-1", "#65536", "#99999999999", too_long.c_str()}) {
    EXPECT_FALSE(Names::valid(bad)) << bad;
    EXPECT_EQ(Names().intern(bad), NodeId{}) << bad;
    EXPECT_FALSE(Names().set(NodeId{1}, bad)) << bad;
  }
}

TEST(Names, RunsOutOfIds) {
  Names names;
  EXPECT_TRUE(names.set(NodeId{65'534}, "a"));
  EXPECT_EQ(names.intern("b"), NodeId{65'535});
  EXPECT_EQ(names.intern("c"), NodeId{});
  EXPECT_EQ(names.intern("b"), NodeId{65'535});
}

}  // namespace
}  // namespace peal::trace
