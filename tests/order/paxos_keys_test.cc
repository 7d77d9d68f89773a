// SPDX-License-Identifier: Apache-2.0
// The keys of values, by which the orders of several ensembles are merged: how keys are computed,
// and that checkpoints and records on disk keep them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "order/paxos/order_state.h"
#include "order/paxos/records.h"
#include "paxos_bench.h"
#include "wire/packet.h"

namespace peal::order::paxos::test {
namespace {

using Outcome = OrderState::Outcome;

OrderState behind_key(std::uint64_t key) {
  wire::Checkpoint beginning;
  beginning.next = 1;
  beginning.key = key;
  return OrderState(beginning);
}

wire::ValueHead nothing_head() { return {wire::ValueKind::nothing, Service::agreed, 0, kOne, 0}; }

/// The key of an empty value with timestamp `stamp`, after a value with key `before`.
std::uint64_t key_behind(std::uint64_t before, std::uint64_t stamp) {
  OrderState state = behind_key(before);
  EXPECT_EQ(state.apply(nothing_head(), {}, stamp), Outcome::ignored);
  return state.key();
}

TEST(PaxosKeys, AreWhatValuesSayAndAscend) {
  EXPECT_EQ(key_behind(0, 0), 1U);
  EXPECT_EQ(key_behind(0, 1), 1U);
  EXPECT_EQ(key_behind(7, 0), 8U);
  EXPECT_EQ(key_behind(7, 7), 8U);
  EXPECT_EQ(key_behind(7, 8), 8U);
  EXPECT_EQ(key_behind(7, 9), 9U);
  EXPECT_EQ(key_behind(7, 1'000'000), 1'000'000U);
}

// A timestamp above kStampMax does not become a key. Otherwise no key could follow it, but the
// merge relies on ascending keys.
TEST(PaxosKeys, AscendWhateverAStampClaims) {
  EXPECT_EQ(key_behind(7, wire::kStampMax), wire::kStampMax);
  EXPECT_EQ(key_behind(7, wire::kStampMax + 1), 8U);
  EXPECT_EQ(key_behind(7, wire::kCounterMax), 8U);
  EXPECT_EQ(key_behind(wire::kStampMax, wire::kCounterMax), wire::kStampMax + 1);
  EXPECT_EQ(key_behind(wire::kKeyMax, wire::kCounterMax), wire::kKeyMax + 1);
}

TEST(PaxosKeys, ValuesOfEachKindHaveOneWhetherTheyCountOrNot) {
  OrderState state = behind_key(10);
  ASSERT_EQ(state.apply(view_head(kOne, 1), view_bytes({{kOne, 0}}), 100), Outcome::view);
  EXPECT_EQ(state.key(), 100U);
  ASSERT_EQ(state.apply(unit_head(kOne, 1), {}, 200), Outcome::unit);
  EXPECT_EQ(state.key(), 200U);
  ASSERT_EQ(state.apply(unit_head(kOne, 1), {}, 300), Outcome::ignored);
  EXPECT_EQ(state.key(), 300U);
  ASSERT_EQ(state.apply(view_head(kTwo, 1), view_bytes({{kTwo, 0}}), 50), Outcome::ignored);
  EXPECT_EQ(state.key(), 301U);
}

TEST(PaxosKeys, WhoBeginsWithACheckpointHasTheKeyOfTheValueBefore) {
  OrderState first = behind_key(0);
  ASSERT_EQ(first.apply(nothing_head(), {}, 500), Outcome::ignored);
  EXPECT_EQ(first.checkpoint().key, 500U);
  OrderState second(first.checkpoint());
  for (OrderState* each : {&first, &second}) {
    ASSERT_EQ(each->apply(nothing_head(), {}, 3), Outcome::ignored);
    EXPECT_EQ(each->key(), 501U);
  }
}

TEST(PaxosKeys, AreAPartOfWhatTellsStatesApart) {
  const auto digest_of = [](std::uint64_t key) {
    Digest digest;
    behind_key(key).add_to(digest);
    return digest.value();
  };
  EXPECT_EQ(digest_of(7), digest_of(7));
  EXPECT_NE(digest_of(7), digest_of(8));
}

Record checkpoint_record(std::uint64_t key) {
  Record record;
  record.kind = Record::Kind::checkpoint;
  record.instance = 1;
  record.state.next = 9;
  record.state.key = key;
  record.state.nodes = {0, 1, 1, {kOne.node}, {kOne.node}};
  return record;
}

TEST(PaxosKeys, RecordsOfCheckpointsKeepThem) {
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, wire::kKeyMax}) {
    std::vector<std::byte> bytes;
    write_record(checkpoint_record(key), bytes);
    Record read;
    ASSERT_TRUE(read_record(bytes, read));
    EXPECT_EQ(read.state.key, key);
    EXPECT_EQ(read.state, checkpoint_record(key).state);
  }
  for (const std::uint64_t key : {wire::kKeyMax + 1, ~std::uint64_t{0}}) {
    std::vector<std::byte> bytes;
    write_record(checkpoint_record(key), bytes);
    Record read;
    EXPECT_FALSE(read_record(bytes, read)) << key;
  }
}

TEST(PaxosKeys, RecordsOfVotesAndDecisionsKeepThem) {
  for (const Record::Kind kind : {Record::Kind::vote, Record::Kind::decided}) {
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, wire::kKeyMax}) {
      Record record;
      record.kind = kind;
      record.round = {3, kTwo};
      record.instance = 9;
      record.head = nothing_head();
      record.head.number = key;
      std::vector<std::byte> bytes;
      write_record(record, bytes);
      Record read;
      ASSERT_TRUE(read_record(bytes, read));
      EXPECT_EQ(read.head, record.head);
    }
  }
}

/// A record has space for a checkpoint with the largest list and the largest view.
TEST(PaxosKeys, TheLargestCheckpointFitsARecord) {
  Record record = checkpoint_record(wire::kKeyMax);
  record.round = {3, kTwo};
  record.state.nodes.all.clear();
  record.state.nodes.acceptors.clear();
  for (std::uint32_t node = 1; node <= wire::kMembersMax; ++node) {
    record.state.nodes.all.push_back({node});
    record.state.nodes.acceptors.push_back({node});
    record.state.members.push_back({{{node}, 1}, 0});
  }
  record.state.numbers.assign(wire::kMembersMax, 7);
  record.state.view = {1, kOne};
  std::vector<std::byte> bytes;
  write_record(record, bytes);
  Record read;
  ASSERT_TRUE(read_record(bytes, read));
  EXPECT_EQ(read.state, record.state);
}

}  // namespace
}  // namespace peal::order::paxos::test
