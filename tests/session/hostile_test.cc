// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "daemon.h"

namespace peal::session::test {
namespace {

using Bytes = std::vector<std::byte>;

template <class... Record>
void add(Bytes& to, const Record&... record) {
  append(to, record...);
}

/// The records of a legal client: hello, joins, leaves, sends, questions, sometimes goodbye.
Bytes legal_talk(Random& random) {
  Bytes talk;
  wire::Hello hello;
  hello.name = "hostile";
  hello.keep_ms = 1'000;
  add(talk, hello);
  std::uint64_t number = 0;
  for (std::uint64_t i = 5 + random.below(20); i > 0; --i) {
    const std::string group = "h" + std::to_string(random.below(3));
    switch (random.below(6)) {
      case 0: add(talk, wire::JoinRequest{7, group, {}}); break;
      case 1: add(talk, wire::LeaveRequest{8, group}); break;
      case 2: add(talk, wire::AskRequest{9, "status"}); break;
      case 3: add(talk, wire::RecordKind::ping, wire::Acked{i}); break;
      default: {
        wire::SendRequest send;
        send.number = ++number;
        send.targets.push_back(group);
        send.payload = as_bytes_view("payload");
        add(talk, send);
      }
    }
  }
  if (random.chance(0.3)) add(talk, wire::RecordKind::goodbye);
  return talk;
}

void damage(Random& random, Bytes& talk) {
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    const std::size_t at = random.below(talk.size());
    switch (random.below(4)) {
      case 0: talk[at] = static_cast<std::byte>(random.below(256)); break;
      case 1: talk.resize(at + 1); break;
      case 2:
        talk.insert(talk.begin() + static_cast<std::ptrdiff_t>(at),
                    static_cast<std::byte>(random.below(256)));
        break;
      default: talk.erase(talk.begin() + static_cast<std::ptrdiff_t>(at)); break;
    }
    if (talk.empty()) talk.push_back(std::byte{0});
  }
}

/// A hostile client may send any bytes. A good client still sends and receives all its messages,
/// and no memory stays in use.
TEST(Hostile, WhateverOneClientSaysTheOthersGoOn) {
  Random random(4711);
  Daemon daemon;
  Client good(daemon, "good");
  good.connect();
  good.join("g");
  daemon.run();
  good.take();
  std::uint64_t sent = 0, got = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes talk = legal_talk(random);
    damage(random, talk);
    const ConnectionId id = daemon.connect(user(9, "eve"));
    std::size_t at = 0;
    while (at < talk.size()) {
      const std::size_t part = std::min<std::size_t>(1 + random.below(60), talk.size() - at);
      daemon.write(id, ByteView(talk).subspan(at, part));
      at += part;
      if (random.chance(0.2)) daemon.run();
    }
    if (round % 10 == 0) {
      good.send("g", std::to_string(++sent));
      daemon.run();
      for (const std::string& text : good.take()) {
        if (text.rfind("message g: ", 0) != 0) continue;
        ++got;
        ASSERT_EQ(std::stoull(text.substr(11)), got);
      }
      ASSERT_EQ(got, sent);
    }
    daemon.cut(id);
    daemon.pass(milliseconds(1'100));
  }
  daemon.run();
  good.take();
  daemon.run();
  EXPECT_EQ(good.acked, sent);
  EXPECT_EQ(daemon.sessions->sessions(), 1U);
  EXPECT_EQ(daemon.sessions->connections(), 1U);
  const auto& counters = daemon.sessions->counters();
  EXPECT_GT(counters.bad_records, 1'000U);
  EXPECT_GT(counters.messages, 10'000U);
  const Status status = daemon.sessions->status(daemon.now);
  EXPECT_EQ(status.memory_bytes, 0U);
  EXPECT_EQ(status.input_bytes, 0U);
  EXPECT_EQ(daemon.sessions->groups().clients(), 1U);
}

std::string answer(const Bytes& said, bool welcome = true) {
  Daemon daemon;
  Client x(daemon, "x");
  if (welcome) {
    x.connect();
  } else {
    x.connection = daemon.connect(user(1, "ann"));
  }
  daemon.run();
  x.take();
  x.bytes(said);
  daemon.run();
  const auto told = x.take();
  return told.empty() ? "" : told.back();
}

TEST(Hostile, BadRecordsEndTheSessionWithTheirReason) {
  Bytes first;
  add(first, wire::RecordKind::ping, wire::Acked{1});
  EXPECT_EQ(answer(first, false), "closing bad_record");
  Bytes version;
  wire::Hello hello;
  add(version, hello);
  EXPECT_EQ(answer(version), "closing bad_record") << "a second hello";
  version[wire::kRecordHeaderBytes] = std::byte{9};
  EXPECT_EQ(answer(version, false), "closing bad_version");
  Bytes long_hello(4);
  store(ByteSpan(long_hello), wire::kHelloLengthMax + 1);
  EXPECT_EQ(answer(long_hello, false), "closing bad_record");
  Bytes long_record(4);
  store(ByteSpan(long_record), std::uint32_t{1U << 21});
  EXPECT_EQ(answer(long_record), "closing bad_record");
  Bytes of_daemon;
  add(of_daemon, wire::RecordKind::acked, wire::Acked{1});
  EXPECT_EQ(answer(of_daemon), "closing bad_record");
  Bytes number;
  wire::SendRequest send;
  send.number = 2;
  send.targets.push_back("g");
  add(number, send);
  EXPECT_EQ(answer(number), "closing bad_record") << "a number was left out";
  Bytes after;
  send.number = 1;
  add(after, send);
  add(after, wire::RecordKind::goodbye);
  add(after, wire::RecordKind::ping, wire::Acked{1});
  EXPECT_EQ(answer(after), "closing bad_record") << "after the goodbye";
}

TEST(Hostile, UnfinishedRecordsAreBoundedInSumAndInTime) {
  Options few = options();
  few.input_bytes_max = few.message_bytes_max + wire::kRequestLengthMax;
  Daemon daemon(few);
  std::vector<std::unique_ptr<Client>> all;
  Bytes begun(100);
  store(ByteSpan(begun), std::uint32_t{700'000});
  begun[4] = static_cast<std::byte>(wire::RecordKind::send);
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<Client>(daemon, "c" + std::to_string(i)));
    all.back()->connect();
    all.back()->bytes(begun);
  }
  daemon.run();
  EXPECT_LE(daemon.sessions->status(daemon.now).input_bytes, few.input_bytes_max);
  EXPECT_GE(daemon.sessions->status(daemon.now).input_bytes, 700'000U);
  // Clients that make no progress are closed one after the other. Then the good client gets its
  // turn.
  Client good(daemon, "good");
  good.connect();
  good.send("g", std::string(700'000, 'p'));
  for (int i = 0; i < 30; ++i) daemon.pass(seconds(25));
  daemon.run();
  good.take();
  EXPECT_EQ(good.acked, 1U);
  EXPECT_EQ(daemon.sessions->status(daemon.now).input_bytes, 0U);
  daemon.sessions->check_invariants();
}

/// The first 100 bytes of a send record whose length is `bytes`.
Bytes begin_of(std::uint32_t bytes) {
  Bytes begun(100);
  store(ByteSpan(begun), bytes);
  begun[4] = static_cast<std::byte>(wire::RecordKind::send);
  return begun;
}

/// Sends a message in two parts, as a network may, so that the daemon needs a buffer for it.
void send_in_parts(Client& from, std::size_t bytes) {
  wire::SendRequest send;
  send.number = ++from.number;
  send.targets.push_back("g");
  const std::string payload(bytes, 'p');
  send.payload = as_bytes_view(payload);
  Bytes record;
  append(record, send);
  from.bytes(ByteView(record).first(7'000));
  from.bytes(ByteView(record).subspan(7'000));
}

/// The input buffers have space for one and a half messages of the maximum size.
Options little_input() {
  Options few = options();
  few.input_bytes_max = few.message_bytes_max + few.message_bytes_max / 2;
  return few;
}

TEST(Hostile, WhoHoldsAllRoomForLargeRecordsHoldsUpNoSmallOnes) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter"), small(daemon, "small");
  for (Client* each : {&holder, &waiter, &small}) each->connect();
  holder.bytes(begin_of(1'000'000));
  waiter.bytes(begin_of(1'000'000));
  send_in_parts(small, 10'000);
  daemon.run();
  small.take();
  EXPECT_EQ(small.acked, 1U);
  EXPECT_TRUE(daemon.pipe(waiter.connection).paused);
}

TEST(Hostile, RoomForARecordHasToBeUsedWhileOthersWaitForIt) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter"), late(daemon, "late");
  for (Client* each : {&holder, &waiter, &late}) each->connect();
  holder.bytes(begin_of(1'000'000));
  daemon.pass(seconds(9));
  send_in_parts(waiter, 900'000);
  send_in_parts(late, 400'000);
  daemon.run();
  late.take();
  EXPECT_EQ(late.acked, 0U) << "it would fit, but another was there before";
  EXPECT_FALSE(daemon.pipe(holder.connection).closed);
  daemon.pass(seconds(2));
  daemon.run();
  EXPECT_TRUE(daemon.pipe(holder.connection).closed);
  for (Client* each : {&waiter, &late}) each->take();
  EXPECT_EQ(waiter.acked, 1U);
  EXPECT_EQ(late.acked, 1U);
}

TEST(Hostile, WhoWaitsForRoomForARecordGoesOnWaitingWhenTheNodeHasRoom) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter");
  for (Client* each : {&holder, &waiter}) each->connect();
  holder.bytes(begin_of(1'000'000));
  send_in_parts(waiter, 900'000);
  daemon.sessions->on_room(daemon.now);
  daemon.run();
  EXPECT_TRUE(daemon.pipe(waiter.connection).paused);
  daemon.cut(holder.connection);
  daemon.run();
  waiter.take();
  EXPECT_EQ(waiter.acked, 1U);
}

TEST(Hostile, WhoseSessionEndsWhileItWaitsForRoomHoldsNobodyUp) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter"), late(daemon, "late");
  for (Client* each : {&holder, &waiter, &late}) each->connect();
  holder.bytes(begin_of(1'000'000));
  send_in_parts(waiter, 900'000);
  send_in_parts(late, 400'000);  // the record would fit, but `waiter` came before
  daemon.run();
  ASSERT_TRUE(daemon.pipe(late.connection).paused);
  ASSERT_TRUE(daemon.sessions->evict(daemon.now, "#waiter#n"));
  daemon.run();
  EXPECT_TRUE(daemon.pipe(waiter.connection).closed);
  late.take();
  EXPECT_EQ(late.acked, 1U);
}

TEST(Hostile, ARemoteClientThatFallsSilentInALargeRecordIsClosedAsAnyOther) {
  Daemon daemon(little_input());
  Identity remote = user(1, "ann");
  remote.local = false;
  Client holder(daemon, "holder", 60'000, remote);
  holder.connect();
  holder.bytes(begin_of(1'000'000));
  daemon.pass(seconds(14));
  EXPECT_FALSE(daemon.pipe(holder.connection).closed);
  daemon.pass(seconds(2));
  EXPECT_TRUE(daemon.pipe(holder.connection).closed);
}

TEST(Hostile, ALargeRecordAloneMayTakeItsTime) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder");
  holder.connect();
  holder.bytes(begin_of(1'000'000));
  daemon.pass(seconds(24));
  EXPECT_FALSE(daemon.pipe(holder.connection).closed);
  daemon.pass(seconds(2));
  EXPECT_TRUE(daemon.pipe(holder.connection).closed);
}

TEST(Hostile, WhoReadsNoRepliesHoldsNoRoomForLong) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter");
  holder.connect();
  waiter.connect();
  daemon.run();
  daemon.let_read(holder.connection, false);
  Bytes pings;
  for (std::uint64_t i = 0; i < 5'100; ++i) {
    append(pings, wire::RecordKind::ping, wire::Acked{i});
  }
  holder.bytes(ByteView(pings).first(5'042 * 13));  // as many replies as may wait
  Bytes large = begin_of(1'000'000);
  large.resize(1'000'004);
  holder.bytes(ByteView(large).first(500));
  holder.bytes(ByteView(large).subspan(500));
  ASSERT_GT(daemon.sessions->status(daemon.now).input_bytes, 900'000U);
  send_in_parts(waiter, 900'000);
  daemon.run();
  daemon.pass(seconds(12));
  daemon.run();
  waiter.take();
  EXPECT_EQ(waiter.acked, 1U);
  EXPECT_EQ(daemon.sessions->status(daemon.now).input_bytes, 0U);
}

/// Fills the space for unread replies, then sends a record of a million bytes whose second part
/// takes `time` to arrive.
void send_behind_replies(Daemon& daemon, Client& from, Duration time) {
  daemon.let_read(from.connection, false);
  Bytes pings;
  for (std::uint64_t i = 0; i < 5'042; ++i) {
    append(pings, wire::RecordKind::ping, wire::Acked{i});
  }
  from.bytes(pings);
  Bytes large = begin_of(1'000'000);
  large.resize(1'000'004);
  from.bytes(ByteView(large).first(500));
  daemon.pass(time);
  from.bytes(ByteView(large).subspan(500));
}

TEST(Hostile, RepliesBeforeALargeRecordHaveToBeReadSoonFromWhenItIsComplete) {
  Daemon daemon(little_input());
  Client holder(daemon, "holder"), waiter(daemon, "waiter");
  for (Client* each : {&holder, &waiter}) each->connect();
  daemon.run();
  send_behind_replies(daemon, holder, seconds(9));
  send_in_parts(waiter, 900'000);
  daemon.run();
  daemon.pass(seconds(8));
  EXPECT_FALSE(daemon.pipe(waiter.connection).closed);
  EXPECT_EQ(daemon.sessions->status(daemon.now, "#holder").sessions.at(0).connected, true);
  daemon.pass(seconds(4));
  daemon.run();
  EXPECT_EQ(daemon.sessions->status(daemon.now, "#holder").sessions.at(0).connected, false);
  waiter.take();
  EXPECT_EQ(waiter.acked, 1U);
}

TEST(Hostile, RepliesBeforeALargeRecordMayWaitForTheNetworkIfNobodyElseWaits) {
  Daemon daemon(little_input());
  Identity remote = user(1, "ann");
  remote.local = false;
  Client holder(daemon, "holder", 60'000, remote);
  holder.connect();
  daemon.run();
  send_behind_replies(daemon, holder, seconds(1));
  daemon.pass(seconds(20));  // a client that the daemon reads may not be silent for so long
  EXPECT_EQ(daemon.sessions->status(daemon.now).sessions.at(0).connected, true);
  daemon.pass(seconds(6));
  EXPECT_EQ(daemon.sessions->status(daemon.now).sessions.at(0).connected, false);
}

TEST(Hostile, AnswersThatAreNeverReadToTheEndDoNotPileUp) {
  Daemon daemon;
  Client client(daemon, "a");
  client.connect();
  daemon.run();
  daemon.let_read(client.connection, false);
  std::vector<std::byte> pings;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    append(pings, wire::RecordKind::ping, wire::Acked{i});
  }
  for (int i = 0; i < 100; ++i) {
    daemon.sessions->received(daemon.now, client.connection, pings);
    std::size_t bytes = 0;
    for (const ByteView piece : daemon.sessions->output(client.connection)) bytes += piece.size();
    ASSERT_GT(bytes, 13U);
    daemon.sessions->written(daemon.now, client.connection, bytes - 13);
    daemon.sessions->check_invariants();  // few of the written bytes are kept
  }
}

// Many replies wait unread. Then the client reads all but a few of their bytes at once.
TEST(Hostile, OfManyAnswersThatAreReadAtOnceLittleIsKept) {
  Daemon daemon;
  Client client(daemon, "a");
  client.connect();
  daemon.run();
  daemon.let_read(client.connection, false);
  for (int round = 0; round < 3; ++round) {
    Bytes pings;
    for (std::uint64_t i = 0; i < 5'100; ++i) {
      append(pings, wire::RecordKind::ping, wire::Acked{i});
    }
    daemon.sessions->received(daemon.now, client.connection, pings);
    std::size_t bytes = 0;
    for (const ByteView piece : daemon.sessions->output(client.connection)) bytes += piece.size();
    ASSERT_GT(bytes, 65'536U);
    daemon.sessions->written(daemon.now, client.connection, bytes - 7);
    daemon.sessions->check_invariants();
    daemon.sessions->written(daemon.now, client.connection, 0);
    std::size_t left = 0;
    for (const ByteView piece : daemon.sessions->output(client.connection)) left += piece.size();
    EXPECT_EQ(left, 7U);
    daemon.sessions->written(daemon.now, client.connection, 7);
    daemon.pump();
  }
}

TEST(Hostile, AThousandSilentConnectionsTakeNothingFromAGoodOne) {
  Daemon daemon;
  for (int i = 0; i < 1'000; ++i) daemon.connect(user(9, "eve"));
  Client good(daemon, "good");
  good.connect();
  good.join("g");
  good.send("g", "hello");
  daemon.run();
  EXPECT_EQ(good.take_events().size(), 2U);
  daemon.pass(seconds(7));
  EXPECT_EQ(daemon.sessions->connections(), 1U);
}

}  // namespace
}  // namespace peal::session::test
