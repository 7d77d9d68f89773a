// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/netmodel/model.h"

namespace peal::sim {
namespace {

NetModelOptions gigabit() {
  NetModelOptions options;
  options.megabits = 1'000;
  return options;
}

NetModel model_of(const NetModelOptions& options) { return NetModel(options, 4, 1); }

std::uint32_t total(const Frames& frames) {
  return (frames.count - 1) * frames.full_bytes + frames.last_bytes;
}

TEST(Frames, AddSixtySixBytesToADatagram) {
  const NetModel model = model_of(gigabit());
  const Frames frames = model.frames_of(1'000);
  EXPECT_EQ(frames.count, 1U);
  EXPECT_EQ(frames.bytes_of(0), 1'066U);
}

TEST(Frames, HaveALeastLength) { EXPECT_EQ(total(model_of(gigabit()).frames_of(1)), 84U); }

TEST(Frames, AreOneUpToTheMtu) {
  const NetModel model = model_of(gigabit());
  EXPECT_EQ(model.frames_of(1'472).count, 1U);
  EXPECT_EQ(total(model.frames_of(1'472)), 1'538U);
  EXPECT_EQ(model.frames_of(1'473).count, 2U);
}

TEST(Frames, AreSevenForADatagramOfThePapers) {
  const Frames frames = model_of(gigabit()).frames_of(9'000);
  EXPECT_EQ(frames.count, 7U);
  EXPECT_EQ(frames.bytes_of(0), 1'538U);
  // One UDP header in total. Each of the seven frames has an IP header and the overhead of
  // Ethernet.
  EXPECT_EQ(total(frames), 9'008U + 7 * (20 + 38));
}

TEST(Wire, TakesLongerForMoreBytesAndLessBandwidth) {
  EXPECT_EQ(model_of(gigabit()).on_wire(1'538).ns, 12'304);
  NetModelOptions faster;
  faster.megabits = 100'000;
  EXPECT_EQ(model_of(faster).on_wire(1'538).ns, 123);
}

TEST(Card, SendsOneDatagramAfterTheOther) {
  NetModel model = model_of(gigabit());
  const Frames frames = model.frames_of(1'472);
  const Instant ready{1'000};
  EXPECT_EQ(model.depart(NodeId{1}, ready, frames).ns, 1'000 + 12'304);
  EXPECT_EQ(model.depart(NodeId{1}, ready, frames).ns, 1'000 + 2 * 12'304);
  EXPECT_EQ(model.depart(NodeId{2}, ready, frames).ns, 1'000 + 12'304) << "a card of its own";
}

TEST(Card, IsBusyUntilTheLastFrameOfADatagram) {
  NetModel model = model_of(gigabit());
  const Frames large = model.frames_of(9'000);
  EXPECT_EQ(model.depart(NodeId{1}, Instant{}, large).ns, 12'304);
  const Frames small = model.frames_of(1'000);
  EXPECT_EQ(model.depart(NodeId{1}, Instant{}, small).ns,
            model.on_wire(total(large)).ns + model.on_wire(1'066).ns);
}

TEST(Port, SendsOneFrameAfterTheOther) {
  NetModel model = model_of(gigabit());
  EXPECT_EQ(model.forward(NodeId{1}, Instant{500}, 1'538)->ns, 500 + 12'304);
  EXPECT_EQ(model.forward(NodeId{1}, Instant{500}, 1'538)->ns, 500 + 2 * 12'304);
  EXPECT_EQ(model.forward(NodeId{2}, Instant{500}, 1'538)->ns, 500 + 12'304) << "another port";
  EXPECT_EQ(model.port_busy_most().ns, 2 * 12'304);
}

TEST(Port, DropsWhatItsBufferCannotHoldAndTakesMoreLater) {
  NetModelOptions options = gigabit();
  options.port_buffer_bytes = 3 * 1'538;
  NetModel model = model_of(options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(model.forward(NodeId{1}, Instant{}, 1'538)) << i;
  EXPECT_FALSE(model.forward(NodeId{1}, Instant{}, 1'538));
  EXPECT_TRUE(model.forward(NodeId{2}, Instant{}, 1'538)) << "each port has its own buffer";
  EXPECT_EQ(model.dropped_frames(), 1U);
  EXPECT_EQ(model.queue_bytes_most(), 3U * 1'538);
  EXPECT_TRUE(model.forward(NodeId{1}, Instant{12'304}, 1'538)) << "one has left";
}

TEST(Card, InterruptsOnceForWhatComesTogether) {
  NetModelOptions options = gigabit();
  options.latency = microseconds(7);
  options.coalesce = microseconds(20);
  NetModel model = model_of(options);
  const NodeId node{1};
  EXPECT_EQ(model.arrive(node, Instant{1'000}).ns, 28'000);
  EXPECT_EQ(model.arrive(node, Instant{20'000}).ns, 28'000);
  EXPECT_EQ(model.arrive(NodeId{2}, Instant{20'000}).ns, 47'000) << "another card";
  EXPECT_EQ(model.arrive(node, Instant{22'000}).ns, 49'000);
}

NetModelOptions bus() {
  NetModelOptions options;
  options.megabits = 10;
  options.bus_message = microseconds(850);
  options.latency = microseconds(2'500);
  return options;
}

TEST(Bus, CarriesOneDatagramAtATimeWhoeverSendsIt) {
  NetModel model = model_of(bus());
  EXPECT_TRUE(model.has_bus());
  EXPECT_FALSE(model_of(gigabit()).has_bus());
  const Frames frames = model.frames_of(1'100);
  EXPECT_EQ(model.carry(Instant{1'000}, frames, true).ns, 851'000);
  EXPECT_EQ(model.carry(Instant{1'000}, frames, true).ns, 1'701'000);
  EXPECT_EQ(model.carry(Instant{5'000'000}, frames, true).ns, 5'850'000);
  EXPECT_EQ(model.port_busy_most().ns, 3 * 850'000);
}

TEST(Bus, TakesTheTimeOfTheBytesForPacketsWithoutMessages) {
  NetModel model = model_of(bus());
  EXPECT_EQ(model.carry(Instant{}, model.frames_of(184), false).ns, 250 * 800);
  const Frames large = model.frames_of(9'000);
  const std::int64_t before = model.carry(Instant{}, model.frames_of(184), false).ns;
  EXPECT_EQ(model.carry(Instant{}, large, false).ns, before + total(large) * std::int64_t{800});
}

TEST(Bus, ReachesEachNodeAfterADelayOfItsOwn) {
  NetModelOptions options = bus();
  options.jitter = milliseconds(1);
  NetModel model = model_of(options);
  std::int64_t least = milliseconds(100).ns, most = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    const Instant passed{i * 850'000};
    const std::int64_t one = (model.arrive(NodeId{1}, passed) - passed).ns;
    const std::int64_t other = (model.arrive(NodeId{2}, passed) - passed).ns;
    EXPECT_NE(one, other);
    least = std::min({least, one, other});
    most = std::max({most, one, other});
  }
  EXPECT_GE(least, 1'500'000);
  EXPECT_LT(least, 1'510'000);
  EXPECT_LE(most, 3'500'000);
  EXPECT_GT(most, 3'490'000);
}

TEST(Bus, HasNoDelayThatIsNegative) {
  NetModelOptions options = bus();
  options.jitter = milliseconds(1);
  options.latency = microseconds(100);
  NetModel model = model_of(options);
  for (std::int64_t i = 0; i < 1'000; ++i) {
    EXPECT_GE(model.arrive(NodeId{1}, Instant{i * 850'000}).ns, i * 850'000);
  }
}

TEST(WorkCost, GrowsWithFramesAndBytes) {
  const WorkCost cost{nanoseconds(2'000), nanoseconds(500), 250};
  EXPECT_EQ(cost.of(1'000, 1).ns, 2'000 + 250);
  EXPECT_EQ(cost.of(8'000, 6).ns, 2'000 + 5 * 500 + 2'000);
  EXPECT_EQ(WorkCost{}.of(8'000, 6).ns, 0);
}

TEST(Flights, UseTheirSlotsAgain) {
  NetModel model = model_of(gigabit());
  Flight flight;
  flight.packet = 7;
  const std::uint32_t first = model.keep(flight);
  model.flight(first).lost[3] = true;
  model.forget(first);
  flight.packet = 8;
  const std::uint32_t second = model.keep(flight);
  EXPECT_EQ(second, first);
  EXPECT_EQ(model.flight(second).packet, 8U);
  EXPECT_TRUE(model.flight(second).lost.none());
}

}  // namespace
}  // namespace peal::sim
