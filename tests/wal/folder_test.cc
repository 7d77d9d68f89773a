// SPDX-License-Identifier: Apache-2.0
// The log on a real folder, its commits carried out by a real thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

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
  options.segment_bytes = 64 << 10;
  options.bytes_max = 64 * options.segment_bytes;
  options.record_bytes_max = 8 << 10;
  options.batch_bytes_max = 128 << 10;
  return options;
}

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
    for (int commit = 0; commit < 10; ++commit) {
      for (int i = 0; i < 7; ++i) {
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
  EXPECT_THAT(log.error().message, testing::HasSubstr("offset 72"));
}

}  // namespace
}  // namespace peal::wal
