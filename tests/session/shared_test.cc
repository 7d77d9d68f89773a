// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "daemon.h"
#include "resume_talk.h"

// Events in shared memory, where clients read them.

namespace peal::session::test {
namespace {

constexpr std::uint32_t kRegionBytes = 1U << 20;

Options with_region(std::uint32_t bytes = kRegionBytes) {
  Options options = test::options();
  options.shared_bytes = bytes;
  return options;
}

struct Room {
  explicit Room(const Options& options = with_region()) : daemon(options) {}

  Client& add(const std::string& name, bool shares, const Identity& identity = user(1, "ann"),
              const wire::SlowLimits& limits = {}, std::uint32_t keep_ms = 60'000) {
    clients.push_back(std::make_unique<Client>(daemon, name, keep_ms, identity));
    Client& client = *clients.back();
    client.shares = shares;
    client.connect();
    client.join("g", limits);
    settle();
    return client;
  }
  void settle() {
    daemon.run();
    for (const auto& client : clients) client->take();
    daemon.run();
  }
  std::uint64_t in_use() const { return daemon.sessions->status(daemon.now).region_bytes_in_use; }
  Sessions::Counters counters() const { return daemon.sessions->counters(); }

  Daemon daemon;
  std::vector<std::unique_ptr<Client>> clients;
};

std::uint64_t messages_in(const std::vector<std::string>& texts) {
  return static_cast<std::uint64_t>(
      std::count_if(texts.begin(), texts.end(),
                    [](const std::string& text) { return text.rfind("message", 0) == 0; }));
}

TEST(SharedEvents, LieInMemoryOnceForAllWhoReadIt) {
  Room room;
  Client& a = room.add("a", true);
  Client& b = room.add("b", true);
  Client& c = room.add("c", false);
  EXPECT_EQ(a.shared_bytes, kRegionBytes);
  EXPECT_EQ(c.shared_bytes, 0U);
  a.send("g", std::string(600, 'x'));
  room.daemon.run();
  EXPECT_EQ(room.counters().shared, 1U);
  EXPECT_GT(room.in_use(), 600U);
  EXPECT_LT(room.in_use(), 900U);
  const auto told = b.take_events();
  EXPECT_EQ(told, std::vector<std::string>{"message g: " + std::string(600, 'x') + " from #a#n"});
  EXPECT_EQ(a.take_events(), told);
  EXPECT_EQ(c.take_events(), told);
  EXPECT_EQ(a.shared, 1U);
  EXPECT_EQ(b.shared, 1U);
  EXPECT_EQ(c.shared, 0U);
  room.daemon.run();
  EXPECT_EQ(room.in_use(), 0U);
}

TEST(SharedEvents, SmallOnesStandInTheConnection) {
  Room room;
  Client& a = room.add("a", true);
  a.send("g", "small");
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, 0U);
  EXPECT_EQ(room.counters().shared, 0U);
}

TEST(SharedEvents, StayUntilTheyWereSeenAlsoWithoutKeep) {
  Room room;
  Client& a = room.add("a", true, user(1, "ann"), {}, 0);
  a.says_seen = false;
  a.send("g", std::string(600, 'x'));
  room.daemon.run();
  EXPECT_GT(room.in_use(), 0U);
  a.take();
  room.daemon.run();
  EXPECT_GT(room.in_use(), 0U);
  a.seen();
  room.daemon.run();
  EXPECT_EQ(room.in_use(), 0U);
  EXPECT_EQ(a.gone, 0U);
}

TEST(SharedEvents, OfOneUserLieWhereNoOtherUserReads) {
  Room room;
  Client& ann = room.add("a", true);
  Client& bob = room.add("b", true, user(2, "bob"));
  Identity in_group = user(1, "ann");
  in_group.groups = {7};
  Client& ann_in_group = room.add("c", true, in_group);
  EXPECT_EQ(room.daemon.sessions->status(room.daemon.now).regions, 3U);
  const std::string secret(600, 's');
  ann.send("#a#n", secret);
  room.daemon.run();
  const auto holds = [&](const Client& client) {
    const ByteView memory = room.daemon.region(client.connection);
    return as_text(memory).find(secret) != std::string_view::npos;
  };
  EXPECT_TRUE(holds(ann));
  EXPECT_FALSE(holds(bob));
  EXPECT_FALSE(holds(ann_in_group));
}

TEST(SharedEvents, StandInTheConnectionUntilTheClientSaysThatItCanReadThem) {
  Room room;
  Client& a = room.add("a", true);
  a.cut();
  a.maps = false;
  a.connect();
  room.settle();
  EXPECT_EQ(a.shared_bytes, kRegionBytes);
  a.send("g", std::string(600, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, 0U);
  a.mapped();
  a.send("g", std::string(600, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, 1U);
}

TEST(SharedEvents, AreReadByThoseOnlyWhoWereGivenMemory) {
  Room room;
  Client& a = room.add("a", false);
  a.mapped();
  room.daemon.run();
  EXPECT_EQ(a.take().back(), "closing bad_record");
  Client& b = room.add("b", true);
  b.mapped();
  room.daemon.run();
  EXPECT_EQ(b.take().back(), "closing bad_record");
  Client& c = room.add("c", true);
  c.bytes(as_bytes_view(std::string_view("\2\0\0\0\11x", 6)));
  room.daemon.run();
  EXPECT_EQ(c.take().back(), "closing bad_record");
}

TEST(SharedEvents, AreForClientsOfTheUnixSocketOnly) {
  Room room;
  Identity remote = user(1, "ann");
  remote.local = false;
  EXPECT_EQ(room.add("a", true, remote).shared_bytes, 0U);
  Identity certificate;
  certificate.kind = Identity::Kind::certificate;
  certificate.name = "ann";
  EXPECT_EQ(room.add("b", true, certificate).shared_bytes, 0U);
  EXPECT_EQ(room.daemon.sessions->status(room.daemon.now).regions, 0U);
}

TEST(SharedEvents, AreNotToldToOneWhoResumesWithOtherRights) {
  Room room;
  Client& a = room.add("a", true);
  a.cut();
  a.identity.groups = {7};
  a.connect();
  room.settle();
  EXPECT_TRUE(a.welcome);
  EXPECT_EQ(a.shared_bytes, 0U);
  a.send("g", std::string(600, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, 0U);
}

TEST(SharedEvents, StandInTheConnectionWhereThereIsNoMemory) {
  for (const bool configured : {true, false}) {
    Room room(with_region(configured ? kRegionBytes : 0));
    room.daemon.has_memory = false;
    Client& a = room.add("a", true);
    EXPECT_EQ(a.shared_bytes, 0U);
    a.send("g", std::string(600, 'x'));
    room.daemon.run();
    EXPECT_EQ(a.take_events().size(), 1U);
  }
}

TEST(SharedEvents, NeedARegionOfSomeSize) {
  Room least(with_region(kSharedBytesLeast)), less(with_region(kSharedBytesLeast - 8));
  EXPECT_EQ(least.add("a", true).shared_bytes, kSharedBytesLeast);
  EXPECT_EQ(less.add("a", true).shared_bytes, 0U);
  EXPECT_TRUE(less.daemon.regions.empty());
}

TEST(SharedEvents, StandInTheConnectionIfTheyAreTooLarge) {
  Room room;
  Client& a = room.add("a", true);
  a.send("g", std::string(40'000, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, 0U);
  EXPECT_EQ(room.counters().shared_no_room, 1U);
}

TEST(SharedEvents, StandInTheConnectionOnceTheMemoryIsFull) {
  Room room(with_region(kSharedBytesLeast));
  std::vector<Client*> idle;
  for (int i = 0; i < 12; ++i) idle.push_back(&room.add("idle" + std::to_string(i), true));
  Client& a = room.add("a", true);
  // Each idle client keeps at most an eighth of the memory.
  for (Client* client : idle) {
    client->says_seen = false;
    for (int i = 0; i < 20; ++i) a.send("#" + client->name + "#n", std::string(900, 'x'));
  }
  room.daemon.run();
  EXPECT_GT(room.counters().shared_no_room, 0U);
  a.send("g", std::string(2'000, 'y'));
  room.daemon.run();
  EXPECT_EQ(messages_in(a.take_events()), 1U);
  EXPECT_EQ(a.shared, 0U);
  for (Client* client : idle) {
    EXPECT_EQ(messages_in(client->take_events()), 21U);
    EXPECT_LT(client->shared, 9U);
    client->seen();
  }
  EXPECT_GT(idle.front()->shared, 0U);
  EXPECT_EQ(idle.back()->shared, 0U);
  room.daemon.run();
  EXPECT_EQ(room.in_use(), 0U);
  a.send("g", std::string(2'000, 'z'));
  room.daemon.run();
  EXPECT_EQ(messages_in(a.take_events()), 1U);
  EXPECT_EQ(a.shared, 1U);
}

/// If a client does not report which events it saw, it gets further events on its connection, not
/// in shared memory. The client must read the connection before it gets more. So the daemon knows
/// that the client keeps up.
TEST(SharedEvents, AreToldByPlaceOnlyAsFarAsTheyMayBeUnseen) {
  Room room(with_region(64U << 20));
  Client& a = room.add("a", true);
  a.says_seen = false;
  for (int i = 0; i < 40; ++i) a.send("g", std::string(100'000, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 40U);
  EXPECT_EQ(a.shared, wire::kSharedUnseenMax / 100'100);
  EXPECT_EQ(room.counters().shared, 40U);
  a.seen();
  room.daemon.run();
  const std::uint64_t shared = a.shared;
  a.send("g", std::string(100'000, 'x'));
  room.daemon.run();
  EXPECT_EQ(a.take_events().size(), 1U);
  EXPECT_EQ(a.shared, shared + 1);
}

TEST(SharedEvents, SpilledComeBackInTheConnection) {
  Room room;
  const wire::SlowLimits limits{wire::SlowPolicy::spill, 8'192, 1U << 20, 0};
  Client& slow = room.add("slow", true, user(1, "ann"), limits);
  Client& sender = room.add("sender", true);
  room.daemon.let_read(slow.connection, false);
  for (int i = 0; i < 100; ++i) {
    sender.send("g", std::to_string(1'000 + i) + std::string(600, 'x'));
    room.daemon.run();
    sender.take();
    room.daemon.run();
  }
  EXPECT_GT(room.counters().spilled_bytes, 0U);
  EXPECT_LT(room.in_use(), 20'000U);
  room.daemon.let_read(slow.connection, true);
  std::vector<std::string> told;
  for (int i = 0; i < 50; ++i) {
    for (const std::string& text : slow.take_events()) {
      if (text.rfind("message g: ", 0) == 0) told.push_back(text.substr(11, 4));
    }
    room.daemon.run();
  }
  ASSERT_EQ(told.size(), 100U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(slow.shared, 0U);
  EXPECT_LT(slow.shared, 50U);
  EXPECT_EQ(slow.gone, 0U);
}

/// After a session ended, its last events can still be read for a while.
TEST(SharedEvents, CanBeReadForAWhileAfterTheSessionEnded) {
  Room room;
  Client& a = room.add("a", true);
  a.says_seen = false;
  a.send("g", std::string(600, 'x'));
  a.goodbye();
  room.daemon.run();
  EXPECT_EQ(room.daemon.sessions->sessions(), 0U);
  EXPECT_GT(room.in_use(), 0U);
  EXPECT_EQ(a.take().back(), "closing goodbye");
  EXPECT_EQ(a.shared, 1U);
  EXPECT_EQ(a.gone, 0U);
  room.daemon.pass(seconds(3));
  EXPECT_EQ(room.in_use(), 0U);
  EXPECT_EQ(room.daemon.sessions->status(room.daemon.now).regions, 0U);
  EXPECT_TRUE(room.daemon.regions.empty());
}

TEST(SharedEvents, KeepTheirMemoryWhileAClientIsAwayAndNoLonger) {
  Room room;
  Client& a = room.add("a", true, user(1, "ann"), {}, 5'000);
  Client& b = room.add("b", true, user(2, "bob"));
  b.send("g", std::string(600, 'x'));
  room.daemon.run();
  a.cut();
  room.daemon.run();
  EXPECT_EQ(room.daemon.regions.size(), 2U);
  a.connect();
  room.daemon.run();
  EXPECT_EQ(messages_in(a.take_events()), 1U);
  EXPECT_EQ(a.gone, 0U);
  room.daemon.run();
  a.cut();
  room.daemon.pass(seconds(8));
  EXPECT_EQ(room.daemon.sessions->sessions(), 1U);
  EXPECT_EQ(room.daemon.regions.size(), 1U);
}

TEST(SharedEvents, AreTheSameWhereverTheConnectionIsCut) {
  Cut none;
  none.shares = true;
  const Talk whole = talk(none);
  ASSERT_GT(whole.shared, 9U);
  for (std::size_t at = 0; at <= whole.output_bytes; ++at) {
    Cut cut = none;
    cut.output = at;
    cut.shares_again = at % 2 == 0;
    const Talk other = talk(cut);
    ASSERT_TRUE(same(whole, other)) << "cut after " << at << " bytes of the daemon";
    EXPECT_EQ(other.gone, 0U);
  }
  for (std::size_t at = 0; at <= whole.input_bytes; at += 7) {
    Cut cut = none;
    cut.input = at;
    cut.shares_again = at % 2 == 0;
    ASSERT_TRUE(same(whole, talk(cut))) << "cut after " << at << " bytes of the client";
  }
}

}  // namespace
}  // namespace peal::session::test
