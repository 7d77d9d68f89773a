// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fake_engine.h"

// The engine takes units from the node before it knows their places. Some units never get a place.

namespace peal::node::test {
namespace {

constexpr std::uint32_t kPlaceUnit = 600;
constexpr std::size_t kOneUnit = 500;  ///< bytes of a message that has a unit of its own

std::vector<std::uint64_t> numbers(const std::vector<Origination>& placed) {
  std::vector<std::uint64_t> all;
  for (const auto& each : placed) all.push_back(each.number);
  return all;
}

std::vector<std::string> texts(const Bench& bench) {
  std::vector<std::string> all;
  for (const auto& got : bench.sink.got) all.push_back(got.payload);
  return all;
}

void place_all(Bench& sender, Bench& receiver) {
  while (!sender.pulled.empty()) receiver.engine->effects->deliver(sender.place());
  sender.node->check_invariants();
}

std::uint64_t send_control(Bench& bench, std::string_view payload) {
  return bench.node->submit_control(as_bytes_view(payload), Service::agreed).value();
}

TEST(Placement, MessagesStayUntilTheirUnitHasItsPlace) {
  Bench sender(1), receiver(2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    sender.submit(pattern(kOneUnit, i), i == 1 ? Service::safe : Service::agreed);
  }
  EXPECT_EQ(sender.pull_all(kPlaceUnit), 3U);
  sender.node->check_invariants();
  EXPECT_EQ(sender.node->queued_messages(), 3U);
  EXPECT_EQ(sender.node->queued_bytes(), 3 * kOneUnit);
  EXPECT_EQ(sender.node->released(), 0U);
  EXPECT_EQ(sender.engine->host->backlog_units(), 0U);
  EXPECT_TRUE(sender.sink.placed.empty());
  for (std::uint64_t i = 1; i <= 3; ++i) {
    receiver.engine->effects->deliver(sender.place());
    EXPECT_EQ(sender.node->released(), i);
    EXPECT_EQ(sender.node->queued_bytes(), (3 - i) * kOneUnit);
    ASSERT_EQ(sender.sink.placed.size(), i);
    EXPECT_EQ(sender.sink.placed.back().number, i);
    EXPECT_EQ(sender.sink.placed.back().seq, i);
    EXPECT_EQ(sender.sink.placed.back().service, i == 2 ? Service::safe : Service::agreed);
    EXPECT_EQ(receiver.sink.got.back().payload, pattern(kOneUnit, i - 1));
  }
  EXPECT_EQ(sender.sink.originated_digests, receiver.sink.delivered_digests);
}

TEST(Placement, UnitsOfOthersAreDeliveredMeanwhile) {
  Bench bench(1), other(2);
  bench.submit("mine");
  EXPECT_TRUE(bench.pull(kPlaceUnit));
  other.submit("theirs");
  bench.engine->effects->deliver(*other.order_one(kPlaceUnit));
  place_all(bench, bench);
  EXPECT_EQ(texts(bench), (std::vector<std::string>{"theirs", "mine"}));
}

TEST(Placement, AViewTakesBackWhatHasNoPlace) {
  Bench sender(1), receiver(2);
  for (std::uint64_t i = 0; i < 4; ++i) sender.submit(pattern(kOneUnit, i));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sender.pull(kPlaceUnit));
  receiver.engine->effects->deliver(sender.place());
  sender.install(1, true);
  EXPECT_EQ(sender.engine->host->backlog_units(), 1U) << "a transitional view takes nothing back";
  receiver.engine->effects->deliver(sender.place());
  sender.install(1);
  receiver.install(1);
  sender.node->check_invariants();
  EXPECT_EQ(sender.node->queued_messages(), 2U);
  EXPECT_GE(sender.engine->host->backlog_units(), 2U);
  sender.pull_all(kPlaceUnit);
  place_all(sender, receiver);
  ASSERT_EQ(receiver.sink.got.size(), 4U);
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(receiver.sink.got[i].payload, pattern(kOneUnit, i));
    EXPECT_EQ(receiver.sink.got[i].number, i + 1);
  }
  EXPECT_EQ(numbers(sender.sink.placed), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(sender.sink.placed[1].view.number, 0U);
  EXPECT_EQ(sender.sink.placed[2].view.number, 1U);
  EXPECT_EQ(sender.sink.placed[2].seq, 1U);
  EXPECT_EQ(sender.counter("node_restarted_messages"), 0U);
}

/// The first units of a large message get places. Its last units get none, because the view ends.
TEST(Placement, AMessagePlacedInPartBeginsAgain) {
  for (const bool all_pulled : {true, false}) {
    Bench sender(1), old_member(2), joiner(3);
    const std::string large = pattern(3'000, 1);
    sender.submit(large);
    sender.submit("after");
    if (all_pulled) {
      EXPECT_EQ(sender.pull_all(kPlaceUnit), 6U);
    } else {
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(sender.pull(kPlaceUnit));
    }
    for (int i = 0; i < 2; ++i) old_member.engine->effects->deliver(sender.place());
    EXPECT_EQ(sender.node->queued_messages(), 2U);
    for (Bench* each : {&sender, &old_member, &joiner}) each->install(1);
    sender.node->check_invariants();
    EXPECT_EQ(sender.counter("node_restarted_messages"), 1U);
    EXPECT_EQ(sender.order_all(kPlaceUnit, {&old_member, &joiner}), 6U);
    EXPECT_EQ(texts(joiner), (std::vector<std::string>{large, "after"}));
    EXPECT_EQ(texts(old_member), texts(joiner));
    EXPECT_EQ(numbers(sender.sink.placed), (std::vector<std::uint64_t>{1, 2}));
  }
}

TEST(Placement, AMessageOfWhichNothingWasPlacedBeginsAtItsBeginning) {
  Bench sender(1), receiver(2);
  const std::string large = pattern(3'000, 1);
  sender.submit("before");
  sender.submit(large);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sender.pull(kPlaceUnit));
  for (Bench* each : {&sender, &receiver}) each->install(1);
  EXPECT_EQ(sender.counter("node_restarted_messages"), 0U);
  sender.order_all(kPlaceUnit, {&receiver});
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{"before", large}));
}

TEST(Placement, MemoryIsGivenBackByPlacesOnly) {
  Limits limits;
  limits.submit_bytes_max = 1'000;
  limits.submit_small_bytes_max = 4'096;
  const std::string tenth = pattern(100, 1);
  for (const std::size_t size : {10U, 500U}) {  // too many messages; too many bytes
    limits.submit_messages_max = size == 10 ? 2 : 100;
    Bench bench(1, limits);
    bench.submit(pattern(size, 2));
    bench.submit(pattern(size, 3));
    const auto full = [&] {
      return bench.node->submit({}, as_bytes_view(tenth), Service::agreed) ==
             Result<std::uint64_t, Errc>(unexpected(Errc::would_block));
    };
    EXPECT_TRUE(full());
    EXPECT_GE(bench.pull_all(kPlaceUnit), 1U);
    EXPECT_TRUE(full());
    bench.install(1);
    EXPECT_TRUE(full());
    bench.pull_all(kPlaceUnit);
    bench.engine->effects->deliver(bench.place());
    EXPECT_FALSE(full());
  }
}

TEST(Placement, NoByteIsOverwrittenBeforeItsPlace) {
  Limits limits;
  limits.submit_small_bytes_max = 4'096;
  Bench sender(1, limits), receiver(2);
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    while (sender.node->submit({}, as_bytes_view(pattern(250, sent)), Service::agreed)) ++sent;
    sender.pull_all(kPlaceUnit);
    receiver.engine->effects->deliver(sender.place());
    while (sender.node->submit({}, as_bytes_view(pattern(250, sent)), Service::agreed)) ++sent;
    for (Bench* each : {&sender, &receiver}) each->install(static_cast<std::uint64_t>(round) + 1);
  }
  sender.order_all(kPlaceUnit, {&receiver});
  ASSERT_EQ(receiver.sink.got.size(), sent);
  EXPECT_GT(sent, 50U);
  for (std::uint64_t i = 0; i < sent; ++i) {
    ASSERT_EQ(receiver.sink.got[i].payload, pattern(250, i)) << i;
  }
}

TEST(Placement, LentBytesAndBlocksAreKeptForTheNextView) {
  Bench sender(1), receiver(2);
  const std::string lent = pattern(2'000, 1);
  const std::string given = pattern(100'000, 2);
  Gathered block{std::make_unique<std::byte[]>(given.size()),
                 static_cast<std::uint32_t>(given.size())};
  std::memcpy(block.bytes.get(), given.data(), given.size());
  EXPECT_TRUE(sender.node->submit_lent(as_bytes_view(lent), Service::agreed));
  EXPECT_TRUE(sender.node->submit_block(block, Service::agreed));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(sender.pull(kPlaceUnit));
  EXPECT_EQ(sender.node->released(), 0U) << "the lent bytes are in units, but may be needed again";
  EXPECT_EQ(sender.node->queued_bytes(), lent.size() + given.size());
  for (Bench* each : {&sender, &receiver}) each->install(1);
  EXPECT_EQ(sender.node->released(), 0U);
  sender.order_all(kPlaceUnit, {&receiver});
  EXPECT_EQ(sender.node->released(), 2U);
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{lent, given}));
}

TEST(Placement, ControlMessagesGoFirstAgainInTheNextView) {
  Bench sender(1), receiver(2);
  sender.submit("a");
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  send_control(sender, "tables");
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  EXPECT_EQ(sender.node->queued_messages(), 2U);
  for (Bench* each : {&sender, &receiver}) each->install(1);
  sender.pull_all(kPlaceUnit);
  place_all(sender, receiver);
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{"tables", "a"}));
  EXPECT_EQ(numbers(sender.sink.placed), (std::vector<std::uint64_t>{kControlNumber | 1, 1}));
}

TEST(Placement, AControlMessageCutsIntoWhatIsPending) {
  Bench sender(1), receiver(2);
  const std::string large = pattern(3'000, 1);
  sender.submit(large);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sender.pull(kPlaceUnit));
  send_control(sender, "tables");
  sender.pull_all(kPlaceUnit);
  place_all(sender, receiver);
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{"tables", large}));
}

TEST(Placement, AForgottenControlMessageStillGetsThePlaceOfItsUnit) {
  Bench sender(1), receiver(2);
  sender.submit("a");
  send_control(sender, "in a unit");
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  send_control(sender, "in none");
  sender.node->drop_control();
  sender.node->check_invariants();
  EXPECT_EQ(send_control(sender, "new"), kControlNumber | 3);
  sender.pull_all(kPlaceUnit);
  place_all(sender, receiver);
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{"in a unit", "new", "a"}));
  EXPECT_EQ(numbers(sender.sink.placed),
            (std::vector<std::uint64_t>{kControlNumber | 1, kControlNumber | 3, 1}));
  EXPECT_EQ(sender.node->queued_messages(), 0U);
}

TEST(Placement, AForgottenControlMessageIsNotInTheNextView) {
  for (const bool large : {false, true}) {
    Bench sender(1), receiver(2);
    sender.submit("a");
    send_control(sender, large ? pattern(2'000, 1) : "in a unit");
    EXPECT_TRUE(sender.pull(kPlaceUnit));
    EXPECT_EQ(sender.pull(kPlaceUnit), true) << "the ordinary message, or the second part";
    send_control(sender, "in none");
    sender.node->drop_control();
    send_control(sender, "new");
    for (Bench* each : {&sender, &receiver}) each->install(1);
    sender.node->check_invariants();
    EXPECT_EQ(sender.node->queued_messages(), 2U);
    sender.order_all(kPlaceUnit, {&receiver});
    EXPECT_EQ(texts(receiver), (std::vector<std::string>{"new", "a"})) << large;
  }
}

TEST(Placement, WhatWasForgottenTellsTwoStatesApart) {
  Bench kept, dropped;
  for (Bench* each : {&kept, &dropped}) {
    send_control(*each, "tables");
    EXPECT_TRUE(each->pull(kPlaceUnit));
  }
  EXPECT_EQ(kept.node->digest(), dropped.node->digest());
  dropped.node->drop_control();
  EXPECT_NE(kept.node->digest(), dropped.node->digest());
}

TEST(Placement, BlockingLeavesPendingUnitsTheirPlace) {
  Bench sender(1), receiver(2);
  const std::string large = pattern(2'000, 1);
  sender.submit("a");
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  sender.submit(large);
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  sender.node->block(true);
  EXPECT_FALSE(sender.pull(kPlaceUnit));
  place_all(sender, receiver);
  EXPECT_EQ(texts(receiver), std::vector<std::string>{"a"});
  sender.node->block(false);
  sender.order_all(kPlaceUnit, {&receiver});
  EXPECT_EQ(texts(receiver), (std::vector<std::string>{"a", large}));
}

TEST(Placement, WhatIsTakenBackIsHeldBackWhileBlocked) {
  Bench sender(1), receiver(2);
  sender.submit("a");
  EXPECT_TRUE(sender.pull(kPlaceUnit));
  sender.node->block(true);
  for (Bench* each : {&sender, &receiver}) each->install(1);
  EXPECT_EQ(sender.engine->host->backlog_units(), 0U);
  EXPECT_FALSE(sender.pull(kPlaceUnit));
  sender.node->block(false);
  sender.node->flush({});
  EXPECT_EQ(sender.engine->works, 2) << "it could have none when it looked";
  sender.order_all(kPlaceUnit, {&receiver});
  EXPECT_EQ(texts(receiver), std::vector<std::string>{"a"});
}

/// Random messages arrive whole, once and in order, with any number of units at the engine. The
/// sender learns the same places as the receiver.
TEST(Placement, AnyMixtureArrivesOnceAndWhole) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Bench sender(1), receiver(2);
    std::vector<std::string> sent[2], got[2];
    for (std::uint64_t step = 1; step <= 80; ++step) {
      const std::string payload = pattern(random.below(random.chance(0.5) ? 50 : 3'000), step);
      if (random.chance(0.4)) {
        sender.submit(payload, random.chance(0.3) ? Service::safe : Service::agreed);
        sent[0].push_back(payload);
      } else if (random.chance(0.15) &&
                 sender.node->submit_control(as_bytes_view(payload), Service::agreed)) {
        sent[1].push_back(payload);
      }
      if (random.chance(0.1)) sender.node->block(random.chance(0.5));
      for (std::uint64_t i = random.below(4); i > 0; --i) sender.pull(kPlaceUnit);
      for (std::uint64_t i = random.below(4); i > 0 && !sender.pulled.empty(); --i) {
        receiver.engine->effects->deliver(sender.place());
      }
      if (random.chance(0.05)) {
        for (Bench* each : {&sender, &receiver}) each->install(step);
      }
      sender.node->check_invariants();
    }
    sender.node->block(false);
    place_all(sender, receiver);
    sender.order_all(kPlaceUnit, {&receiver});
    ASSERT_EQ(sender.sink.placed.size(), receiver.sink.got.size());
    for (std::size_t i = 0; i < receiver.sink.got.size(); ++i) {
      const Recorder::Got& each = receiver.sink.got[i];
      const Origination& placed = sender.sink.placed[i];
      got[is_control(each.number)].push_back(each.payload);
      ASSERT_EQ(std::tie(each.number, each.view, each.seq, each.index, each.service),
                std::tie(placed.number, placed.view, placed.seq, placed.index, placed.service));
    }
    ASSERT_EQ(got[0], sent[0]) << seed;
    ASSERT_EQ(got[1], sent[1]) << seed;
    EXPECT_EQ(sender.node->queued_messages(), 0U);
  }
}

}  // namespace
}  // namespace peal::node::test
