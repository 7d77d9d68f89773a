// SPDX-License-Identifier: Apache-2.0
// One log for the acceptors of several ensembles. Each acceptor reads back its own records, and the
// log drops no record that an acceptor needs.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "order/ridge/shared_log.h"
#include "paxos_bench.h"

namespace peal::order::ridge {
namespace {

using paxos::test::MemoryLog;

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

struct SharedReader final : port::LogReader {
  void on_record(LogPosition position, ByteView record) override {
    std::string text;
    for (const std::byte b : record) text += static_cast<char>(b);
    read.push_back(std::to_string(position.value) + text);
  }
  std::vector<std::string> read;
};

std::vector<std::string> replayed(port::Log& log) {
  SharedReader reader;
  EXPECT_TRUE(log.replay(reader).has_value());
  return reader.read;
}

using Records = std::vector<std::string>;

TEST(RidgeSharedLog, EachAcceptorReadsItsOwnRecordsWithPositionsOfTheOneLog) {
  MemoryLog log;
  {
    SharedLog shared(log, {0, 1, 2});
    ASSERT_TRUE(shared.replay());
    EXPECT_EQ(shared.of(0).append(bytes_of("a"))->value, 1U);
    EXPECT_EQ(shared.of(2).append(bytes_of("b"))->value, 2U);
    EXPECT_EQ(shared.of(0).append(bytes_of("c"))->value, 3U);
    EXPECT_EQ(shared.of(1).last().value, 3U);
    EXPECT_EQ(shared.of(1).durable().value, 0U);
    log.sync();
    EXPECT_EQ(shared.of(2).durable().value, 3U) << "one sync is for all";
  }
  SharedLog again(log, {0, 1, 2});
  ASSERT_TRUE(again.replay());
  EXPECT_EQ(replayed(again.of(0)), (Records{"1a", "3c"}));
  EXPECT_EQ(replayed(again.of(1)), Records{});
  EXPECT_EQ(replayed(again.of(2)), Records{"2b"});
}

TEST(RidgeSharedLog, TheBeginningStaysUntilNoAcceptorNeedsIt) {
  MemoryLog log;
  SharedLog shared(log, {0, 1});
  ASSERT_TRUE(shared.replay());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(shared.of(static_cast<std::size_t>(i % 2)).append(bytes_of("x")).has_value());
  }
  // The first acceptor needs nothing before its checkpoint; the second has made no checkpoint.
  ASSERT_TRUE(shared.of(0).checkpoint(bytes_of("C"), {5}).has_value());
  log.sync();
  EXPECT_EQ(log.kept(), 5U);
  ASSERT_TRUE(shared.of(1).checkpoint(bytes_of("D"), {4}).has_value());
  log.sync();
  EXPECT_EQ(log.kept(), 3U) << "from position 4 on";
  SharedLog again(log, {0, 1});
  ASSERT_TRUE(again.replay());
  EXPECT_EQ(replayed(again.of(0)), Records{"5C"});
  EXPECT_EQ(replayed(again.of(1)), (Records{"4x", "6D"}));
}

TEST(RidgeSharedLog, ACheckpointThatIsRefusedLetsGoOfNothing) {
  MemoryLog log;
  SharedLog shared(log, {0, 1});
  ASSERT_TRUE(shared.replay());
  ASSERT_TRUE(shared.of(0).append(bytes_of("x")).has_value());
  ASSERT_TRUE(shared.of(1).append(bytes_of("y")).has_value());
  log.set_checkpoints_full(true);
  EXPECT_FALSE(shared.of(0).checkpoint(bytes_of("C"), {3}).has_value());
  log.set_checkpoints_full(false);
  ASSERT_TRUE(shared.of(1).checkpoint(bytes_of("D"), {3}).has_value());
  log.sync();
  EXPECT_EQ(log.kept(), 3U) << "the first still needs its record";
}

TEST(RidgeSharedLog, ALogOfMoreAcceptorsOrOfNoneIsRefused) {
  MemoryLog log;
  {
    SharedLog shared(log, {0, 1, 2});
    ASSERT_TRUE(shared.replay());
    ASSERT_TRUE(shared.of(2).append(bytes_of("b")).has_value());
    log.sync();
  }
  SharedLog two(log, {0, 1});
  EXPECT_FALSE(two.replay());
  MemoryLog empty;
  ASSERT_TRUE(empty.append({}).has_value());
  SharedLog of_empty(empty, {0, 1});
  EXPECT_FALSE(of_empty.replay());
}

TEST(RidgeSharedLog, AFailureIsEverybodys) {
  MemoryLog log;
  SharedLog shared(log, {0, 1});
  ASSERT_TRUE(shared.replay());
  EXPECT_FALSE(shared.of(1).failure().has_value());
  log.fail();
  EXPECT_TRUE(shared.of(0).failure().has_value());
  EXPECT_TRUE(shared.of(1).failure().has_value());
}

}  // namespace
}  // namespace peal::order::ridge
