// SPDX-License-Identifier: Apache-2.0
#include "runtime/acceptor_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string_view>
#include <variant>

#include "io/clock.h"
#include "member/embedded_node.h"

// Tests the log of an acceptor alone, and a member whose log has an unreadable record.

namespace peal::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Does nothing, so that the loop only polls what it watches.
class IdleHost final : public io::LoopHost {
 public:
  void on_pause(Instant, Duration) override {}
  io::Progress on_sockets(const io::Turn&) override { return {}; }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant) override {}
  std::optional<Instant> next_deadline() const override { return std::nullopt; }
};

/// Runs `work` in a child process, and kills the process after `calls` system calls. Returns false
/// if `work` ended earlier.
bool run_killed(const std::function<void()>& work, int calls) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  const int stops = 1 + 2 * calls;  // a process stops when a call begins and when it ends
  for (int i = 1; i <= stops; ++i) {
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      return false;
    }
    if (i < stops) ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return true;
}

class AcceptorLogs : public testing::Test {
 protected:
  AcceptorLogs()
      : folder_(fs::path(testing::TempDir()) / ("peal-log-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    const auto id = static_cast<std::uint32_t>(::getpid());
    const std::string host =
        "127.9." + std::to_string((id >> 8U) & 255U) + "." + std::to_string(id & 255U);
    settings_.cluster = "c";
    settings_.name = "a";
    settings_.insecure = true;
    settings_.order = order::find_engine("paxos");
    settings_.multicast = io::MulticastMode::off;
    settings_.limits.message_bytes_max = 1U << 20;
    settings_.data_dir = folder_;
    settings_.nodes = {{"a", {host, 5'600}, NodeId{1}}};
  }
  ~AcceptorLogs() override { fs::remove_all(folder_); }

  std::unique_ptr<AcceptorLog> open(std::uint64_t epoch) {
    auto log = AcceptorLog::open(settings_);
    if (log) {
      const auto recovered = (*log)->recover(epoch);
      if (recovered) return std::move(*log);
      ADD_FAILURE() << recovered.error().message;
    } else {
      ADD_FAILURE() << log.error().message;
    }
    return nullptr;
  }
  /// Appends the record, and turns the loop until it is durable.
  void write(AcceptorLog& log, std::string_view record) {
    auto loop = io::Loop::open({});
    ASSERT_TRUE(loop) << loop.error().message;
    bool written = false;
    ASSERT_TRUE(log.attach(**loop, [&] { written = true; }));
    const auto position = log.log().append(as_bytes_view(record));
    ASSERT_TRUE(position);
    log.commit();
    log.commit();  // writes nothing, because a write is in progress
    IdleHost host;
    while (!written || log.log().durable() < *position) (*loop)->turn(host, seconds(10));
    EXPECT_EQ(log.log().durable(), *position);
    EXPECT_FALSE(log.failure());
    loops_.push_back(std::move(*loop));  // must outlive the log, which is attached to it
  }

  /// Starts as a node does, and stores the epoch last. Returns true if the log is new.
  Result<bool, io::IoError> start() {
    auto log = AcceptorLog::open(settings_);
    if (!log) return unexpected(log.error());
    const io::EpochChoice choice = io::choose_epoch((*log)->state_file());
    if (auto recovered = (*log)->recover(choice.epoch); !recovered) {
      return unexpected(recovered.error());
    }
    if (auto stored = io::store_epoch((*log)->state_file(), choice.epoch); !stored) {
      return unexpected(stored.error());
    }
    return (*log)->is_new();
  }
  void empty() {
    fs::remove_all(folder_ / "a");
    loops_.clear();
  }

  fs::path folder_;
  config::Settings settings_;
  std::vector<std::unique_ptr<io::Loop>> loops_;
};

TEST_F(AcceptorLogs, AreMadeOnceAndKeepWhatWasWritten) {
  {
    const auto log = open(7);
    ASSERT_NE(log, nullptr);
    EXPECT_TRUE(log->is_new());
    EXPECT_EQ(log->state_file(), folder_ / "a" / "epoch");
    write(*log, "one");
  }
  {
    const auto log = open(8);
    ASSERT_NE(log, nullptr);
    EXPECT_FALSE(log->is_new());
    EXPECT_EQ(log->log().last(), LogPosition{1});
  }
  // A clock that was set back gives the epoch 6, but incarnation 7 has written to the log.
  auto log = AcceptorLog::open(settings_);
  ASSERT_TRUE(log) << log.error().message;
  const auto earlier = (*log)->recover(6);
  ASSERT_FALSE(earlier);
  EXPECT_EQ(earlier.error().code, Errc::invalid_option);
  EXPECT_THAT(earlier.error().message,
              AllOf(HasSubstr("data_dir: "), HasSubstr("incarnation 7"), HasSubstr("clock")));
}

TEST_F(AcceptorLogs, AFirstStartThatIsKilledAnywhereIsMadeAgain) {
  int calls = 0;
  int made_again = 0;  // starts that found files, and still made a new log
  const auto first_start = [this] {
    if (!start()) ::_exit(1);
  };
  while (run_killed(first_start, calls)) {
    const bool begun = fs::exists(folder_ / "a");
    const bool had_identity = fs::exists(folder_ / "a" / "identity");
    const auto again = start();
    ASSERT_TRUE(again) << "call " << calls << ": " << again.error().message;
    EXPECT_EQ(*again, !had_identity) << calls;
    if (begun && *again) ++made_again;
    empty();
    ++calls;
  }
  EXPECT_GT(made_again, 10);
  const auto next = start();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_FALSE(*next);
}

TEST_F(AcceptorLogs, WithoutTheirIdentityAreRefused) {
  {
    const auto log = open(7);
    ASSERT_NE(log, nullptr);
    write(*log, "a vote");
  }
  loops_.clear();
  fs::remove(folder_ / "a" / "identity");
  const auto refused = start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_option);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("data_dir: "), HasSubstr(folder_ / "a" / "identity"),
                    HasSubstr("is missing, and " + (folder_ / "a" / "log").string()),
                    HasSubstr("must not take part"), HasSubstr("empty it, and start the node")));
  EXPECT_FALSE(fs::exists(folder_ / "a" / "identity"));
}

TEST_F(AcceptorLogs, AnEpochAloneIsRefused) {
  ASSERT_TRUE(start());
  const fs::path kept = folder_ / "kept";
  fs::copy(folder_ / "a", kept, fs::copy_options::recursive);
  for (const bool with_log : {true, false}) {
    fs::remove(folder_ / "a" / "identity");
    if (!with_log) fs::remove_all(folder_ / "a" / "log");
    const auto refused = start();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("identity is missing, and "), HasSubstr(folder_ / "a" / "epoch"),
                      HasSubstr("took part before"), HasSubstr("must not take part")));
  }
  // A folder that is restored from a copy is accepted.
  fs::remove_all(folder_ / "a");
  fs::copy(kept, folder_ / "a", fs::copy_options::recursive);
  fs::permissions(folder_ / "a", fs::perms::owner_all);
  fs::permissions(folder_ / "a" / "log", fs::perms::owner_all);
  fs::permissions(folder_ / "a" / "owed", fs::perms::owner_all);
  const auto again = start();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(*again);
}

TEST_F(AcceptorLogs, KeepWhatIsOwedBesides) {
  const fs::path owed = folder_ / "a" / "owed";
  {
    const auto log = open(1);
    ASSERT_NE(log, nullptr);
    ASSERT_TRUE(log->owed().append(as_bytes_view(std::string_view("owed"))));
    write(*log, "a vote");
    IdleHost host;
    while (log->owed().durable() < log->owed().last()) loops_.back()->turn(host, seconds(10));
  }
  loops_.clear();
  {
    const auto log = open(2);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->owed().last(), LogPosition{1});
    EXPECT_EQ(log->log().last(), LogPosition{1});
  }
  const fs::path kept = folder_ / "kept";
  fs::copy(owed, kept, fs::copy_options::recursive);
  // Earlier releases had no log of retained values. If it is removed, these values are lost, but no
  // vote is.
  fs::remove_all(owed);
  const auto without = start();
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_FALSE(*without);
  // A log of retained values that was cut is refused, and the error names its file.
  const fs::path segment = owed / "0000000000000001.wal";
  fs::resize_file(segment, fs::file_size(segment) - 1);
  const auto cut = start();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Errc::invalid_option);
  EXPECT_THAT(cut.error().message, AllOf(HasSubstr("data_dir: "), HasSubstr(segment.string()),
                                         HasSubstr("is damaged at offset")));
  // Only the log of votes is new. The log of retained values stays, because its records name the
  // order to which they belong.
  fs::remove_all(folder_ / "a");
  fs::create_directories(owed);
  fs::copy(kept, owed, fs::copy_options::recursive);
  fs::permissions(folder_ / "a", fs::perms::owner_all);
  fs::permissions(owed, fs::perms::owner_all);
  {
    const auto log = open(3);
    ASSERT_NE(log, nullptr);
    EXPECT_TRUE(log->is_new());
    EXPECT_EQ(log->log().last(), LogPosition{0});
    EXPECT_EQ(log->owed().last(), LogPosition{1});
  }
  // Neither log is accepted in the place of the other.
  fs::remove_all(owed);
  fs::rename(folder_ / "a" / "log", owed);
  fs::copy(kept, folder_ / "a" / "log", fs::copy_options::recursive);
  fs::permissions(folder_ / "a" / "log", fs::perms::owner_all);
  const auto swapped = start();
  ASSERT_FALSE(swapped);
  EXPECT_THAT(swapped.error().message, HasSubstr("is of cluster"));
}

TEST_F(AcceptorLogs, AMemberThatCannotReadItsOwnSaysSoAndEnds) {
  {
    const auto log = open(1);
    ASSERT_NE(log, nullptr);
    write(*log, "no record of this release");
  }
  for (const bool own_thread : {true, false}) {
    settings_.own_thread = own_thread;
    auto core = member::EmbeddedNode::open(settings_);
    ASSERT_TRUE(core) << core.error().message;
    std::string reason;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (reason.empty() && std::chrono::steady_clock::now() < end) {
      const auto out = (*core)->wait_until(end);
      const auto* notice = std::get_if<std::unique_ptr<member::Notice>>(&out);
      if (notice == nullptr || (*notice)->kind != member::Notice::Kind::closed) continue;
      reason = (*notice)->text;
    }
    EXPECT_THAT(reason, HasSubstr("the acceptor's log holds what this release cannot read"));
  }
}

}  // namespace
}  // namespace peal::runtime
