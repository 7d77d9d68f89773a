// SPDX-License-Identifier: Apache-2.0
// The descriptor of the ring: its properties before an engine exists, and the engines that it
// makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "order/ring/descriptor.h"
#include "ring_bench.h"
#include "wire/packet.h"

namespace peal::order::test {
namespace {

using Plan = order::Setup;  // in a fixture, testing::Test::Setup hides this name

class RingDescriptor : public RingBench {
 protected:
  static Plan plan() {
    Plan setup;
    setup.self = kB;
    setup.list = {31, {{1}, {2}, {3}}, {}};
    setup.cluster = 4'711;
    setup.packet_bytes_max = 1'400;
    return setup;
  }
  /// The first packet that an engine with this setup sends.
  std::vector<std::byte> first_packet(const Plan& setup) {
    sent_.clear();
    engine_ = ring::kDescriptor.make(setup, pool_, *this);
    engine_->start(now_, *this);
    run(milliseconds(50));
    EXPECT_FALSE(sent_.empty());
    return sent_.empty() ? std::vector<std::byte>{} : sent_.front().bytes;
  }
};

TEST_F(RingDescriptor, AnEngineIsWhatItIsSetUpAs) {
  const auto packet = first_packet(plan());
  wire::Header header;
  ASSERT_EQ(wire::decode_header(packet, header), Drop::none);
  EXPECT_EQ(engine_->self(), kB);
  EXPECT_EQ(header.sender, kB);
  EXPECT_EQ(header.cluster, 4'711U);
  EXPECT_EQ(header.checksum, wire::Checksum::present);
  wire::Join join;
  ASSERT_EQ(header.kind, Kind::join);
  ASSERT_EQ(wire::decode_join(packet, join), Drop::none);
  EXPECT_EQ(join.list, 31U);
}

TEST_F(RingDescriptor, PacketsThatAreAuthenticatedBelowCarryNoChecksum) {
  Plan sealed = plan();
  sealed.authenticated = true;
  EXPECT_NE(first_packet(sealed), first_packet(plan()));
}

TEST_F(RingDescriptor, ANodeProvidesWhatTheOptionsNeed) {
  const Needs usual = ring::kDescriptor.needs({}, 3);
  EXPECT_FALSE(usual.one_node_at_a_time);
  EXPECT_EQ(usual.max_gap, ring::Options{}.max_gap);
  EXPECT_EQ(usual.slower, 1.0);
  OptionValues values;
  values.set("primary", 1);
  EXPECT_TRUE(ring::kDescriptor.needs(values, 3).one_node_at_a_time)
      << "two lists that differ by more may each have a majority";
}

TEST_F(RingDescriptor, OptionsThatDoNotGoTogetherAreNamed) {
  EXPECT_TRUE(ring::kDescriptor.validate({}, {}));
  OptionValues values;
  values.set("ring.damping_max_ms", 1'000'000);
  values.set("ring.damping_ms", 2'000'000);
  const auto checked = ring::kDescriptor.validate(values, {});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error(), testing::StartsWith("ring."));
}

}  // namespace
}  // namespace peal::order::test
