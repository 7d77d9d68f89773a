// SPDX-License-Identifier: Apache-2.0
// Single parts of the engine on quorums: the state of the order, its history, records on disk, and
// the knowledge about other nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "order/paxos/options.h"
#include "order/paxos/order_state.h"
#include "order/paxos/peers.h"
#include "order/paxos/records.h"
#include "order/paxos/store.h"
#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using Outcome = OrderState::Outcome;
using sim_hooks::Mutant;

OrderState in_view_one() {
  wire::Checkpoint beginning;
  beginning.next = 1;
  OrderState state(beginning);
  EXPECT_EQ(state.apply(view_head(kOne, 1), view_bytes({{kOne, 0}, {kTwo, 0}})), Outcome::view);
  return state;
}

// ---- OrderState: R-2, E6, R-30 ----

TEST(PaxosOrderState, AUnitHasOnePlaceHoweverOftenItIsDecided) {
  OrderState state = in_view_one();
  EXPECT_EQ(state.apply(unit_head(kOne, 1), {}), Outcome::unit);
  EXPECT_EQ(state.apply(unit_head(kOne, 1), {}), Outcome::ignored);
  EXPECT_EQ(state.apply(unit_head(kTwo, 1), {}), Outcome::unit);
  EXPECT_EQ(state.units_of(0), 1U);
  EXPECT_EQ(state.next(), 5U);
}

TEST(PaxosOrderState, AUnitThatComesBeforeOthersOfItsSenderHasNoPlace) {
  OrderState state = in_view_one();
  EXPECT_EQ(state.apply(unit_head(kOne, 2), {}), Outcome::ignored);
  EXPECT_EQ(state.apply(unit_head(kOne, 1), {}), Outcome::unit);
  EXPECT_EQ(state.apply(unit_head(kOne, 2), {}), Outcome::unit);
}

TEST(PaxosOrderState, AUnitOfAnotherViewHasNoPlace) {
  OrderState state = in_view_one();
  ASSERT_EQ(state.apply(view_head(kTwo, 2), view_bytes({{kOne, 1}, {kTwo, 1}})), Outcome::view);
  EXPECT_EQ(state.apply(unit_head(kOne, 1, 1), {}), Outcome::ignored);
  EXPECT_EQ(state.apply(unit_head(kOne, 1, 3), {}), Outcome::ignored);
  EXPECT_EQ(state.apply(unit_head(kOne, 1, 2), {}), Outcome::unit);
}

TEST(PaxosOrderState, OnlyMembersHavePlaces) {
  OrderState state = in_view_one();
  EXPECT_EQ(state.apply(unit_head(kThree, 1), {}), Outcome::ignored);
  EXPECT_EQ(state.apply(unit_head({kOne.node, kOne.epoch + 1}, 1), {}), Outcome::ignored);
}

TEST(PaxosOrderState, OfTwoViewsWithOneNumberTheFirstCounts) {
  OrderState state = in_view_one();
  EXPECT_EQ(state.apply(view_head(kTwo, 1), view_bytes({{kTwo, 0}})), Outcome::ignored);
  EXPECT_EQ(state.apply(view_head(kTwo, 3), view_bytes({{kTwo, 0}})), Outcome::ignored);
  EXPECT_EQ(state.view(), (ViewId{1, kOne}));
  EXPECT_TRUE(state.has(kOne));
}

TEST(PaxosOrderState, AViewThatCannotBeReadIsNothing) {
  OrderState state = in_view_one();
  EXPECT_EQ(state.apply(view_head(kTwo, 2), bytes_of("no members")), Outcome::ignored);
  EXPECT_EQ(state.view().number, 1U);
}

TEST(PaxosOrderState, WhoBeginsWithACheckpointKnowsWhatHasHadItsPlace) {
  OrderState first = in_view_one();
  ASSERT_EQ(first.apply(unit_head(kOne, 1), {}), Outcome::unit);
  OrderState second(first.checkpoint());
  EXPECT_EQ(second.apply(unit_head(kOne, 1), {}), Outcome::ignored);
  EXPECT_EQ(second.apply(unit_head(kOne, 2), {}), Outcome::unit);
}

// Acceptors vote in order, so the engine never decides a unit twice. Therefore no scenario can
// detect these mutants.
TEST(PaxosOrderState, MutantsAreNoticed) {
  {
    const WithMutant active(Mutant::px_twice);
    OrderState state = in_view_one();
    ASSERT_EQ(state.apply(unit_head(kOne, 1), {}), Outcome::unit);
    EXPECT_NE(state.apply(unit_head(kOne, 1), {}), Outcome::ignored);
  }
  const WithMutant active(Mutant::px_old_view_counts);
  OrderState state = in_view_one();
  EXPECT_NE(state.apply(unit_head(kOne, 1, 3), {}), Outcome::ignored);
}

// ---- Store ----

TEST(PaxosStore, TheHistoryForgetsTheOldestFirst) {
  BufferPool pool(1'024, 16);
  Store store(8, 10'000);
  store.begin(1);
  for (Instance k = 1; k <= 100; ++k) {
    put(store, pool, k, 1'000);
    store.consume();
    ASSERT_TRUE(store.decided(k)) << "the newest is always there";
    EXPECT_EQ(store.decided(k)->bytes[999], static_cast<std::byte>(k));
  }
  EXPECT_EQ(store.next(), 101U);
  EXPECT_GT(store.oldest(), 80U);
  EXPECT_LT(store.oldest(), 101U);
  EXPECT_FALSE(store.decided(store.oldest() - 1));
  for (Instance k = store.oldest(); k < store.next(); ++k) {
    ASSERT_TRUE(store.decided(k));
    EXPECT_EQ(store.decided(k)->head.number, k);
    EXPECT_EQ(store.decided(k)->bytes[0], static_cast<std::byte>(k));
  }
  EXPECT_EQ(pool.free_count(), 16U) << "the history holds no buffers";
}

// A node that is as far behind as the coordinator allows can still get all values that it lacks.
TEST(PaxosStore, TheHistoryHoldsWhatTheSlowestMemberLacks) {
  for (const std::uint32_t packet : {256U, 1'472U, 16'384U, 65'507U}) {
    Options options;
    options.packet_bytes_max = packet;
    options.history_bytes_max = 4U << 20;
    BufferPool pool(65'536, 4);
    Store store(8, options.history_bytes_max);
    store.begin(1);
    Random random(packet);
    const Instance rounds = 3 * options.history_bytes_max / packet;
    for (Instance k = 1; k <= rounds; ++k) {
      const bool full = random.chance(0.7);
      put(store, pool, k, full ? packet : 1 + static_cast<std::uint32_t>(random.below(packet)));
      store.consume();
      ASSERT_LE(store.oldest(), std::max(k + 1, 1 + gap_max(options)) - gap_max(options)) << packet;
    }
  }
}

TEST(PaxosStore, AMemberMayBeBehindByTheGapUnlessTheHistoryIsTooSmall) {
  Options options;
  EXPECT_EQ(gap_max(options), options.max_gap) << "with datagrams the history is no limit";
  options.packet_bytes_max = 65'507;
  EXPECT_EQ(gap_max(options), 1'020U);
  options.history_bytes_max = 1U << 16;
  EXPECT_EQ(gap_max(options), 1U) << "and there is always some room";
}

TEST(PaxosStore, SlotsAreBounded) {
  Store store(8, 10'000);
  store.begin(5);
  EXPECT_EQ(store.make(4), nullptr);
  EXPECT_EQ(store.make(13), nullptr);
  EXPECT_EQ(store.make(~0ULL), nullptr);
  ASSERT_NE(store.make(12), nullptr);
  EXPECT_EQ(store.end(), 13U);
  EXPECT_NE(store.find(6), nullptr) << "those in between are there";
  EXPECT_EQ(store.find(13), nullptr);
}

TEST(PaxosStore, OnlyDecidedSlotsAreGivenAway) {
  BufferPool pool(1'024, 16);
  Store store(8, 10'000);
  store.begin(1);
  put(store, pool, 1, 10);
  put(store, pool, 2, 10);
  store.make(3)->heard.head = unit_head(kOne, 3);
  EXPECT_TRUE(store.decided(2));
  EXPECT_FALSE(store.decided(3)) << "heard of, and voted for perhaps, but not decided";
  EXPECT_EQ(store.undecided(), 3U);
}

TEST(PaxosStore, SkippingKeepsWhatIsAhead) {
  BufferPool pool(1'024, 16);
  Store store(8, 10'000);
  store.begin(1);
  put(store, pool, 1, 10);
  store.consume();
  put(store, pool, 6, 10);
  store.skip_to(4);
  EXPECT_EQ(store.next(), 4U);
  EXPECT_EQ(store.oldest(), 4U) << "there is a gap behind it";
  EXPECT_FALSE(store.decided(1));
  ASSERT_TRUE(store.decided(6));
  store.skip_to(20);
  EXPECT_EQ(store.next(), 20U);
  EXPECT_EQ(store.end(), 20U);
}

// ---- records ----

std::vector<Record> one_of_each(const Bytes& text) {
  std::vector<Record> all(6);
  all[0].kind = Record::Kind::promise;
  all[0].round = {3, kTwo};
  all[1].kind = Record::Kind::vote;
  all[1].round = {3, kTwo};
  all[1].instance = 9;
  all[1].head = unit_head(kOne, 4);
  all[1].bytes = text;
  all[2].kind = Record::Kind::decided;
  all[2].instance = 9;
  all[2].head = unit_head(kOne, 4);
  all[2].bytes = text;
  all[3].kind = Record::Kind::checkpoint;
  all[3].round = {3, kTwo};
  all[3].instance = 1;
  all[3].state.next = 9;
  all[3].state.key = 11;
  all[3].state.nodes = first_nodes();
  all[3].state.nodes.number = 4;
  all[3].state.view = {1, kOne};
  all[3].state.members = {{kOne, 0}, {kTwo, 0}};
  all[3].state.numbers = {2, 3};
  all[3].kept = {{2, 5, false}, {5, 9, true}};
  all[5] = all[1];
  all[5].kind = Record::Kind::kept;
  all[4].kind = Record::Kind::taken;
  all[4].lives = {1, {kLog, kLog + 1, 7}};
  all[4].heard = {kOne, kTwo, kThree};
  return all;
}

TEST(PaxosRecords, AreReadAsTheyWereWritten) {
  const Bytes text = bytes_of("text");
  for (const Record& record : one_of_each(text)) {
    Bytes bytes;
    write_record(record, bytes);
    Record read;
    ASSERT_TRUE(read_record(bytes, read));
    EXPECT_EQ(read.kind, record.kind);
    EXPECT_EQ(read.round, record.round);
    EXPECT_EQ(read.instance, record.instance);
    EXPECT_EQ(read.state, record.state);
    EXPECT_EQ(read.kept, record.kept);
    EXPECT_EQ(read.lives, record.lives);
    EXPECT_EQ(read.heard, record.heard);
    EXPECT_EQ(as_text(read.bytes), as_text(record.bytes));
    if (record.instance == 9) {
      EXPECT_EQ(read.head, record.head);
    }
  }
}

TEST(PaxosRecords, WithoutTheirEndTheyAreRefusedOrHoldLessText) {
  const Bytes text = bytes_of("text");
  for (const Record& record : one_of_each(text)) {
    Bytes bytes;
    write_record(record, bytes);
    const bool has_text = !record.bytes.empty();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Record read;
      const bool whole = read_record(ByteView(bytes).first(size), read);
      // The bytes of a value are the rest of its record. If some of these bytes are missing, only
      // the log's own checksum detects it.
      EXPECT_EQ(whole, has_text && size + text.size() >= bytes.size())
          << static_cast<int>(record.kind) << " cut to " << size << " of " << bytes.size();
    }
    bytes.push_back(std::byte{0});
    Record read;
    EXPECT_EQ(read_record(bytes, read), has_text);
  }
}

TEST(PaxosRecords, OfUnknownKindsAreRefused) {
  Bytes bytes;
  write_record(one_of_each({})[0], bytes);
  for (unsigned kind = 0; kind < 256; ++kind) {
    bytes[0] = static_cast<std::byte>(kind);
    Record read;
    EXPECT_EQ(read_record(bytes, read), kind == 1) << kind;
  }
}

/// True if read_record() accepts the bytes that write_record() makes of this record.
bool is_read(const Record& record) {
  Bytes bytes;
  write_record(record, bytes);
  Record read;
  return read_record(bytes, read);
}

TEST(PaxosRecords, WhatNoReleaseWritesIsRefused) {
  const std::vector<Record> all = one_of_each({});
  const auto with = [](Record record, const auto& change) {
    change(record);
    return is_read(record);
  };
  const Record& decided = all[2];
  EXPECT_FALSE(with(decided, [](Record& r) { r.instance = 0; }));
  EXPECT_TRUE(with(decided, [](Record& r) { r.instance = 1; }));
  const Record& checkpoint = all[3];
  EXPECT_TRUE(with(checkpoint, [](Record& r) { r.instance = 9; })) << "all is history";
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.instance = 10; })) << "of what is to come";
  EXPECT_TRUE(with(checkpoint, [](Record& r) { r.kept = {{1, 2, false}}; }));
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.kept = {{0, 2, false}}; }));
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.kept = {{2, 2, false}}; }));
  EXPECT_TRUE(with(checkpoint, [](Record& r) { r.starts = {{7, {1}}, {3, {2}}}; }));
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.starts = {{7, {0}}}; }));
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.starts = {{7, {2}}, {8, {2}}}; }));
  EXPECT_FALSE(with(checkpoint, [](Record& r) { r.starts = {{0, {1}}}; }));
  const Record& taken = all[4];
  EXPECT_FALSE(with(taken, [](Record& r) { r.lives.list = 0; }));
  EXPECT_FALSE(with(taken, [](Record& r) { r.lives.lives[1] = 0; }));
  EXPECT_FALSE(with(taken, [](Record& r) { r.heard = {kOne, kThree, kTwo}; }));
  EXPECT_FALSE(with(taken, [](Record& r) { r.heard = {kOne, kTwo, kTwo}; }));
  EXPECT_FALSE(with(taken, [](Record& r) {
    r.lives.lives.clear();
    r.heard.clear();
  }));
  Record started;
  started.kind = Record::Kind::started;
  EXPECT_FALSE(is_read(started));
  started.epoch = 1;
  EXPECT_TRUE(is_read(started));
}

TEST(PaxosRecords, CountsHaveBounds) {
  Record taken;
  taken.kind = Record::Kind::taken;
  taken.lives.list = 1;
  for (std::uint32_t node = 1; node <= wire::kMembersMax; ++node) {
    taken.lives.lives.push_back(kLog);
    taken.heard.push_back({{node}, 1});
  }
  EXPECT_TRUE(is_read(taken));
  Bytes bytes;
  write_record(taken, bytes);
  // Appends one more node, and increments the number of nodes, which is after the kind and the
  // list.
  constexpr std::size_t kCountAt = 1 + 8;
  const std::size_t each = (bytes.size() - kCountAt - 2) / wire::kMembersMax;
  const Bytes last(bytes.end() - static_cast<std::ptrdiff_t>(each), bytes.end());
  bytes.insert(bytes.end(), last.begin(), last.end());
  bytes[bytes.size() - each + 8] ^= std::byte{0xff};  // another node, above all others
  const std::size_t count = wire::kMembersMax + 1;
  bytes[kCountAt] = static_cast<std::byte>(count & 0xff);
  bytes[kCountAt + 1] = static_cast<std::byte>(count >> 8);
  Record read;
  EXPECT_FALSE(read_record(bytes, read));
}

// ---- Peers ----

TEST(PaxosPeers, ANodeKnowsItselfInAListWithoutIt) {
  for (const std::uint32_t self : {1U, 2U, 9U}) {
    SCOPED_TRACE(self);
    const MemberId id{{self}, 100};
    Peers peers(id, kLog, Options{});
    peers.know({0, 1, 1, {{3}, {4}}, {{3}}}, {});
    EXPECT_EQ(peers.all().size(), 3U);
    EXPECT_EQ(peers.self().member, id);
    EXPECT_TRUE(peers.self().self);
    EXPECT_FALSE(peers.self().listed);
    EXPECT_EQ(peers.find({self}), &peers.self());
    peers.know({0, 1, 1, {{3}, {self}}, {{3}}}, {});
  }
}

// While nothing is decided in an order, only the acceptors that bootstrapped it show that it
// exists. forget_state() makes earlier reports of a node void.
TEST(PaxosPeers, TellOfAnOrderOnceTheyKnowWhereItStands) {
  Peers peers = three_peers();
  Peer& two = *peers.find(kTwo.node);
  ASSERT_TRUE(peers.note({}, two, kTwo));
  EXPECT_FALSE(tells_of_order(two)) << "it has said nothing";
  wire::State said;
  peers.note_state(two, said);
  EXPECT_FALSE(tells_of_order(two)) << "it knows none";
  said.next = 1;
  peers.note_state(two, said);
  EXPECT_TRUE(tells_of_order(two));
  two.named = false;
  EXPECT_FALSE(tells_of_order(two)) << "of a beginning acceptors alone";
  said.next = 2;
  peers.note_state(two, said);
  EXPECT_TRUE(tells_of_order(two));
  peers.refuse_state(two);
  EXPECT_FALSE(tells_of_order(two));
}

TEST(PaxosPeers, WhoIsSilentIsSuspectedAndGetsLongerNextTime) {
  const Options options;
  Peers peers = three_peers();
  Instant now{1'000};
  peers.start(now);
  Peer& two = *peers.find(kTwo.node);
  EXPECT_TRUE(two.suspected) << "nobody has heard of it yet";
  ASSERT_TRUE(peers.note(now, two, kTwo));
  Duration last = two.patience;
  EXPECT_EQ(last, options.suspect);
  for (int i = 0; i < 20; ++i) {
    peers.tick(now + last + nanoseconds(-1));
    EXPECT_FALSE(two.suspected);
    now = now + last;
    peers.tick(now);
    EXPECT_TRUE(two.suspected);
    ASSERT_TRUE(peers.note(now, two, kTwo));
    EXPECT_FALSE(two.suspected);
    EXPECT_GE(two.patience, last);
    last = two.patience;
  }
  EXPECT_EQ(last, options.suspect_max);
}

/// How long node 2 may be silent without being suspected, after ten wrong suspicions and then a
/// minute without any. `silence`: the time between node 2's heartbeats in this minute.
Duration patience_after_a_good_minute(Duration silence) {
  Peers peers = three_peers();
  Instant now{1'000};
  peers.start(now);
  Peer& two = *peers.find(kTwo.node);
  peers.note(now, two, kTwo);
  for (int i = 0; i < 10; ++i) {
    now = now + two.patience;
    peers.tick(now);
    EXPECT_TRUE(two.suspected);
    peers.note(now, two, kTwo);
  }
  EXPECT_EQ(two.patience, Options{}.suspect_max);
  for (const Instant end = now + seconds(60); now < end; now = now + silence) {
    peers.note(now, two, kTwo);
    peers.tick(now);
    EXPECT_FALSE(two.suspected);
  }
  return two.patience;
}

TEST(PaxosPeers, WhoWasSuspectedWronglyOnceIsNotWaitedForLongerForEver) {
  EXPECT_LT(patience_after_a_good_minute(milliseconds(10)), Options{}.suspect * 3);
  EXPECT_GE(patience_after_a_good_minute(milliseconds(400)), milliseconds(800));
}

/// How long node 2 may be silent without being suspected, after ever longer silences, each of which
/// was just too short for a suspicion.
Duration patience_after_near_misses() {
  Peers peers = three_peers();
  Instant now{1'000};
  peers.start(now);
  Peer& two = *peers.find(kTwo.node);
  peers.note(now, two, kTwo);
  for (int i = 0; i < 20; ++i) {
    now = now + two.patience + nanoseconds(-1);
    peers.tick(now);
    EXPECT_FALSE(two.suspected);
    peers.note(now, two, kTwo);
  }
  return two.patience;
}

TEST(PaxosPeers, SilencesThatEndInTimeDoNotMakeADeathCostSeconds) {
  EXPECT_LE(patience_after_near_misses(), Options{}.suspect * 4);
  const WithMutant active(Mutant::px_patience_grows);
  EXPECT_EQ(patience_after_near_misses(), Options{}.suspect_max) << "the mutant is noticed";
}

TEST(PaxosPeers, OneLongSilenceIsForgottenInSeconds) {
  const Options options;
  Peers peers = three_peers();
  Instant now{1'000};
  peers.start(now);
  Peer& two = *peers.find(kTwo.node);
  peers.note(now, two, kTwo);
  now = now + options.suspect * 9 / 10;
  peers.note(now, two, kTwo);
  EXPECT_EQ(two.patience, options.suspect * 9 / 5);
  const auto live = [&](Duration span) {
    for (const Instant end = now + span; now < end; now = now + options.heartbeat) {
      peers.note(now, two, kTwo);
      peers.tick(now);
    }
  };
  live(seconds(4));
  EXPECT_EQ(two.patience, options.suspect * 9 / 5) << "another may follow";
  live(seconds(8));
  EXPECT_EQ(two.patience, options.suspect);
}

// The patience shrinks slowly. If it shrank at once, the node would be suspected wrongly again.
TEST(PaxosPeers, ALongerPatienceShrinksBitByBit) {
  const Options options;
  Peers peers = three_peers();
  Instant now{1'000};
  peers.start(now);
  Peer& two = *peers.find(kTwo.node);
  peers.note(now, two, kTwo);
  while (two.patience < options.suspect_max) {
    now = now + two.patience;
    peers.tick(now);
    peers.note(now, two, kTwo);
  }
  Duration last = two.patience;
  int steps = 0;
  for (const Instant end = now + seconds(60); now < end; now = now + options.heartbeat) {
    peers.note(now, two, kTwo);
    peers.tick(now);
    if (two.patience == last) continue;
    EXPECT_GE(two.patience, last * 2 / 3);
    last = two.patience;
    ++steps;
    const Instant second = now + milliseconds(990);
    for (; now < second; now = now + options.heartbeat) {
      peers.note(now, two, kTwo);
      peers.tick(now);
      EXPECT_EQ(two.patience, last);
    }
  }
  EXPECT_GT(steps, 3);
  EXPECT_EQ(last, options.suspect);
}

/// How long a node takes to suspect another node that is silent for ever, if its own process runs
/// only for a moment in each `pause`.
Duration unnoticed_by_a_starved_process(Duration pause) {
  Peers peers = three_peers();
  const Instant begin{1'000};
  peers.start(begin);
  Peer& two = *peers.find(kTwo.node);
  peers.note(begin, two, kTwo);
  Instant now = begin;
  while (!two.suspected && now - begin < seconds(60)) {
    now = now + pause;
    peers.forgive(now, pause);
    peers.tick(now);
  }
  return now - begin;
}

TEST(PaxosPeers, PausesOneAfterTheOtherPutOffSuspicionOnce) {
  const Duration suspect = Options{}.suspect;
  const Duration pause = suspect / 2;
  EXPECT_LE(unnoticed_by_a_starved_process(pause), suspect + pause * 2);
  EXPECT_GE(unnoticed_by_a_starved_process(pause), suspect + pause);
  EXPECT_GE(unnoticed_by_a_starved_process(seconds(3)), seconds(6)) << "a long pause of all";
  const WithMutant active(Mutant::px_pauses_add_up);
  EXPECT_GE(unnoticed_by_a_starved_process(pause), seconds(60)) << "the mutant is noticed";
}

TEST(PaxosPeers, AnEarlierIncarnationIsNotListenedTo) {
  Peers peers = three_peers();
  Peer& two = *peers.find(kTwo.node);
  const MemberId later{kTwo.node, kTwo.epoch + 1};
  ASSERT_TRUE(peers.note({}, two, kTwo));
  wire::State said;
  said.next = 5;
  peers.note_state(two, said);
  ASSERT_TRUE(peers.note({}, two, later));
  EXPECT_FALSE(two.has_state) << "what the one before said is not the new one's word";
  EXPECT_EQ(two.state.next, 0U);
  EXPECT_FALSE(peers.note({}, two, kTwo));
  EXPECT_EQ(two.member, later);
}

TEST(PaxosPeers, OlderWordsOfOneIncarnationAreNotBelieved) {
  Peers peers = three_peers();
  Peer& two = *peers.find(kTwo.node);
  ASSERT_TRUE(peers.note({}, two, kTwo));
  wire::State said;
  said.round = said.voted_round = {2, kOne};
  said.voted_upto = 9;
  said.next = 5;
  peers.note_state(two, said);
  wire::State older = said;
  older.next = 4;
  older.voted_upto = 20;
  peers.note_state(two, older);
  EXPECT_EQ(two.state, said);
  older = said;
  older.voted_round = {1, kOne};
  older.voted_upto = 20;
  peers.note_state(two, older);
  EXPECT_EQ(two.state, said);
  older = said;
  older.voted_upto = 8;
  older.leaving = true;
  peers.note_state(two, older);
  EXPECT_EQ(two.state.voted_upto, 9U) << "votes in one round only grow";
  EXPECT_TRUE(two.state.leaving);
  peers.note_state(two, said);
  EXPECT_TRUE(two.state.leaving) << "a goodbye is not taken back";
}

TEST(PaxosPeers, ThatOneAskedForSomethingIsKnownUntilItIsLookedAt) {
  Peers peers = three_peers();
  Peer& two = *peers.find(kTwo.node);
  ASSERT_TRUE(peers.note({}, two, kTwo));
  wire::State said;
  said.next = 5;
  peers.note_state(two, said);
  EXPECT_FALSE(two.asked);
  said.asks = true;
  peers.note_state(two, said);
  said.asks = false;
  peers.note_state(two, said);
  EXPECT_TRUE(two.asked) << "what it said since does not take it back";
}

TEST(PaxosPeers, WhatACoordinatorSaysIsDecidedIsBelievedForTheRoundItVotedIn) {
  Peers peers = three_peers();
  Peer& two = *peers.find(kTwo.node);
  const wire::Round round{4, kTwo};
  peers.note_decided(round, 9);
  EXPECT_EQ(two.state.decided_upto, 0U) << "nothing was heard of it";
  ASSERT_TRUE(peers.note({}, two, kTwo));
  wire::State said;
  said.round = said.voted_round = round;
  said.voted_upto = 3;
  peers.note_state(two, said);
  peers.note_decided(round, 9);
  EXPECT_EQ(two.state.decided_upto, 9U);
  peers.note_decided(round, 8);
  EXPECT_EQ(two.state.decided_upto, 9U) << "it only grows";
  peers.note_decided({3, kTwo}, 12);
  peers.note_decided({4, {kTwo.node, kTwo.epoch + 1}}, 12);
  peers.note_decided({4, {{99}, 1}}, 12);
  peers.note_decided({4, kOne}, 12);
  EXPECT_EQ(two.state.decided_upto, 9U) << "of another round, another incarnation, nobody";
  EXPECT_EQ(peers.self().state.decided_upto, 0U) << "what is this node's own it knows";
}

TEST(PaxosPeers, WhoKnowsTheOrderCoordinatesBeforeWhoDoesNot) {
  Peers peers = three_peers();
  EXPECT_EQ(peers.candidate(0)->node, kOne.node);
  EXPECT_EQ(peers.live_acceptors(), 1U);
  Peer& three = *peers.find(kThree.node);
  ASSERT_TRUE(peers.note({}, three, kThree));
  EXPECT_EQ(peers.candidate(0)->node, kOne.node);
  wire::State said;
  said.next = 1;
  peers.note_state(three, said);
  EXPECT_EQ(peers.candidate(0)->node, kThree.node);
  EXPECT_TRUE(peers.anybody_knows());
  said.leaving = true;
  peers.note_state(three, said);
  EXPECT_EQ(peers.candidate(0)->node, kOne.node);
}

}  // namespace
}  // namespace peal::order::paxos::test
