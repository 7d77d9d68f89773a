// SPDX-License-Identifier: Apache-2.0
#include "io/streams.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "io/descriptors.h"
#include "streams_room.h"

namespace peal::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Streams, OpensAConnectionAndReadsIt) {
  UnixRoom room;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  EXPECT_EQ(room.peers[id].uid, ::geteuid());
  EXPECT_EQ(room.streams.count(), 1U);
  say(*client, "hello");
  room.until([&] { return room.inputs[id] == "hello"; });
  EXPECT_EQ(room.write(id, "good day").outcome, StreamOutcome::ok);
  EXPECT_EQ(hear(*client), "good day");
  EXPECT_THAT(room.ended, IsEmpty());
}

TEST(Streams, ReadsNothingWhileThatIsNotWanted) {
  UnixRoom room;
  room.reads = false;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  say(*client, "hello");
  room.settle();
  room.settle();
  EXPECT_THAT(room.served, IsEmpty());
  room.streams.want_read(id, true);  // no new event comes: Streams must remember the old one
  room.settle();
  EXPECT_EQ(room.inputs[id], "hello");
  room.streams.want_read(id, false);
  say(*client, "more");
  room.settle();
  EXPECT_EQ(room.inputs[id], "hello");
}

TEST(Streams, SpendsNoTurnOnStreamsThatHaveNothing) {
  UnixRoom room;
  const auto client = room.come_in();
  room.settle();
  room.served.clear();
  say(*client, "hello");
  room.until([&] { return !room.served.empty(); });
  EXPECT_FALSE(room.more);  // the same turn saw that no input is left
  room.settle();
  EXPECT_THAT(room.served, SizeIs(1));
}

TEST(Streams, HearsTheEndAlsoIfItLiesRightBehindTheLastBytes) {
  UnixRoom room;
  for (const bool early : {false, true}) {
    auto client = early ? room.knock() : room.come_in();
    say(*client, "last words");
    client->finish_writing();
    const std::size_t before = room.ended.size();
    room.until([&] { return room.ended.size() > before; });
    EXPECT_EQ(room.inputs[room.opened.back()], "last words");
    EXPECT_EQ(room.write(room.opened.back(), "answer").outcome, StreamOutcome::ok);
    EXPECT_EQ(hear(*client), "answer");
  }
}

TEST(Streams, HearsAnEndThatCameWhileNobodyListened) {
  UnixRoom room;
  room.reads = false;
  auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  say(*client, "last words");
  client.reset();
  room.settle();
  room.streams.want_read(id, true);
  room.until([&] { return !room.ended.empty() || room.broken.contains(id); });
  EXPECT_EQ(room.inputs[id], "last words");
}

TEST(Streams, ServesEachOnceBeforeAnyTwice) {
  StreamsOptions options;
  options.served_per_turn = 4;
  UnixRoom room(options);
  room.reads = false;
  room.read_bytes = 10;
  std::vector<std::unique_ptr<Stream>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(room.come_in());
    say(*clients.back(), std::string(100, 'x'));
  }
  for (const StreamId id : room.opened) room.streams.want_read(id, true);
  room.settle();
  // Each group of 10 reads must contain every connection once.
  ASSERT_THAT(room.served, SizeIs(testing::Ge(100U)));
  for (std::size_t round = 0; round < 10; ++round) {
    const auto begin = room.served.begin() + static_cast<std::ptrdiff_t>(round * 10);
    EXPECT_THAT(std::set<StreamId>(begin, begin + 10), SizeIs(10)) << "round " << round;
  }
}

TEST(Streams, BoundsTheWorkOfOneTurn) {
  StreamsOptions options;
  options.served_per_turn = 4;
  options.read_bytes_max = 1'000;
  options.turn_bytes_max = 2'500;
  UnixRoom room(options);
  room.reads = false;
  room.read_bytes = 100'000;
  std::vector<std::unique_ptr<Stream>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(room.come_in());
    say(*clients.back(), std::string(i < 5 ? 10'000 : 10, 'x'));
  }
  room.settle();
  for (const StreamId id : room.opened) room.streams.want_read(id, true);
  std::size_t before = 0;
  std::size_t turns = 0;
  do {
    room.served.clear();
    room.turn();
    EXPECT_LE(room.served.size(), 4U);
    std::size_t sum = 0;
    for (const auto& [id, text] : room.inputs) sum += text.size();
    EXPECT_LT(sum - before, 2'500U + 1'000U);
    before = sum;
    ++turns;
  } while (room.more);
  EXPECT_EQ(before, 5U * 10'000 + 5U * 10);
  EXPECT_GE(turns, before / 3'500);
}

TEST(Streams, BoundsAcceptsPerTurn) {
  StreamsOptions options;
  options.accepts_per_turn = 3;
  UnixRoom room(options);
  std::vector<std::unique_ptr<Stream>> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(room.knock());
  std::vector<std::size_t> counts;
  do {
    room.turn();
    counts.push_back(room.opened.size());
  } while (room.more);
  EXPECT_THAT(counts, ElementsAre(3, 6, 9, 10));
}

TEST(Streams, AThousandSilentOnesLeaveTheFirstTurnToWhoSpeaks) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4'096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_cur, 2'200U) << "raise the limit of descriptors: ulimit -Hn 4096";
  UnixRoom room;
  std::vector<std::unique_ptr<Stream>> silent;
  for (int i = 0; i < 1'000; ++i) {
    silent.push_back(room.knock());
    if (i % 100 == 99) room.settle();
  }
  const auto speaker = room.come_in();
  room.settle();
  EXPECT_THAT(room.opened, SizeIs(1'001));
  room.settle();
  room.served.clear();
  say(*speaker, "hello");
  room.turn();
  EXPECT_THAT(room.served, ElementsAre(room.opened.back()));
  EXPECT_EQ(room.inputs[room.opened.back()], "hello");
}

TEST(Streams, TurnsAwayWhoFindsNoPlace) {
  StreamsOptions options;
  options.streams_max = 2;
  UnixRoom room(options);
  const auto first = room.come_in();
  const auto second = room.come_in();
  const auto third = room.knock();
  room.until([&] { return room.streams.counters().turned_away == 1; });
  EXPECT_EQ(room.place_wishes, 1);
  EXPECT_EQ(listen_to(*third), StreamOutcome::end);
  room.worth_least = room.opened.at(0);
  const auto fourth = room.come_in();
  EXPECT_EQ(listen_to(*first), StreamOutcome::end);
  EXPECT_EQ(listen_to(*second), StreamOutcome::blocked);
  EXPECT_EQ(listen_to(*fourth), StreamOutcome::blocked);
  EXPECT_EQ(room.streams.count(), 2U);
}

TEST(Streams, TurnsAwayInsteadOfTurningInCirclesWithoutDescriptors) {
  UnixRoom room;
  const auto waiting = room.knock();
  std::vector<Fd> hoard;
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) hoard.emplace_back(fd);
  ASSERT_EQ(errno, EMFILE);
  room.settle();
  EXPECT_EQ(room.streams.counters().turned_away, 1U);
  ASSERT_THAT(room.exhausted, SizeIs(1));
  EXPECT_THAT(room.exhausted[0], HasSubstr("RLIMIT_NOFILE): raise that"));
  EXPECT_EQ(listen_to(*waiting), StreamOutcome::end);
  hoard.clear();
  const auto next = room.come_in();
  EXPECT_EQ(listen_to(*next), StreamOutcome::blocked);
}

TEST(Streams, LeavesTheLastDescriptorsToOthersAndSaysSoOnce) {
  UnixRoom room;
  std::vector<std::unique_ptr<Stream>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(room.knock());
  std::vector<Fd> hoard;
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) {
    const bool enough = is_of_reserve(fd);
    hoard.emplace_back(fd);
    if (enough) break;
  }
  room.settle();
  EXPECT_EQ(room.streams.counters().turned_away, 3U);
  EXPECT_THAT(room.exhausted, SizeIs(1));
  EXPECT_TRUE(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC))) << "the node can open its files";
  hoard.clear();
  const auto next = room.come_in();
  EXPECT_EQ(listen_to(*next), StreamOutcome::blocked);
}

TEST(Streams, SaysWhenThereIsRoomAgain) {
  UnixRoom room;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  const std::string block(100'000, 'x');
  std::size_t taken = 0;
  Transfer put;
  while ((put = room.write(id, block)).outcome == StreamOutcome::ok) taken += put.bytes;
  taken += put.bytes;
  ASSERT_EQ(put.outcome, StreamOutcome::blocked);
  room.streams.want_write(id, true);
  room.settle();
  room.settle();
  EXPECT_EQ(room.writable_calls, 0);
  std::size_t read = 0;
  for (std::string got; !(got = hear(*client)).empty();) read += got.size();
  EXPECT_EQ(read, taken);
  room.until([&] { return room.writable_calls > 0; });
  EXPECT_EQ(room.writable_calls, 1);
  EXPECT_GT(room.write(id, block).bytes, 0U);
}

TEST(Streams, APeerThatVanishesDisturbsNobodyElse) {
  UnixRoom room;
  auto gone = room.come_in();
  const auto good = room.come_in();
  say(*gone, "x");
  EXPECT_EQ(room.write(room.opened.at(0), "never read").outcome, StreamOutcome::ok);
  gone.reset();  // a reset, because bytes are unread
  say(*good, "hello");
  room.until([&] { return room.inputs[room.opened.at(1)] == "hello" && !room.broken.empty(); });
  EXPECT_EQ(room.broken.begin()->first, room.opened.at(0));
  EXPECT_EQ(room.broken.begin()->second.code, Errc::closed);
  EXPECT_EQ(room.streams.count(), 1U);
}

TEST(Streams, MayBeClosedFromTheirOwnCalls) {
  UnixRoom room;
  room.reads = false;
  std::vector<std::unique_ptr<Stream>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(room.come_in());
    say(*clients.back(), "x");
  }
  room.after_read = [&](StreamId) {
    for (const StreamId id : room.opened) {
      if (room.streams.is_open(id)) room.streams.close(id);
    }
  };
  for (const StreamId id : room.opened) room.streams.want_read(id, true);
  room.settle();
  EXPECT_THAT(room.served, SizeIs(1));
  EXPECT_EQ(room.streams.count(), 0U);
}

TEST(Streams, FinishSendsWhatWasTakenAndWaitsForTheOtherEnd) {
  UnixRoom room;
  room.reads = false;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  say(*client, "unread");
  room.write(id, "goodbye");
  room.streams.finish(id);
  EXPECT_FALSE(room.streams.is_open(id));
  say(*client, "more that nobody wants");
  room.settle();
  EXPECT_THAT(room.served, IsEmpty());
  EXPECT_EQ(hear(*client), "goodbye");
  EXPECT_EQ(listen_to(*client), StreamOutcome::end);
  EXPECT_EQ(room.streams.count(), 1U);
  client->finish_writing();
  room.until([&] { return room.streams.count() == 0; });
  EXPECT_EQ(room.streams.counters().cut_off, 0U);
}

TEST(Streams, FinishWaitsNoLongerThanItsTime) {
  UnixRoom room;
  const auto client = room.come_in();
  room.streams.finish(room.opened.at(0));
  room.settle();
  EXPECT_EQ(room.streams.next_deadline(), room.now + seconds(1));
  room.now = room.now + seconds(1);
  room.settle();
  EXPECT_EQ(room.streams.count(), 0U);
  EXPECT_EQ(room.streams.counters().cut_off, 1U);
  EXPECT_EQ(room.streams.next_deadline(), std::nullopt);
}

TEST(Streams, WhoeverLingersGivesWayFirst) {
  StreamsOptions options;
  options.streams_max = 1;
  UnixRoom room(options);
  const auto first = room.come_in();
  room.streams.finish(room.opened.at(0));
  const auto second = room.come_in();
  EXPECT_EQ(room.place_wishes, 0);
  EXPECT_EQ(room.streams.counters().cut_off, 1U);
}

TEST(Streams, StopListeningLeavesTheOpenOnesAlone) {
  UnixRoom room;
  const auto client = room.come_in();
  room.streams.stop_listening();
  EXPECT_EQ(connect_unix(room.path()).error().code, Errc::closed);
  say(*client, "still here");
  room.until([&] { return room.inputs[room.opened.at(0)] == "still here"; });
}

TEST(Streams, TakesFromSeveralDoors) {
  UnixRoom room;
  auto tcp = StreamListener::tcp(Endpoint::v4(127, 0, 0, 1, 0), make_plain_stream);
  ASSERT_TRUE(tcp.has_value());
  const Endpoint at = (*tcp)->endpoint();
  ASSERT_TRUE(room.streams.listen(std::move(*tcp)).has_value());
  const auto local = room.come_in();
  auto fd = connect_tcp(at);
  ASSERT_TRUE(fd.has_value());
  room.until([&] { return room.opened.size() == 2; });
  EXPECT_TRUE(room.peers[room.opened.at(0)].local);
  EXPECT_FALSE(room.peers[room.opened.at(1)].local);
}

}  // namespace
}  // namespace peal::io
