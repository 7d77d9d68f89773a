// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "order/registry/inspection/inspections.h"
#include "order/registry/registry.h"

namespace peal::order {
namespace {

TEST(Inspections, AreOfEnginesAndHaveOneNameForEachKindOfPacket) {
  std::map<std::uint8_t, std::string_view> names;
  std::map<std::string_view, std::uint8_t> kinds;
  for (const Inspection* each : inspections()) {
    EXPECT_NE(find_engine(each->engine), nullptr) << each->engine;
    EXPECT_EQ(find_inspection(each->engine), each);
    for (const PacketName& packet : each->packets) {
      EXPECT_EQ(names.try_emplace(packet.kind, packet.name).first->second, packet.name);
      EXPECT_EQ(kinds.try_emplace(packet.name, packet.kind).first->second, packet.kind);
    }
  }
  EXPECT_EQ(find_inspection(""), nullptr);
}

TEST(Inspections, NameThePacketsThatCarryUnits) {
  for (const Descriptor* engine : engines()) {
    const Inspection* inspection = find_inspection(engine->name);
    ASSERT_NE(inspection, nullptr) << engine->name;
    std::set<std::string_view> with_units;
    for (const PacketName& packet : inspection->packets) {
      if (packet.carries_units) with_units.insert(packet.name);
    }
    EXPECT_TRUE(with_units.contains(engine->unit_packets)) << engine->name;
  }
}

}  // namespace
}  // namespace peal::order
