// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/drops.h"
#include "daemon/history.h"

namespace peal::daemon {
namespace {

const std::string kA = "a.7";
const std::string kB = "b.8";

ViewNotice regular(int number, std::vector<std::string> members) {
  ViewNotice view;
  view.id = std::to_string(number) + "@a.7";
  view.members = std::move(members);
  return view;
}

TEST(DeliveryHistory, CountsMessagesOfTheTransitionalViewToTheOldOne) {
  DeliveryHistory history;
  EXPECT_TRUE(history.views().empty());
  history.on_view({1}, regular(1, {kA, kB}));
  history.on_message(kB, 1, Seq{1}, 1);
  ViewNotice transitional = regular(2, {kA});
  transitional.transitional = true;
  history.on_view({2}, transitional);
  EXPECT_TRUE(history.transitional());
  history.on_message(kB, 2, Seq{2}, 2);
  history.on_view({5'000'002}, regular(2, {kA}));
  history.on_message(kB, 3, Seq{1}, 1);

  ASSERT_EQ(history.views().size(), 2U);
  OrderDigest expected;
  expected.add(kB, 1, std::size_t{1});
  expected.add(kB, 2, std::size_t{2});
  EXPECT_EQ(history.views()[0].digest, expected);
  EXPECT_EQ(history.views()[1].digest.messages, 1U);
  EXPECT_EQ(history.views()[0].gap, Duration{});
  EXPECT_EQ(history.views()[1].gap, milliseconds(5));
  EXPECT_FALSE(history.transitional());
  EXPECT_EQ(history.messages(), 3U);
  EXPECT_EQ(history.bytes(), 4U);
}

// Each node delivers messages without a position in an order of its own.
TEST(DeliveryHistory, CountsMessagesWithoutAPositionApart) {
  DeliveryHistory one, other;
  for (DeliveryHistory* history : {&one, &other}) history->on_view({}, regular(1, {kA, kB}));
  one.on_message(kA, 1, Seq{1}, 1);
  one.on_message(kA, 2, Seq{0}, 1);
  one.on_message(kB, 1, Seq{0}, 5);
  other.on_message(kB, 1, Seq{0}, 5);
  other.on_message(kA, 1, Seq{1}, 1);
  other.on_message(kA, 2, Seq{0}, 1);
  EXPECT_EQ(one.views().front().digest, other.views().front().digest);
  for (const DeliveryHistory* history : {&one, &other}) {
    EXPECT_EQ(history->views().front().unplaced, 2U);
    EXPECT_EQ(history->views().front().digest.messages, 1U);
    EXPECT_EQ(history->messages(), 3U);
    EXPECT_EQ(history->bytes(), 7U);
  }
}

TEST(DeliveryHistory, ForgetsOldViews) {
  DeliveryHistory history;
  for (int i = 1; i <= 100; ++i) history.on_view({}, regular(i, {kA}));
  EXPECT_EQ(history.views().size(), DeliveryHistory::kViewsMax);
  EXPECT_EQ(history.views().back().view.id, "100@a.7");
}

TEST(DropTimes, SayWhenACounterGrewLast) {
  DropTimes times;
  using Counters = std::vector<std::pair<std::string, std::uint64_t>>;
  const auto at = [](std::int64_t s) { return Instant{s * 1'000'000'000}; };
  times.look(at(1), Counters{{"other_cluster", 0}, {"bad_magic", 3}, {"tokens", 5}});
  times.look(at(2), Counters{{"other_cluster", 2}, {"bad_magic", 3}, {"tokens", 6}});
  times.look(at(9), Counters{{"other_cluster", 2}, {"bad_magic", 3}, {"log_lines_dropped", 7}});
  EXPECT_EQ(times.grew("bad_magic"), at(1));
  EXPECT_EQ(times.grew("other_cluster"), at(2));
  EXPECT_EQ(times.grew("tokens"), std::nullopt) << "no drop";
}

}  // namespace
}  // namespace peal::daemon
