// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon.h"
#include "session/event_queue.h"

namespace peal::session::test {
namespace {

using ::testing::HasSubstr;
using wire::SlowPolicy;

constexpr std::uint64_t kMemory = 16'384;

wire::SlowLimits limits(SlowPolicy policy, std::uint32_t age_ms = 0) {
  return {policy, kMemory, 1U << 20, age_ms};
}

/// The clients of one group. Tests let the first client, slow(), stop reading.
struct Hall {
  Hall(std::size_t count, const wire::SlowLimits& of, const Options& how = options())
      : daemon(how) {
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(std::make_unique<Client>(daemon, "c" + std::to_string(i)));
      all.back()->connect();
      all.back()->join("g", of);
      quiet();
    }
    received.assign(count, 0);
  }
  Client& slow() { return *all[0]; }
  /// All clients read their events until there are no more.
  void quiet() {
    for (int i = 0; i < 3; ++i) {
      daemon.run();
      for (auto& client : all) client->take();
    }
  }
  /// The last client sends `count` messages. All clients except slow() read them.
  void send(std::uint64_t count, std::size_t bytes = 100) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string payload = std::to_string(++sent);
      payload.resize(bytes, '.');
      all.back()->send("g", payload);
      daemon.run();
      for (std::size_t c = 1; c < all.size(); ++c) note(c);
    }
  }
  void note(std::size_t client) {
    for (const std::string& text : all[client]->take()) {
      if (text.rfind("message g: ", 0) != 0) {
        others.push_back(text);
        continue;
      }
      const std::uint64_t number = std::stoull(text.substr(11));
      EXPECT_EQ(number, received[client] + 1) << "of client " << client;
      received[client] = number;
    }
    daemon.pump();
  }
  SessionStatus status() {
    for (const SessionStatus& each : daemon.sessions->status(daemon.now).sessions) {
      if (each.name == "#c0#n") return each;
    }
    return {};
  }

  Daemon daemon;
  std::vector<std::unique_ptr<Client>> all;
  std::vector<std::uint64_t> received;
  std::vector<std::string> others;
  std::uint64_t sent = 0;
};

TEST(Slow, SpillGoesToTheDiskAndComesBackInOrder) {
  Hall hall(100, limits(SlowPolicy::spill));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(2'000);
  for (std::size_t c = 1; c < hall.all.size(); ++c) EXPECT_EQ(hall.received[c], 2'000U);
  EXPECT_EQ(hall.all.back()->acked, 2'000U) << "who sends does not wait";
  EXPECT_GT(hall.status().memberships[1].disk_bytes, 100'000U);
  EXPECT_LE(hall.status().memberships[1].memory_bytes, kMemory);
  EXPECT_THAT(hall.status().waits_for, HasSubstr("on disk"));
  hall.daemon.let_read(hall.slow().connection, true);
  hall.send(10);  // new events do not overtake the events on disk
  for (int i = 0; i < 400 && hall.received[0] < 2'010; ++i) hall.note(0);
  EXPECT_EQ(hall.received[0], 2'010U);
  EXPECT_EQ(hall.status().memberships[1].disk_bytes, 0U);
  EXPECT_GT(hall.daemon.sessions->counters().read_back_bytes, 100'000U);
  EXPECT_EQ(hall.daemon.sessions->counters().evicted, 0U);
  hall.send(10);  // memory is large enough again
  hall.note(0);
  EXPECT_EQ(hall.received[0], 2'020U);
}

TEST(Slow, SpillOutlivesTheConnection) {
  Hall hall(3, limits(SlowPolicy::spill));
  hall.slow().cut();
  hall.send(500);
  hall.slow().connect();
  hall.daemon.pump();
  for (int i = 0; i < 100 && hall.received[0] < 500; ++i) hall.note(0);
  EXPECT_EQ(hall.received[0], 500U);
}

TEST(Slow, SpillOfRecordsLongerThanABlockComesBack) {
  Hall hall(2, {SlowPolicy::spill, kMemory, 8U << 20, 0});
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(3, 600'000);
  hall.send(20);
  hall.daemon.let_read(hall.slow().connection, true);
  for (int i = 0; i < 100 && hall.received[0] < 23; ++i) hall.note(0);
  EXPECT_EQ(hall.received[0], 23U);
}

TEST(Slow, SpillThatIsFullOrFailsEndsThatSessionOnly) {
  for (const bool disk_fails : {false, true}) {
    Hall hall(10, limits(SlowPolicy::spill));
    if (disk_fails) hall.daemon.spool.appends_left = 5;
    hall.daemon.let_read(hall.slow().connection, false);
    hall.send(disk_fails ? 300 : 12'000);
    EXPECT_EQ(hall.daemon.sessions->counters().evicted, 1U);
    EXPECT_EQ(hall.daemon.sessions->sessions(), 9U);
    for (std::size_t c = 1; c < hall.all.size(); ++c) EXPECT_EQ(hall.received[c], hall.sent);
    EXPECT_THAT(hall.others, ::testing::Contains(HasSubstr("view g disconnect (slow) #c0#n")));
    EXPECT_TRUE(hall.daemon.spool.files.empty());
  }
}

TEST(Slow, ADiskThatCannotBeReadEndsThatSessionOnly) {
  Hall hall(3, limits(SlowPolicy::spill));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(300);
  hall.daemon.spool.reads_fail = true;
  hall.daemon.let_read(hall.slow().connection, true);
  for (int i = 0; i < 5; ++i) hall.note(0);
  EXPECT_EQ(hall.others.back(), "closing slow");
  hall.send(1);
  EXPECT_EQ(hall.received[1], 301U);
}

TEST(Slow, DropLeavesOutAndAGapSaysWhat) {
  Hall hall(100, limits(SlowPolicy::drop));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(1'000);
  for (std::size_t c = 1; c < hall.all.size(); ++c) EXPECT_EQ(hall.received[c], 1'000U);
  EXPECT_EQ(hall.all.back()->acked, 1'000U);
  EXPECT_LE(hall.status().memberships[1].memory_bytes, kMemory);
  hall.daemon.let_read(hall.slow().connection, true);
  std::uint64_t messages = 0, left_out = 0;
  for (int i = 0; i < 5; ++i) {
    for (const std::string& text : hall.slow().take_events()) {
      if (text.rfind("gap g ", 0) == 0) {
        left_out += std::stoull(text.substr(6));
      } else {
        ++messages;
        EXPECT_EQ(std::stoull(text.substr(11)), messages) << "before the gap all is there";
      }
    }
    hall.daemon.pump();
  }
  EXPECT_GT(left_out, 800U);
  EXPECT_GT(messages, 30U) << "without an age, what fits the memory is kept";
  EXPECT_GT(hall.slow().gap_bytes, left_out * 100);
  EXPECT_EQ(messages + left_out, 1'000U) << "each message came, or is counted in a gap";
  EXPECT_EQ(hall.status().memberships[1].left_out, left_out);
  hall.send(1);
  const auto after = hall.slow().take_events();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].substr(0, 15), "message g: 1001");
}

// The age of waiting events is the age of the oldest event that is not written yet.
TEST(Slow, TheAgeIsThatOfTheNextEventToBeWritten) {
  ChunkPool chunks;
  MemorySpool spool;
  EventQueue queue(spool, 1, chunks);
  const std::uint32_t slot = queue.add_membership("g", limits(SlowPolicy::evict));
  const auto push = [&](std::int64_t at_ms) {
    const ChunkRef chunk = chunks.make(8, [](std::vector<std::byte>& out) { out.resize(8); });
    ASSERT_TRUE(queue.push(Instant{} + milliseconds(at_ms), slot, chunk));
  };
  const auto write_one = [&] {
    std::vector<ByteView> pieces;
    queue.gather(pieces, 1);
    queue.written(8);
  };
  for (const std::int64_t at_ms : {0, 600, 900}) push(at_ms);
  const Instant now = Instant{} + milliseconds(1'000);
  EXPECT_EQ(queue.membership(slot).age(now), milliseconds(1'000));
  write_one();
  EXPECT_EQ(queue.membership(slot).age(now), milliseconds(400));
  write_one();
  EXPECT_EQ(queue.membership(slot).age(now), milliseconds(100));
  write_one();
  EXPECT_EQ(queue.membership(slot).age(now), std::nullopt);
}

TEST(Slow, WhatComesBackFromTheDiskIsAsOldAsItWas) {
  ChunkPool chunks;
  MemorySpool spool;
  EventQueue queue(spool, 1, chunks);
  const std::uint32_t slot = queue.add_membership("g", limits(SlowPolicy::spill));
  queue.begin_spill(4'096);
  constexpr std::size_t kBytes = 3'000;
  for (const std::int64_t at_ms : {0, 600, 900}) {
    const ChunkRef chunk = chunks.make(kBytes, [](std::vector<std::byte>& out) {
      out.resize(kBytes);
      store(ByteSpan(out), static_cast<std::uint32_t>(kBytes - 4));
    });
    ASSERT_TRUE(queue.push(Instant{} + milliseconds(at_ms), slot, chunk));
  }
  const Instant now = Instant{} + milliseconds(1'000);
  for (const std::int64_t age_ms : {1'000, 400, 100}) {
    ASSERT_TRUE(queue.refill(1U << 20));  // memory has space for one event
    EXPECT_EQ(queue.membership(slot).age(now), milliseconds(age_ms));
    std::vector<ByteView> pieces;
    queue.gather(pieces, 1);
    ASSERT_EQ(pieces.size(), 1U);
    queue.written(kBytes);
    ASSERT_TRUE(queue.seen(queue.written_events()));
  }
  EXPECT_EQ(queue.membership(slot).age(now), std::nullopt);
  queue.check_invariants();
}

TEST(Slow, AMembershipThatWasLeftGivesItsPlaceBackOnceItsEventsWereSeen) {
  ChunkPool chunks;
  MemorySpool spool;
  EventQueue queue(spool, 1, chunks);
  const std::uint32_t own = queue.add_membership({}, limits(SlowPolicy::evict));
  const std::uint32_t slot = queue.add_membership("g", limits(SlowPolicy::evict));
  for (const std::uint32_t to : {own, slot}) {
    const ChunkRef chunk = chunks.make(8, [](std::vector<std::byte>& out) { out.resize(8); });
    ASSERT_TRUE(queue.push(Instant{}, to, chunk));
  }
  queue.membership(slot).joins = 0;
  queue.drop_membership(slot);
  EXPECT_NE(queue.add_membership("h", limits(SlowPolicy::evict)), slot) << "an event waits";
  std::vector<ByteView> pieces;
  queue.gather(pieces, 2);
  queue.written(16);
  ASSERT_TRUE(queue.seen(2));
  EXPECT_EQ(queue.add_membership("i", limits(SlowPolicy::evict)), slot);
  EXPECT_EQ(queue.memberships().size(), 3U);
  EXPECT_EQ(queue.membership(own).events, 0U) << "that of the private name stays";
  queue.check_invariants();
}

// A dropped message to several groups counts for the first of them that the client is in. Its gap
// is reported before the next view of any of these groups.
TEST(Slow, AGapIsToldBeforeTheViewsOfAllGroups) {
  Daemon daemon;
  Client slow(daemon, "slow");
  Client other(daemon, "other");
  for (Client* client : {&slow, &other}) {
    client->connect();
    client->join("g", limits(SlowPolicy::drop));
    client->join("h", limits(SlowPolicy::drop));
  }
  const auto take_all = [&](Client& client, std::vector<std::string>& into) {
    for (int i = 0; i < 5; ++i) {
      daemon.run();
      for (std::string& text : client.take_events()) into.push_back(std::move(text));
      daemon.pump();
    }
  };
  std::vector<std::string> ignored;
  take_all(slow, ignored);
  take_all(other, ignored);
  daemon.let_read(slow.connection, false);
  for (int i = 0; i < 300; ++i) {
    other.send("g,h", std::string(100, '.'));
    take_all(other, ignored);
  }
  other.leave("h");
  take_all(other, ignored);
  daemon.let_read(slow.connection, true);
  std::vector<std::string> told;
  take_all(slow, told);
  const auto first = [&](const char* begin) {
    return std::find_if(told.begin(), told.end(),
                        [&](const std::string& text) { return text.rfind(begin, 0) == 0; });
  };
  ASSERT_NE(first("view h leave"), told.end());
  EXPECT_LT(first("gap g "), first("view h leave"));
}

TEST(Slow, EvictEndsTheSessionAndAllLearnWhy) {
  Hall hall(100, limits(SlowPolicy::evict));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(500);
  for (std::size_t c = 1; c < hall.all.size(); ++c) EXPECT_EQ(hall.received[c], 500U);
  EXPECT_EQ(hall.daemon.sessions->counters().evicted, 1U);
  EXPECT_THAT(hall.others, ::testing::Contains(HasSubstr("view g disconnect (slow) #c0#n")));
  hall.daemon.let_read(hall.slow().connection, true);
  hall.slow().connect();
  hall.daemon.run();
  EXPECT_EQ(hall.slow().take(), std::vector<std::string>{"closing slow"});
}

TEST(Slow, WhyASessionEndedIsToldToItsClientOnly) {
  Hall hall(3, limits(SlowPolicy::evict));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(500);
  Client thief(hall.daemon, "thief", 60'000, user(2, "bob"));
  thief.token = hall.slow().token;
  thief.connect();
  hall.daemon.run();
  EXPECT_EQ(thief.take(), std::vector<std::string>{"closing session_lost"});
}

TEST(Slow, WhyASessionEndedIsRememberedForABoundedNumberOfThem) {
  Hall hall(2, limits(SlowPolicy::evict));
  std::vector<std::unique_ptr<Client>> many;
  for (std::size_t i = 0; i <= kEndedMax; ++i) {
    many.push_back(std::make_unique<Client>(hall.daemon, "e" + std::to_string(i)));
    many.back()->connect();
    hall.daemon.run();
    many.back()->take();
    ASSERT_TRUE(hall.daemon.sessions->evict(hall.daemon.now, "#e" + std::to_string(i) + "#n"));
    hall.daemon.run();
    many.back()->take();
    many.back()->cut();
  }
  many.front()->connect();
  many.back()->connect();
  hall.daemon.run();
  EXPECT_EQ(many.front()->take(), std::vector<std::string>{"closing session_lost"});
  EXPECT_EQ(many.back()->take(), std::vector<std::string>{"closing evicted"});
}

TEST(Slow, BlockMakesEverybodyWaitAndSaysForWhom) {
  Hall hall(3, limits(SlowPolicy::block));
  EXPECT_GE(hall.daemon.sessions->room_bytes(), kMemory - 1'000);
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(300);
  EXPECT_EQ(hall.daemon.sessions->room_bytes(), 0U);
  EXPECT_LT(hall.received[1], 120U);
  EXPECT_LE(hall.status().memberships[1].memory_bytes, kMemory + 300);
  EXPECT_THAT(hall.status().waits_for, HasSubstr("all senders wait"));
  hall.daemon.let_read(hall.slow().connection, true);
  for (int i = 0; i < 300 && hall.received[0] < 300; ++i) {
    hall.daemon.run();
    for (std::size_t c = 0; c < 3; ++c) hall.note(c);
  }
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(hall.received[c], 300U);
}

TEST(Slow, OfSeveralMembershipsThatBlockTheLeastLimitCounts) {
  for (const bool least_first : {true, false}) {
    Daemon daemon;
    Client x(daemon, "x");
    x.connect();
    x.join(least_first ? "little" : "much", {SlowPolicy::block, least_first ? kMemory : 1U << 20});
    x.join(least_first ? "much" : "little", {SlowPolicy::block, least_first ? 1U << 20 : kMemory});
    daemon.run();
    x.take();
    EXPECT_EQ(daemon.sessions->room_bytes(), kMemory);
    x.leave("little");
    daemon.run();
    x.take();
    EXPECT_EQ(daemon.sessions->room_bytes(), 1U << 20);
    x.leave("much");
    daemon.run();
    x.take();
    EXPECT_EQ(daemon.sessions->room_bytes(), ~std::uint64_t{0});
  }
}

TEST(Slow, WhoIsAboutToEndBlocksNobody) {
  Hall hall(3, limits(SlowPolicy::block));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(300);
  ASSERT_EQ(hall.daemon.sessions->room_bytes(), 0U);
  ASSERT_TRUE(hall.daemon.sessions->evict(hall.daemon.now, "#c0#n"));
  EXPECT_GE(hall.daemon.sessions->room_bytes(), kMemory / 2);
}

TEST(Slow, ADiskThatFailsAtOnceLeavesNothingOfASessionBehind) {
  Hall hall(3, limits(SlowPolicy::spill));
  hall.daemon.spool.appends_left = 0;
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(300);
  EXPECT_EQ(hall.daemon.sessions->sessions(), 2U);
  EXPECT_TRUE(hall.daemon.spool.files.empty());
}

TEST(Slow, AGapIsToldAtOnceWhereNothingElseWaits) {
  Hall hall(2, limits(SlowPolicy::drop));
  hall.all.back()->send("g", std::string(2 * kMemory, '.'));
  hall.daemon.run();
  EXPECT_THAT(hall.slow().take(), testing::Contains(testing::HasSubstr("gap g")));
}

TEST(Slow, AGapNamesTheFirstAndTheLastMessageThatHaveAPlace) {
  Hall hall(2, limits(SlowPolicy::drop));
  hall.daemon.causal = true;
  // Returns the gap after one dropped message of each of these services. They are dropped because a
  // waiting message takes more than three quarters of the memory.
  const auto gap_of = [&](std::initializer_list<Service> services) {
    hall.daemon.let_read(hall.slow().connection, false);
    hall.all.back()->send("g", std::string(kMemory * 4 / 5, 'w'));
    for (const Service service : services) {
      hall.all.back()->send("g", std::string(kMemory, '.'), service);
    }
    hall.daemon.run();
    hall.daemon.let_read(hall.slow().connection, true);
    hall.quiet();
    EXPECT_EQ(hall.slow().gap.messages, services.size());
    return hall.slow().gap;
  };
  const wire::GapEvent none = gap_of({Service::causal, Service::fifo});
  EXPECT_FALSE(none.first.has_position());
  EXPECT_FALSE(none.last.has_position());
  EXPECT_GT(none.first.view.number, 0U);
  const wire::GapEvent one = gap_of({Service::causal, Service::agreed, Service::fifo});
  EXPECT_TRUE(one.first.has_position());
  EXPECT_EQ(one.first, one.last);
  const wire::GapEvent two = gap_of({Service::safe, Service::causal, Service::agreed});
  EXPECT_GT(two.first, one.last);
  EXPECT_GT(two.last, two.first);
}

TEST(Slow, TheMemoryOfAllIsBoundedForWhoeverNeverSaysWhatItHasSeen) {
  Options how = options();
  how.memory_bytes_max = 200'000;
  Hall hall(3, {SlowPolicy::block, 1U << 20, 16U << 20, 0}, how);
  hall.slow().says_seen = false;
  for (int i = 0; i < 3'000; ++i) {
    hall.send(1, 400);
    hall.slow().take();
  }
  EXPECT_LE(hall.daemon.sessions->counters().memory_bytes_peak, how.memory_bytes_max);
  EXPECT_EQ(hall.daemon.sessions->sessions(), 2U);
  for (std::size_t c = 1; c < 3; ++c) EXPECT_EQ(hall.received[c], 3'000U);
}

TEST(Slow, WhoTakesEverythingBlocksNobodyEvenIfItDoesNotSaySo) {
  // A client's report of seen events may wait behind the client's own messages, which wait for
  // space.
  Hall hall(3, limits(SlowPolicy::block));
  hall.slow().says_seen = false;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    hall.send(1);
    hall.note(0);
    EXPECT_GT(hall.daemon.sessions->room_bytes(), 0U);
  }
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(hall.received[c], 300U);
}

TEST(Slow, WhoTakesEverythingIsNotSlowEvenIfItDoesNotSaySo) {
  for (const SlowPolicy policy : {SlowPolicy::spill, SlowPolicy::drop, SlowPolicy::evict}) {
    Hall hall(3, limits(policy, 1'000));
    hall.slow().says_seen = false;
    hall.send(300);
    hall.daemon.pass(seconds(3));
    hall.send(10);
    hall.note(0);
    EXPECT_EQ(hall.received[0], 310U);
    EXPECT_EQ(hall.daemon.sessions->sessions(), 3U);
    EXPECT_EQ(hall.daemon.sessions->counters().spilled_bytes, 0U);
    EXPECT_EQ(hall.daemon.sessions->counters().warnings, 0U);
  }
}

TEST(Slow, WhoNeverSaysWhatItHasSeenIsSlowOnceThatIsMuch) {
  for (const bool much : {false, true}) {
    Hall hall(2, {SlowPolicy::evict, 2U << 20, 1U << 20, 0});
    hall.slow().says_seen = false;
    hall.send(much ? 20 : 15, 1'000'000);
    EXPECT_EQ(hall.daemon.sessions->sessions(), much ? 1U : 2U);
    EXPECT_EQ(hall.daemon.sessions->counters().warnings, 1U) << "it is told when that comes near";
  }
}

TEST(Slow, WhatWaitsOnTheDiskCountsWhereThePolicyDoesNotSpill) {
  Hall hall(2, limits(SlowPolicy::spill));
  hall.slow().join("h", limits(SlowPolicy::evict));
  hall.quiet();
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(200);
  ASSERT_GT(hall.status().memberships[1].disk_bytes, 0U);
  const auto send_to_h = [&](int count) {
    for (int i = 0; i < count; ++i) {
      hall.all.back()->send("h", std::string(1'000, '.'));
      hall.daemon.run();
      hall.all.back()->take();
    }
  };
  send_to_h(10);
  ASSERT_EQ(hall.daemon.sessions->sessions(), 2U);
  EXPECT_GT(hall.status().memberships[2].disk_bytes, 10'000U) << "behind what spills";
  send_to_h(10);
  EXPECT_EQ(hall.daemon.sessions->sessions(), 1U);
  EXPECT_EQ(hall.daemon.sessions->counters().evicted, 1U);
}

TEST(Slow, WhatIsOnDiskComesBackForWhoTakesItAndDoesNotSaySo) {
  Hall hall(3, limits(SlowPolicy::spill, 60'000));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(500);
  ASSERT_GT(hall.status().memberships[1].disk_bytes, 0U);
  hall.slow().says_seen = false;
  hall.daemon.let_read(hall.slow().connection, true);
  hall.daemon.run();
  hall.note(0);
  EXPECT_EQ(hall.received[0], 500U);
  EXPECT_EQ(hall.status().memberships[1].disk_bytes, 0U);
}

TEST(Slow, WhatIsWrittenAgainIsAsOldAsItWas) {
  Hall hall(3, limits(SlowPolicy::evict, 1'000));
  hall.slow().says_seen = false;
  hall.send(1);
  const std::uint64_t events = hall.slow().events;
  hall.daemon.pass(milliseconds(700));
  hall.slow().cut();
  hall.slow().events = events;
  hall.slow().connect();
  hall.daemon.let_read(hall.slow().connection, false);
  hall.daemon.pass(milliseconds(200));
  EXPECT_EQ(hall.daemon.sessions->sessions(), 3U);
  hall.daemon.pass(milliseconds(200));
  hall.daemon.run();
  EXPECT_EQ(hall.daemon.sessions->sessions(), 2U);
}

TEST(Slow, WhoSaysGoodbyeBlocksNobodyAnyMore) {
  Hall hall(3, limits(SlowPolicy::block));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(300);
  ASSERT_EQ(hall.daemon.sessions->room_bytes(), 0U);
  // The slow client's own last message must get its place too.
  hall.slow().send("g", "the last");
  hall.slow().goodbye();
  for (int i = 0; i < 300 && hall.received[1] < 301; ++i) {
    hall.daemon.run();
    for (std::size_t c = 1; c < 3; ++c) {
      for (const std::string& text : hall.all[c]->take()) {
        if (text.rfind("message g: ", 0) == 0) ++hall.received[c];
      }
    }
  }
  EXPECT_EQ(hall.received[1], 301U);
  EXPECT_EQ(hall.daemon.sessions->sessions(), 2U);
}

TEST(Slow, WhoSaidGoodbyeIsNotEndedForWhatItDoesNotTake) {
  Hall hall(2, limits(SlowPolicy::block));
  hall.daemon.let_read(hall.slow().connection, false);
  // The slow client's last message waits behind many others. The client gets all of them before its
  // session may end.
  for (int i = 0; i < 18; ++i) hall.all.back()->send("g", std::string(1'000'000, '.'));
  hall.slow().send("g", "the last");
  hall.slow().goodbye();
  for (int i = 0; i < 30; ++i) {
    hall.daemon.pump();
    hall.daemon.order_one();
    hall.daemon.pump();
    hall.all.back()->take();
  }
  EXPECT_EQ(hall.daemon.sessions->sessions(), 1U);
  EXPECT_EQ(hall.daemon.sessions->counters().evicted, 0U);
}

TEST(Slow, AnAgeEndsWaitingUnderBlockSpillAndEvict) {
  for (const SlowPolicy policy : {SlowPolicy::block, SlowPolicy::spill, SlowPolicy::evict}) {
    Hall hall(3, limits(policy, 1'000));
    hall.daemon.let_read(hall.slow().connection, false);
    hall.send(1);
    hall.daemon.pass(milliseconds(900));
    EXPECT_EQ(hall.daemon.sessions->counters().warnings, 1U);
    EXPECT_EQ(hall.daemon.sessions->sessions(), 3U);
    hall.daemon.pass(milliseconds(200));
    hall.daemon.run();
    EXPECT_EQ(hall.daemon.sessions->sessions(), 2U);
    EXPECT_EQ(hall.daemon.sessions->counters().evicted, 1U);
  }
}

TEST(Slow, AnAgeUnderDropLeavesOutWhatIsNew) {
  Hall hall(3, limits(SlowPolicy::drop, 1'000));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(1);
  hall.daemon.pass(milliseconds(1'100));
  hall.send(5);
  EXPECT_EQ(hall.status().memberships[1].left_out, 5U);
  hall.daemon.let_read(hall.slow().connection, true);
  hall.slow().take();
  hall.daemon.run();
  EXPECT_EQ(hall.slow().take_events(), std::vector<std::string>{"gap g 5"});
}

TEST(Slow, AWarningComesAtHalfAndOnlyOnce) {
  Hall hall(2, limits(SlowPolicy::evict));
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(20);
  EXPECT_EQ(hall.daemon.sessions->counters().warnings, 0U);
  hall.send(10);
  EXPECT_EQ(hall.daemon.sessions->counters().warnings, 1U);
  hall.daemon.let_read(hall.slow().connection, true);
  std::size_t warnings = 0;
  for (const std::string& text : hall.slow().take()) {
    if (text == "warning g") ++warnings;
  }
  EXPECT_EQ(warnings, 1U);
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(30);
  EXPECT_EQ(hall.daemon.sessions->counters().warnings, 2U);
}

TEST(Slow, AWarningComesAgainOnlyOnceThreeQuartersWereFree) {
  Hall hall(2, limits(SlowPolicy::evict));
  hall.slow().says_seen = false;
  hall.daemon.let_read(hall.slow().connection, false);
  hall.send(35);
  ASSERT_EQ(hall.daemon.sessions->counters().warnings, 1U);
  const std::uint64_t all = hall.status().memberships[1].memory_bytes;
  const auto take_until = [&](std::uint64_t most) {
    while (hall.status().memberships[1].memory_bytes > most) {
      std::size_t bytes = 0;
      auto& got = hall.daemon.pipe(hall.slow().connection).from_daemon;
      for (const ByteView piece : hall.daemon.sessions->output(hall.slow().connection)) {
        got.insert(got.end(), piece.begin(), piece.end());
        bytes += piece.size();
        if (hall.slow().events == 0 || bytes > 150) break;
      }
      hall.daemon.sessions->written(hall.daemon.now, hall.slow().connection, bytes);
      hall.slow().take();
      hall.slow().seen();
    }
  };
  take_until(all / 2);
  hall.send(18);
  EXPECT_EQ(hall.daemon.sessions->counters().warnings, 1U) << "half of it waited all the time";
  take_until(all / 8);
  hall.send(35);
  EXPECT_EQ(hall.daemon.sessions->counters().warnings, 2U);
}

TEST(Slow, ExactlyAsMuchMayWaitAsTheLimitSays) {
  const auto cost_of_one = [] {
    Hall hall(2, limits(SlowPolicy::evict));
    hall.daemon.let_read(hall.slow().connection, false);
    hall.send(1);
    return hall.status().memberships[1].memory_bytes;
  }();
  ASSERT_GT(cost_of_one, 200U);
  for (const SlowPolicy policy : {SlowPolicy::evict, SlowPolicy::drop, SlowPolicy::spill}) {
    Hall hall(2, {policy, cost_of_one * 40, 1U << 20, 0});
    const auto told = [&] { return hall.daemon.sessions->counters(); };
    hall.daemon.let_read(hall.slow().connection, false);
    hall.send(19);
    EXPECT_EQ(told().warnings, 0U);
    hall.send(1);
    EXPECT_EQ(told().warnings, 1U) << "half of it is used";
    hall.send(20);
    EXPECT_EQ(told().evicted + told().left_out + told().spilled_bytes, 0U);
    hall.send(1);
    EXPECT_EQ(told().evicted > 0, policy == SlowPolicy::evict);
    EXPECT_EQ(told().left_out > 0, policy == SlowPolicy::drop);
    EXPECT_EQ(told().spilled_bytes > 0, policy == SlowPolicy::spill);
  }
}

TEST(Slow, AWarningSaysHowMuchOfWhichLimitIsUsed) {
  Hall memory(2, limits(SlowPolicy::evict));
  memory.daemon.let_read(memory.slow().connection, false);
  memory.send(30);
  memory.daemon.let_read(memory.slow().connection, true);
  memory.slow().take();
  EXPECT_EQ(memory.slow().warning.bytes_max, kMemory);
  EXPECT_GT(memory.slow().warning.bytes, kMemory / 2);
  EXPECT_LT(memory.slow().warning.bytes, kMemory);

  // A single large event goes to the disk at once, and comes near the limit of the disk.
  constexpr std::uint64_t kDisk = 150'000;
  Hall disk(2, {SlowPolicy::spill, kMemory, kDisk, 0});
  disk.daemon.let_read(disk.slow().connection, false);
  disk.send(1, 100'000);
  disk.daemon.let_read(disk.slow().connection, true);
  disk.slow().take();
  EXPECT_EQ(disk.slow().warning.bytes_max, kDisk);
  EXPECT_GT(disk.slow().warning.bytes, 100'000U);
}

/// All waiting events together stay within the daemon's memory limit, although each membership has
/// a larger limit. Slow clients do not affect clients that keep up.
TEST(Slow, TheMemoryOfAllIsBounded) {
  Options how = options();
  how.memory_bytes_max = 200'000;
  for (const SlowPolicy policy : {SlowPolicy::spill, SlowPolicy::drop, SlowPolicy::evict}) {
    Hall hall(20, {policy, 1U << 20, 16U << 20, 0}, how);
    for (std::size_t c = 0; c < 10; ++c) {
      hall.daemon.let_read(hall.all[c]->connection, false);
      // Each slow client has a group of its own, so it shares its events with no other client.
      hall.all[c]->join("own" + std::to_string(c), {policy, 1U << 20, 16U << 20, 0});
    }
    hall.daemon.run();
    for (int i = 0; i < 300; ++i) {
      for (std::size_t c = 0; c < 10; ++c) {
        hall.all.back()->send("own" + std::to_string(c), std::string(400, 'p'));
        ++hall.sent;
        hall.received.back() = hall.sent;
      }
      hall.daemon.run();
      for (std::size_t c = 10; c < 20; ++c) hall.all[c]->take();
    }
    EXPECT_LE(hall.daemon.sessions->counters().memory_bytes_peak, how.memory_bytes_max);
    for (std::size_t c = 10; c < 20; ++c)
      EXPECT_FALSE(hall.daemon.pipe(hall.all[c]->connection).closed);
    const bool evicts = policy == SlowPolicy::evict;
    EXPECT_EQ(hall.daemon.sessions->counters().evicted > 0, evicts);
  }
}

}  // namespace
}  // namespace peal::session::test
