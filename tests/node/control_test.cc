// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fake_engine.h"

// Control messages: they are sent before all other messages, and block() delays the others.

namespace peal::node::test {
namespace {

constexpr std::uint32_t kUnit = 1'000;

std::uint64_t control(Bench& bench, std::string_view payload) {
  return bench.node->submit_control(as_bytes_view(payload), Service::agreed).value();
}

std::vector<std::string> payloads(const Bench& bench) {
  std::vector<std::string> all;
  for (const auto& got : bench.sink.got) all.push_back(got.payload);
  return all;
}

TEST(Control, GoesBeforeWhatWasSubmittedEarlier) {
  Bench sender(1), receiver(2);
  sender.submit("a");
  sender.submit("b");
  EXPECT_EQ(control(sender, "first"), kControlNumber | 1);
  EXPECT_EQ(control(sender, "second"), kControlNumber | 2);
  EXPECT_EQ(sender.submit("c"), 3U);
  EXPECT_EQ(sender.node->queued_messages(), 5U);
  EXPECT_EQ(sender.node->queued_bytes(), 14U);
  EXPECT_EQ(sender.order_all(kUnit, {&receiver}), 2U) << "control and others share no unit";
  EXPECT_EQ(payloads(receiver), (std::vector<std::string>{"first", "second", "a", "b", "c"}));
  EXPECT_TRUE(is_control(receiver.sink.got[0].number));
  EXPECT_FALSE(is_control(receiver.sink.got[2].number));
  EXPECT_EQ(receiver.sink.got[2].number, 1U);
  EXPECT_EQ(sender.sink.placed[1].number, kControlNumber | 2);
  EXPECT_EQ(sender.node->released(), 3U);
  EXPECT_EQ(sender.node->queued_messages(), 0U);
}

TEST(Control, CutsIntoALargeMessageThatBeginsAgain) {
  for (const std::size_t size : {5U, 4'000U}) {
    Bench sender(1), receiver(2);
    const std::string large = pattern(5'000, 1);
    const std::string tables = pattern(size, 2);
    sender.submit(large);
    for (int i = 0; i < 3; ++i) receiver.engine->effects->deliver(*sender.order_one(kUnit));
    control(sender, tables);
    sender.order_all(kUnit, {&receiver});
    EXPECT_EQ(payloads(receiver), (std::vector<std::string>{tables, large}));
    EXPECT_EQ(receiver.node->reassembly_bytes(), 0U);
  }
}

TEST(Control, OthersAreHeldBackWhileBlocked) {
  Bench sender(1), receiver(2);
  sender.submit("a");
  sender.node->block(true);
  EXPECT_EQ(sender.engine->host->backlog_units(), 0U);
  EXPECT_FALSE(sender.order_one(kUnit));
  sender.submit("b");
  control(sender, "tables");
  EXPECT_EQ(sender.engine->host->backlog_units(), 1U);
  EXPECT_EQ(sender.order_all(kUnit, {&receiver}), 1U);
  EXPECT_EQ(payloads(receiver), std::vector<std::string>{"tables"});
  EXPECT_EQ(sender.node->queued_messages(), 2U);
  EXPECT_EQ(sender.node->released(), 0U);
  sender.node->block(false);
  EXPECT_EQ(sender.engine->host->backlog_units(), 1U);
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), (std::vector<std::string>{"tables", "a", "b"}));
}

TEST(Control, BlockedInTheMiddleALargeMessageArrivesOnceAndWhole) {
  Bench sender(1), receiver(2);
  const std::string large = pattern(5'000, 1);
  sender.submit(large);
  receiver.engine->effects->deliver(*sender.order_one(kUnit));
  receiver.engine->effects->deliver(*sender.order_one(kUnit));
  sender.node->block(true);
  EXPECT_FALSE(sender.order_one(kUnit));
  sender.node->block(false);
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), std::vector<std::string>{large});
}

TEST(Control, BeginsAgainInTheNextViewLikeOthers) {
  Bench sender(1), receiver(2);
  const std::string tables = pattern(3'000, 1);
  sender.node->block(true);
  sender.submit("a");
  control(sender, tables);
  receiver.engine->effects->deliver(*sender.order_one(kUnit));
  for (Bench* each : {&sender, &receiver}) each->install(1);
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), std::vector<std::string>{tables});
}

TEST(Control, WhatIsOutdatedIsForgottenEvenInTheMiddle) {
  Bench sender(1), receiver(2);
  const std::string outdated = pattern(3'000, 1);
  sender.submit("a");
  control(sender, outdated);
  control(sender, "outdated too");
  receiver.engine->effects->deliver(*sender.order_one(kUnit));
  sender.node->drop_control();
  EXPECT_EQ(sender.node->queued_messages(), 1U);
  EXPECT_EQ(control(sender, "new"), kControlNumber | 3);
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), (std::vector<std::string>{"new", "a"}));
  EXPECT_EQ(receiver.node->reassembly_bytes(), 0U);
  sender.node->drop_control();
  sender.submit("b");
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(receiver.sink.got.back().payload, "b");
}

/// With genuine multicast, units stay where they are when a view comes. Only control messages may
/// be longer than a unit, and they go to the domains that they are for.
TEST(Control, APartThatIsInAUnitStaysThere) {
  Limits limits;
  limits.units_stay = true;
  limits.message_bytes_max = 500;
  limits.control_bytes_max = 5'000;
  Bench sender(1, limits), receiver(2, limits);
  const auto submit = [&sender](const std::string& payload, order::Domain domain) {
    return sender.node->submit_control(as_bytes_view(payload), Service::agreed,
                                       DomainSet::of(domain));
  };
  const std::string outdated = pattern(3'000, 1), tables = pattern(4'000, 2);
  EXPECT_EQ(sender.node->submit({}, as_bytes_view(outdated), Service::agreed).error(),
            Errc::too_large);
  sender.submit("a");
  EXPECT_TRUE(submit(outdated, 2));
  EXPECT_EQ(sender.engine->host->next_domains(), DomainSet::of(2));
  EXPECT_TRUE(sender.pull(kUnit));
  EXPECT_TRUE(sender.pull(kUnit));
  sender.node->drop_control();
  EXPECT_EQ(sender.node->block(true), 0U);
  EXPECT_TRUE(submit(tables, 3));
  EXPECT_EQ(sender.engine->host->next_domains(), DomainSet::of(3));
  for (int i = 0; i < 2; ++i) receiver.engine->effects->deliver(sender.place());
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), std::vector<std::string>{tables});
  EXPECT_EQ(receiver.sink.got[0].domains, DomainSet::of(3));
  sender.node->block(false);
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), (std::vector<std::string>{tables, "a"}));
  EXPECT_EQ(sender.node->block(true), 1U) << "the engine has had the only message";
}

/// A table of a view that was soon replaced may still be under way, in units that stay.
TEST(Control, ANewOneWaitsWhileUnitsUnderWayLeaveNoSpace) {
  Limits limits;
  limits.units_stay = true;
  limits.message_bytes_max = 500;
  limits.control_bytes_max = 5'000;
  limits.submit_bytes_max = 8'000;
  Bench sender(1, limits), receiver(2, limits);
  const auto replace = [&sender](const std::string& payload) {
    return sender.node->replace_control(as_bytes_view(payload), Service::agreed);
  };
  const std::string first = pattern(4'500, 1), third = pattern(4'900, 3);
  EXPECT_TRUE(replace(first));
  std::size_t units = sender.pull_all(kUnit);
  EXPECT_TRUE(replace(pattern(4'800, 2)));
  EXPECT_TRUE(replace(third));
  EXPECT_FALSE(sender.pull(kUnit));
  while (units-- > 0) receiver.engine->effects->deliver(sender.place());
  EXPECT_EQ(payloads(receiver), std::vector<std::string>{first});
  sender.order_all(kUnit, {&receiver});
  EXPECT_EQ(payloads(receiver), (std::vector<std::string>{first, third}));
  // One that waits is dropped like others.
  EXPECT_TRUE(replace(first));
  units = sender.pull_all(kUnit);
  EXPECT_TRUE(replace(third));
  EXPECT_TRUE(replace(""));
  while (units-- > 0) receiver.engine->effects->deliver(sender.place());
  EXPECT_FALSE(sender.pull(kUnit));
  EXPECT_EQ(replace(pattern(5'001, 4)).error(), Errc::too_large);
}

/// flush() notifies the engine when the node has new units for it.
TEST(Control, TheEngineHearsOfWhatMayGoAtTheNextFlush) {
  Bench bench;
  bench.node->block(true);
  bench.submit("a");
  EXPECT_EQ(bench.engine->works, 0) << "nothing may go";
  control(bench, "tables");
  EXPECT_EQ(bench.engine->works, 0);
  bench.node->flush({});
  EXPECT_EQ(bench.engine->works, 1);
  bench.order_all(kUnit, {&bench});
  bench.node->flush({});
  EXPECT_EQ(bench.engine->works, 1);
  bench.node->block(false);
  bench.node->flush({});
  EXPECT_EQ(bench.engine->works, 2);
}

TEST(Control, HasABoundAndClosesWithItsNode) {
  Bench bench;
  const std::string small = "x";
  Result<std::uint64_t, Errc> last = 0;
  int taken = 0;
  while ((last = bench.node->submit_control(as_bytes_view(small), Service::agreed))) ++taken;
  EXPECT_EQ(last.error(), Errc::would_block);
  EXPECT_EQ(taken, 16);
  EXPECT_TRUE(bench.node->submit({}, as_bytes_view(small), Service::agreed));
  bench.node->leave({});
  EXPECT_EQ(bench.node->submit_control({}, Service::agreed).error(), Errc::closed);
}

/// Control messages and others arrive whole, once, and each kind in its order. While the node is
/// blocked, only control messages are ordered.
TEST(Control, AnyMixtureArrivesWhole) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    Bench sender(1), receiver(2);
    std::vector<std::string> sent[2], got[2];
    bool blocked = false;
    for (int step = 0; step < 60; ++step) {
      const std::string payload = pattern(
          static_cast<std::size_t>(random.below(random.chance(0.5) ? 50 : 3'000)), random.next());
      if (random.chance(0.4)) {
        sender.submit(payload, random.chance(0.3) ? Service::safe : Service::agreed);
        sent[0].push_back(payload);
      }
      if (random.chance(0.15) &&
          sender.node->submit_control(as_bytes_view(payload), Service::agreed)) {
        sent[1].push_back(payload);
      }
      if (random.chance(0.1)) sender.node->block(blocked = !blocked);
      if (random.chance(0.05)) {
        for (Bench* each : {&sender, &receiver})
          each->install(static_cast<std::uint64_t>(step) + 1);
      }
      const std::size_t before = receiver.sink.got.size();
      if (auto unit = sender.order_one(kUnit)) receiver.engine->effects->deliver(*unit);
      for (std::size_t i = before; i < receiver.sink.got.size(); ++i) {
        ASSERT_TRUE(!blocked || is_control(receiver.sink.got[i].number));
      }
      sender.node->check_invariants();
    }
    sender.node->block(false);
    sender.order_all(kUnit, {&receiver});
    for (const auto& each : receiver.sink.got) got[is_control(each.number)].push_back(each.payload);
    ASSERT_EQ(got[0], sent[0]);
    ASSERT_EQ(got[1], sent[1]);
    EXPECT_EQ(receiver.node->reassembly_bytes(), 0U);
  }
}

}  // namespace
}  // namespace peal::node::test
