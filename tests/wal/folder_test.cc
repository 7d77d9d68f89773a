// SPDX-License-Identifier: Apache-2.0
// The log on a real folder, with a real thread for its commits.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "io/folder_disk.h"
#include "io/worker.h"
#include "temp_dir.h"
#include "wal/log.h"

namespace peal::wal {
namespace {

Options options_of(std::uint64_t epoch) {
  Options options;
  options.owner = {1, NodeId{2}};
  options.epoch = epoch;
  options.log = 0x1d;
  options.segment_bytes = 1 << 20;
  options.bytes_max = 8 * options.segment_bytes;
  options.record_bytes_max = 8 << 10;
  options.batch_bytes_max = 512 << 10;
  return options;
}

/// The number of records in a commit. A record has about 4 KB, so a third of the commits is too
/// small to be written in whole blocks.
std::uint64_t records_of(std::uint64_t commit) { return 5 + commit * 7 % 36; }

std::string record_of(std::uint64_t position) {
  return std::string(position * 37 % 8'000, static_cast<char>('a' + position % 26));
}

struct Judge : port::LogReader {
  void on_record(LogPosition position, ByteView record) override {
    EXPECT_EQ(position, last.next());
    EXPECT_EQ(as_text(record), record_of(position.value));
    last = position;
  }
  LogPosition last;
};

void carry_out(io::Worker& worker, Log& log) {
  worker.start(log);
  pollfd entry{worker.done_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, -1), 1);
  ASSERT_TRUE(worker.take_done());
  log.finish();
}

TEST(FolderLog, IsThereAtTheNextStart) {
  const TempDir folder;
  std::uint64_t appended = 0;
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) {
    const auto disk = io::FolderDisk::open(folder / "log");
    ASSERT_TRUE(disk) << disk.error().message;
    const auto worker = io::Worker::open();
    ASSERT_TRUE(worker);
    const auto log =
        Log::open(**disk, options_of(epoch), epoch == 1 ? Start::create : Start::existing);
    ASSERT_TRUE(log) << log.error().message;
    Judge judge;
    ASSERT_TRUE((*log)->replay(judge));
    EXPECT_EQ(judge.last.value, appended);
    for (std::uint64_t commit = 0; commit < 10; ++commit) {
      for (std::uint64_t i = records_of(commit); i > 0; --i) {
        const std::string record = record_of(appended + 1);
        ASSERT_EQ((*log)->append(as_bytes_view(record)), LogPosition{appended + 1});
        ++appended;
      }
      ASSERT_TRUE((*log)->begin());
      carry_out(**worker, **log);
      ASSERT_FALSE((*log)->failure());
      EXPECT_EQ((*log)->durable().value, appended);
    }
  }
}

/// Appends and commits until the process is killed, and writes each durable position to the pipe.
[[noreturn]] void append_until_killed(const std::string& path, std::uint64_t epoch, int pipe) {
  const auto disk = io::FolderDisk::open(path);
  if (!disk) ::_exit(1);
  const auto log =
      Log::open(**disk, options_of(epoch), epoch == 1 ? Start::create : Start::existing);
  for (std::uint64_t commit = 0; log; ++commit) {
    for (std::uint64_t i = records_of(commit); i > 0; --i) {
      const auto last = (*log)->last();
      if (!(*log)->append(as_bytes_view(record_of(last.next().value)))) {
        // The log is full. A checkpoint makes all earlier records unnecessary.
        ignore((*log)->checkpoint(as_bytes_view(record_of(last.next().value)), last.next()),
               "the commit shows whether it was taken");
      }
    }
    const bool good = (*log)->commit();
    const std::uint64_t durable = (*log)->durable().value;
    if (!good || ::write(pipe, &durable, sizeof durable) != sizeof durable) break;
  }
  ::_exit(1);
}

TEST(FolderLog, AProcessThatIsKilledTakesNothingWithIt) {
  const TempDir folder;
  for (std::uint64_t epoch = 1; epoch <= 20; epoch += 2) {
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    io::Fd from = io::Fd::for_children(pipe[0]);
    io::Fd to = io::Fd::for_children(pipe[1]);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) append_until_killed(folder / "log", epoch, to.get());
    to.reset();
    std::uint64_t durable = 0;
    const std::uint64_t reports = 1 + epoch;
    for (std::uint64_t i = 0; i < reports; ++i) {
      ASSERT_EQ(::read(from.get(), &durable, sizeof durable), ssize_t{sizeof durable});
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    while (::read(from.get(), &durable, sizeof durable) == ssize_t{sizeof durable}) {
    }
    const auto disk = io::FolderDisk::open(folder / "log");
    ASSERT_TRUE(disk);
    const auto log = Log::open(**disk, options_of(epoch + 1), Start::existing);
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_GE((*log)->last().value, durable);
    Judge judge;
    judge.last = LogPosition{(*log)->found().first.value - 1};
    ASSERT_TRUE((*log)->replay(judge));
    EXPECT_EQ(judge.last, (*log)->last());
  }
}

TEST(FolderLog, ADamagedFileIsNamedByItsPath) {
  const TempDir folder;
  const auto disk = io::FolderDisk::open(folder.path());
  ASSERT_TRUE(disk);
  {
    const auto log = Log::open(**disk, options_of(1), Start::create);
    ASSERT_TRUE(log);
    ASSERT_TRUE((*log)->append(as_bytes_view("vote")));
    ASSERT_TRUE((*log)->close());
  }
  ASSERT_TRUE((*disk)->write(segment_name(2), kHeaderBytes + kFrameBytes, as_bytes_view("Vote")));
  const auto log = Log::open(**disk, options_of(2), Start::existing);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, Problem::Kind::damaged);
  EXPECT_EQ(log.error().offset, kHeaderBytes);
  EXPECT_THAT(log.error().message, testing::HasSubstr(folder / segment_name(2)));
  EXPECT_THAT(log.error().message, testing::HasSubstr("offset 80"));
}

}  // namespace
}  // namespace peal::wal
