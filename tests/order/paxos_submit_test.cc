// SPDX-License-Identifier: Apache-2.0
// Members' units in flight to the coordinator: the coordinator requests lost units, and members do
// not retransmit late units again and again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paxos_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::PaxosKind;

/// Node 1's requests for lost units, each as "to:view:first+count".
std::vector<std::string> asked_for(const Bench& one) {
  std::vector<std::string> out;
  for (const Bench::Sent& sent : one.sent) {
    wire::Lacks lacks;
    if (sent.kind != PaxosKind::lacks) continue;
    EXPECT_EQ(wire::decode_lacks(sent.bytes, lacks), wire::Drop::none);
    out.push_back(std::to_string(sent.to.value) + ":" + std::to_string(lacks.view) + ":" +
                  std::to_string(lacks.first) + "+" + std::to_string(lacks.count));
  }
  return out;
}

using Asked = std::vector<std::string>;

TEST(PaxosSubmit, ACoordinatorAsksAtOnceForAUnitThatDidNotCome) {
  Bench one(kOne);
  one.lead();
  one.submitted(kTwo, 1, "a");
  EXPECT_EQ(asked_for(one), Asked{});
  one.submitted(kTwo, 4, "d");
  EXPECT_EQ(asked_for(one), Asked{"2:1:2+2"});
  one.submitted(kTwo, 5, "e");
  one.submitted(kTwo, 2, "b");
  EXPECT_EQ(asked_for(one).size(), 1U) << "once";
  EXPECT_EQ(one.proposed(wire::ValueKind::unit), 2U) << "in the order in which they were sent";
  one.submitted(kTwo, 3, "c");
  EXPECT_EQ(one.proposed(wire::ValueKind::unit), 5U);
  EXPECT_EQ(asked_for(one).size(), 1U);
}

TEST(PaxosSubmit, WhatWasAskedForInVainIsAskedForAgain) {
  Bench one(kOne);
  one.lead();
  one.submitted(kThree, 3, "c");
  EXPECT_EQ(asked_for(one), Asked{"3:1:1+2"});
  one.run(milliseconds(25));
  ASSERT_GE(asked_for(one).size(), 2U);
  EXPECT_EQ(asked_for(one).back(), "3:1:1+2");
  one.submitted(kThree, 1, "a");
  one.submitted(kThree, 2, "b");
  const std::size_t asked = asked_for(one).size();
  one.run(milliseconds(50));
  EXPECT_EQ(asked_for(one).size(), asked);
}

TEST(PaxosSubmit, ALargeGapIsAskedForInParts) {
  Bench one(kOne);
  one.lead();
  one.submitted(kTwo, 300, "z");
  EXPECT_EQ(asked_for(one), Asked{"2:1:1+64"});
}

/// Node 3 has sent its units 1 to 5 to node 1, which coordinates.
void send_five(Bench& three) {
  three.start();
  three.join(kOne);
  for (const char* text : {"a", "b", "c", "d", "e"}) three.submit(text);
  EXPECT_EQ(three.count(PaxosKind::submit), 5U);
}

TEST(PaxosSubmit, AMemberSendsWhatTheCoordinatorLacksAgain) {
  Bench three(kThree);
  send_five(three);
  three.lacks(kOne, {1, 2, 2});
  EXPECT_EQ(three.count(PaxosKind::submit), 7U);
  three.lacks(kOne, {1, 5, 64});
  EXPECT_EQ(three.count(PaxosKind::submit), 8U) << "there is no sixth";
  three.lacks(kOne, {1, 1'000, 64});
  EXPECT_EQ(three.count(PaxosKind::submit), 8U);
}

TEST(PaxosSubmit, NobodyElseAndNoOtherViewIsAnswered) {
  Bench three(kThree);
  send_five(three);
  three.lacks(kTwo, {1, 1, 5});
  EXPECT_EQ(three.counter("bad_sender"), 1U);
  three.lacks(kOne, {2, 1, 5});
  EXPECT_EQ(three.counter("stale"), 1U);
  EXPECT_EQ(three.count(PaxosKind::submit), 5U);
}

// A busy coordinator needs 300 ms for each unit. An earlier retransmission is useless, and a member
// must learn to wait longer.
TEST(PaxosSubmit, WhatOnlyTakesLongIsNotSentAgainAndAgain) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  constexpr std::uint64_t kUnderWay = 30;
  constexpr std::uint64_t kUnits = 600;
  for (std::uint64_t i = 1; i <= kUnits; ++i) {
    three.submit("unit");
    if (i > kUnderWay) {
      three.decided(kOne, 1 + i - kUnderWay, unit_head(kThree, i - kUnderWay), "unit");
    }
    three.vote(kOne, round, 1);
    three.vote(kTwo, round, 1);
    three.run(milliseconds(10));
  }
  EXPECT_EQ(three.counter("quorum_originated"), kUnits - kUnderWay);
  EXPECT_LT(three.counter("quorum_resent"), kUnits / 3);
}

// A header is written in front of a unit's bytes, without a copy of the bytes. A proposal may still
// be in flight when the unit is sent to the next coordinator, so the proposal's header must not be
// overwritten.
TEST(PaxosSubmit, WhatIsProposedIsNotWrittenOverForTheNextCoordinator) {
  Bench one(kOne);
  one.keep_packets();
  const Round round = one.lead();
  one.submit("a");
  const BufferRef proposed = one.last(PaxosKind::propose)->packet;
  const Bytes before(proposed.view().begin(), proposed.view().end());
  wire::State leads;
  leads.round = leads.voted_round = {round.count + 1, kTwo};
  leads.leading = leads.joined = true;
  leads.voted_upto = leads.oldest = leads.view = 1;
  leads.next = 2;
  one.state(kTwo, leads);
  ASSERT_EQ(one.count(PaxosKind::submit), 1U);
  EXPECT_EQ(one.last(PaxosKind::submit)->to, kTwo.node);
  EXPECT_FALSE(one.last(PaxosKind::submit)->packet.shares_slab_with(proposed));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), proposed.view().begin()));
}

/// Submits 400 units to node 1, the coordinator. Nodes 2 and 3 vote for its proposals, but node 3
/// consumes nothing. Returns the number of units that node 1 proposes. `asks`: nodes 2 and 3 report
/// that they request lost values.
std::uint64_t proposed_ahead_of_the_slowest(bool asks) {
  Options options;
  options.max_gap = 64;
  options.checkpoint_every = 64;
  Bench one(kOne, options);
  const Round round = one.lead();
  for (int i = 0; i < 20; ++i) {
    for (int unit = 0; unit < 20; ++unit) one.submit("u");
    one.run(milliseconds(1));
    one.sync();
    const Instance all = one.last_state().voted_upto;
    wire::State said;
    said.round = said.voted_round = round;
    said.joined = true;
    said.first_list = first_nodes().first;
    said.voted_upto = all;
    said.view = 1;
    said.asks = asks;
    said.next = all + 1;
    one.state(kTwo, said);
    said.next = 2;
    one.state(kThree, said);
    one.run(milliseconds(10));
  }
  return one.proposed(wire::ValueKind::unit);
}

TEST(PaxosSubmit, ACoordinatorIsNoFurtherAheadOfTheSlowestThanTheHistory) {
  EXPECT_EQ(proposed_ahead_of_the_slowest(false), 64U);
  EXPECT_EQ(proposed_ahead_of_the_slowest(true), 64U) << "its own window knows of loss";
}

}  // namespace
}  // namespace peal::order::paxos::test
