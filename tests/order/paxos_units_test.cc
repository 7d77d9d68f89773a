// SPDX-License-Identifier: Apache-2.0
// Single classes of the engine on quorums: those that a unit passes from its sender to the
// application, and those that store and report votes.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_parts_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::Drop;
using wire::PaxosKind;
using To = std::vector<std::uint32_t>;

constexpr Round kOwnRound{4, kOne}, kTwosRound{4, kTwo}, kEarlier{3, kThree};

/// Options with windows of 4 units.
Options few_units() {
  Options options;
  options.member_window = options.window_first = 4;
  return options;
}

/// Node 1 is in view 1 with both other nodes, and hears their heartbeats.
struct InViewBench : PartsBench {
  explicit InViewBench(const Options& options = {}, Merger* merger = nullptr)
      : PartsBench(options, merger) {
    be_in_view();
    hear_all();
  }
  void follow(const Round& round) {
    election.see(now, round);
    election.follow(round);
  }
  /// Makes this node the coordinator.
  void lead() {
    election.see(now, kOwnRound);
    coordinator.prepare(now, kOwnRound.count, *this);
    disk.sync();
    coordinator.work(now, *this);
    coordinator.on_promise(now, *peers.find(kTwo.node), {kOwnRound, 2, {}}, *this);
    EXPECT_TRUE(election.follow_self());
    sent.clear();
  }
  Peer& two() { return *peers.find(kTwo.node); }
  Peer& three() { return *peers.find(kThree.node); }
};

// ---- units that wait at a coordinator ----

struct WaitingBench : InViewBench {
  WaitingBench() : InViewBench(few_units()), tip(state), units(parts, tip) { units.begin_view(); }
  bool take(const MemberId& from, std::uint64_t number, std::uint64_t view = 1,
            std::uint64_t stamp = 0) {
    return units.take(unit_head(from, number, view), bytes(std::to_string(number)), false, stamp);
  }
  /// The requests to members: "2: 3+1" asks node 2 for one unit from number 3 on.
  std::string requested() {
    units.ask_for_gaps(*this);
    std::string text;
    for (const Sent& each : sent) {
      wire::Lacks lacks;
      EXPECT_EQ(wire::decode_lacks(each.packet.view(), lacks), Drop::none);
      EXPECT_EQ(lacks.view, 1U);
      text += (text.empty() ? "" : ", ") + std::to_string(each.to.value) + ": " +
              std::to_string(lacks.first) + "+" + std::to_string(lacks.count);
    }
    sent.clear();
    return text;
  }
  OrderState tip;
  WaitingUnits units;
};

TEST(PaxosWaitingUnits, AcceptUnitsOfMembersOnceAndWithinTheWindow) {
  WaitingBench one;
  EXPECT_TRUE(one.take(kTwo, 1));
  EXPECT_FALSE(one.take(kTwo, 1)) << "it is here";
  EXPECT_FALSE(one.take(kTwo, 2, 2)) << "for another view";
  EXPECT_FALSE(one.take({{99}, 1}, 1)) << "from no member";
  EXPECT_TRUE(one.take(kTwo, 4)) << "as many as may be under way";
  EXPECT_FALSE(one.take(kTwo, 5));
  one.tip.apply(unit_head(kTwo, 1), {});
  EXPECT_FALSE(one.take(kTwo, 1)) << "it is ordered";
  EXPECT_TRUE(one.take(kTwo, 5));
  one.units.check_invariants();
}

TEST(PaxosWaitingUnits, AreRemovedInTheOrderOfTheirNumbers) {
  WaitingBench one;
  ASSERT_TRUE(one.take(kTwo, 2));
  EXPECT_FALSE(one.units.has_next(1));
  ASSERT_TRUE(one.take(kTwo, 1));
  ASSERT_TRUE(one.units.has_next(1));
  EXPECT_FALSE(one.units.has_next(0));
  const WaitingUnits::Next next = one.units.remove_next(1);
  EXPECT_EQ(next.value.head, unit_head(kTwo, 1));
  EXPECT_EQ(as_text(next.value.bytes.view()), "1");
  EXPECT_FALSE(next.fresh);
  EXPECT_FALSE(one.units.has_next(1)) << "number 1 is not ordered yet";
  one.tip.apply(unit_head(kTwo, 1), {});
  EXPECT_TRUE(one.units.has_next(1));
}

TEST(PaxosWaitingUnits, MembersTakeTurns) {
  WaitingBench one;
  EXPECT_EQ(one.units.members(), 3U);
  for (const std::size_t turn : {0U, 1U, 2U, 0U}) EXPECT_EQ(one.units.next_turn(), turn);
}

TEST(PaxosWaitingUnits, TheLowestTimestampIsThatOfANextUnit) {
  WaitingBench one;
  EXPECT_FALSE(one.units.lowest());
  ASSERT_TRUE(one.take(kThree, 2, 1, 5));
  EXPECT_FALSE(one.units.lowest()) << "the one before it is not here";
  ASSERT_TRUE(one.take(kTwo, 1, 1, 9));
  EXPECT_EQ(one.units.lowest(), std::size_t{1});
  ASSERT_TRUE(one.take(kThree, 1, 1, 7));
  EXPECT_EQ(one.units.lowest(), std::size_t{2});
  EXPECT_EQ(one.units.stamp_of(2), 7U);
  ASSERT_TRUE(one.take(kOne, 1, 1, 7));
  EXPECT_EQ(one.units.lowest(), std::size_t{0}) << "of equal stamps the lower member's";
}

TEST(PaxosWaitingUnits, AGapIsRequestedWhenItIsNoticedAndAgainIfItRemains) {
  WaitingBench one;
  ASSERT_TRUE(one.take(kTwo, 1));
  EXPECT_EQ(one.requested(), "");
  ASSERT_TRUE(one.take(kTwo, 4));
  EXPECT_EQ(one.requested(), "2: 2+2");
  EXPECT_EQ(one.requested(), "") << "once";
  ASSERT_TRUE(one.units.has_next(1));
  one.units.remove_next(1);
  one.tip.apply(unit_head(kTwo, 1), {});
  one.units.look_for_gaps();
  EXPECT_EQ(one.requested(), "") << "it was seen in one heartbeat alone";
  one.units.look_for_gaps();
  EXPECT_EQ(one.requested(), "2: 2+2");
  ASSERT_TRUE(one.take(kTwo, 2));
  one.units.look_for_gaps();
  EXPECT_EQ(one.requested(), "") << "the next one is here";
  one.units.remove_next(1);
  one.tip.apply(unit_head(kTwo, 2), {});
  one.units.look_for_gaps();
  EXPECT_EQ(one.requested(), "") << "another gap than before";
  one.units.look_for_gaps();
  EXPECT_EQ(one.requested(), "2: 3+1");
}

TEST(PaxosWaitingUnits, NothingIsRequestedFromThisNodeOrForAnotherView) {
  WaitingBench one;
  ASSERT_TRUE(one.take(kOne, 3));
  EXPECT_EQ(one.requested(), "");
  ASSERT_TRUE(one.take(kTwo, 3));
  one.units.begin_view();
  EXPECT_EQ(one.requested(), "") << "members of the view before";
  EXPECT_TRUE(one.take(kTwo, 3)) << "earlier units are void";
  const std::size_t free = one.pool.free_count();
  one.units.clear();
  EXPECT_EQ(one.units.members(), 0U);
  EXPECT_GT(one.pool.free_count(), free) << "buffers are given back";
}

// ---- this node's own units ----

/// The numbers of the units in the sent SUBMIT packets, which are then forgotten.
std::vector<std::uint64_t> submitted(PartsBench& bench) {
  std::vector<std::uint64_t> numbers;
  for (const PartsBench::Sent& each : bench.sent) {
    if (each.kind != PaxosKind::submit) continue;
    wire::ValueFrame frame;
    EXPECT_EQ(wire::decode_value(each.packet.view(), frame), Drop::none);
    numbers.push_back(frame.head.number);
  }
  bench.sent.clear();
  return numbers;
}
using Numbers = std::vector<std::uint64_t>;

/// Node 2 coordinates, and this node's host has some units.
struct Owner : InViewBench {
  explicit Owner(std::size_t units, const Options& options = few_units()) : InViewBench(options) {
    follow(kTwosRound);
    queue.assign(units, "x");
  }
  Numbers pull() {
    own_units.pull(now, *this);
    return submitted(*this);
  }
  Drop lacks(const MemberId& from, const wire::Lacks& said) {
    return own_units.on_lacks(
        now, *peers.find(from.node),
        packet(from, [&](const wire::Header& header,
                         ByteSpan out) { return wire::encode_lacks(header, said, out); }),
        *this);
  }
};

TEST(PaxosOwnUnits, AreSentToTheCoordinatorAsTheWindowAllows) {
  Owner one(9);
  EXPECT_EQ(one.pull(), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(one.queue.size(), 5U);
  EXPECT_EQ(one.pull(), Numbers{});
  EXPECT_FALSE(one.own_units.is_next(2));
  ASSERT_TRUE(one.own_units.is_next(1));
  one.own_units.place(one.now);
  EXPECT_TRUE(one.own_units.is_next(2));
  EXPECT_EQ(one.own_units.placed(), 1U);
  EXPECT_EQ(one.pull(), Numbers{5});
  one.own_units.check_invariants();
}

TEST(PaxosOwnUnits, StayInTheHostWhileThisNodeIsInNoView) {
  PartsBench one;
  one.be_in_view({kTwo, kThree});
  one.queue = {"x"};
  one.own_units.pull(one.now, one);
  EXPECT_EQ(one.queue.size(), 1U);
}

TEST(PaxosOwnUnits, AreKeptUntilThereIsACoordinator) {
  Owner one(2);
  one.two().suspected = true;
  EXPECT_EQ(one.pull(), Numbers{});
  EXPECT_FALSE(one.own_units.empty());
  one.two().suspected = false;
  one.own_units.follow(one.now, one);
  EXPECT_EQ(submitted(one), (Numbers{1, 2}));
}

TEST(PaxosOwnUnits, AreRetransmittedWithIncreasingIntervals) {
  Owner one(1);
  EXPECT_FALSE(one.own_units.resend_at());
  EXPECT_EQ(one.pull(), Numbers{1});
  const Duration first = one.config.options.resend / 4;
  ASSERT_TRUE(one.own_units.resend_at());
  EXPECT_EQ(*one.own_units.resend_at(), one.now + first);
  one.own_units.resend_late(one.now + first + nanoseconds(-1), one);
  EXPECT_EQ(submitted(one), Numbers{});
  one.now = one.now + first;
  one.own_units.resend_late(one.now, one);
  EXPECT_EQ(submitted(one), Numbers{1});
  EXPECT_EQ(one.own_units.resent(), 1U);
  EXPECT_EQ(*one.own_units.resend_at(), one.now + first * 2);
  one.own_units.follow(one.now, one);
  EXPECT_EQ(*one.own_units.resend_at(), one.now + first) << "of another coordinator";
  one.own_units.place(one.now);
  EXPECT_FALSE(one.own_units.resend_at());
}

TEST(PaxosOwnUnits, OrderedInTimeSetTheRetransmitTimer) {
  Owner one(2);
  EXPECT_EQ(one.pull(), (Numbers{1, 2}));
  one.now = one.now + milliseconds(4);
  one.own_units.place(one.now);
  EXPECT_EQ(*one.own_units.resend_at(), one.now + milliseconds(8)) << "twice as long";
}

TEST(PaxosOwnUnits, RetransmittedOnesDoNotSetTheRetransmitTimer) {
  Owner one(2);
  EXPECT_EQ(one.pull(), (Numbers{1, 2}));
  const Duration first = one.config.options.resend / 4;
  one.now = one.now + first;
  one.own_units.resend_late(one.now, one);
  one.now = one.now + milliseconds(1);
  one.own_units.place(one.now);
  EXPECT_EQ(*one.own_units.resend_at(), one.now + first * 2) << "no progress so far";
}

TEST(PaxosOwnUnits, FewAreRetransmittedAtOnce) {
  Options options;
  options.member_window = options.window_first = 64;
  Owner one(20, options);
  EXPECT_EQ(one.pull().size(), 20U);
  one.own_units.resend_late(one.now + seconds(1), one);
  EXPECT_EQ(submitted(one), (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(PaxosOwnUnits, AreRetransmittedWhenTheCoordinatorSendsANack) {
  Owner one(4);
  EXPECT_EQ(one.pull().size(), 4U);
  one.own_units.place(one.now);
  EXPECT_EQ(one.lacks(kTwo, {1, 3, 1}), Drop::none);
  EXPECT_EQ(submitted(one), Numbers{3});
  EXPECT_EQ(one.lacks(kTwo, {1, 1, 2}), Drop::none);
  EXPECT_EQ(submitted(one), Numbers{2}) << "number 1 is ordered";
  EXPECT_EQ(one.lacks(kTwo, {1, 4, 9}), Drop::none);
  EXPECT_EQ(submitted(one), Numbers{4}) << "there are no more";
  EXPECT_EQ(one.lacks(kTwo, {2, 3, 1}), Drop::stale) << "of another view";
  EXPECT_EQ(one.lacks(kThree, {1, 3, 1}), Drop::bad_sender) << "it does not coordinate";
  EXPECT_EQ(submitted(one), Numbers{});
}

/// Ordering becomes slow, as with full queues, and then `loss` happens. Returns the window for own
/// units after that.
std::uint32_t window_after(const std::function<void(Owner&)>& loss) {
  Options options;
  options.member_window = 512;
  options.window_first = 64;
  Owner one(200, options);
  one.pull();
  for (int i = 0; i < 100; ++i) {
    one.now = one.now + (i < 2 ? microseconds(100) : milliseconds(1));
    one.own_units.place(one.now);
    one.pull();
  }
  one.now = one.now + seconds(1);
  loss(one);
  return one.own_units.window();
}

TEST(PaxosOwnUnits, LossReducesTheWindowIfOrderingIsSlow) {
  const std::uint32_t window = window_after([](Owner&) {});
  EXPECT_LT(window_after([](Owner& one) { one.own_units.resend_late(one.now, one); }), window);
  EXPECT_LT(window_after([](Owner& one) {
              EXPECT_EQ(one.lacks(kTwo, {1, 110, 1}), Drop::none);
            }),
            window);
}

TEST(PaxosOwnUnits, AreVoidInAnotherView) {
  Owner one(2);
  EXPECT_EQ(one.pull().size(), 2U);
  one.own_units.begin_view();
  EXPECT_TRUE(one.own_units.empty());
  EXPECT_EQ(one.lacks(kTwo, {1, 1, 1}), Drop::stale);
  one.queue = {"y"};
  EXPECT_EQ(one.pull(), Numbers{1}) << "numbered anew";
}

TEST(PaxosOwnUnits, ProvideTheBytesOfAnOrderedUnit) {
  Owner one(0);
  one.queue = {"a", "b"};
  EXPECT_EQ(one.pull().size(), 2U);
  bool fresh = true;
  EXPECT_EQ(as_text(one.own_units.bytes_of(unit_head(kOne, 2), fresh).view()), "b");
  EXPECT_EQ(as_text(one.own_units.bytes_of(unit_head(kOne, 1), fresh).view()), "a");
  EXPECT_FALSE(one.own_units.bytes_of(unit_head(kOne, 3), fresh));
  EXPECT_FALSE(one.own_units.bytes_of(unit_head(kTwo, 1), fresh)) << "another member's";
  EXPECT_FALSE(one.own_units.bytes_of(unit_head(kOne, 1, 2), fresh)) << "of another view";
  one.own_units.place(one.now);
  EXPECT_FALSE(one.own_units.bytes_of(unit_head(kOne, 1), fresh)) << "it is ordered";
}

TEST(PaxosOwnUnits, OfTheCoordinatorAreProposedDirectly) {
  InViewBench one;
  one.queue = {"a"};
  one.own_units.pull(one.now, one);
  EXPECT_EQ(one.sent_to(PaxosKind::submit), To{}) << "nobody coordinates";
  one.lead();
  one.own_units.submit_to_self();
  one.coordinator.work(one.now, one);
  EXPECT_EQ(one.sent_to(PaxosKind::propose), To{0});
  one.queue = {"b"};
  one.own_units.pull(one.now, one);
  one.coordinator.work(one.now, one);
  EXPECT_EQ(one.sent_to(PaxosKind::propose), (To{0, 0}));
  EXPECT_EQ(one.sent_to(PaxosKind::submit), To{});
}

// ---- consuming ----

TEST(PaxosConsumer, DeliversUnitsAndInstallsViewsWithTheirTransitionalMembers) {
  InViewBench one;
  one.decide_unit(kTwo, 1, "a");
  one.decide_unit(kTwo, 3, "gone");
  one.decide_unit(kTwo, 2, "b");
  one.decide_view(2, {{kOne, 1}, {kThree, 1}});
  one.decide_view(3, {{kOne, 2}, {kTwo, 1}, {kThree, 2}});
  EXPECT_EQ(one.told(), "1:a, 2:b, trans 2 13, view 2 13, trans 3 13, view 3 123");
  EXPECT_EQ(one.consumer.delivered(), 2U);
  EXPECT_EQ(one.consumer.ignored(), 1U);
  EXPECT_EQ(one.consumer.views(), 3U);
  EXPECT_EQ(one.consumer.seq(), 0U) << "counted anew in each view";
  ASSERT_EQ(one.events.size(), 2U);
  EXPECT_EQ(one.events[1].kind, &event::view_installed);
  EXPECT_EQ(one.events[1].a, 3U) << "members";
  EXPECT_EQ(one.events[1].view.number, 3U);
}

TEST(PaxosConsumer, AViewWithoutThisNodeIsNotInstalled) {
  InViewBench one;
  one.decide_view(2, {{kTwo, 1}, {kThree, 1}});
  EXPECT_EQ(one.told(), "");
  EXPECT_EQ(one.consumer.view().number, 1U);
  one.decide_view(3, {{kOne, 1}, {kTwo, 2}, {kThree, 2}});
  EXPECT_EQ(one.told(), "trans 3 1, view 3 123") << "it goes on from the last that it was in";
}

TEST(PaxosConsumer, OwnUnitsAreOrderedByNumber) {
  InViewBench one;
  one.follow(kTwosRound);
  one.queue = {"a", "b"};
  one.own_units.pull(one.now, one);
  one.decide_unit(kOne, 1, "a");
  EXPECT_EQ(one.told(), "own 1, 1:a");
  EXPECT_EQ(one.own_units.placed(), 1U);
  EXPECT_FALSE(one.consumer.deliver(one.now, {unit_head(kOne, 3), {}}, true, one))
      << "not this node's next unit";
  EXPECT_TRUE(one.consumer.deliver(one.now, {unit_head(kOne, 3), one.bytes("c")}, false, one))
      << "not in the view: a unit of an earlier incarnation";
}

TEST(PaxosConsumer, ReportsKeysAndViewsToTheMerger) {
  OneMerger merger;
  InViewBench one({}, &merger);
  EXPECT_TRUE(one.consumer.visiting()) << "until the merger says otherwise";
  one.consumer.set_ready(true, 7);
  EXPECT_FALSE(one.consumer.visiting());
  EXPECT_EQ(one.consumer.views_from(), 7U);
  merger.keys.clear();
  one.decide({wire::ValueKind::nothing, Service::agreed, 0, kTwo, 40}, {});
  one.decide_unit(kTwo, 1);
  EXPECT_EQ(merger.keys, (std::vector<std::string>{"(40)", "41"}));
  one.decide_view(2, {{kTwo, 1}, {kThree, 1}});
  EXPECT_EQ(merger.left_out, 1);
  EXPECT_TRUE(one.consumer.visiting()) << "it may come from elsewhere then";
}

// ---- Phase 1 ----

struct First : InViewBench {
  First() : phase(parts) { phase.begin(); }
  bool promises(const MemberId& from, Instance next, std::vector<wire::VoteRun> runs = {}) {
    return phase.note(from.node, {kOwnRound, next, std::move(runs)});
  }
  /// The requests for values: "2@3" asks node 3 for its vote for instance 2.
  std::string fetched(const std::function<void()>& fetch) {
    sent.clear();
    fetch();
    std::string text;
    for (const Sent& each : sent) {
      wire::Fetch asked;
      if (each.kind != PaxosKind::fetch) continue;
      EXPECT_EQ(wire::decode_fetch(each.packet.view(), asked), Drop::none);
      text += (text.empty() ? "" : " ") + std::to_string(asked.instance) + "@" +
              std::to_string(each.to.value);
    }
    return text;
  }
  std::string fetch() {
    return fetched([&] { phase.fetch(*this); });
  }
  std::string fetch_again(bool& goes_on) {
    return fetched([&] { goes_on = phase.fetch_again(*this); });
  }
  void comes(Instance instance, const Round& round, std::string_view text) {
    phase.on_fetched({round, instance, unit_head(kTwo, 1)}, bytes(text));
  }
  std::string chosen(Instance instance) {
    const Value* value = phase.chosen(instance);
    return value == nullptr ? "none" : std::string(as_text(value->bytes.view()));
  }
  Phase1 phase;
};

TEST(PaxosPhase1, AMajorityOfDifferentAcceptorsIsEnough) {
  First one;
  EXPECT_FALSE(one.promises(kTwo, 2));
  EXPECT_FALSE(one.promises(kTwo, 2)) << "the same one";
  EXPECT_TRUE(one.phase.has_promise_of(kTwo.node));
  EXPECT_FALSE(one.phase.has_promise_of(kThree.node));
  EXPECT_TRUE(one.promises(kThree, 2));
}

TEST(PaxosPhase1, WithoutVotesThereIsNothingToProposeAgain) {
  First one;
  one.promises(kTwo, 2);
  one.promises(kThree, 2);
  one.phase.choose();
  EXPECT_TRUE(one.phase.knows_values());
  EXPECT_EQ(one.phase.end(2), 2U);
  EXPECT_EQ(one.phase.base(), 2U);
  EXPECT_EQ(one.fetch(), "");
}

TEST(PaxosPhase1, TheVoteOfTheHighestRoundIsChosenAndFetchedFromItsVoter) {
  First one;
  one.promises(kTwo, 2, {{2, 2, kEarlier}});
  one.promises(kThree, 2, {{3, 2, kTwosRound}});
  one.phase.choose();
  EXPECT_EQ(one.phase.end(2), 5U);
  EXPECT_FALSE(one.phase.knows_values());
  EXPECT_EQ(one.fetch(), "2@2 3@3 4@3");
  EXPECT_EQ(one.fetch(), "") << "it is asked for";
  one.comes(3, kEarlier, "lower");
  EXPECT_EQ(one.chosen(3), "none") << "that vote was not chosen";
  one.comes(2, kEarlier, "two");
  one.comes(3, kTwosRound, "three");
  one.comes(3, kTwosRound, "again");
  EXPECT_FALSE(one.phase.knows_values());
  one.comes(4, kTwosRound, "four");
  EXPECT_TRUE(one.phase.knows_values());
  EXPECT_EQ(one.chosen(2) + one.chosen(3) + one.chosen(4), "twothreefour");
  one.phase.check_invariants();
  one.phase.finish();
  EXPECT_EQ(one.chosen(2), "none");
}

TEST(PaxosPhase1, ConsumedInstancesAreNotProposedAgain) {
  First one;
  one.promises(kTwo, 4);
  one.promises(kThree, 2, {{2, 4, kEarlier}});
  one.phase.choose();
  EXPECT_EQ(one.phase.base(), 4U);
  EXPECT_EQ(one.fetch(), "4@3 5@3");
}

TEST(PaxosPhase1, ValuesInTheStoreAreNotFetched) {
  First one;
  Slot* voted = one.store.make(2);
  voted->vote_round = kEarlier;
  voted->vote = {unit_head(kTwo, 1), one.bytes("voted")};
  Slot* heard = one.store.make(3);
  heard->heard_round = kEarlier;
  heard->heard = {unit_head(kTwo, 2), one.bytes("heard")};
  Slot* decided = one.store.make(4);
  decided->decided = true;
  decided->heard = {unit_head(kTwo, 3), one.bytes("decided")};
  Slot* other = one.store.make(5);
  other->heard_round = kTwosRound;
  other->heard = {unit_head(kTwo, 4), one.bytes("of another round")};
  one.promises(kTwo, 2);
  one.promises(kThree, 2, {{2, 4, kEarlier}});
  one.phase.choose();
  EXPECT_FALSE(one.phase.knows_values());
  EXPECT_EQ(one.fetch(), "5@3");
  EXPECT_EQ(one.chosen(2) + one.chosen(3) + one.chosen(4), "votedhearddecided");
}

TEST(PaxosPhase1, AMissingValueIsRequestedAgainUnlessItsVoterIsSuspected) {
  First one;
  one.promises(kTwo, 2, {{2, 2, kEarlier}});
  one.promises(kThree, 2);
  one.phase.choose();
  EXPECT_FALSE(one.phase.knows_values());
  EXPECT_EQ(one.fetch(), "2@2 3@2");
  one.comes(2, kEarlier, "two");
  bool goes_on = false;
  EXPECT_EQ(one.fetch_again(goes_on), "") << "something came";
  EXPECT_TRUE(goes_on);
  EXPECT_FALSE(one.phase.knows_values());
  EXPECT_EQ(one.fetch_again(goes_on), "3@2");
  EXPECT_TRUE(goes_on);
  one.two().suspected = true;
  EXPECT_EQ(one.fetch_again(goes_on), "");
  EXPECT_FALSE(goes_on) << "a new round has to find another voter";
}

TEST(PaxosPhase1, FetchesABoundedNumberOfValuesAtATime) {
  First one;
  one.promises(kTwo, 2, {{2, 200, kEarlier}});
  one.promises(kThree, 2);
  one.phase.choose();
  EXPECT_FALSE(one.phase.knows_values());
  one.fetch();
  EXPECT_EQ(one.sent.size(), 64U);
  for (Instance k = 2; k < 2 + 31; ++k) one.comes(k, kEarlier, "x");
  EXPECT_EQ(one.fetch(), "") << "more than half are on their way";
  one.comes(33, kEarlier, "x");
  one.fetch();
  EXPECT_EQ(one.sent.size(), 32U);
}

TEST(PaxosPhase1, APromiseListsTheVotesForUndecidedInstances) {
  InViewBench one;
  for (const Instance k : {2U, 3U, 5U, 6U, 7U}) {
    one.store.make(k)->vote_round = k == 7 ? kTwosRound : kEarlier;
  }
  const wire::Promise all = promise_of(kOwnRound, one.store, one.state);
  EXPECT_EQ(all.round, kOwnRound);
  EXPECT_EQ(all.next, 2U);
  EXPECT_EQ(all.runs,
            (std::vector<wire::VoteRun>{{2, 2, kEarlier}, {5, 2, kEarlier}, {7, 1, kTwosRound}}));
  one.store.make(2)->decided = true;
  const wire::Promise later = promise_of(kOwnRound, one.store, one.state);
  EXPECT_EQ(later.next, 3U);
  EXPECT_EQ(later.runs.front(), (wire::VoteRun{3, 1, kEarlier}));
  EXPECT_EQ(promise_of(kOwnRound, Store(64, 1'000), OrderState{}).next, 0U) << "it knows no order";
}

// ---- packets of an acceptor ----

struct Votes : InViewBench {
  Drop prepare(const MemberId& from, std::uint64_t count) {
    return voter.on_prepare(now, *peers.find(from.node),
                            packet(from,
                                   [&](const wire::Header& header, ByteSpan out) {
                                     return wire::encode_prepare(header, {count, 1}, out);
                                   }),
                            *this);
  }
  Drop fetch(const Round& round, Instance instance) {
    sent.clear();
    return voter.on_fetch(two(),
                          packet(kTwo,
                                 [&](const wire::Header& header, ByteSpan out) {
                                   return wire::encode_fetch(header, {round, instance}, out);
                                 }),
                          *this);
  }
};

TEST(PaxosVoter, APromiseGoesToTheLastCoordinatorThatAskedOnceItIsOnDisk) {
  Votes one;
  EXPECT_EQ(one.prepare(kTwo, 5), Drop::none);
  EXPECT_EQ(one.prepare(kThree, 5), Drop::none) << "a higher round by its coordinator";
  EXPECT_EQ(one.sent_to(PaxosKind::promise), To{}) << "nothing is on disk";
  one.disk.sync();
  one.voter.answer_prepare(one);
  EXPECT_EQ(one.sent_to(PaxosKind::promise), To{3});
  EXPECT_EQ(one.sent_to(PaxosKind::state), To{3}) << "with the state of its log";
  one.voter.answer_prepare(one);
  EXPECT_EQ(one.sent_to(PaxosKind::promise), To{3}) << "once";
  EXPECT_EQ(one.prepare(kThree, 5), Drop::none);
  EXPECT_EQ(one.sent_to(PaxosKind::promise), (To{3, 3})) << "it may have been lost";
}

TEST(PaxosVoter, TheCoordinatorOfALowerRoundLearnsTheHigherOne) {
  Votes one;
  EXPECT_EQ(one.prepare(kTwo, 5), Drop::none);
  one.disk.sync();
  one.sent.clear();
  EXPECT_EQ(one.prepare(kThree, 4), Drop::stale);
  EXPECT_EQ(one.sent_to(PaxosKind::state), To{3});
  EXPECT_EQ(one.prepare(kThree, wire::first_count(1)), Drop::wrong_state)
      << "of another configuration";
  one.sent.clear();
  EXPECT_FALSE(one.voter.accept(kEarlier, 2, one));
  EXPECT_EQ(one.sent_to(PaxosKind::state), To{3});
  EXPECT_TRUE(one.voter.accept({5, kTwo}, 2, one));
}

TEST(PaxosVoter, MakesNoPromiseToANodeOfAnotherOrder) {
  Votes one;
  one.two().state.first_list = 5;
  EXPECT_EQ(one.prepare(kTwo, 5), Drop::wrong_state);
  one.two().state.first_list = one.state.nodes().first;
  one.peers.self().acceptor = false;
  EXPECT_EQ(one.prepare(kTwo, 5), Drop::wrong_state) << "this node does not vote";
  EXPECT_TRUE(one.voter.accept({5, kTwo}, 2, one)) << "accepting has no effect then";
  EXPECT_FALSE(one.voter.vote());
}

TEST(PaxosVoter, AFetchIsAnsweredWithTheVoteOrTheDecidedValue) {
  Votes one;
  Slot* slot = one.store.make(2);
  slot->vote_round = kEarlier;
  slot->vote = {unit_head(kTwo, 1), one.bytes("voted")};
  EXPECT_EQ(one.fetch(kEarlier, 2), Drop::none);
  ASSERT_EQ(one.sent_to(PaxosKind::fetched), To{2});
  wire::Fetched fetched;
  ASSERT_EQ(wire::decode_fetched(one.sent[0].packet.view(), fetched), Drop::none);
  EXPECT_EQ(fetched, (wire::Fetched{kEarlier, 2, unit_head(kTwo, 1)}));
  EXPECT_EQ(as_text(one.sent[0].packet.view().subspan(wire::kFetchedHeaderBytes)), "voted");
  EXPECT_EQ(one.fetch(kTwosRound, 2), Drop::wrong_state) << "it voted in another round";
  EXPECT_EQ(one.fetch(kEarlier, 3), Drop::wrong_state) << "for nothing";
  EXPECT_EQ(one.fetch(kEarlier, 1), Drop::none);
  EXPECT_EQ(one.sent_to(PaxosKind::decided), To{2});
}

TEST(PaxosVoteRecall, AsksTheLiveAcceptorsOfThisOrder) {
  InViewBench one;
  const auto asks = [&] {
    one.sent.clear();
    one.recall.ask(one);
    return one.sent_to(PaxosKind::recall);
  };
  EXPECT_EQ(asks(), To{}) << "nothing is missing";
  one.learner.note_decided(4);
  EXPECT_EQ(asks(), (To{2, 3}));
  wire::Recall question;
  ASSERT_EQ(wire::decode_recall(one.sent[0].packet.view(), question), Drop::none);
  EXPECT_EQ(question, (wire::Recall{2, 3}));
  one.two().suspected = true;
  EXPECT_EQ(asks(), To{3});
  one.three().acceptor = false;
  EXPECT_EQ(asks(), To{});
  one.two().suspected = false;
  one.two().state.first_list = 5;
  EXPECT_EQ(asks(), To{}) << "it has another order";
}

TEST(PaxosVoteRecall, AnswersCountIfRequestedAndFromAcceptorsOfThisOrder) {
  const auto said = [](const std::function<void(InViewBench&)>& change, Instance instance) {
    InViewBench one;
    change(one);
    const wire::Word word{instance, {}, {}};
    return one.recall.on_word(one.two(),
                              one.packet(kTwo, [&](const wire::Header& header, ByteSpan out) {
                                return wire::encode_no_vote(header, word, out);
                              }));
  };
  const auto plain = [](InViewBench&) {};
  EXPECT_EQ(said(plain, 2), Drop::none);
  EXPECT_EQ(said(plain, 1), Drop::stale);
  EXPECT_EQ(said(plain, 2 + wire::kRecallMax - 1), Drop::none);
  EXPECT_EQ(said(plain, 2 + wire::kRecallMax), Drop::stale);
  EXPECT_EQ(said([](InViewBench& one) { one.two().acceptor = false; }, 2), Drop::stale);
  EXPECT_EQ(said([](InViewBench& one) { one.two().state.first_list = 5; }, 2), Drop::stale);
}

// ---- checkpoints ----

TEST(PaxosCheckpointer, ACheckpointIsDueAfterCheckpointEveryInstances) {
  Options options;
  options.checkpoint_every = 4;
  InViewBench one(options);
  std::uint64_t number = 0;
  // The checkpointer counted instance 1 when the view was consumed.
  for (const bool wanted : {false, false, true}) {
    EXPECT_EQ(one.decide_unit(kTwo, ++number), OrderState::Outcome::unit);
    EXPECT_EQ(one.checkpointer.wanted(), wanted) << number;
  }
  EXPECT_TRUE(one.checkpointer.write());
  EXPECT_FALSE(one.checkpointer.wanted());
  EXPECT_FALSE(one.checkpointer.write()) << "none is wanted";
  one.checkpointer.check_invariants();
}

TEST(PaxosCheckpointer, TheLogHasAConfigurationOnceACheckpointFollowsIt) {
  InViewBench one;
  EXPECT_TRUE(one.checkpointer.knows_list());
  one.checkpointer.begin_list();
  EXPECT_FALSE(one.checkpointer.knows_list());
  one.checkpointer.want(true);
  EXPECT_TRUE(one.checkpointer.write());
  EXPECT_TRUE(one.checkpointer.knows_list());
  one.checkpointer.begin_list();
  one.checkpointer.want(true);
  one.disk.set_checkpoints_full(true);
  EXPECT_FALSE(one.checkpointer.write());
  EXPECT_TRUE(one.checkpointer.wanted()) << "it is retried";
  EXPECT_FALSE(one.checkpointer.knows_list());
}

TEST(PaxosCheckpointer, ADecidedValueIsRecordedUnlessItIsTheVote) {
  const auto records = [](const std::function<void(InViewBench&, Slot&)>& vote) {
    InViewBench one;
    Slot slot;
    slot.decided = true;
    slot.heard = {unit_head(kTwo, 1), one.bytes("x")};
    vote(one, slot);
    const std::uint64_t before = one.disk.last().value;
    EXPECT_TRUE(one.checkpointer.note(slot));
    return one.disk.last().value - before;
  };
  EXPECT_EQ(records([](InViewBench&, Slot&) {}), 1U);
  EXPECT_EQ(records([](InViewBench&, Slot& slot) {
              slot.vote_round = kEarlier;
              slot.vote = slot.heard;
            }),
            0U);
  EXPECT_EQ(records([](InViewBench& one, Slot& slot) {
              slot.vote_round = kEarlier;
              slot.vote = {slot.heard.head, one.bytes("x")};
            }),
            0U)
      << "equal bytes";
  EXPECT_EQ(records([](InViewBench& one, Slot& slot) {
              slot.vote_round = kEarlier;
              slot.vote = {slot.heard.head, one.bytes("y")};
            }),
            1U);
  EXPECT_EQ(records([](InViewBench& one, Slot& slot) {
              slot.vote_round = kEarlier;
              slot.vote = {slot.heard.head, one.bytes("xx")};
            }),
            1U);
  EXPECT_EQ(records([](InViewBench&, Slot& slot) {
              slot.vote_round = kEarlier;
              slot.vote = {unit_head(kTwo, 2), slot.heard.bytes};
            }),
            1U);
}

TEST(PaxosCheckpointer, WaitsForTheOrderOfAllEnsembles) {
  OneMerger merger;
  Options options;
  options.max_gap = options.checkpoint_every = 8;
  options.window = options.member_window = options.window_first = 8;
  InViewBench one(options, &merger);
  merger.ahead = true;
  one.checkpointer.want(true);
  EXPECT_FALSE(one.checkpointer.write());
  // The last checkpoint in the log has the state before instance 1.
  std::uint64_t number = 0;
  while (one.state.next() < 16) one.decide_unit(kTwo, ++number);
  EXPECT_FALSE(one.checkpointer.write());
  one.decide_unit(kTwo, ++number);
  EXPECT_TRUE(one.checkpointer.write()) << "a checkpoint must not wait for ever";
  one.checkpointer.want(true);
  merger.ahead = false;
  EXPECT_TRUE(one.checkpointer.write());
}

// ---- history for other nodes ----

TEST(PaxosHistory, ResendsADecidedValueOnTheControlLane) {
  InViewBench one;
  one.decide_unit(kTwo, 1, "a");
  one.history.send(kThree.node, 2, false, one);
  one.history.send(kThree.node, 2, true, one);
  one.history.send(kThree.node, 3, false, one);
  ASSERT_EQ(one.sent_to(PaxosKind::decided), (To{3, 3})) << "nothing is known of instance 3";
  EXPECT_EQ(one.sent[0].lane, Lane::data);
  EXPECT_EQ(one.sent[1].lane, Lane::control);
  EXPECT_EQ(one.history.sent(), 2U);
  wire::ValueFrame frame;
  ASSERT_EQ(wire::decode_value(one.sent[0].packet.view(), frame), Drop::none);
  EXPECT_EQ(frame.instance, 2U);
  EXPECT_EQ(frame.head, unit_head(kTwo, 1));
}

TEST(PaxosHistory, RetainsForAMemberThatMayReturnAsTheSameIncarnation) {
  const auto retains = [](const std::function<void(InViewBench&)>& change,
                          const MemberId& member = kTwo) {
    InViewBench one;
    for (std::uint64_t k = 1; k <= 4; ++k) one.decide_unit(kThree, k);
    change(one);
    one.history.retain_for(std::vector<MemberId>{member});
    return one.history.retained().bytes() > 0;
  };
  const auto plain = [](InViewBench&) {};
  EXPECT_TRUE(retains(plain));
  EXPECT_FALSE(retains(plain, {{99}, 1})) << "an unknown node";
  EXPECT_FALSE(retains(plain, kOne)) << "this node";
  EXPECT_FALSE(retains([](InViewBench& one) {
    one.hear({kTwo.node, kTwo.epoch + 1});
  })) << "it has restarted";
  EXPECT_FALSE(retains([](InViewBench& one) { one.two().state.leaving = true; }));
  EXPECT_TRUE(retains([](InViewBench& one) { one.two().has_state = false; }))
      << "its progress is unknown";
  EXPECT_FALSE(retains([](InViewBench& one) { one.two().state.next = one.state.next(); }))
      << "it has all of it";
  EXPECT_FALSE(retains([](InViewBench& one) { one.store.forget_below(4); })) << "too far behind";
}

TEST(PaxosHistory, TheMergerLearnsWhichMembersAViewExcluded) {
  OneMerger merger;
  InViewBench one({}, &merger);
  const std::vector<wire::ViewMember> before = one.state.members();
  one.history.retain_for_excluded(before);
  EXPECT_TRUE(merger.excluded.empty());
  one.decide_view(2, {{kOne, 1}, {kThree, 1}});
  one.history.retain_for_excluded(before);
  EXPECT_EQ(merger.excluded, std::vector<MemberId>{kTwo});
}

}  // namespace
}  // namespace peal::order::paxos::test
