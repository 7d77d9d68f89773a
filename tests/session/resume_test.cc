// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon.h"
#include "resume_talk.h"

namespace peal::session::test {
namespace {

/// The connection is cut after every possible byte, in each direction. The result is that of the
/// conversation without a cut.
TEST(Resume, IsTheSameWhereverTheConnectionIsCut) {
  const Talk whole = talk({});
  ASSERT_GT(whole.input_bytes, 300U);
  ASSERT_GT(whole.output_bytes, 800U);
  EXPECT_EQ(whole.cuts, 0U);
  for (std::size_t at = 0; at <= whole.input_bytes; ++at) {
    Cut cut;
    cut.input = at;
    const Talk other = talk(cut);
    EXPECT_EQ(other.cuts, at < whole.input_bytes ? 1U : other.cuts);
    ASSERT_TRUE(same(whole, other)) << "cut after " << at << " bytes of the client";
  }
  for (std::size_t at = 0; at <= whole.output_bytes; ++at) {
    Cut cut;
    cut.output = at;
    ASSERT_TRUE(same(whole, talk(cut))) << "cut after " << at << " bytes of the daemon";
  }
}

TEST(Resume, IsTheSameIfTheNewConnectionIsCutToo) {
  const Talk whole = talk({});
  for (const std::size_t first :
       {std::size_t{40}, whole.output_bytes / 2, whole.output_bytes - 9}) {
    for (std::size_t at = 0; at < 200; ++at) {
      Cut cut;
      cut.output = first;
      cut.again_input = at;
      ASSERT_TRUE(same(whole, talk(cut))) << first << ", then " << at << " of the client";
      cut.again_input = ~std::size_t{0};
      cut.again_output = at;
      ASSERT_TRUE(same(whole, talk(cut))) << first << ", then " << at << " of the daemon";
    }
  }
}

TEST(Resume, EventsThatCannotBeSeenEndTheSession) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  x.take();
  x.events = 3;
  x.seen();
  daemon.run();
  EXPECT_EQ(x.take(), std::vector<std::string>{"closing bad_record"});
  EXPECT_EQ(daemon.sessions->sessions(), 0U);
}

TEST(Resume, EventsWaitUntilTheyAreSeenAndNotLonger) {
  Daemon daemon;
  Client x(daemon, "x");
  x.says_seen = false;
  x.connect();
  x.join("g");
  for (int i = 0; i < 10; ++i) x.send("g", "payload");
  daemon.run();
  x.take();
  daemon.pump();
  EXPECT_GT(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  x.seen();
  EXPECT_EQ(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  // A client cannot ask again for events that it acknowledged.
  x.cut();
  x.events = 5;
  x.connect();
  daemon.run();
  const auto& bytes = daemon.pipe(x.connection).from_daemon;
  const wire::Framed framed = wire::next_record(bytes, 10'000);
  EXPECT_EQ(framed.record.kind, wire::RecordKind::closing);
}

std::size_t output_bytes(Daemon& daemon, ConnectionId id) {
  std::size_t bytes = 0;
  for (const ByteView piece : daemon.sessions->output(id)) bytes += piece.size();
  return bytes;
}

TEST(Resume, ManyRefusalsAreSaidAgainInPartsAndBeforeWhatIsAcked) {
  constexpr std::uint64_t kRefused = 5'000;
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  x.take();
  daemon.let_read(x.connection, false);
  for (std::uint64_t i = 0; i < kRefused; ++i) x.send("#nobody", "refused");
  daemon.pipe(x.connection).reads = true;  // the daemon writes again, but the cut loses all
  daemon.run();
  x.cut();
  x.connect();
  daemon.let_read(x.connection, false);
  EXPECT_LT(output_bytes(daemon, x.connection), 20'000U);
  // The answer to the next message comes behind the repeated refusals.
  x.received = kRefused;
  x.send("#nobody", "refused");
  daemon.pump();
  EXPECT_LT(output_bytes(daemon, x.connection), 20'000U);
  daemon.let_read(x.connection, true);
  daemon.run();
  std::uint64_t next = 1, acked = 0;
  for (const std::string& text : x.take()) {
    if (text.rfind("refused ", 0) == 0) {
      EXPECT_EQ(std::stoull(text.substr(8)), next++);
    }
    if (text.rfind("acked ", 0) != 0) continue;
    acked = std::stoull(text.substr(6));
    EXPECT_LT(acked, next);
  }
  EXPECT_EQ(next, kRefused + 2);
  EXPECT_EQ(acked, kRefused + 1);
}

TEST(Resume, ALowerWindowForgetsNoRefusalOfALargerOne) {
  Options wide = options();
  wide.unsettled_messages_max = 100;
  Daemon daemon(wide);
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  x.take();
  for (int i = 0; i < 40; ++i) x.send("#nobody", "refused");
  Options narrow = options();
  narrow.unsettled_messages_max = 10;
  daemon.sessions->reconfigure(daemon.now, narrow);
  for (int i = 0; i < 40; ++i) x.send("#nobody", "refused");
  x.cut();  // x has read none of the answers
  x.connect();
  daemon.run();
  std::size_t refused = 0;
  for (const std::string& text : x.take()) refused += text.rfind("refused ", 0) == 0 ? 1U : 0U;
  EXPECT_EQ(refused, 80U);
}

TEST(Resume, TheEventThatWasBegunIsEndedWithoutACopy) {
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) {
    each->connect();
    each->join("g");
  }
  daemon.run();
  x.take();
  daemon.run();
  x.take();
  daemon.let_read(x.connection, false);
  y.send("g", std::string(500'000, 'p'));
  daemon.run();
  // A part of the event is written. Then the session continues on another connection.
  const std::uint64_t memory = daemon.sessions->status(daemon.now).memory_bytes;
  ASSERT_GT(output_bytes(daemon, x.connection), 500'000U);
  std::vector<std::byte> got;
  const auto take = [&](std::size_t most) {
    std::size_t bytes = 0;
    for (const ByteView piece : daemon.sessions->output(x.connection)) {
      const std::size_t part = std::min(piece.size(), most - bytes);
      got.insert(got.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(part));
      bytes += part;
    }
    daemon.sessions->written(daemon.now, x.connection, bytes);
  };
  take(100'000);
  Client again(daemon, "x");
  again.token = x.token;
  again.events = x.events;
  again.connect();
  EXPECT_EQ(daemon.sessions->status(daemon.now).memory_bytes, memory);
  take(150'000);
  while (output_bytes(daemon, x.connection) > 0) take(200'000);
  const wire::Framed event = wire::next_record(got, 1U << 20);
  ASSERT_EQ(event.state, wire::Framed::State::complete);
  EXPECT_EQ(event.record.kind, wire::RecordKind::message);
  wire::MessageEvent message;
  ASSERT_EQ(decode(event.record.body, message), wire::Drop::none);
  EXPECT_EQ(as_text(message.payload), std::string(500'000, 'p'));
  const wire::Framed closing = wire::next_record(ByteView(got).subspan(event.bytes), 1U << 20);
  EXPECT_EQ(closing.record.kind, wire::RecordKind::closing);
  daemon.sessions->check_invariants();
}

TEST(Resume, WithoutAKeepNothingWaitsOnceItIsWritten) {
  Daemon daemon;
  Client x(daemon, "x", 0);
  x.says_seen = false;
  x.connect();
  x.join("g");
  for (int i = 0; i < 10; ++i) x.send("g", "payload");
  daemon.run();
  EXPECT_EQ(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  EXPECT_EQ(x.take_events().size(), 11U);
}

}  // namespace
}  // namespace peal::session::test
