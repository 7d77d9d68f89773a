// SPDX-License-Identifier: Apache-2.0
#include "io/unix_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "io/stream.h"
#include "temp_dir.h"

namespace peal::io {
namespace {

using testing::HasSubstr;

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// Leaves a socket file at which nobody listens.
void leave_behind(const std::string& path) {
  auto socket = listen_unix(path, 0600);
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
}

void expect_refused(const std::string& path, Errc code, const std::string& why) {
  const auto socket = listen_unix(path, 0600);
  ASSERT_FALSE(socket.has_value()) << path;
  EXPECT_EQ(socket.error().code, code) << socket.error().message;
  EXPECT_THAT(socket.error().message, HasSubstr(why));
}

TEST(UnixPath, ListensWithTheModeThatWasAskedForWhateverTheMask) {
  const TempDir dir;
  const mode_t mask = ::umask(0077);
  for (const mode_t mode : {0600U, 0660U, 0666U}) {
    const std::string path = dir / ("s" + std::to_string(mode));
    const auto socket = listen_unix(path, mode);
    ASSERT_TRUE(socket.has_value()) << socket.error().message;
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_TRUE(connect_unix(path).has_value());
  }
  ::umask(mask);
}

TEST(UnixPath, MakesTheFolderSoThatThoseWhoMayConnectCanEnterIt) {
  const TempDir dir;
  for (const auto& [mode, folder] : {std::pair{0600U, 0700U}, {0660U, 0750U}, {0666U, 0755U}}) {
    const std::string path = dir / ("d" + std::to_string(mode));
    ASSERT_TRUE(listen_unix(path + "/s", mode).has_value());
    EXPECT_EQ(mode_of(path), folder);
  }
}

TEST(UnixPath, ReplacesASocketThatNobodyListensAt) {
  const TempDir dir;
  leave_behind(dir / "s");
  ASSERT_TRUE(exists(dir / "s"));
  EXPECT_EQ(connect_unix(dir / "s").error().code, Errc::closed);
  const auto socket = listen_unix(dir / "s", 0600);
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  EXPECT_TRUE(connect_unix(dir / "s").has_value());
}

TEST(UnixPath, LeavesALiveSocketAlone) {
  const TempDir dir;
  const auto first = listen_unix(dir / "s", 0600);
  ASSERT_TRUE(first.has_value());
  expect_refused(dir / "s", Errc::address_in_use, "another process listens there");
  EXPECT_TRUE(connect_unix(dir / "s").has_value());
}

TEST(UnixPath, WaitsForNobodyWhoMakesASocketInTheSameFolder) {
  const TempDir dir;
  const Fd folder(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(folder.get(), LOCK_EX), 0);
  expect_refused(dir / "s", Errc::address_in_use, "try again");
}

TEST(UnixPath, TouchesNothingThatIsNoSocket) {
  const TempDir dir;
  std::ofstream(dir / "file") << "precious";
  ASSERT_EQ(::mkdir((dir / "folder").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("nowhere", (dir / "link").c_str()), 0);
  for (const char* name : {"file", "folder", "link"}) {
    expect_refused(dir / name, Errc::invalid_option, "is no socket");
    EXPECT_TRUE(exists(dir / name)) << name;
  }
}

TEST(UnixPath, RefusesPathsThatCannotBe) {
  const TempDir dir;
  expect_refused("", Errc::invalid_option, "accepted is a path of 1 to 107 bytes");
  expect_refused(dir / std::string(100, 'x'), Errc::invalid_option, "1 to 107 bytes");
  expect_refused(dir / std::string("a\0b", 3), Errc::invalid_option, "none of them 0");
  expect_refused(dir.path() + "/", Errc::invalid_option, "is a folder");
  expect_refused(dir / "no/such/s", Errc::invalid_option, "a folder that exists");
  std::ofstream(dir / "file") << "x";
  expect_refused(dir / "file/s", Errc::invalid_option, "is no folder");
  expect_refused(dir / "file/b/s", Errc::invalid_option, "a folder that exists");
}

TEST(UnixPath, RefusesAFolderWhereOthersCanReplaceTheSocket) {
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "open").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((dir / "open").c_str(), 0777), 0);
  expect_refused(dir / "open/s", Errc::invalid_option, "chmod go-w");
  ASSERT_EQ(::chmod((dir / "open").c_str(), 01777), 0);  // with the sticky bit, like /tmp
  EXPECT_TRUE(listen_unix(dir / "open/s", 0600).has_value());
}

TEST(UnixPath, RefusesAFolderOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "theirs").c_str(), 0755), 0);
  ASSERT_EQ(::chown((dir / "theirs").c_str(), 12'345, 12'345), 0);
  expect_refused(dir / "theirs/s", Errc::invalid_option, "belongs to uid 12345");
}

TEST(UnixPath, RemovesOnlyItsOwnFile) {
  const TempDir dir;
  const auto first = listen_unix(dir / "s", 0600);
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(::unlink((dir / "s").c_str()), 0);
  const auto second = listen_unix(dir / "s", 0600);
  ASSERT_TRUE(second.has_value());
  remove_unix_socket(dir / "s", *first);
  EXPECT_TRUE(exists(dir / "s"));
  remove_unix_socket(dir / "s", *second);
  EXPECT_FALSE(exists(dir / "s"));
}

TEST(ConnectUnix, SaysWhyItCannot) {
  const TempDir dir;
  EXPECT_EQ(connect_unix(dir / "s").error().code, Errc::closed);
  EXPECT_THAT(connect_unix(dir / "s").error().message, HasSubstr("nobody listens at"));
  EXPECT_EQ(connect_unix("").error().code, Errc::invalid_option);
}

}  // namespace
}  // namespace peal::io
