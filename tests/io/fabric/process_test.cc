// SPDX-License-Identifier: Apache-2.0
// Memories in several processes: some are killed or stopped, and rights are revoked under load.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <functional>

#include "base/random.h"
#include "fabrics.h"

namespace peal::io::fabric::test {
namespace {

/// A child process with two pipes. The destructor kills it.
class Child {
 public:
  /// `body` is what the child does. It never returns from there.
  explicit Child(const std::function<void(const Child&)>& body) {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    EXPECT_EQ(::pipe(down.data()), 0);
    EXPECT_EQ(::pipe(up.data()), 0);
    parent_ = ::getpid();
    pid_ = ::fork();
    const bool is_child = pid_ == 0;
    in_ = is_child ? down[0] : up[0];
    out_ = is_child ? up[1] : down[1];
    ::close(is_child ? down[1] : down[0]);
    ::close(is_child ? up[0] : up[1]);
    if (!is_child) return;
    ::alarm(120);
    body(*this);
    ::_exit(0);
  }
  ~Child() {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(in_);
    ::close(out_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void send(std::uint64_t value) const {
    EXPECT_EQ(::write(out_, &value, sizeof value), static_cast<ssize_t>(sizeof value));
  }
  /// The next number from the other side; 0 at the end.
  std::uint64_t get() const {
    std::uint64_t value = 0;
    return ::read(in_, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? value : 0;
  }
  /// As get(), while `world` has turns.
  std::uint64_t get(FabricWorld& world) const {
    world.wait_for([&] {
      pollfd poll{in_, POLLIN, 0};
      return ::poll(&poll, 1, 0) == 1;
    });
    return get();
  }
  void signal(int number) const { ::kill(pid_, number); }
  void stop() const {
    signal(SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  bool parent_lives() const { return ::getppid() == parent_; }

 private:
  pid_t parent_ = 0;
  pid_t pid_ = 0;
  int in_ = -1;
  int out_ = -1;
};

class FabricProcess : public testing::TestWithParam<Choice> {
 protected:
  bool is_one_sided() const { return GetParam() != Choice::tcp; }
  std::string next_end(const MemberId& writer) {
    WriteDone done;
    world_.wait_for([&] { return world_.of(writer).next_done(done); });
    last_token_ = done.token;
    if (done.end == WriteEnd::ok) return "ok";
    return done.end == WriteEnd::denied ? "denied" : "down";
  }
  void write(std::uint64_t token) {
    world_.of(kWriter).write({kOwner, kNumber, {7}, 0}, filled(8, 5), token);
    world_.flush(kWriter);
  }
  /// An owner that exposes a region and has turns until it is killed.
  std::function<void(const Child&)> owner() const {
    return [options = world_.site().options(kOwner)](const Child& self) {
      const auto fabric = open_fabric(options);
      if (!fabric->expose({kWriter, kNumber}, {7}, 1 << 16)) return;
      self.send(1);
      while (self.parent_lives()) {
        fabric->receive(Clock::now());
        fabric->take_news();
        fabric->flush(Clock::now());
        ::sched_yield();
      }
    };
  }

  FabricWorld world_{GetParam()};
  std::uint64_t last_token_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Fabrics, FabricProcess,
                         testing::ValuesIn(with_verbs({Choice::shm, Choice::tcp})),
                         [](const auto& made) { return std::string(choice_name(made.param)); });

TEST_P(FabricProcess, WritesToAKilledOwnerEndAsDown) {
  const Child child(owner());
  ASSERT_EQ(child.get(), 1U);
  world_.start(kWriter);
  write(1);
  EXPECT_EQ(next_end(kWriter), "ok");
  child.signal(SIGKILL);
  std::string end;
  std::uint64_t token = 1;
  do {
    ASSERT_TRUE(world_.may_wait());
    write(++token);
    world_.turn();
    end = next_end(kWriter);
    EXPECT_EQ(last_token_, token);
    EXPECT_NE(end, "denied");
  } while (end != "down");
  // Its next incarnation is another process, which has other regions.
  const Child next([options = world_.site().options({kOwner.node, 11})](const Child& self) {
    const auto fabric = open_fabric(options);
    self.send(1);
    while (self.parent_lives()) {
      fabric->receive(Clock::now());
      ::sched_yield();
    }
  });
  ASSERT_EQ(next.get(), 1U);
  world_.wait_for([&] { return world_.status(kWriter, kOwner.node).owner.epoch == 11; });
  write(++token);
  EXPECT_EQ(next_end(kWriter), "down");
}

TEST_P(FabricProcess, AStoppedOwnersMemoryStaysWritableUnlessByTcp) {
  const Child child(owner());
  ASSERT_EQ(child.get(), 1U);
  world_.start(kWriter);
  write(1);
  EXPECT_EQ(next_end(kWriter), "ok");
  child.stop();
  for (std::uint64_t token = 2; token <= 100; ++token) write(token);
  if (is_one_sided()) {
    for (std::uint64_t token = 2; token <= 100; ++token) {
      EXPECT_EQ(next_end(kWriter), "ok");
      EXPECT_EQ(last_token_, token);
    }
    return;
  }
  // By tcp, they wait until it goes on.
  for (int i = 0; i < 100; ++i) world_.turn();
  WriteDone done;
  EXPECT_FALSE(world_.of(kWriter).next_done(done));
  child.signal(SIGCONT);
  for (std::uint64_t token = 2; token <= 100; ++token) {
    EXPECT_EQ(next_end(kWriter), "ok");
    EXPECT_EQ(last_token_, token);
  }
}

/// What a writing process does: for each epoch that it is told, it writes numbers to a ring of
/// slots until a write is denied, and then says how many ended as ok. 0 ends it.
constexpr std::uint64_t kSlots = 64;
constexpr std::uint64_t kSlotBytes = 128;
constexpr std::uint64_t kUnderWay = 24;
constexpr std::uint64_t kFailed = ~std::uint64_t{0};

/// Nothing if something else happened than that a write was denied.
std::uint64_t write_until_denied(Fabric& fabric, Epoch epoch) {
  Bytes slot(kSlotBytes);
  std::uint64_t number = 0;
  std::uint64_t ok = 0;
  std::uint64_t ended = 0;
  bool denied = false;
  while (!denied || ended < number) {
    while (!denied && number < ended + kUnderWay) {
      ++number;
      for (std::size_t at = 0; at < kSlotBytes; at += 8) store(ByteSpan(slot).subspan(at), number);
      fabric.write({kOwner, kNumber, epoch, number % kSlots * kSlotBytes}, slot, number);
    }
    fabric.flush(Clock::now());
    fabric.receive(Clock::now());
    fabric.take_news();
    WriteDone done;
    while (fabric.next_done(done)) {
      if (done.token != ++ended || done.end == WriteEnd::down) return kFailed;
      if (done.end == WriteEnd::denied) denied = true;
      if (denied && done.end == WriteEnd::ok) return kFailed;  // it was revoked for good
      if (done.end == WriteEnd::ok) ++ok;
    }
  }
  return ok;
}

TEST_P(FabricProcess, WhatEndedAsOkIsInTheCopyOfARevokedRegion) {
  constexpr std::uint64_t kRevocations = 60;
  const Child child([options = world_.site().options(kWriter)](const Child& self) {
    const auto fabric = open_fabric(options);
    while (const std::uint64_t epoch = self.get()) {
      self.send(1 + write_until_denied(*fabric, {epoch}));
    }
  });
  world_.start(kOwner);
  Random random(21);
  std::uint64_t written = 0;
  for (std::uint64_t epoch = 1; epoch <= kRevocations; ++epoch) {
    const port::Region region{kWriter, kNumber};
    ASSERT_TRUE(world_.of(kOwner).expose(region, {epoch}, kSlots * kSlotBytes));
    world_.flush(kOwner);
    child.send(epoch);
    Bytes first(8);
    world_.wait_for([&] {
      return world_.of(kOwner).load(region, kSlotBytes, first) &&
             peal::load<std::uint64_t>(first) != 0;
    });
    for (std::uint64_t turns = random.below(5); turns > 0; --turns) world_.turn();
    world_.of(kOwner).revoke(region);
    Bytes copy(kSlots * kSlotBytes);
    ASSERT_TRUE(world_.of(kOwner).load(region, 0, copy));
    const std::uint64_t told = child.get(world_);
    ASSERT_NE(told, 0U) << "a write ended as down, or as ok behind one that was denied";
    const std::uint64_t last = told - 1;
    written += last;
    for (std::uint64_t number = last < kSlots ? 1 : last - kSlots + 1; number <= last; ++number) {
      for (std::size_t at = 0; at < kSlotBytes; at += 8) {
        const auto found =
            peal::load<std::uint64_t>(ByteView(copy).subspan(number % kSlots * kSlotBytes + at));
        ASSERT_GE(found, number) << "epoch " << epoch << ", word " << at;
      }
    }
    Bytes again(kSlots * kSlotBytes);
    ASSERT_TRUE(world_.of(kOwner).load(region, 0, again));
    ASSERT_TRUE(again == copy) << "epoch " << epoch;
  }
  EXPECT_GT(written, kRevocations);
}

TEST_P(FabricProcess, AKilledWriterLeavesOthersAlone) {
  world_.start(kOwner);
  world_.start(kOther);
  ASSERT_TRUE(world_.of(kOwner).expose({kOther, kNumber}, {3}, 64));
  for (std::uint64_t round = 0; round < 5; ++round) {
    Options options = world_.site().options({kWriter.node, kWriter.epoch + round});
    const port::Region region{options.self, kNumber};
    ASSERT_TRUE(world_.of(kOwner).expose(region, {1}, kSlots * kSlotBytes));
    {
      const Child child([&options](const Child& self) {
        const auto fabric = open_fabric(options);
        self.send(1 + write_until_denied(*fabric, {1}));
      });
      Bytes first(8);
      world_.wait_for([&] {
        return world_.of(kOwner).load(region, kSlotBytes, first) &&
               peal::load<std::uint64_t>(first) != 0;
      });
    }  // killed while it writes
    world_.wait_for([&] { return world_.status(kOwner, kWriter.node).incoming == Kind::none; });
    world_.of(kOwner).write({kOther, kNumber, {3}, 0}, filled(8, 1), round);
    world_.flush(kOwner);
    EXPECT_EQ(next_end(kOwner), "denied") << "the other one exposes nothing to it";
    world_.of(kOther).write({kOwner, kNumber, {3}, 0}, filled(8, 1), round);
    world_.flush(kOther);
    EXPECT_EQ(next_end(kOther), "ok");
    world_.of(kOwner).drop(region);
  }
}

}  // namespace
}  // namespace peal::io::fabric::test
