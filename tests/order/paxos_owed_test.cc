// SPDX-License-Identifier: Apache-2.0
// The values that are retained for excluded members, in a log of their own.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "order/paxos/left_out.h"
#include "order/paxos/owed_records.h"
#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;

constexpr std::uint32_t kOwedBytes = 100;
constexpr std::array<std::uint8_t, 2> kParts{0, 3};
constexpr std::uint64_t kOrder = 7;
/// The memory that a range of `values` values occupies.
constexpr std::uint64_t range_bytes(std::uint64_t values) {
  return values * (kOwedBytes + sizeof(OwedRange::Kept));
}

/// A store of consumed instances, the values that are retained for excluded members, and the log of
/// these values.
struct OwedNode {
  BufferPool pool{1'024, 16};
  Store store{8, 40 * kOwedBytes};
  MemoryLog log;
  std::uint64_t bytes_max;
  std::unique_ptr<LeftOut> owed;

  explicit OwedNode(std::uint64_t max = 1U << 20) : bytes_max(max) {
    store.begin(1);
    restart();
  }
  void order(Instance upto) {
    while (store.next() <= upto) {
      put(store, pool, store.next(), kOwedBytes);
      store.consume();
    }
  }
  void keep(const MemberId& member, Instance first, Instance last, std::uint8_t part = 0) {
    order(last);
    owed->keep({part, kOrder}, {member}, first, store);
  }
  /// Writes all retained values to the log, as the engine does, and makes them durable.
  void sync() {
    for (int i = 0; i < 1'000 && (!owed->durable() || log.durable() < log.last() || i < 2); ++i) {
      owed->write();
      log.sync();
    }
    owed->write();
  }
  /// The process crashes and loses the records that are not durable. Returns whether the restart
  /// could read the log.
  bool restart() {
    log.crash();
    owed = std::make_unique<LeftOut>(bytes_max, &log);
    return owed->restore(kParts);
  }
  /// How many of the instances `first` to `last` are retained.
  std::uint64_t has(Instance first, Instance last, std::uint8_t part = 0,
                    std::uint64_t order = kOrder) const {
    std::uint64_t count = 0;
    for (Instance k = first; k <= last; ++k) {
      const auto value = owed->decided({part, order}, k);
      if (!value) continue;
      EXPECT_EQ(value->head.number, k);
      EXPECT_EQ(value->bytes.size(), kOwedBytes);
      EXPECT_EQ(value->bytes.back(), static_cast<std::byte>(k));
      ++count;
    }
    return count;
  }
  /// The member reports that it has consumed all instances.
  void has_all(const MemberId& member) {
    Peers peers = three_peers();
    peers.start(Instant{});
    peers.note(Instant{}, *peers.find(member.node), member);
    wire::State state;
    state.next = 1U << 20;
    peers.note_state(*peers.find(member.node), state);
    for (const std::uint8_t part : kParts) owed->look({part, kOrder}, peers);
  }
};

TEST(PaxosOwed, SurvivesARestart) {
  OwedNode node;
  node.keep(kTwo, 15, 20);
  EXPECT_FALSE(node.owed->durable());
  node.owed->write();
  EXPECT_FALSE(node.owed->durable()) << "not before it is on disk";
  node.sync();
  EXPECT_TRUE(node.owed->durable());
  node.order(200);
  node.keep(kTwo, 180, 200, 3);
  node.sync();
  ASSERT_TRUE(node.restart());
  EXPECT_TRUE(node.owed->durable());
  EXPECT_EQ(node.has(1, 300), 6U);
  EXPECT_EQ(node.has(1, 300, 3), 21U);
  const WithMutant active(Mutant::px_owed_not_found);
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 0U) << "the mutant is noticed";
}

// If only the log of votes is lost, retained values may be of an order that is over.
TEST(PaxosOwed, OfAnotherOrderIsToldToNobody) {
  OwedNode node;
  node.keep(kTwo, 15, 20);
  node.sync();
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300, 0, kOrder + 1), 0U);
  EXPECT_EQ(node.has(1, 300, 0, 0), 0U) << "no order is known yet";
  EXPECT_EQ(node.has(1, 300), 6U);
  Peers peers = three_peers();
  peers.start(Instant{});
  node.owed->look({3, kOrder + 1}, peers);
  EXPECT_EQ(node.has(1, 300), 6U) << "each ensemble has its order";
  node.owed->look({0, kOrder + 1}, peers);
  EXPECT_EQ(node.has(1, 300), 0U);
  EXPECT_EQ(node.owed->dropped(), 0U) << "nobody lacks it";
  node.sync();
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 0U);
  // Now values of two orders are retained for node 2. Some instances have the same numbers.
  node.keep(kTwo, 18, 23);
  node.owed->keep({0, kOrder + 1}, {kTwo}, 20, node.store);
  EXPECT_EQ(node.has(1, 300), 6U);
  EXPECT_EQ(node.has(1, 300, 0, kOrder + 1), 4U);
  const WithMutant active(Mutant::px_owed_of_any_order);
  EXPECT_EQ(node.has(1, 300, 0, kOrder + 2), 6U) << "the mutant is noticed";
}

TEST(PaxosOwed, IsWrittenAsTheLogTakesIt) {
  OwedNode node;
  node.log.set_room(4);
  node.keep(kTwo, 15, 30);
  node.owed->write();
  node.log.sync();
  node.owed->write();
  node.log.sync();
  node.owed->write();  // none of these records becomes durable
  EXPECT_FALSE(node.owed->durable());
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 7U) << "a beginning: 8 records, one of them the head";
  // After a restart, the node consumes the view again, and again retains the values up to it.
  node.keep(kTwo, 15, 30);
  node.sync();
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 16U);
}

TEST(PaxosOwed, GoesOnForTheSameMembersAfterARestart) {
  OwedNode node;
  node.keep(kTwo, 15, 20);
  node.sync();
  ASSERT_TRUE(node.restart());
  node.keep(kTwo, 18, 30);
  node.sync();
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 16U);
}

TEST(PaxosOwed, ForgetsNothingBeforeItsMembersWereHeard) {
  OwedNode node;
  node.keep(kTwo, 15, 20);
  node.sync();
  ASSERT_TRUE(node.restart());
  Peers peers = three_peers();
  peers.start(Instant{});
  node.owed->look({0, kOrder}, peers);
  EXPECT_EQ(node.has(15, 20), 6U);
  node.has_all(kTwo);
  EXPECT_EQ(node.has(15, 20), 0U);
}

TEST(PaxosOwed, WhatNobodyNeedsIsGoneFromTheLog) {
  OwedNode node;
  node.keep(kTwo, 15, 30);
  node.sync();
  EXPECT_GT(node.log.kept(), 16U);
  node.has_all(kTwo);
  node.sync();
  EXPECT_LE(node.log.kept(), 1U) << "that there is nothing";
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 300), 0U);
}

TEST(PaxosOwed, ARangeBehindWhichManyCameAndWentIsWrittenAgain) {
  OwedNode node(range_bytes(40));
  node.keep(kTwo, 15, 20);
  node.sync();
  std::size_t most = 0;
  for (Instance upto = 50; upto <= 3'000; upto += 20) {
    node.keep(kThree, upto - 19, upto);
    node.sync();
    node.has_all(kThree);
    node.sync();
    most = std::max(most, node.log.kept());
  }
  EXPECT_LT(most, 200U) << "of 3,000 values that came and went";
  const LogPosition last = node.log.last();
  for (int i = 0; i < 3; ++i) node.sync();
  EXPECT_EQ(node.log.last(), last) << "there is nothing more to write";
  EXPECT_EQ(node.has(15, 20), 6U);
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 3'100), 6U);
  EXPECT_EQ(node.owed->dropped(), 0U);
}

TEST(PaxosOwed, ACrashAnywhereWhileARangeIsWrittenAgainLosesNothing) {
  for (std::size_t room = 1; room < 12; ++room) {
    OwedNode node(range_bytes(40));
    node.keep(kTwo, 15, 20);
    node.sync();
    for (Instance upto = 50; upto <= 1'000; upto += 20) {
      node.keep(kThree, upto - 19, upto);
      node.sync();
      node.has_all(kThree);
      node.log.set_room(room);
      node.owed->write();
      node.log.sync();
      node.owed->write();
      ASSERT_TRUE(node.restart());
      ASSERT_EQ(node.has(15, 20), 6U) << room << ", " << upto;
      node.log.set_room(1U << 20);
    }
  }
}

TEST(PaxosOwed, OneBudgetIsForAllParts) {
  OwedNode node(range_bytes(25));
  node.keep(kTwo, 1, 10, 3);
  node.keep(kThree, 11, 20, 0);
  node.sync();
  EXPECT_EQ(node.has(1, 20, 3) + node.has(1, 20, 0), 20U);
  EXPECT_TRUE(node.owed->take_dropped().empty());
  node.keep(kThree, 30, 39, 0);
  node.sync();
  EXPECT_EQ(node.has(1, 40, 3), 0U) << "the oldest goes, whichever part it is of";
  EXPECT_EQ(node.has(1, 40, 0), 20U);
  const auto dropped = node.owed->take_dropped();
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].member, kTwo);
  EXPECT_EQ(dropped[0].instances, 10U);
  EXPECT_TRUE(node.owed->take_dropped().empty()) << "each is told once";
  EXPECT_EQ(node.owed->dropped(), 10U);
  EXPECT_LE(node.owed->bytes(), node.bytes_max);
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 40, 3), 0U);
  EXPECT_EQ(node.has(1, 40, 0), 20U);
  // If the limit is lower after a restart, the node keeps the values that fit.
  node.bytes_max = range_bytes(12);
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 40, 0), 10U);
  EXPECT_LE(node.owed->bytes(), node.bytes_max);
  EXPECT_EQ(node.owed->take_dropped().size(), 1U);
}

TEST(PaxosOwed, WhatNeverFitsIsSaidToo) {
  OwedNode node(range_bytes(5));
  node.keep(kTwo, 1, 10);
  EXPECT_EQ(node.has(1, 10), 0U);
  const auto dropped = node.owed->take_dropped();
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].instances, 10U);
  EXPECT_TRUE(node.owed->durable()) << "nothing waits for it";
}

TEST(PaxosOwed, RoomIsMadeForAsMuchAsMayBeKept) {
  OwedRanges ranges(1'000);
  EXPECT_TRUE(ranges.make_room(1'000));
  EXPECT_FALSE(ranges.make_room(1'001));
  OwedRange range;
  range.id = ranges.new_id();
  ranges.push(std::move(range));
  OwedRange& only = ranges.all().front();
  const Bytes most(1'000 - sizeof(OwedRange::Kept));
  EXPECT_TRUE(ranges.grow(only, unit_head(kOne, 1), most));
  EXPECT_EQ(ranges.bytes(), ranges.bytes_max());
  EXPECT_TRUE(ranges.make_room(0));
  EXPECT_EQ(ranges.all().size(), 1U) << "it fits as it is";
  EXPECT_FALSE(ranges.grow(only, unit_head(kOne, 2), {}));
  EXPECT_TRUE(ranges.all().empty());
}

TEST(PaxosOwed, ALogThatIsFullDropsTheOldest) {
  OwedNode node;
  node.keep(kTwo, 1, 10);
  node.sync();
  node.log.set_full(true);
  node.keep(kThree, 11, 20);
  node.owed->write();
  EXPECT_EQ(node.has(1, 10), 0U);
  EXPECT_EQ(node.has(11, 20), 10U) << "the log is about to have room";
  ASSERT_EQ(node.owed->take_dropped().size(), 1U);
  node.log.sync();
  node.log.set_full(false);
  node.sync();
  EXPECT_TRUE(node.owed->durable());
  ASSERT_TRUE(node.restart());
  EXPECT_EQ(node.has(1, 20), 10U);
}

TEST(PaxosOwed, AFullLogHoldsNobodyUpForEver) {
  OwedNode node;
  node.keep(kTwo, 1, 10);
  node.log.set_full(true);
  node.sync();
  EXPECT_TRUE(node.owed->durable()) << "there is nothing left to wait for";
  EXPECT_EQ(node.owed->dropped(), 10U);
}

TEST(PaxosOwed, ALogThatFailsSaysSo) {
  OwedNode node;
  node.keep(kTwo, 1, 10);
  EXPECT_FALSE(node.owed->failed());
  node.log.fail();
  node.owed->write();
  EXPECT_TRUE(node.owed->failed());
  EXPECT_FALSE(node.owed->durable());
  EXPECT_EQ(node.has(1, 10), 10U);
}

// ---- logs with any content ----

/// True if restore() accepts a log of these records.
bool restores(const std::vector<Bytes>& records) {
  MemoryLog log;
  for (const Bytes& record : records) EXPECT_TRUE(log.append(record, {}));
  log.sync();
  LeftOut owed(1U << 20, &log);
  return owed.restore(kParts);
}

Bytes head_of(std::uint64_t id, std::uint8_t part, Instance first, MemberSet members = {kTwo}) {
  OwedRecord record;
  record.kind = OwedRecord::Kind::head;
  record.id = id;
  record.part = {part, kOrder};
  record.instance = first;
  record.members = std::move(members);
  Bytes bytes;
  write_owed_head(record, bytes);
  return bytes;
}

Bytes value_of(std::uint64_t id, Instance instance) {
  OwedRecord record;
  record.kind = OwedRecord::Kind::value;
  record.id = id;
  record.instance = instance;
  record.head = unit_head(kOne, instance);
  Bytes bytes;
  write_owed_head(record, bytes);
  bytes.resize(bytes.size() + 10);
  return bytes;
}

Bytes only_of(std::vector<std::uint64_t> ids) {
  OwedRecord record;
  record.kind = OwedRecord::Kind::checkpoint;
  record.ids = std::move(ids);
  Bytes bytes;
  write_owed_head(record, bytes);
  return bytes;
}

TEST(PaxosOwedRecords, OfAnotherReleaseAreRefused) {
  EXPECT_TRUE(restores({}));
  EXPECT_TRUE(restores({head_of(1, 0, 5), value_of(1, 5), value_of(1, 6), only_of({1})}));
  EXPECT_TRUE(restores({value_of(1, 6), only_of({2}), head_of(2, 3, 9)}))
      << "the head of 1 was let go of";
  EXPECT_TRUE(restores(
      {head_of(1, 0, 5), value_of(1, 5), head_of(1, 0, 5), value_of(1, 5), value_of(1, 6)}))
      << "a newer copy";
  EXPECT_FALSE(restores({head_of(1, 0, 5), value_of(1, 6)})) << "a gap";
  EXPECT_FALSE(restores({head_of(1, 0, 5), value_of(1, 4)}));
  EXPECT_FALSE(restores({head_of(1, 1, 5)})) << "of an ensemble that this node does not learn";
  EXPECT_FALSE(restores({head_of(1, 0, 5), head_of(1, 0, 6)})) << "an id that is used twice";
  EXPECT_FALSE(restores({head_of(1, 0, 5), head_of(1, 0, 5, {kThree})}));
  EXPECT_FALSE(restores({head_of(1, 0, 5, {kThree, kTwo})})) << "not sorted";
  EXPECT_FALSE(restores({head_of(1, 0, 5, {})})) << "for nobody";
  EXPECT_FALSE(restores({head_of(0, 0, 5)}));
  EXPECT_FALSE(restores({head_of(1, 0, 0)}));
  EXPECT_FALSE(restores({only_of({2, 1})}));
  EXPECT_FALSE(restores({only_of({0})}));
  EXPECT_FALSE(restores({Bytes{}}));
  EXPECT_FALSE(restores({bytes_of("what is this")}));
}

TEST(PaxosOwedRecords, CutOrChangedTheyDoNoHarm) {
  for (const Bytes& good : {head_of(1, 0, 5, {kTwo, kThree}), value_of(1, 5), only_of({1, 7})}) {
    OwedRecord record;
    ASSERT_TRUE(read_owed(good, record));
    const std::size_t fixed =
        record.kind == OwedRecord::Kind::value ? good.size() - 10 : good.size();
    for (std::size_t size = 0; size < fixed; ++size) {
      EXPECT_FALSE(read_owed(ByteView(good).first(size), record)) << size;
    }
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Bytes changed = good;
      changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      // restore() may accept or refuse the changed record, but must not crash.
      restores({head_of(1, 0, 5, {kTwo, kThree}), changed, value_of(1, 6)});
    }
  }
}

// ---- the engine ----

struct WithoutThree {
  Options options;
  Bench one;
  Round round;

  explicit WithoutThree(MemberId self = kOne) : options(small()), one(self, options) {}
  static Options small() {
    Options options;
    options.history_bytes_max = 1U << 16;
    options.checkpoint_every = 8;
    options.max_gap = 64;
    return options;
  }
  /// Instances 2 to 11 are units of view 1. Instance 12 is view 2 without node 3, which has
  /// consumed none of these instances.
  void begin() {
    one.start();
    round = one.join(kTwo);
    one.vote(kThree, round, 1, 2);
    for (Instance k = 2; k <= 11; ++k) order(k, 1);
    one.propose_view(kTwo, round.count, 12, 2, {{kOne, 1}, {kTwo, 1}});
    decide(12);
  }
  void order(Instance k, std::uint64_t view) {
    const std::uint64_t number = view == 1 ? k - 1 : k - 12;
    one.propose(kTwo, round.count, k, unit_head(kTwo, number, view), std::string(1'000, 'v'));
    decide(k);
  }
  void decide(Instance k) {
    one.disk.sync();
    one.engine->on_durable(one.now, one);
    one.vote(kTwo, round, k, k);
  }
  /// Instances `from` to `upto` are units of view 2. The history is too small for many of them.
  void go_on(Instance from, Instance upto) {
    for (Instance k = from; k <= upto; ++k) {
      order(k, 2);
      if (k % 4 == 0) one.sync();
    }
  }
  bool answers(Instance k) {
    one.sent.clear();
    one.repeat(kTwo, k, 1);
    return one.count(wire::PaxosKind::decided) == 1;
  }
};

TEST(PaxosOwedEngine, AnswersAfterARestartWhatWasOwedBefore) {
  const auto answers = [] {
    WithoutThree each;
    each.begin();
    each.go_on(13, 200);
    EXPECT_TRUE(each.answers(2));
    each.one.restart();
    each.one.state(kTwo, {});
    return each.answers(2) && each.answers(12);
  };
  EXPECT_TRUE(answers());
  for (const Mutant each : {Mutant::px_owed_not_kept, Mutant::px_owed_not_found}) {
    const WithMutant active(each);
    EXPECT_FALSE(answers()) << "the mutant is noticed";
  }
}

TEST(PaxosOwedEngine, TheLogOfVotesKeepsWhatIsNotWrittenElsewhere) {
  WithoutThree each;
  each.begin();
  const std::size_t before = each.one.disk.kept();
  for (Instance k = 13; k <= 40; ++k) each.order(k, 2);
  EXPECT_GT(each.one.disk.kept(), before + 27) << "no checkpoint lets go of anything";
  each.one.restart();
  each.one.state(kTwo, {});
  EXPECT_TRUE(each.answers(2)) << "all of it is read back";
}

// Another ensemble excluded a member that has not reported its progress to this ensemble. The
// member may lack values of this ensemble, so the node retains values for it.
TEST(PaxosOwedEngine, KeepsForOneThatHasNotSaidWhereItIs) {
  for (const bool said_nothing : {true, false}) {
    Bench one(kOne);
    one.start();
    const Round round = one.join(kTwo);
    one.decided(kTwo, 2, unit_head(kTwo, 1), "a");
    const MemberId again{kThree.node, kThree.epoch + 1};
    if (said_nothing) {
      one.repeat(again, 1, 1);
    } else {
      one.vote(again, round, 1, 3);
    }
    one.ensemble().keep_for(std::array{again});
    one.sync();
    one.run(milliseconds(1));
    EXPECT_EQ(one.owed.kept() > 0, said_nothing) << "one that has all is owed nothing";
  }
}

/// The merger of several ensembles. The other ensembles need no values of the tested ensemble.
class OtherEnsembles final : public Merger {
 public:
  void on_key(std::uint64_t /*key*/, bool /*nothing*/) override {}
  void on_left_out() override {}
  void on_excluded(std::span<const MemberId> /*members*/) override { ahead = true; }
  bool exclusions_ahead() const override { return ahead; }
  bool needs_all() const override { return false; }
  std::uint64_t merged() const override { return 0; }
  bool has_room() const override { return true; }
  void on_pass_wanted(std::uint64_t /*key*/) override {}
  std::vector<NodeList> parts(const NodeList& /*list*/) const override { return {}; }
  bool in_company_of_all(NodeId /*node*/) const override { return true; }
  bool fit_for_all() const override { return true; }
  bool disk_hangs() const override { return false; }

  bool ahead = false;
};

// The checkpoint waits until the merged order has reached the view that excludes a member.
// Otherwise a restarted node would not consume this view again.
TEST(PaxosOwedEngine, ACheckpointWaitsForTheOrderOfAllEnsembles) {
  const auto found_after = [](Instance upto, bool merged) {
    OtherEnsembles others;
    WithoutThree each;
    each.one.merge(others);
    each.begin();
    EXPECT_TRUE(others.ahead);
    others.ahead = !merged;
    each.go_on(13, upto);
    each.one.restart();
    each.one.run(milliseconds(20));
    return each.one.last_state().next;
  };
  EXPECT_LE(found_after(60, false), 12U);
  EXPECT_GT(found_after(60, true), 40U);
  EXPECT_GT(found_after(200, false), 40U) << "but not for ever";
  const WithMutant active(Mutant::px_owed_unmerged);
  EXPECT_GT(found_after(60, false), 40U) << "the mutant is noticed";
}

TEST(PaxosOwedEngine, TellsNobodyWhatWasOwedInAnotherOrder) {
  const auto answers = [] {
    WithoutThree each;
    EXPECT_TRUE(each.one.owed.append(head_of(1, 0, 4, {kThree}), {}));
    EXPECT_TRUE(each.one.owed.append(value_of(1, 4), {}));
    EXPECT_TRUE(each.one.owed.append(value_of(1, 5), {}));
    each.one.owed.sync();
    each.one.start();
    each.round = each.one.join(kTwo);
    for (Instance k = 2; k <= 5; ++k) {
      each.one.propose(kTwo, each.round.count, k, unit_head(kTwo, k - 1), "not decided");
    }
    return each.answers(5);
  };
  EXPECT_FALSE(answers());
  const WithMutant active(Mutant::px_owed_of_any_order);
  EXPECT_TRUE(answers()) << "the mutant is noticed";
}

TEST(PaxosOwedEngine, ADiskThatFailsEndsIt) {
  WithoutThree each;
  each.begin();
  each.one.owed.fail();
  each.one.engine->on_durable(each.one.now, each.one);
  ASSERT_FALSE(each.one.log.empty());
  EXPECT_EQ(each.one.log.back(), "fatal");
}

TEST(PaxosOwedEngine, RefusesALogThatItDidNotWrite) {
  Bench one(kOne);
  EXPECT_TRUE(one.owed.append(bytes_of("no record"), {}));
  one.owed.sync();
  one.start();
  EXPECT_EQ(one.told(), "fatal");
}

}  // namespace
}  // namespace peal::order::paxos::test
