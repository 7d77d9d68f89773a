// SPDX-License-Identifier: Apache-2.0
#include "io/folder_disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include "base/large_memory.h"
#include "base/random.h"
#include "io/fd.h"
#include "temp_dir.h"

namespace peal::io {
namespace {

using testing::HasSubstr;

std::unique_ptr<FolderDisk> open_good(const std::string& path) {
  auto disk = FolderDisk::open(path);
  EXPECT_TRUE(disk) << disk.error().message;
  return disk ? std::move(*disk) : nullptr;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(FolderDisk, KeepsWhatIsWrittenForTheNextUser) {
  const TempDir folder;
  {
    const auto disk = open_good(folder / "log");
    ASSERT_TRUE(disk->create("b.new", 100));
    ASSERT_TRUE(disk->write("b.new", 10, as_bytes_view("hello")));
    ASSERT_TRUE(disk->sync("b.new"));
    ASSERT_TRUE(disk->rename("b.new", "b"));
    ASSERT_TRUE(disk->write("b", 15, as_bytes_view(" world")));
    ASSERT_TRUE(disk->create("a", 0));
    ASSERT_TRUE(disk->sync_folder());
  }
  const auto disk = open_good(folder / "log");
  const auto files = disk->list();
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].name, "a");
  EXPECT_EQ((*files)[1].name, "b");
  EXPECT_EQ((*files)[1].bytes, 100U);
  std::vector<std::byte> bytes(200, std::byte{'z'});
  const auto whole = disk->read("b", 0, bytes);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->bytes, 100U);
  EXPECT_EQ(whole->file_bytes, 100U);
  EXPECT_EQ(as_text(ByteView(bytes).subspan(10, 11)), "hello world");
  EXPECT_EQ(bytes[9], std::byte{0});
  EXPECT_EQ(bytes[100], std::byte{'z'});
  const auto part = disk->read("b", 16, ByteSpan(bytes).first(5));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->bytes, 5U);
  EXPECT_EQ(part->file_bytes, 100U);
  EXPECT_EQ(as_text(ByteView(bytes).first(5)), "world");
  EXPECT_EQ(disk->read("b", 98, bytes)->bytes, 2U);
  EXPECT_EQ(disk->read("b", 100, bytes)->bytes, 0U);
  EXPECT_EQ(disk->read("b", 1'000, bytes)->bytes, 0U);
  ASSERT_TRUE(disk->write("b", 0, as_bytes_view("x")));  // b existed before this open
  ASSERT_TRUE(disk->remove("b"));
  EXPECT_EQ(disk->list()->size(), 1U);
}

/// Writes of whole blocks bypass the operating system's cache, and other writes do not. Whatever
/// their order, a read must return the newest bytes. The same holds for a file system in memory,
/// which may not support bypassing.
TEST(FolderDisk, WholeBlocksAndOthersLieInOneFile) {
  constexpr std::size_t kBlock = port::kDiskBlockBytes;
  constexpr std::size_t kFile = 64 * kBlock;
  for (const char* in : {"/tmp/", "/dev/shm/"}) {
    const TempDir folder(in);
    const auto disk = open_good(folder / "log");
    ASSERT_TRUE(disk->create("a", kFile));
    std::vector<std::byte> expected(kFile);
    const LargeMemory memory(kFile + 8, Pages::ordinary);
    Random random(1);
    for (int i = 0; i < 200; ++i) {
      const bool blocks = random.chance(0.5);
      const std::size_t unit = blocks ? kBlock : 8;
      const std::size_t at = random.below(kFile / unit) * unit;
      const std::size_t bytes = (1 + random.below((kFile - at) / unit)) * unit;
      const ByteSpan written(memory.data() + (random.chance(0.2) ? 8 : 0), bytes);
      std::fill(written.begin(), written.end(), static_cast<std::byte>(i));
      std::copy(written.begin(), written.end(), expected.begin() + static_cast<long>(at));
      ASSERT_TRUE(disk->write("a", at, written));
      if (random.chance(0.1)) {
        ASSERT_TRUE(disk->sync("a"));
      }
      std::vector<std::byte> read(kFile);
      ASSERT_TRUE(disk->read("a", 0, read));
      ASSERT_EQ(read, expected) << i;
    }
    ASSERT_TRUE(disk->rename("a", "b"));
    ASSERT_TRUE(disk->write("b", 0, ByteView(memory.data(), kFile)));
    const auto whole = disk->list();
    ASSERT_EQ(whole->size(), 1U);
    EXPECT_EQ((*whole)[0].bytes, kFile);
  }
}

TEST(FolderDisk, OthersHaveNoRights) {
  const TempDir folder;
  const mode_t before = ::umask(0);
  const auto disk = open_good(folder / "log");
  EXPECT_TRUE(disk->create("a", 10));
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "log"), 0700U);
  EXPECT_EQ(mode_of(folder / "log/a"), 0600U);
  ASSERT_EQ(::chmod((folder / "log").c_str(), 0770), 0);
  const auto open_to_others = FolderDisk::open(folder / "log");
  ASSERT_FALSE(open_to_others);
  EXPECT_EQ(open_to_others.error().code, Errc::invalid_option);
  EXPECT_THAT(open_to_others.error().message, HasSubstr("chmod 700"));
}

TEST(FolderDisk, HasOneUser) {
  const TempDir folder;
  auto disk = open_good(folder.path());
  const auto second = FolderDisk::open(folder.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr("another process uses it"));
  disk.reset();
  EXPECT_TRUE(FolderDisk::open(folder.path()));
}

TEST(FolderDisk, SaysWhatItRefusesAndWhy) {
  const TempDir folder;
  const auto nowhere = FolderDisk::open(folder / "no/log");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("no/log"));
  const auto disk = open_good(folder.path());
  ASSERT_TRUE(disk->create("a", 10));
  std::array<std::byte, 9> bytes{};
  const auto text = [](const auto& result) { return result ? "" : result.error().message; };
  EXPECT_THAT(text(disk->create("a", 10)), HasSubstr(folder / "a" + ": File exists"));
  EXPECT_THAT(text(disk->read("b", 0, bytes)), HasSubstr("No such file"));
  EXPECT_THAT(text(disk->write("b", 0, as_bytes_view("x"))), HasSubstr("No such file"));
  EXPECT_THAT(text(disk->sync("b")), HasSubstr("No such file"));
  EXPECT_THAT(text(disk->rename("b", "c")), HasSubstr("No such file"));
  EXPECT_THAT(text(disk->remove("b")), HasSubstr("No such file"));
  // The disk must not follow a link to another place. It must not read a pipe, because the read
  // would wait for ever.
  ASSERT_EQ(::symlink("/dev/null", (folder / "link").c_str()), 0);
  EXPECT_FALSE(disk->read("link", 0, bytes));
  EXPECT_FALSE(disk->write("link", 0, as_bytes_view("x")));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(disk->read("pipe", 0, bytes));
}

TEST(FolderDisk, ADeviceWithoutSpaceIsFull) {
  const TempDir folder;
  const auto disk = open_good(folder.path());
  // No disk has so much space, so create() fails without writing anything.
  const auto created = disk->create("a", std::uint64_t{1} << 62);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().kind, port::DiskError::Kind::full);
}

}  // namespace
}  // namespace peal::io
