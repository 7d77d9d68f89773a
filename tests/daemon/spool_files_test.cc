// SPDX-License-Identifier: Apache-2.0
#include "daemon/spool_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <vector>

namespace peal::daemon {
namespace {

std::vector<std::byte> bytes_from(std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::byte>((offset + i) * 2654435761U >> 13U);
  }
  return out;
}

class Spool : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<std::byte> read(SpoolFiles& spool, session::SpoolId id, std::uint64_t offset,
                              std::size_t count) {
    std::vector<std::byte> out(count);
    EXPECT_TRUE(spool.read(id, offset, out)) << spool.reason();
    return out;
  }
  std::string folder_ = testing::TempDir() + "/peal-spool-XXXXXX";
};

TEST_F(Spool, GivesBackWhatWasAppended) {
  SpoolFiles spool(folder_);
  std::uint64_t end = 0;
  for (const std::size_t size : {1U, 5U, 100'000U, 3U << 20U, 7U}) {
    ASSERT_TRUE(spool.append(1, bytes_from(end, size)));
    end += size;
  }
  EXPECT_EQ(read(spool, 1, 0, end), bytes_from(0, end));
  EXPECT_EQ(read(spool, 1, 99'999, 12), bytes_from(99'999, 12));
  EXPECT_EQ(read(spool, 1, end, 0), bytes_from(0, 0));
}

TEST_F(Spool, ManySmallOnesAreReadWhereverTheyAre) {
  SpoolFiles spool(folder_);
  std::uint64_t end = 0;
  for (std::size_t i = 0; end < 5 * SpoolFiles::kBlockBytes / 2; ++i) {
    const std::size_t size = 1 + i * 97 % 1'400;
    ASSERT_TRUE(spool.append(1, bytes_from(end, size)));
    end += size;
    const std::uint64_t from = end - std::min<std::uint64_t>(end, 3'000);
    ASSERT_EQ(read(spool, 1, from, end - from), bytes_from(from, end - from)) << end;
  }
  EXPECT_EQ(read(spool, 1, 0, end), bytes_from(0, end));
}

TEST_F(Spool, BlocksAreBoundedInSum) {
  SpoolFiles spool(folder_);
  const auto sessions = 2 * SpoolFiles::kBlocksBytesMax / SpoolFiles::kBlockBytes;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit many = before;
  many.rlim_cur = std::min<rlim_t>(before.rlim_max, sessions + 64);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &many), 0);
  ASSERT_GE(many.rlim_cur, sessions + 64) << "the limit of open files is too low for this test";
  for (std::uint64_t id = 1; id <= sessions; ++id) {
    ASSERT_TRUE(spool.append(id, bytes_from(id, 100)));
    ASSERT_TRUE(spool.append(id, bytes_from(id + 100, 50)));
  }
  EXPECT_EQ(spool.blocks_bytes(), SpoolFiles::kBlocksBytesMax);
  for (std::uint64_t id = 1; id <= sessions; ++id) {
    ASSERT_EQ(read(spool, id, 0, 150), bytes_from(id, 150));
    spool.remove(id);
  }
  EXPECT_EQ(spool.blocks_bytes(), 0U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Spool, QueuesAreApart) {
  SpoolFiles spool(folder_);
  ASSERT_TRUE(spool.append(1, bytes_from(0, 100)));
  ASSERT_TRUE(spool.append(2, bytes_from(5'000, 100)));
  EXPECT_EQ(read(spool, 1, 0, 100), bytes_from(0, 100));
  EXPECT_EQ(read(spool, 2, 0, 100), bytes_from(5'000, 100));
  spool.remove(1);
  EXPECT_EQ(spool.files(), 1U);
  spool.remove(1);  // queue 1 is already removed
  ASSERT_TRUE(spool.append(3, bytes_from(0, 10)));
  EXPECT_EQ(spool.files(), 2U);
}

TEST_F(Spool, WhatIsDiscardedDoesNotReachTheRest) {
  SpoolFiles spool(folder_);
  const std::uint64_t size = 3 * SpoolFiles::kPieceBytes + 17;
  ASSERT_TRUE(spool.append(1, bytes_from(0, size)));
  spool.discard(1, SpoolFiles::kPieceBytes + 5);
  EXPECT_EQ(read(spool, 1, SpoolFiles::kPieceBytes + 5, 100),
            bytes_from(SpoolFiles::kPieceBytes + 5, 100));
  spool.discard(1, size);
  ASSERT_TRUE(spool.append(1, bytes_from(size, 1'000)));
  EXPECT_EQ(read(spool, 1, size, 1'000), bytes_from(size, 1'000));
  spool.discard(2, 0);  // queue 2 does not exist
}

TEST_F(Spool, LeavesNoNamesBehind) {
  SpoolFiles spool(folder_);
  ASSERT_TRUE(spool.append(1, bytes_from(0, 1'000)));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Spool, AFolderThatIsGoneIsAReason) {
  SpoolFiles spool(folder_ + "/gone");
  EXPECT_EQ(spool.append(1, bytes_from(0, 10)).error(), Errc::system);
  EXPECT_THAT(spool.reason(), testing::HasSubstr(folder_ + "/gone"));
  EXPECT_EQ(spool.files(), 0U);
}

TEST_F(Spool, AFullDiskTakesAllOrNothing) {
  SpoolFiles spool(folder_);
  ASSERT_TRUE(spool.append(1, bytes_from(0, 1'000)));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4'096;  // acts like a full disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(spool.append(1, bytes_from(1'000, 100'000)).error(), Errc::system);
  EXPECT_NE(spool.reason(), "");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignored);
  ASSERT_TRUE(spool.append(1, bytes_from(1'000, 2'000)));
  EXPECT_EQ(read(spool, 1, 0, 3'000), bytes_from(0, 3'000));
}

TEST_F(Spool, WhatWasTakenBeforeTheDiskWasFullIsRead) {
  SpoolFiles spool(folder_);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4'096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::uint64_t taken = 0;
  while (spool.append(1, bytes_from(taken, 1'000))) taken += 1'000;
  EXPECT_GE(taken, 4'000U);
  EXPECT_LE(taken, 4'096 + SpoolFiles::kBlockBytes);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(read(spool, 1, 0, taken), bytes_from(0, taken));
}

}  // namespace
}  // namespace peal::daemon
