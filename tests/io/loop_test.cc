// SPDX-License-Identifier: Apache-2.0
#include "io/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/fd.h"

namespace peal::io {
namespace {

using testing::ElementsAre;

/// Records the calls of the loop.
class Host : public LoopHost {
 public:
  void on_pause(Instant, Duration gap) override {
    pause = gap;
    calls.push_back("pause");
  }
  Progress on_sockets(const Turn& turn) override {
    last_turn = turn;
    calls.push_back("sockets");
    if (in_sockets) in_sockets();
    return progress;
  }
  void on_drained(Instant) override { calls.push_back("drained"); }
  void on_wake(Instant) override { calls.push_back("wake"); }
  void on_timer(Instant now) override {
    fired_at = now;
    calls.push_back("timer");
    deadline.reset();
  }
  void on_turn_end(Instant) override { calls.push_back("end"); }
  std::optional<Instant> next_deadline() const override { return deadline; }

  std::vector<std::string> take() { return std::exchange(calls, {}); }

  std::vector<std::string> calls;
  std::optional<Instant> deadline;
  std::function<void()> in_sockets;
  Progress progress{false, true};
  Turn last_turn{};
  Duration pause{};
  Instant fired_at{};
};

std::unique_ptr<Loop> make_loop(const LoopOptions& options = {}) {
  return std::move(*Loop::open(options));
}

void busy_for(Duration time) {
  const Instant end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

TEST(Loop, ReadsSocketsBeforeTimersFire) {
  const auto loop = make_loop();
  Host host;
  host.deadline = Clock::now();
  loop->turn(host, {});
  EXPECT_TRUE(host.last_turn.timers_due);
  EXPECT_THAT(host.take(), ElementsAre("sockets", "timer", "end"));
}

TEST(Loop, LetsAPacketCancelATimer) {
  const auto loop = make_loop();
  Host host;
  host.deadline = Clock::now();
  host.in_sockets = [&] { host.deadline.reset(); };
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "end"));
}

TEST(Loop, FiresNoTimerThatWasNotDueBeforeTheSocketsWereRead) {
  const auto loop = make_loop();
  Host host;
  host.in_sockets = [&] { host.deadline = Clock::now(); };
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "end"));
  host.in_sockets = {};
  loop->turn(host, seconds(20));  // must not sleep
  EXPECT_THAT(host.take(), ElementsAre("sockets", "timer", "end"));
}

TEST(Loop, SleepsUntilTheDeadline) {
  const auto loop = make_loop();
  Host host;
  const Instant deadline = Clock::now() + milliseconds(5);
  host.deadline = deadline;
  while (host.fired_at == Instant{}) loop->turn(host, seconds(20));
  EXPECT_GE(host.fired_at, deadline);
  EXPECT_LE(loop->counters().turns, 3U);
}

TEST(Loop, WakesAtOnceForWhatIsLeft) {
  const auto loop = make_loop();
  Host host;
  host.progress.more = true;
  loop->turn(host, {});
  for (int i = 0; i < 100; ++i) loop->turn(host, seconds(20));
  EXPECT_EQ(loop->counters().sleeps, 0U);
  EXPECT_EQ(loop->counters().turns, 101U);
}

TEST(Loop, IsWokenByItsOwnThreadWithoutASystemCall) {
  const auto loop = make_loop();
  Host host;
  loop->wake();
  loop->wake();
  loop->turn(host, seconds(20));
  EXPECT_THAT(host.take(), ElementsAre("sockets", "wake", "end"));
  EXPECT_EQ(loop->counters().signals, 0U);
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "end"));
}

// Two threads pass a count back and forth. If a wake-up is lost, the loop sleeps for ever.
TEST(Loop, LosesNoWakeFromAnotherThread) {
  for (const Duration spin : {Duration{}, microseconds(20)}) {
    const auto loop = make_loop({spin, {}});
    constexpr int kRounds = 20'000;
    std::atomic<int> asked{0};
    std::atomic<int> answered{0};
    struct Answering : Host {
      Answering(std::atomic<int>& from, std::atomic<int>& to) : asked_(from), answered_(to) {}
      void on_wake(Instant) override { answered_.store(asked_.load()); }
      void on_turn_end(Instant) override { calls.clear(); }
      std::atomic<int>& asked_;
      std::atomic<int>& answered_;
    } host(asked, answered);
    std::thread other([&] {
      for (int i = 1; i <= kRounds; ++i) {
        asked.store(i);
        loop->wake();
        while (answered.load() < i) std::this_thread::yield();
      }
      loop->stop();
    });
    loop->run(host);
    other.join();
    EXPECT_EQ(answered.load(), kRounds);
    EXPECT_TRUE(loop->stopped());
    EXPECT_LE(loop->counters().signals, loop->counters().turns + 1);
  }
}

TEST(Loop, NoticesAPause) {
  const auto loop = make_loop({{}, milliseconds(20)});
  busy_for(milliseconds(30));  // time before the first turn is no pause
  Host host;
  host.progress.drained = false;
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "end"));
  busy_for(milliseconds(25));
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("pause", "sockets", "end"));
  EXPECT_GE(host.pause, milliseconds(25));
  // The loop calls on_drained() once, when it first finds the sockets empty after the pause.
  host.progress.drained = true;
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "drained", "end"));
  loop->turn(host, {});
  EXPECT_THAT(host.take(), ElementsAre("sockets", "end"));
  EXPECT_EQ(loop->counters().pauses, 1U);
}

TEST(Loop, DoesNotTakeSleepForAPause) {
  const auto loop = make_loop({{}, milliseconds(300)});
  Host host;
  const Instant end = Clock::now() + milliseconds(700);
  host.deadline = end;
  while (Clock::now() < end) loop->turn(host, seconds(20));
  EXPECT_EQ(loop->counters().pauses, 0U);
  EXPECT_GE(loop->counters().turns, 2U);
}

TEST(Loop, SpinsOnlyWhileWaitsAreShort) {
  const auto loop = make_loop({milliseconds(1), {}});
  Host host;
  for (int i = 0; i < 20; ++i) loop->turn(host, milliseconds(10));
  const LoopCounters idle = loop->counters();
  EXPECT_EQ(idle.spins, 0U);
  EXPECT_EQ(idle.sleeps, 20U);
  loop->wake();
  loop->turn(host, milliseconds(10));
  EXPECT_EQ(loop->counters().spins, 0U);
}

TEST(Loop, NeedsNoSystemCallToBeWokenWhileItSpins) {
  const auto loop = make_loop({seconds(20), {}});
  Host host;
  std::thread other([&] { loop->wake(); });
  loop->turn(host, seconds(20));
  other.join();
  EXPECT_THAT(host.take(), ElementsAre("sockets", "wake", "end"));
  // If the loop loses the processor to other processes, it stops polling and sleeps. In that case
  // the wake-up came before the sleep, or the wake-up needed a system call.
  EXPECT_LE(loop->counters().spins, 1U);
  EXPECT_GE(loop->counters().spins + loop->counters().ousted, 1U);
  EXPECT_LE(loop->counters().signals, loop->counters().ousted);
}

class LoopWatch : public testing::Test {
 protected:
  LoopWatch() : loop_(make_loop()), fd_(::eventfd(0, EFD_NONBLOCK)) {}
  void ring() {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd_.get(), &one, sizeof one), 8);
  }
  std::unique_ptr<Loop> loop_;
  Fd fd_;
  Host host_;
  int called_ = 0;
};

TEST_F(LoopWatch, CallsBack) {
  std::uint32_t events = 0;
  ASSERT_TRUE(loop_->watch(fd_.get(), EPOLLIN, [&](std::uint32_t mask) {
    ++called_;
    events = mask;
  }));
  loop_->turn(host_, {});
  EXPECT_EQ(called_, 0);
  ring();
  loop_->turn(host_, seconds(20));
  EXPECT_EQ(called_, 1);
  EXPECT_EQ(events, static_cast<std::uint32_t>(EPOLLIN));
  loop_->change(fd_.get(), EPOLLOUT);
  loop_->turn(host_, seconds(20));
  EXPECT_EQ(called_, 2);
  EXPECT_EQ(events, static_cast<std::uint32_t>(EPOLLOUT));
  loop_->unwatch(fd_.get());
  loop_->turn(host_, {});
  EXPECT_EQ(called_, 2);
}

TEST_F(LoopWatch, MayEndItselfAndOthers) {
  const Fd other(::eventfd(1, EFD_NONBLOCK));
  ring();
  const auto end_both = [&](std::uint32_t) {
    ++called_;
    loop_->unwatch(fd_.get());
    loop_->unwatch(other.get());
  };
  ASSERT_TRUE(loop_->watch(fd_.get(), EPOLLIN, end_both));
  ASSERT_TRUE(loop_->watch(other.get(), EPOLLIN, end_both));
  loop_->turn(host_, {});
  EXPECT_EQ(called_, 1);
  ASSERT_TRUE(loop_->watch(fd_.get(), EPOLLIN, [&](std::uint32_t) { ++called_; }));
  loop_->turn(host_, {});
  EXPECT_EQ(called_, 2);
}

TEST_F(LoopWatch, RefusesABadDescriptor) {
  const auto watched = loop_->watch(-1, EPOLLIN, [](std::uint32_t) {});
  ASSERT_FALSE(watched.has_value());
  EXPECT_EQ(watched.error().code, Errc::system);
}

bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

TEST_F(LoopWatch, ServesAForeignLoop) {
  loop_->turn(host_, {});
  loop_->arm(host_);
  EXPECT_FALSE(readable(loop_->fd(), 0));
  // A watched descriptor, a deadline, a wake-up and remaining work each make fd() readable.
  ASSERT_TRUE(loop_->watch(fd_.get(), EPOLLIN | EPOLLET, [&](std::uint32_t) { ++called_; }));
  ring();
  EXPECT_TRUE(readable(loop_->fd(), 20'000));
  loop_->turn(host_, {});
  EXPECT_EQ(called_, 1);
  loop_->arm(host_);
  EXPECT_FALSE(readable(loop_->fd(), 0));

  host_.deadline = Clock::now() + milliseconds(2);
  loop_->arm(host_);
  EXPECT_TRUE(readable(loop_->fd(), 20'000));
  host_.take();
  loop_->turn(host_, {});
  EXPECT_THAT(host_.take(), ElementsAre("sockets", "timer", "end"));

  loop_->arm(host_);
  std::thread([&] { loop_->wake(); }).join();
  EXPECT_TRUE(readable(loop_->fd(), 20'000));
  loop_->turn(host_, {});
  EXPECT_THAT(host_.take(), ElementsAre("sockets", "wake", "end"));

  host_.progress.more = true;
  loop_->turn(host_, {});
  loop_->arm(host_);
  EXPECT_TRUE(readable(loop_->fd(), 20'000));
}

TEST(Loop, DoesNotTakeTheSleepOfAForeignLoopForAPause) {
  const auto loop = make_loop({{}, milliseconds(200)});
  Host host;
  for (int i = 0; i < 3; ++i) {
    loop->turn(host, {});
    loop->arm(host);
    EXPECT_TRUE(readable(loop->fd(), 20'000));  // the loop wakes after at most 200 ms
  }
  loop->turn(host, {});
  EXPECT_EQ(loop->counters().pauses, 0U);
}

TEST(Loop, StopsBeforeItRuns) {
  const auto loop = make_loop();
  Host host;
  loop->stop();
  loop->run(host);
  EXPECT_TRUE(host.calls.empty());
}

// ---- memory that the loop looks at ----

/// Memory in which something comes when a test says so.
class Memory final : public PolledMemory {
 public:
  bool has_news() const override {
    ++looks;
    return news_after > 0 && looks >= news_after;
  }
  bool prepare_sleep() override {
    ++prepared;
    return !comes_before_sleep;
  }
  void end_sleep() override { ++ended; }

  mutable int looks = 0;
  int news_after = 0;  ///< the look that finds it; 0: none
  bool comes_before_sleep = false;
  int prepared = 0;
  int ended = 0;
};

TEST(LoopMemory, NewsBeforeTheSleepPreventsIt) {
  const auto loop = make_loop();
  Host host;
  Memory memory;
  memory.comes_before_sleep = true;
  loop->watch_memory(&memory);
  const Instant begin = Clock::now();
  loop->turn(host, seconds(20));
  EXPECT_LT(Clock::now() - begin, seconds(10));
  EXPECT_EQ(memory.prepared, 1);
  EXPECT_GE(memory.ended, 1);
}

TEST(LoopMemory, EachSleepIsPreparedAndEnds) {
  const auto loop = make_loop();
  Host host;
  Memory memory;
  loop->watch_memory(&memory);
  loop->turn(host, milliseconds(1));
  EXPECT_EQ(memory.prepared, 1);
  const int ended = memory.ended;
  loop->turn(host, {});
  EXPECT_EQ(memory.prepared, 1) << "a turn that does not sleep needs nothing";
  EXPECT_GT(memory.ended, ended);
  loop->watch_memory(nullptr);
  loop->turn(host, milliseconds(1));
  EXPECT_EQ(memory.prepared, 1);
}

TEST(LoopMemory, NewsEndsAdaptivePolling) {
  LoopOptions options;
  options.spin = seconds(10);
  const auto loop = make_loop(options);
  Host host;
  Memory memory;
  memory.news_after = 1;  // before the first yield, at which another thread may take the processor
  loop->watch_memory(&memory);
  loop->turn(host, seconds(20));
  EXPECT_EQ(memory.prepared, 0);
  EXPECT_EQ(loop->counters().sleeps, 0U);
  EXPECT_EQ(loop->counters().spins, 1U);
}

TEST(LoopMemory, APollingLoopNeverSleeps) {
  LoopOptions options;
  options.waiting = Waiting::polling;
  const auto loop = make_loop(options);
  Host host;
  Memory memory;
  loop->watch_memory(&memory);
  host.deadline = Clock::now() + milliseconds(3);
  while (host.fired_at == Instant{}) loop->turn(host, seconds(20));
  memory.news_after = memory.looks + 1'000;
  loop->turn(host, seconds(20));
  EXPECT_GE(memory.looks, memory.news_after);
  EXPECT_EQ(memory.prepared, 0);
  EXPECT_EQ(loop->counters().sleeps, 0U);
}

TEST(LoopMemory, APollingLoopServesDescriptorsWhateverComes) {
  LoopOptions options;
  options.waiting = Waiting::polling;
  const auto loop = make_loop(options);
  Host host;
  Memory memory;
  memory.news_after = 1;  // each look finds something
  loop->watch_memory(&memory);
  const Fd fd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  int called = 0;
  ASSERT_TRUE(loop->watch(fd.get(), EPOLLIN, [&](std::uint32_t) { ++called; }));
  const Instant limit = Clock::now() + seconds(20);
  while (called == 0 && Clock::now() < limit) loop->turn(host, seconds(20));
  EXPECT_GT(called, 0);
  loop->unwatch(fd.get());
}

TEST(LoopMemory, NewsBeforeAForeignLoopSleepsWakesIt) {
  const auto loop = make_loop();
  Host host;
  Memory memory;
  memory.comes_before_sleep = true;
  loop->watch_memory(&memory);
  loop->turn(host, {});
  loop->arm(host);
  pollfd poll{loop->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&poll, 1, 20'000), 1);
  const int ended = memory.ended;
  loop->turn(host, {});
  EXPECT_GT(memory.ended, ended);
}

}  // namespace
}  // namespace peal::io
