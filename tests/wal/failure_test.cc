// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "damage.h"

namespace peal::wal::test {
namespace {

using sim::Disk;

/// The state of a log after an operation of its disk failed.
struct Outcome {
  bool reached = false;  ///< the run reached the operation that had to fail
  LogPosition durable{};
  std::optional<port::LogFailure> failure;
};

/// Appends kSamples records, each with a commit of its own, and trims in the middle.
Outcome run(Disk& disk, std::uint64_t failing, Disk::Failure failure, bool whole_blocks) {
  Outcome outcome;
  Options options = small_options(1);
  if (whole_blocks) options.blocks_from = 0;
  auto log = Log::open(disk, options, Start::create);
  EXPECT_TRUE(log);
  const std::uint64_t before = disk.operations();
  disk.fail(failing, failure);
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    const auto position = i == kSamples / 2
                              ? (*log)->checkpoint(as_bytes_view(sample(i)), LogPosition{i})
                              : (*log)->append(as_bytes_view(sample(i)));
    if (!position) {
      EXPECT_EQ(position.error(), Errc::closed);
      break;
    }
    const bool good = (*log)->commit();
    EXPECT_NE(good, (*log)->failure().has_value());
  }
  outcome.reached = disk.operations() - before >= failing;
  outcome.durable = (*log)->durable();
  outcome.failure = (*log)->failure();
  if (outcome.failure) {
    // A failure is permanent: the log does no further operation, whatever is requested.
    const std::uint64_t at_failure = disk.operations();
    EXPECT_FALSE((*log)->append(as_bytes_view("x")));
    EXPECT_FALSE((*log)->commit());
    EXPECT_FALSE((*log)->close());
    EXPECT_EQ(disk.operations(), at_failure);
    EXPECT_EQ((*log)->durable(), outcome.durable);
  }
  return outcome;
}

/// Opens the log, and checks that all records up to `durable` exist.
void expect_kept(Disk& disk, LogPosition durable, std::uint64_t failing) {
  auto log = Log::open(disk, small_options(2), Start::existing);
  ASSERT_TRUE(log) << failing << ": " << log.error().message;
  EXPECT_GE((*log)->last(), durable) << failing;
  Kept kept;
  ASSERT_TRUE((*log)->replay(kept));
  for (const Kept::Record& record : kept.records) {
    EXPECT_EQ(record.bytes, sample(record.position.value)) << failing;
  }
}

TEST(Failure, OfEveryOperationEndsTheLogAndLosesNothing) {
  for (const Disk::Failure failure : {Disk::Failure::error, Disk::Failure::full}) {
    std::uint64_t failing = 1;
    for (;; ++failing) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Disk disk(seed);
        const Outcome outcome = run(disk, failing, failure, seed % 2 == 0);
        if (!outcome.reached) break;
        ASSERT_TRUE(outcome.failure) << failing;
        EXPECT_THAT(outcome.failure->message, testing::HasSubstr("disk/"));
        EXPECT_THAT(outcome.failure->message, testing::HasSubstr("the log has ended"));
        // The node starts again at once. What it reads may not be on the disk yet.
        Disk killed = disk;
        expect_kept(killed, outcome.durable, failing);
        killed.lose(Disk::Loss::unsynced);
        expect_kept(killed, outcome.durable, failing);
        // The node starts again after a power failure.
        disk.lose(static_cast<Disk::Loss>(1 + seed % 2));
        expect_kept(disk, outcome.durable, failing);
      }
      Disk disk(1);
      if (!run(disk, failing, failure, true).reached) break;
    }
    EXPECT_GT(failing, 50U);  // each operation failed in one of the runs
  }
}

TEST(Failure, OfEveryOperationOfAStartIsSaidAndLosesNothing) {
  Disk whole(1);
  make_log(whole, Ending::killed);
  std::uint64_t failing = 1;
  for (;; ++failing) {
    Disk disk = whole;
    disk.reseed(failing);
    disk.fail(failing, Disk::Failure::error);
    const auto log = Log::open(disk, small_options(2), Start::existing);
    if (log) break;
    EXPECT_EQ(log.error().kind, Problem::Kind::disk) << failing;
    EXPECT_THAT(log.error().message, testing::HasSubstr("disk/"));
    disk.lose(Disk::Loss::some);
    expect_kept(disk, LogPosition{kSamples}, failing);
  }
  EXPECT_GT(failing, 8U);
}

/// From read number `from` on, returns changed bytes, or a file length that is too large.
class FickleDisk final : public Disk {
 public:
  explicit FickleDisk(const Disk& like) : Disk(like) {}
  port::DiskResult<port::DiskRead> read(const std::string& name, std::uint64_t at,
                                        ByteSpan to) override {
    auto got = Disk::read(name, at, to);
    if (!got || ++reads_ < from) return got;
    if (got->bytes != 0) to[got->bytes / 2] ^= flip;
    got->file_bytes += longer;
    return got;
  }

  std::uint64_t from = 1;
  std::byte flip{};
  std::uint64_t longer = 0;

 private:
  std::uint64_t reads_ = 0;
};

TEST(Failure, OfWhatIsReadTwiceIsNoticed) {
  Disk whole(1);
  make_log(whole, Ending::killed);
  bool copies = false;  // the newest segment differed when it was read again
  for (std::uint64_t from = 1;; ++from) {
    FickleDisk disk(whole);
    disk.from = from;
    disk.flip = std::byte{16};
    auto log = Log::open(disk, small_options(2), Start::existing);
    Kept kept;
    const bool replayed = log && (*log)->replay(kept);
    for (const Kept::Record& record : kept.records) {
      EXPECT_EQ(record.bytes, sample(record.position.value)) << from;
    }
    if (!log) {
      copies |= log.error().message.find("a second time") != std::string::npos;
      Disk mended = disk;
      expect_kept(mended, LogPosition{kSamples}, from);
    }
    if (replayed) break;
  }
  EXPECT_TRUE(copies);
}

TEST(Failure, OfALengthThatChangesIsSaid) {
  Disk whole(1);
  make_log(whole, Ending::killed);
  FickleDisk endless(whole);
  endless.longer = kSegmentBytesMax;
  auto log = Log::open(endless, small_options(2), Start::existing);
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().message, testing::HasSubstr("longer than any segment"));
  FickleDisk growing(whole);
  growing.from = 2;
  growing.longer = 8;
  log = Log::open(growing, small_options(2), Start::existing);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, Problem::Kind::disk);
  EXPECT_THAT(log.error().message, testing::HasSubstr("its length changed"));
}

TEST(Failure, OfADiskThatIsFullSaysSo) {
  Disk disk(1);
  disk.limit(4096);
  auto log = Log::open(disk, small_options(1), Start::create);
  ASSERT_TRUE(log);
  const std::string record(300, 'r');
  LogPosition durable{};
  while ((*log)->append(as_bytes_view(record)) && (*log)->commit()) durable = (*log)->durable();
  ASSERT_TRUE((*log)->failure());
  EXPECT_THAT((*log)->failure()->message, testing::HasSubstr("free space"));
  EXPECT_GT(durable, LogPosition{2});
  EXPECT_EQ((*log)->durable(), durable);
  // With more free space, the log continues at the next start.
  disk.lose(Disk::Loss::some);
  disk.limit(UINT64_MAX);
  const auto again = Log::open(disk, small_options(2), Start::existing);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GE((*again)->last(), durable);
  ASSERT_TRUE((*again)->append(as_bytes_view(record)));
  EXPECT_TRUE((*again)->commit());
}

}  // namespace
}  // namespace peal::wal::test
