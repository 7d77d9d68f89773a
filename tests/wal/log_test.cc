// SPDX-License-Identifier: Apache-2.0
#include "wal/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "damage.h"

namespace peal::wal::test {
namespace {

using testing::HasSubstr;

std::unique_ptr<Log> open_good(sim::Disk& disk, std::uint64_t epoch, Start start) {
  auto log = Log::open(disk, small_options(epoch), start);
  EXPECT_TRUE(log) << log.error().message;
  return log ? std::move(*log) : nullptr;
}

Problem refused(sim::Disk& disk, const Options& options, Start start = Start::existing) {
  auto log = Log::open(disk, options, start);
  EXPECT_FALSE(log);
  return log ? Problem{} : log.error();
}

Kept replayed(Log& log) {
  Kept kept;
  const auto done = log.replay(kept);
  EXPECT_TRUE(done);
  return kept;
}

LogPosition append(Log& log, std::string_view text) {
  const auto position = log.append(as_bytes_view(text));
  EXPECT_TRUE(position);
  return position.value_or(LogPosition{});
}

TEST(Log, PositionsCountRecordsAndAreDurableAfterTheCommit) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  EXPECT_EQ(log->last(), LogPosition{0});
  EXPECT_EQ(append(*log, "a"), LogPosition{1});
  EXPECT_EQ(append(*log, ""), LogPosition{2});
  EXPECT_EQ(log->durable(), LogPosition{0});
  EXPECT_TRUE(log->commit());
  EXPECT_EQ(log->durable(), LogPosition{2});
  EXPECT_EQ(append(*log, "c"), LogPosition{3});
  EXPECT_EQ(log->durable(), LogPosition{2});
}

TEST(Log, ARecordInTwoPartsIsOneRecord) {
  struct Texts final : port::LogReader {
    void on_record(LogPosition /*position*/, ByteView record) override {
      all.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
    }
    std::vector<std::string> all;
  } texts;
  sim::Disk disk(1);
  {
    const auto log = open_good(disk, 1, Start::create);
    for (const auto& [first, rest] : {std::pair{"one", " two"}, {"", "rest"}, {"first", ""}}) {
      ASSERT_TRUE(log->append(as_bytes_view(first), as_bytes_view(rest)));
    }
    const std::string half(201, 'x');
    EXPECT_EQ(log->append(as_bytes_view(half), as_bytes_view(half)).error(), Errc::too_large);
    ASSERT_TRUE(log->commit());
  }
  const auto log = open_good(disk, 2, Start::existing);
  ASSERT_TRUE(log->replay(texts));
  EXPECT_EQ(texts.all, (std::vector<std::string>{"one two", "rest", "first"}));
}

TEST(Log, OneCommitOfManyRecordsSyncsOnce) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  append(*log, "begins a segment");
  ASSERT_TRUE(log->commit());
  const std::uint64_t before = disk.operations();
  for (int i = 0; i < 8; ++i) append(*log, "x");
  ASSERT_TRUE(log->commit());
  EXPECT_EQ(disk.operations() - before, 3U);  // the records, the sync, the mark
}

/// Records each write: its offset, its size and its alignment.
class WatchedDisk final : public sim::Disk {
 public:
  struct Written {
    std::uint64_t at{};
    std::size_t bytes{};
    bool in_blocks{};  // offset, size and memory are aligned to blocks
  };
  using Disk::Disk;
  port::DiskResult<void> write(const std::string& name, std::uint64_t at, ByteView bytes) override {
    const auto memory = reinterpret_cast<std::uintptr_t>(bytes.data());
    all.push_back({at, bytes.size(), (at | bytes.size() | memory) % port::kDiskBlockBytes == 0});
    return Disk::write(name, at, bytes);
  }
  std::vector<Written> all;
};

Options real_options(std::uint64_t epoch) {
  Options options;
  options.owner = kOwner;
  options.epoch = epoch;
  options.log = 0x1d;
  options.segment_bytes = 1U << 20;
  options.record_bytes_max = 2'048;
  return options;
}

TEST(Log, LargeCommitsAreWholeBlocksAndSmallOnesShareOne) {
  WatchedDisk disk(1);
  auto log = Log::open(disk, real_options(1), Start::create);
  ASSERT_TRUE(log);
  const std::string record(1'421, 'r');
  std::uint64_t appended = 0;
  const auto commit = [&](std::size_t records) {
    for (std::size_t i = 0; i < records; ++i, ++appended) append(**log, record);
    disk.all.clear();
    return (*log)->commit();
  };
  ASSERT_TRUE(commit(1));
  for (const std::size_t records : {50U, 46U, 100U}) {
    ASSERT_TRUE(commit(records));
    // A commit writes the records and the mark. The first large commit also fills the block before.
    ASSERT_EQ(disk.all.size(), records == 50 ? 3U : 2U) << records;
    const WatchedDisk::Written& written = disk.all[disk.all.size() - 2];
    EXPECT_TRUE(written.in_blocks) << records;
    EXPECT_LT(written.bytes, records * frame_bytes(record.size()) + 2 * port::kDiskBlockBytes);
    EXPECT_EQ(disk.all.back().bytes, port::kDiskBlockBytes);
  }
  // A small commit begins inside a block, and is written up to the end of the block.
  const std::uint64_t end = disk.all.back().at + disk.all.back().bytes;
  for (const std::uint64_t at : {end, end + frame_bytes(record.size()) + kFrameBytes}) {
    ASSERT_TRUE(commit(1));
    ASSERT_EQ(disk.all.size(), 2U);
    EXPECT_EQ(disk.all[0].at, at);
    EXPECT_EQ((disk.all[0].at + disk.all[0].bytes) % port::kDiskBlockBytes, 0U);
  }
  for (std::size_t i = 0; i < 20; ++i)
    ASSERT_TRUE(commit(i * 13 % 120 + 1));  // until other segments begin
  log->reset();
  disk.lose(sim::Disk::Loss::unsynced);
  log = Log::open(disk, real_options(2), Start::existing);
  ASSERT_TRUE(log) << log.error().message;
  const Kept kept = replayed(**log);
  ASSERT_EQ(kept.records.size(), appended);
  for (const Kept::Record& each : kept.records) EXPECT_EQ(each.bytes, record);
}

/// If records wait, a commit writes no mark, because the frames of the next commit prove the same.
TEST(Log, WritesNoMarkWhereOthersWait) {
  WatchedDisk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  append(*log, "begins a segment");
  ASSERT_TRUE(log->commit());
  append(*log, "a");
  ASSERT_TRUE(log->begin());
  append(*log, "b");
  disk.all.clear();
  log->carry_out();
  log->finish();
  EXPECT_EQ(disk.all.size(), 1U);
  ASSERT_TRUE(log->begin());
  log->carry_out();
  log->finish();
  EXPECT_EQ(disk.all.size(), 3U);
}

TEST(Log, FillsWhileItCommits) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  append(*log, "a");
  ASSERT_TRUE(log->begin());
  append(*log, "b");
  EXPECT_FALSE(log->begin());  // a commit is in progress
  log->carry_out();
  EXPECT_EQ(log->durable(), LogPosition{0});
  log->finish();
  EXPECT_EQ(log->durable(), LogPosition{1});
  ASSERT_TRUE(log->commit());
  EXPECT_EQ(log->durable(), LogPosition{2});
  EXPECT_FALSE(log->begin());  // nothing to commit
}

TEST(Log, GoesOnWhereItWas) {
  sim::Disk disk(1);
  make_log(disk, Ending::killed);
  for (std::uint64_t epoch = 2; epoch < 6; ++epoch) {
    const auto log = open_good(disk, epoch, Start::existing);
    const Kept kept = replayed(*log);
    ASSERT_EQ(kept.records.size(), kSamples + epoch - 2);
    EXPECT_EQ(append(*log, "more").value, kSamples + epoch - 1);
    ASSERT_TRUE(log->close());
    EXPECT_EQ(log->append({}).error(), Errc::closed);
  }
}

TEST(Log, StartsThatAppendNothingAddNothing) {
  sim::Disk disk(1);
  make_log(disk, Ending::closed);
  const auto before = disk.names();
  for (std::uint64_t epoch = 2; epoch < 20; ++epoch) open_good(disk, epoch, Start::existing);
  EXPECT_EQ(disk.names(), before);
}

TEST(Log, CheckpointLetsGoOfWholeSegments) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  const std::string record(300, 'r');
  for (int i = 0; i < 20; ++i) {
    append(*log, record);
    ASSERT_TRUE(log->commit());
  }
  const std::size_t before = disk.names().size();
  ASSERT_TRUE(log->checkpoint(as_bytes_view("state"), LogPosition{18}));
  EXPECT_EQ(disk.names().size(), before);  // the checkpoint is not durable yet
  ASSERT_TRUE(log->commit());
  EXPECT_LT(disk.names().size(), before);
  disk.lose(sim::Disk::Loss::unsynced);
  const auto again = open_good(disk, 2, Start::existing);
  const Kept kept = replayed(*again);
  EXPECT_LE(kept.records.front().position, LogPosition{18});
  EXPECT_GT(kept.records.front().position, LogPosition{12});
  EXPECT_EQ(kept.records.back().bytes, "state");
}

/// If a checkpoint needs the records from the beginning of a segment on, it needs no earlier
/// segment.
TEST(Log, ACheckpointLetsGoOfAllSegmentsBeforeTheOneThatBeginsWithWhatItNeeds) {
  const auto first_kept = [](std::uint64_t keep_from) {
    sim::Disk disk(1);
    const auto log = open_good(disk, 1, Start::create);
    for (int i = 0; i < 20; ++i) {
      append(*log, std::string(300, 'r'));
      EXPECT_TRUE(log->commit());
    }
    EXPECT_TRUE(log->checkpoint(as_bytes_view("state"), LogPosition{keep_from}));
    EXPECT_TRUE(log->commit());
    const auto again = open_good(disk, 2, Start::existing);
    return replayed(*again).records.front().position.value;
  };
  std::set<std::uint64_t> begins;  // the first positions of segments
  for (std::uint64_t keep_from = 1; keep_from <= 20; ++keep_from) {
    begins.insert(first_kept(keep_from));
    EXPECT_LE(*begins.rbegin(), keep_from);
  }
  EXPECT_GT(begins.size(), 4U);
  for (const std::uint64_t begin : begins) EXPECT_EQ(first_kept(begin), begin);
}

/// The file of a segment that is not needed becomes the next segment, with its old content.
TEST(Log, OneFileThatIsNotNeededIsUsedAgain) {
  sim::Disk disk(1);
  auto log = open_good(disk, 1, Start::create);
  const auto spares = [&disk] {
    std::vector<std::string> found = disk.names();
    std::erase_if(found, [](const std::string& name) { return !name.ends_with(".spare"); });
    return found;
  };
  const std::string record(300, 'r');
  std::uint64_t reused = 0;
  for (int i = 0; i < 40; ++i) {
    const std::vector<std::string> before = spares();
    if (i % 10 == 9) {
      ASSERT_TRUE(log->checkpoint(as_bytes_view(record), log->last()));
    } else {
      append(*log, record);
    }
    ASSERT_TRUE(log->commit());
    ASSERT_LE(spares().size(), 1U);
    if (!before.empty() && spares().empty()) ++reused;
  }
  EXPECT_GE(reused, 2U);
  // A start does not use the spare file, because its content is unknown.
  while (spares().empty()) {
    ASSERT_TRUE(log->checkpoint(as_bytes_view(record), log->last()));
    ASSERT_TRUE(log->commit());
  }
  const LogPosition last = log->last();
  log.reset();
  log = open_good(disk, 2, Start::existing);
  EXPECT_TRUE(spares().empty());
  EXPECT_EQ(log->last(), last);
  EXPECT_FALSE(log->found().tail_cut);
}

TEST(Log, FullIsBackPressureUntilACheckpoint) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  const std::string record(300, 'r');
  Result<LogPosition, Errc> position = LogPosition{};
  for (int i = 0; i < 1000 && position; ++i) {
    position = log->append(as_bytes_view(record));
    if (!position) break;
    ASSERT_TRUE(log->commit());
  }
  ASSERT_FALSE(position);
  EXPECT_EQ(position.error(), Errc::would_block);
  EXPECT_LE(log->bytes_on_disk(), small_options(1).bytes_max);
  ASSERT_TRUE(log->checkpoint(as_bytes_view(record), log->last().next()));
  ASSERT_TRUE(log->commit());
  append(*log, record);
  EXPECT_TRUE(log->commit());
}

TEST(Log, BatchesAndRecordsHaveLimits) {
  sim::Disk disk(1);
  const auto log = open_good(disk, 1, Start::create);
  EXPECT_EQ(log->append(as_bytes_view(std::string(401, 'x'))).error(), Errc::too_large);
  const std::string record(400, 'x');
  for (int i = 0; i < 4; ++i) append(*log, record);
  EXPECT_EQ(log->append(as_bytes_view(record)).error(), Errc::would_block);
  EXPECT_TRUE(log->commit());
  append(*log, record);
}

TEST(Log, RefusesALogOfAnotherClusterNodeOrLaterIncarnation) {
  sim::Disk disk(1);
  make_log(disk, Ending::closed);
  Options options = small_options(2);
  options.owner.cluster = 5;
  Problem problem = refused(disk, options);
  EXPECT_EQ(problem.kind, Problem::Kind::foreign);
  EXPECT_THAT(problem.message, HasSubstr("cluster 5, node 3"));
  options = small_options(2);
  options.owner.node = NodeId{4};
  EXPECT_EQ(refused(disk, options).kind, Problem::Kind::foreign);
  options = small_options(0);
  problem = refused(disk, options);
  EXPECT_EQ(problem.kind, Problem::Kind::foreign);
  EXPECT_THAT(problem.message, HasSubstr("incarnation 1"));
}

TEST(Log, RefusesWhatDoesNotBelongToIt) {
  for (const char* name : {"notes.txt", "0000000000000001.wa", "0.wal", "core"}) {
    sim::Disk disk(1);
    make_log(disk, Ending::closed);
    disk.put(name, {});
    const Problem problem = refused(disk, small_options(2));
    EXPECT_EQ(problem.kind, Problem::Kind::unknown_file);
    EXPECT_EQ(problem.file, name);
  }
}

TEST(Log, RefusesToBeCreatedTwiceAndToBeMissing) {
  sim::Disk disk(1);
  EXPECT_EQ(refused(disk, small_options(1)).kind, Problem::Kind::no_log);
  make_log(disk, Ending::killed);
  EXPECT_EQ(refused(disk, small_options(2), Start::create).kind, Problem::Kind::log_exists);
}

TEST(Log, RefusesAMissingSegment) {
  sim::Disk whole(1);
  make_log(whole, Ending::closed);
  const auto names = whole.names();
  ASSERT_GT(names.size(), 2U);
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    sim::Disk disk = whole;
    disk.erase(names[i]);
    const Problem problem = refused(disk, small_options(2));
    EXPECT_EQ(problem.kind, Problem::Kind::missing);
    EXPECT_EQ(problem.file, names[i]);
  }
}

TEST(Log, RefusesSegmentsThatWereExchanged) {
  sim::Disk disk(1);
  make_log(disk, Ending::closed);
  const auto names = disk.names();
  disk.put(names[0], disk.bytes_of(names[1]));
  const Problem problem = refused(disk, small_options(2));
  EXPECT_EQ(problem.kind, Problem::Kind::damaged);
  EXPECT_EQ(problem.file, names[0]);
}

TEST(Log, RefusesASegmentOfAnotherLogOfTheSameNode) {
  sim::Disk disk(1), emptied(1);
  make_log(disk, Ending::closed);
  Options options = small_options(1);
  options.log = 0x2e;
  {
    const auto other = Log::open(emptied, options, Start::create);
    ASSERT_TRUE(other);
    EXPECT_EQ((*other)->id(), 0x2eU);
    append(**other, "a vote");
    ASSERT_TRUE((*other)->close());
  }
  options.epoch = 2;
  options.log = 0x1d;  // an existing log ignores this option
  {
    const auto again = Log::open(emptied, options, Start::existing);
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->id(), 0x2eU);
  }
  const auto names = disk.names();
  ASSERT_EQ(names.front(), emptied.names().front());
  disk.put(names.front(), emptied.bytes_of(names.front()));
  const Problem problem = refused(disk, small_options(2));
  EXPECT_EQ(problem.kind, Problem::Kind::foreign);
  EXPECT_EQ(problem.file, names.front());
  EXPECT_THAT(problem.message, HasSubstr("is of another log than " + names.back()));
}

TEST(Log, EveryChangedByteIsFoundOrHarmless) { EXPECT_EQ(flip_every_byte(), ""); }

TEST(Log, ASegmentCutAnywhereIsRefusedOrLosesNothing) { EXPECT_EQ(cut_at_every_byte(), ""); }

TEST(Log, ACutSegmentIsNamedWithItsPlaceAndTheRemedy) {
  sim::Disk disk(1);
  make_log(disk, Ending::killed);
  const std::string newest = disk.names().back();
  const auto bytes = disk.bytes_of(newest);
  ASSERT_EQ(bytes.size(), small_options(1).segment_bytes);
  disk.put(newest, {bytes.begin(), bytes.begin() + kHeaderBytes});
  const Problem problem = refused(disk, small_options(2));
  EXPECT_EQ(problem.kind, Problem::Kind::damaged);
  EXPECT_EQ(problem.file, newest);
  EXPECT_EQ(problem.offset, kHeaderBytes);
  EXPECT_THAT(problem.message,
              AllOf(HasSubstr("disk/" + newest +
                              " is damaged at offset 80: the file has 80 bytes of the 1024"),
                    HasSubstr("must not take part"), HasSubstr("empty it, and start the node")));
}

TEST(Log, ATornTailIsSaidWithItsFileAndItsPlace) {
  sim::Disk disk(1);
  auto log = open_good(disk, 1, Start::create);
  append(*log, "first");
  append(*log, "second");
  ASSERT_TRUE(log->commit());
  log.reset();
  const std::string newest = disk.names().back();
  auto bytes = disk.bytes_of(newest);
  const std::size_t second = kHeaderBytes + frame_bytes(std::string_view("first").size());
  bytes[second + kFrameBytes] ^= std::byte{1};
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(second + frame_bytes(6)), bytes.end(),
            std::byte{0});
  disk.put(newest, bytes);
  const auto again = open_good(disk, 2, Start::existing);
  EXPECT_TRUE(again->found().tail_cut);
  EXPECT_EQ(again->found().tail_file, newest);
  EXPECT_EQ(again->found().tail_at, second);
  EXPECT_EQ(again->last(), LogPosition{1});
}

/// A file that is used again has the length that its new header names, so a cut is detected.
TEST(Log, ASegmentInAFileThatWasUsedBeforeIsFoundCutToo) {
  sim::Disk disk(1);
  auto log = open_good(disk, 1, Start::create);
  const std::string record(300, 'r');
  bool reused = false;
  for (int i = 0; i < 40 && !reused; ++i) {
    const auto before = disk.names();
    if (i % 10 == 9) {
      ASSERT_TRUE(log->checkpoint(as_bytes_view(record), log->last()));
    } else {
      append(*log, record);
    }
    ASSERT_TRUE(log->commit());
    const auto spare = [](const std::string& name) { return name.ends_with(kSpareSuffix); };
    const auto now = disk.names();
    reused = std::any_of(before.begin(), before.end(), spare) &&
             std::none_of(now.begin(), now.end(), spare);
  }
  ASSERT_TRUE(reused);
  log.reset();
  const std::string newest = disk.names().back();
  const auto bytes = disk.bytes_of(newest);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    sim::Disk cut = disk;
    cut.put(newest, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_EQ(refused(cut, small_options(2)).file, newest) << length;
  }
}

// Each case also has the option `log` = 0, which is checked last and refused. So no large log is
// made.
TEST(Log, BothEndsOfTheRangesOfOptionsAreAccepted) {
  const auto message = [](auto change) {
    sim::Disk disk(1);
    Options options = small_options(1);
    options.log = 0;
    change(options);
    return refused(disk, options, Start::create).message;
  };
  const auto largest = [](Options& o) {
    o.segment_bytes = kSegmentBytesMax;
    o.bytes_max = 4 * kSegmentBytesMax;
  };
  EXPECT_THAT(message([](Options& o) {
                o.segment_bytes = kSegmentBytesMin;
                o.record_bytes_max = 1;
              }),
              HasSubstr("log = 0"));
  EXPECT_THAT(message(largest), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.read_bytes = kHeaderBytes; }), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.read_bytes = kSegmentBytesMax; }), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.record_bytes_max = 1; }), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.batch_bytes_max = frame_bytes(o.record_bytes_max); }),
              HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.batch_bytes_max = frame_bytes(o.record_bytes_max) - 1; }),
              HasSubstr("batch_bytes_max"));
  EXPECT_THAT(message([](Options& o) { o.batch_bytes_max = kSegmentBytesMax; }),
              HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.block_bytes = kFrameBytes; }), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.block_bytes = port::kDiskBlockBytes; }),
              HasSubstr("log = 0"));
}

TEST(Log, BadOptionsAreNamed) {
  const auto message = [](auto change) {
    sim::Disk disk(1);
    Options options = small_options(1);
    change(options);
    const Problem problem = refused(disk, options, Start::create);
    EXPECT_EQ(problem.kind, Problem::Kind::bad_options);
    return problem.message;
  };
  EXPECT_THAT(message([](Options& o) { o.segment_bytes = 500; }), HasSubstr("segment_bytes = 500"));
  EXPECT_THAT(message([](Options& o) { o.segment_bytes = 1025; }), HasSubstr("multiple of 8"));
  EXPECT_THAT(message([](Options& o) { o.bytes_max = 4095; }), HasSubstr("bytes_max = 4095"));
  EXPECT_THAT(message([](Options& o) { o.bytes_max = UINT64_MAX; }), HasSubstr("bytes_max"));
  EXPECT_THAT(message([](Options& o) { o.record_bytes_max = 0; }), HasSubstr("record_bytes_max"));
  EXPECT_THAT(message([](Options& o) { o.record_bytes_max = 1000; }), HasSubstr("1 to 784"));
  EXPECT_THAT(message([](Options& o) { o.batch_bytes_max = 100; }), HasSubstr("batch_bytes_max"));
  EXPECT_THAT(message([](Options& o) { o.block_bytes = 32; }), HasSubstr("block_bytes = 32"));
  EXPECT_THAT(message([](Options& o) { o.block_bytes = 8'192; }), HasSubstr("from 40 to 4096"));
  EXPECT_THAT(message([](Options& o) { o.block_bytes = 100; }), HasSubstr("multiple of 8"));
  EXPECT_THAT(message([](Options& o) { o.read_bytes = 1; }), HasSubstr("read_bytes = 1:"));
  EXPECT_THAT(message([](Options& o) { o.read_bytes = kSegmentBytesMax + 1; }),
              HasSubstr("read_bytes = "));
  EXPECT_THAT(message([](Options& o) { o.batch_bytes_max = kSegmentBytesMax + 1; }),
              HasSubstr("batch_bytes_max"));
  EXPECT_THAT(message([](Options& o) { o.log = 0; }), HasSubstr("log = 0"));
  EXPECT_THAT(message([](Options& o) { o.owner.node = NodeId{0}; }), HasSubstr("node = 0"));
}

}  // namespace
}  // namespace peal::wal::test
