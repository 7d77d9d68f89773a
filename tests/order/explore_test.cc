// SPDX-License-Identifier: Apache-2.0
#include "explore.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/hooks.h"
#include "explore_run.h"
#include "order/paxos/acceptor.h"

namespace peal::order::test {
namespace {

using sim_hooks::Mutant;

void print(const std::string& name, const Explored& found) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%s: %llu states, %llu transitions%s\n", name.c_str(), number(found.states),
              number(found.transitions), found.closed ? ", closed" : "");
  std::printf("  %llu states of nodes, %llu of learners, %llu futures compared\n",
              number(found.node_states), number(found.learner_states), number(found.audited));
  for (const std::string& line : found.story) std::printf("  %s\n", line.c_str());
  if (!found.violation.empty()) std::printf("  => %s\n", found.violation.c_str());
}

/// The search explores all states within the limits, and finds no violation.
void expect_closed(const std::string& name, const Limits& limits) {
  const Explored found = explore(limits);
  print(name, found);
  EXPECT_TRUE(found.closed);
  EXPECT_EQ(found.violation, "");
  EXPECT_GT(found.audited, 0U);
}

/// Explores with a deliberate fault (mutant). The search must find a violation within the limits.
Explored expect_found(Mutant mutant, const Limits& limits) {
  sim_hooks::activate_mutant(mutant);
  const Explored found = explore(limits);
  sim_hooks::activate_mutant(Mutant::none);
  print(std::string(sim_hooks::mutant_name(mutant)), found);
  EXPECT_NE(found.violation, "");
  return found;
}

/// If both coordinators submit a unit, there are millions of states, and only ./dev soak explores
/// them.
Limits with_few_values(Limits limits) {
  if (std::getenv("PEAL_EXPLORE_MORE") == nullptr) limits.units = {1, 0, 0};
  return limits;
}

Limits round_each() {
  Limits limits;
  limits.slow_disk = {true, true, true};
  return limits;
}

Limits round_again() {
  Limits limits;
  limits.rounds = {2, 1, 0};
  return limits;
}

Limits crash_of(std::size_t index) {
  Limits limits;
  limits.crashes_max = limits.crashes[index] = 1;
  limits.slow_disk[index] = true;
  return limits;
}

// ---- the engine without faults ----

TEST(Explore, OneRoundOfEachCoordinator) { expect_closed("a round of each", round_each()); }

TEST(Explore, ACoordinatorComesBack) {
  expect_closed("a round again", with_few_values(round_again()));
}

TEST(Explore, TwoInstances) {
  Limits limits;
  limits.units = {2, 1, 0};
  expect_closed("two instances", limits);
}

TEST(Explore, CoordinatorsAreGivenUnitsOfOthers) {
  Limits limits;
  limits.submits = true;
  expect_closed("units for others", limits);
}

TEST(Explore, ACoordinatorThatConsumesWhatWasDecided) {
  for (const std::size_t learns : {0U, 1U}) {
    Limits limits;
    limits.units = {1, 0, 0};
    limits.learns[learns] = true;
    expect_closed("n" + std::to_string(learns + 1) + " learns", limits);
  }
}

TEST(Explore, WhoConsumesWhatWasDecidedCrashes) {
  Limits limits = crash_of(1);
  limits.slow_disk = {};
  limits.units = {1, 0, 0};
  limits.learns[1] = true;
  expect_closed("n2 learns and crashes", limits);
}

TEST(Explore, ACoordinatorThatIsAnAcceptorCrashes) {
  expect_closed("n1 crashes", with_few_values(crash_of(0)));
}

TEST(Explore, AnAcceptorCrashes) {
  Limits limits = crash_of(2);
  limits.units = {1, 0, 0};
  expect_closed("n3 crashes", limits);
}

/// Node 3 crashes once and returns with an empty disk; then a list may name its new log.
Limits disk_lost() {
  Limits limits = crash_of(2);
  limits.crash_loses_disk = true;
  limits.units = {1, 0, 0};
  return limits;
}

TEST(Explore, AnAcceptorLosesItsDisk) {
  expect_closed("n3 loses its disk", disk_lost());
  Limits limits = disk_lost();
  limits.slow_disk = {};
  limits.rounds = {1, 0, 0};
  limits.learns = {true, false, true};
  expect_closed("n3 loses its disk, and is taken in", limits);
}

TEST(Explore, SaysWhenTheLimitsAreTooWide) {
  Limits limits = round_each();
  limits.states_max = 1'000;
  EXPECT_FALSE(explore(limits).closed);
}

// ---- deliberate faults ----

TEST(ExploreMutants, PromiseBeforeDisk) {
  expect_found(Mutant::px_promise_before_disk, crash_of(2));
}
TEST(ExploreMutants, VoteBeforeDisk) { expect_found(Mutant::px_vote_before_disk, round_each()); }
TEST(ExploreMutants, AmnesiacVotes) { expect_found(Mutant::px_amnesiac_votes, disk_lost()); }
TEST(ExploreMutants, OldRoundAccepted) {
  expect_found(Mutant::px_old_round_accepted, round_each());
}
TEST(ExploreMutants, PromisesOneShort) {
  expect_found(Mutant::px_promises_one_short, round_each());
}
TEST(ExploreMutants, LowestVoteWins) { expect_found(Mutant::px_lowest_vote_wins, round_again()); }
TEST(ExploreMutants, RecoveredDropped) { expect_found(Mutant::px_recovered_dropped, round_each()); }
TEST(ExploreMutants, MinorityDecides) { expect_found(Mutant::px_minority_decides, round_each()); }
TEST(ExploreMutants, RoundsMixed) { expect_found(Mutant::px_rounds_mixed, round_each()); }
TEST(ExploreMutants, AnyValueDecided) { expect_found(Mutant::px_any_value_decided, round_each()); }

// A vote must also be a promise. Otherwise a decided value could be lost: acceptors a and b promise
// round 1, and then round 2. Acceptors a and c vote for value v in round 2, so v is decided. A late
// proposal of value w in round 1 reaches c. Because c has sent no promise, it votes for w, and this
// vote replaces its vote for v. Then a coordinator that takes over with promises of b and c learns
// only of w.
TEST(ExploreMutants, VoteWithoutPromise) {
  expect_found(Mutant::px_vote_without_promise, round_each());
}

/// Acceptor c in the scenario of ExploreMutants.VoteWithoutPromise.
class LateProposal : public testing::Test {
 protected:
  static constexpr paxos::Round kFirst{1, {NodeId{1}, 1}};
  static constexpr paxos::Round kSecond{2, {NodeId{2}, 1}};

  LateProposal() {
    paxos::Record record;
    record.kind = paxos::Record::Kind::checkpoint;
    record.state.next = 1;
    record.state.nodes = {0, 1, 1, {{1}, {2}, {3}}, {{1}, {2}, {3}}, {}};
    std::vector<std::byte> bytes;
    paxos::write_record(record, bytes);
    EXPECT_TRUE(log_.append(bytes).has_value());
    log_.sync();
  }

  void vote_in_the_second() {
    ASSERT_TRUE(c_.replay(pool_, store_, kept_, state_));
    ASSERT_TRUE(c_.accept(kSecond, 1));
    paxos::Slot* slot = store_.make(1);
    slot->heard_round = kSecond;
    slot->heard.head.origin = kSecond.coordinator;
    ASSERT_EQ(c_.vote(store_), 1U);
    log_.sync();
    ASSERT_TRUE(c_.on_durable());
  }

  MemoryLog log_;
  BufferPool pool_{512, 8};
  paxos::Store store_{16, 1U << 16};
  paxos::KeptWords kept_{1U << 16};
  paxos::OrderState state_;
  paxos::Acceptor c_{log_};
};

TEST_F(LateProposal, IsRefusedByWhoVotedInALaterRound) {
  vote_in_the_second();
  EXPECT_EQ(c_.promised(), kSecond);
  EXPECT_FALSE(c_.accept(kFirst, 1));
  EXPECT_FALSE(c_.prepare(kFirst));

  paxos::Store store{16, 1U << 16};
  paxos::Acceptor restarted(log_);
  ASSERT_TRUE(restarted.replay(pool_, store, kept_, state_));
  EXPECT_EQ(restarted.promised(), kSecond);
  EXPECT_FALSE(restarted.accept(kFirst, 1));
  EXPECT_FALSE(restarted.prepare(kFirst));
}

TEST_F(LateProposal, IsTakenIfAVoteIsNoPromise) {
  sim_hooks::activate_mutant(Mutant::px_vote_without_promise);
  vote_in_the_second();
  EXPECT_TRUE(c_.accept(kFirst, 1));
  sim_hooks::activate_mutant(Mutant::none);
}

}  // namespace
}  // namespace peal::order::test
