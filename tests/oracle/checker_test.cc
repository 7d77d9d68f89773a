// SPDX-License-Identifier: Apache-2.0
#include "oracle/checker.h"

#include <gtest/gtest.h>

#include <utility>

namespace peal::oracle {
namespace {

using trace::Event;
using trace::Kind;
using trace::Layer;

constexpr MemberId kA{NodeId{1}, 1};
constexpr MemberId kB{NodeId{2}, 1};
constexpr ViewId kView{1, kA};

Event make(Kind kind, MemberId node, std::int64_t at_ns = 0) {
  Event event;
  event.kind = kind;
  event.node = node;
  event.at_ns = at_ns;
  return event;
}

Event install(MemberId node, Layer layer = Layer::order) {
  Event event = make(Kind::view, node);
  event.layer = layer;
  event.view = kView;
  event.members = {kA, kB};
  return event;
}

Event of_message(Kind kind, MemberId node, std::uint64_t number, Layer layer = Layer::order) {
  Event event = make(kind, node, static_cast<std::int64_t>(number));
  event.layer = layer;
  event.message = {kA, number};
  event.view = kView;
  event.seq = number;
  event.hash = number;
  return event;
}

void add_message(Checker& checker, std::uint64_t number) {
  checker.add(of_message(Kind::submit, kA, number));
  checker.add(of_message(Kind::originate, kA, number));
  checker.add(of_message(Kind::deliver, kA, number));
  checker.add(of_message(Kind::deliver, kB, number));
}

TEST(Checker, AcceptsAnEmptyHistory) {
  Checker checker;
  const Report report = checker.finish();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.figures.events, 0U);
}

TEST(Checker, CountsWhatItSaw) {
  Checker checker;
  checker.add(make(Kind::start, kA));
  checker.add(install(kA));
  checker.add(install(kB));
  for (std::uint64_t number = 1; number <= 10; ++number) add_message(checker, number);
  Event transitional = make(Kind::view, kA);
  transitional.transitional = true;
  transitional.old = kView;
  transitional.view = {2, kA};
  transitional.members = {kA};
  checker.add(transitional);
  Event safe = of_message(Kind::submit, kB, 1);
  safe.message.sender = kB;
  safe.service = Service::safe;
  checker.add(safe);
  checker.add(make(Kind::leave, kB));
  checker.add(make(Kind::crash, kA));
  const Report report = checker.finish();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.figures.events, 47U);
  EXPECT_EQ(report.figures.submitted, 11U);
  EXPECT_EQ(report.figures.messages, 10U);
  EXPECT_EQ(report.figures.deliveries, 20U);
  EXPECT_EQ(report.figures.views, 1U);
  EXPECT_EQ(report.figures.installs, 2U);
  EXPECT_EQ(report.figures.transitional_views, 1U);
  EXPECT_EQ(report.figures.transitional_installs, 1U);
  EXPECT_EQ(report.figures.transitional_deliveries, 0U);
  EXPECT_EQ(report.figures.safe_deliveries, 0U);
  EXPECT_EQ(report.figures.members, 2U);
  EXPECT_EQ(report.figures.crashed, 1U);
  EXPECT_EQ(report.figures.left, 1U);
  EXPECT_EQ(report.figures.unwitnessed, 0U);
}

TEST(Checker, IgnoresTheOtherLayer) {
  for (const Layer layer : {Layer::unit, Layer::order}) {
    Options options;
    options.layer = layer;
    Checker checker(options);
    checker.add(install(kA, Layer::unit));
    checker.add(of_message(Kind::deliver, kA, 1, Layer::unit));  // no member originated it
    const Report report = checker.finish();
    EXPECT_EQ(report.ok(), layer == Layer::order);
    EXPECT_EQ(report.figures.events, layer == Layer::order ? 0U : 2U);
  }
}

TEST(Checker, CountsCrashesForBothLayers) {
  for (const Layer layer : {Layer::unit, Layer::order}) {
    Options options;
    options.layer = layer;
    Checker checker(options);
    checker.add(install(kA, layer));
    checker.add(make(Kind::crash, kA));
    checker.add(install(kA, layer));
    EXPECT_EQ(checker.finish().violations_of[static_cast<std::size_t>(Property::e1_view_sequence)],
              1U);
  }
}

TEST(Checker, KeepsTheFirstViolationsAndCountsAll) {
  Options options;
  options.violations_max = 3;
  Checker checker(options);
  for (int i = 0; i < 10; ++i) checker.add(of_message(Kind::deliver, kB, 1));
  EXPECT_EQ(checker.violations_total(), 10U);
  const Report report = checker.finish();
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.violations.size(), 3U);
  EXPECT_EQ(report.violations_total, 10U);
  EXPECT_EQ(report.violations_of[static_cast<std::size_t>(Property::e3_integrity)], 10U);
}

TEST(Checker, SaysWhatWhenAndWhere) {
  trace::Names names;
  ASSERT_TRUE(names.set(NodeId{1}, "anna"));
  for (const trace::Names* known :
       {static_cast<const trace::Names*>(nullptr), static_cast<const trace::Names*>(&names)}) {
    Options options;
    options.names = known;
    Checker checker(options);
    checker.add(install(kB));
    Event event = of_message(Kind::deliver, kB, 7);
    event.at_ns = 1234;
    checker.add(event);
    const Report report = checker.finish();
    ASSERT_EQ(report.violations.size(), 1U);
    const Violation& violation = report.violations[0];
    EXPECT_EQ(property_id(violation.property), "E3");
    EXPECT_EQ(violation.at_ns, 1234);
    EXPECT_EQ(violation.node, kB);
    const std::string anna = known == nullptr ? "#1.1" : "anna.1";
    EXPECT_EQ(violation.text, "#2.1 delivers " + anna + ":7 in view 1@" + anna +
                                  ", and nobody originated it before");
  }
}

TEST(Checker, NamesEveryProperty) {
  EXPECT_EQ(property_id(Property::e1_view_sequence), "E1");
  EXPECT_EQ(property_id(Property::e9_barrier), "E9");
  EXPECT_EQ(property_id(Property::acyclic), "acyclic");
  EXPECT_EQ(property_id(Property::primary), "primary");
}

TEST(Checker, MovesWithItsHistory) {
  Checker first;
  first.add(install(kA));
  first.add(install(kB));
  Checker second = std::move(first);
  add_message(second, 1);
  EXPECT_TRUE(second.finish().ok());
  Checker third;
  third = Checker();
  EXPECT_TRUE(third.finish().ok());
}

// A history with a common clock is complete. Only merged traces may lack their ends.
TEST(Checker, WantsEveryOriginationInLiveOrder) {
  for (const bool live : {true, false}) {
    Options options;
    options.live_order = live;
    options.truncated_ok = true;
    Checker checker(options);
    checker.add(install(kA));
    checker.add(install(kB));
    checker.add(of_message(Kind::deliver, kB, 1));
    const Report report = checker.finish();
    EXPECT_EQ(report.ok(), !live);
    EXPECT_EQ(report.figures.unwitnessed, live ? 0U : 1U);
    EXPECT_EQ(report.figures.crashed, 2U);
  }
}

// Without a clock, the delivery of a message waits for its submission, and until its sender has
// installed the view. It does not wait for the origination: two members could wait for each other.
TEST(Checker, JudgesACompanysDeliveryOnceItsMessageIsSubmittedInTheView) {
  for (const bool submits_first : {true, false}) {
    Options options;
    options.companies = true;
    options.live_order = false;
    Checker checker(options);
    checker.add(install(kB));
    Event delivery = of_message(Kind::deliver, kB, 1);
    delivery.hash = 2;  // other bytes than submitted
    checker.add(delivery);
    const Event submission = of_message(Kind::submit, kA, 1);
    checker.add(submits_first ? submission : install(kA));
    EXPECT_EQ(checker.violations_total(), 0U);
    checker.add(submits_first ? install(kA) : submission);
    EXPECT_EQ(checker.violations_total(), 1U);
    const Report report = checker.finish();
    EXPECT_EQ(report.violations_of[static_cast<std::size_t>(Property::e3_integrity)], 1U);
    EXPECT_EQ(report.violations_total, 1U);
  }
}

// Gaps between message numbers cost no memory.
TEST(Checker, TakesAnyMessageNumber) {
  Checker checker;
  checker.add(install(kA));
  checker.add(install(kB));
  std::uint64_t seq = 0;
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{500}, std::uint64_t{1} << 20,
                                     std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    ++seq;
    for (const Kind kind : {Kind::submit, Kind::originate}) {
      Event event = of_message(kind, kA, number);
      event.seq = seq;
      checker.add(event);
    }
    for (const MemberId& node : {kA, kB}) {
      Event event = of_message(Kind::deliver, node, number);
      event.seq = seq;
      checker.add(event);
    }
  }
  const Report report = checker.finish();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.figures.deliveries, 10U);
}

}  // namespace
}  // namespace peal::oracle
