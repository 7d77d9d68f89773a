// SPDX-License-Identifier: Apache-2.0
#include "order/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "trace/event.h"

namespace peal::order {
namespace {

TEST(Registry, EachEngineHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Descriptor* each : engines()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_EQ(find_engine(each->name), each);
    EXPECT_THAT(engine_names(), testing::HasSubstr('"' + std::string(each->name) + '"'));
    EXPECT_LE(each->name.size(), trace::kEngineNameMax);
    EXPECT_FALSE(each->summary.empty()) << each->name;
    EXPECT_FALSE(each->summary.ends_with('.')) << each->name;
  }
  EXPECT_EQ(find_engine(""), nullptr);
  EXPECT_EQ(find_engine("rin"), nullptr);
}

TEST(Registry, TracesWithoutANameAreOfTheDefault) {
  EXPECT_EQ(default_engine().name, trace::kUnnamedEngine);
}

}  // namespace
}  // namespace peal::order
