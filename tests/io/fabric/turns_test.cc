// SPDX-License-Identifier: Apache-2.0
// Memories in event loops: how an owner wakes up, and what turns cost.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

#include "allocations.h"
#include "fabrics.h"

namespace peal::io::fabric::test {
namespace {

/// A process with a loop. It writes numbers to a peer: the next one once the peer's number came.
class Node final : public LoopHost {
 public:
  Node(const Options& options, const MemberId& peer, const LoopOptions& loop_options)
      : peer_(peer), loop_(std::move(*Loop::open(loop_options))), fabric_(open_fabric(options)) {
    EXPECT_TRUE(fabric_->attach(*loop_).has_value());
    EXPECT_TRUE(fabric_->expose({peer, kNumber}, {1}, 64));
  }
  void begin() { say(1); }
  Loop& loop() { return *loop_; }
  Fabric& fabric() { return *fabric_; }
  std::uint64_t rounds() const { return rounds_.load(); }
  bool failed() const { return failed_.load(); }

  void on_pause(Instant, Duration) override {}
  Progress on_sockets(const Turn& turn) override {
    const bool more = fabric_->receive(turn.now);
    if (fabric_->take_news()) on_memory();
    return {more, true};
  }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant now) override { fabric_->flush(now); }
  std::optional<Instant> next_deadline() const override { return fabric_->next_deadline(); }

 private:
  void on_memory() {
    WriteDone done;
    while (fabric_->next_done(done)) {
      if (done.end != WriteEnd::ok) failed_ = true;
    }
    std::array<std::byte, 8> bytes{};
    if (!fabric_->load({peer_, kNumber}, 0, bytes)) return;
    const auto heard = peal::load<std::uint64_t>(bytes);
    if (heard <= heard_) return;
    heard_ = heard;
    rounds_ = heard;
    say(heard + 1);
  }
  void say(std::uint64_t number) {
    std::array<std::byte, 8> bytes{};
    store(ByteSpan(bytes), number);
    fabric_->write({peer_, kNumber, {1}, 0}, bytes, number);
  }

  MemberId peer_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Fabric> fabric_;
  std::uint64_t heard_ = 0;
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> failed_{false};
};

/// Two nodes on two threads, until they have said `rounds` numbers.
struct Talk {
  Talk(Choice choice, const LoopOptions& options)
      : site(choice),
        one(site.options(kOwner), kWriter, options),
        two(site.options(kWriter), kOwner, options) {}
  void run(std::uint64_t rounds) {
    one.begin();
    std::thread first([&] { one.loop().run(one); });
    std::thread second([&] { two.loop().run(two); });
    const Instant limit = Clock::now() + seconds(60);
    while (two.rounds() < rounds && Clock::now() < limit) ::sched_yield();
    one.loop().stop();
    two.loop().stop();
    first.join();
    second.join();
    EXPECT_GE(two.rounds(), rounds) << "a wake-up was lost";
    EXPECT_FALSE(one.failed() || two.failed());
  }
  std::uint64_t rings() { return one.fabric().counters().rings + two.fabric().counters().rings; }
  Site site;
  Node one;
  Node two;
};

class FabricBell : public testing::TestWithParam<Choice> {};
INSTANTIATE_TEST_SUITE_P(Fabrics, FabricBell, testing::ValuesIn(with_verbs({Choice::shm})),
                         [](const auto& made) { return std::string(choice_name(made.param)); });

TEST_P(FabricBell, ASleepingOwnerIsWokenUp) {
  Talk talk(GetParam(), {});
  talk.run(3'000);
  EXPECT_GT(talk.rings(), 0U);
  EXPECT_LE(talk.rings(), 2 * talk.two.rounds() + 10);
}

TEST(FabricTurns, AnOwnerThatPollsAWhileIsWokenUp) {
  LoopOptions options;
  options.spin = microseconds(20);
  Talk talk(Choice::shm, options);
  talk.run(3'000);
}

TEST(FabricTurns, AnOwnerThatPollsIsNeverRung) {
  LoopOptions options;
  options.waiting = Waiting::polling;
  Talk talk(Choice::shm, options);
  talk.run(3'000);
  EXPECT_EQ(talk.rings(), 0U);
  EXPECT_EQ(talk.one.loop().counters().sleeps, 0U);
}

TEST(FabricTurns, TcpWakesALoop) {
  Talk talk(Choice::tcp, {});
  talk.run(2'000);
  EXPECT_EQ(talk.rings(), 0U);
}

/// The owner says where its regions are with one descriptor each, and a read ends at each of them.
TEST(FabricTurns, AllRegionsOfAnOwnerAreHeardOf) {
  constexpr std::uint8_t kFirst = 10;
  constexpr std::uint8_t kBehind = 60;
  const Site site(Choice::shm);
  Node one(site.options(kOwner), kWriter, {});
  Node two(site.options(kWriter), kOwner, {});
  const Bytes bytes = filled(8, 5);
  for (std::uint8_t number = kFirst; number < kBehind; ++number) {
    ASSERT_TRUE(one.fabric().expose({kWriter, number}, {1}, 64));
    two.fabric().write({kOwner, number, {1}, 0}, bytes, number);
  }
  two.fabric().flush(Clock::now());
  const auto arrived = [&] {
    int count = 0;
    for (std::uint8_t number = kFirst; number < kBehind; ++number) {
      std::array<std::byte, 1> found{};
      if (one.fabric().load({kWriter, number}, 0, found) && found[0] == std::byte{5}) ++count;
    }
    return count;
  };
  const Instant limit = Clock::now() + seconds(60);
  while (arrived() < kBehind - kFirst && Clock::now() < limit) {
    for (Node* node : {&one, &two}) node->loop().turn(*node, milliseconds(1));
  }
  EXPECT_EQ(arrived(), kBehind - kFirst);
  EXPECT_FALSE(two.failed());
}

TEST(FabricTurns, ForeignLoopsAreWokenUp) {
  const Site site(Choice::shm);
  Node one(site.options(kOwner), kWriter, {});
  Node two(site.options(kWriter), kOwner, {});
  one.begin();
  const Instant limit = Clock::now() + seconds(60);
  while (two.rounds() < 200 && Clock::now() < limit) {
    for (Node* node : {&one, &two}) {
      pollfd poll{node->loop().fd(), POLLIN, 0};
      if (::poll(&poll, 1, 0) == 1) node->loop().turn(*node, {});
      node->loop().arm(*node);
    }
  }
  EXPECT_GE(two.rounds(), 200U);
}

/// What a turn costs after the start.
class FabricAllocation : public testing::TestWithParam<Choice> {};
INSTANTIATE_TEST_SUITE_P(Fabrics, FabricAllocation,
                         testing::ValuesIn(with_verbs({Choice::shm, Choice::tcp})),
                         [](const auto& made) { return std::string(choice_name(made.param)); });

TEST_P(FabricAllocation, NoneForWritesAfterTheStart) {
  FabricWorld world(GetParam());
  for (const MemberId& member : {kOwner, kWriter, kOther}) world.start(member);
  world.wait_for([&] {
    for (const MemberId& member : {kOwner, kWriter, kOther}) {
      for (const PeerStatus& peer : world.fabric(member).status()) {
        if (peer.kind == Kind::none || peer.incoming == Kind::none) return false;
      }
    }
    return true;
  });
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, kNumber}, {7}, 1 << 16));
  const Bytes bytes = filled(1'000, 5);
  std::uint64_t token = 0;
  std::uint64_t ended = 0;
  std::uint64_t bad = 0;
  const auto turn = [&] {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t offset = token % 64 * 1'000;
      world.of(kWriter).write({kOwner, kNumber, {7}, offset}, bytes, ++token);
    }
    // A denied write allocates nothing either.
    world.of(kWriter).write({kOwner, kNumber, {7}, 1 << 16}, bytes, ++token);
    world.flush(kWriter);
    world.turn();
    WriteDone done;
    while (world.of(kWriter).next_done(done)) {
      ++ended;
      if ((done.end == WriteEnd::denied) != (done.token % 21 == 0)) ++bad;
    }
    std::array<std::byte, 64> found{};
    if (!world.of(kOwner).load({kWriter, kNumber}, 64, found)) ++bad;
  };
  while (ended < 2'000) {
    ASSERT_TRUE(world.may_wait());
    turn();
  }
  const std::uint64_t before = allocations();
  // The only device of tests is an emulated one.
  const std::uint64_t goal = ended + (GetParam() == Choice::verbs ? 2'000 : 20'000);
  while (ended < goal && world.may_wait()) turn();
  EXPECT_EQ(allocations(), before);
  EXPECT_GE(ended, goal);
  EXPECT_EQ(bad, 0U);
}

}  // namespace
}  // namespace peal::io::fabric::test
