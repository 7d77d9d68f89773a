// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/fd.h"

namespace peal::io {
namespace {

class FileSinkTest : public testing::Test {
 protected:
  FileSinkTest() : path_(testing::TempDir() + "/peal-sink-" + std::to_string(::getpid())) {
    std::filesystem::remove(path_);
  }
  ~FileSinkTest() override { std::filesystem::remove(path_); }
  static Result<std::unique_ptr<FileSink>, IoError> open(const std::string& path,
                                                         FileSink::Mode mode,
                                                         std::size_t buffer_bytes = 1U << 18) {
    return FileSink::open(
        path, mode, [](std::uint64_t lines) { return "lost " + std::to_string(lines) + "\n"; },
        buffer_bytes);
  }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  std::string path_;
};

TEST_F(FileSinkTest, WritesOnFlush) {
  auto sink = open(path_, FileSink::Mode::append);
  ASSERT_TRUE(sink.has_value()) << sink.error().message;
  (*sink)->append("one\n");
  EXPECT_EQ(content(), "");
  EXPECT_TRUE((*sink)->flush().has_value());
  EXPECT_EQ(content(), "one\n");
}

TEST_F(FileSinkTest, KeepsTheOrderPastItsBuffer) {
  std::string expected;
  {
    auto sink = open(path_, FileSink::Mode::append, 16);
    ASSERT_TRUE(sink.has_value());
    for (int i = 0; i < 100; ++i) {
      const std::string text = std::string(static_cast<std::size_t>(i) % 40, 'x') + "\n";
      expected += text;
      (*sink)->append(text);
    }
  }  // the destructor writes the rest
  EXPECT_EQ(content(), expected);
}

TEST_F(FileSinkTest, AppendsOrReplaces) {
  for (const auto mode : {FileSink::Mode::append, FileSink::Mode::append}) {
    (*open(path_, mode))->append("a\n");
  }
  EXPECT_EQ(content(), "a\na\n");
  (*open(path_, FileSink::Mode::replace))->append("b\n");
  EXPECT_EQ(content(), "b\n");
}

TEST_F(FileSinkTest, SaysWhyItCannotOpen) {
  const auto sink = open("/no/such/folder/file", FileSink::Mode::append);
  ASSERT_FALSE(sink.has_value());
  EXPECT_NE(sink.error().message.find("/no/such/folder/file"), std::string::npos);
}

TEST_F(FileSinkTest, SaysWhyLinesAreLost) {
  auto sink = open("/dev/full", FileSink::Mode::append);
  ASSERT_TRUE(sink.has_value());
  (*sink)->append("text\n");
  const auto flushed = (*sink)->flush();
  ASSERT_FALSE(flushed.has_value());
  EXPECT_EQ(flushed.error().code, Errc::system);
  EXPECT_NE(flushed.error().message.find("/dev/full"), std::string::npos);
  EXPECT_EQ((*sink)->lost(), 1U);
  (*sink)->append("more\nand more\n");
  EXPECT_FALSE((*sink)->flush().has_value());
  EXPECT_EQ((*sink)->lost(), 3U);
}

/// Checks a text of lines "N\n", which count up from 0, and "lost M\n", which stand for M missing
/// lines. Returns the number of lines with the missing ones. Fails the test if a line is not whole
/// or not in order.
std::uint64_t count_lines(const std::string& text, std::uint64_t& holes) {
  std::istringstream in(text);
  std::uint64_t next = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("lost ")) {
      next += std::stoull(line.substr(5));
      ++holes;
    } else {
      EXPECT_EQ(line, std::to_string(next)) << "a line is missing, and nobody says so";
      ++next;
    }
  }
  return next;
}

TEST_F(FileSinkTest, AFileWithoutRoomSaysThatLinesAreMissing) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t bytes : {rlim_t{50}, rlim_t{5'000}, rlim_t{64'001}}) {
    std::filesystem::remove(path_);
    auto sink = open(path_, FileSink::Mode::append);
    ASSERT_TRUE(sink.has_value());
    rlimit full = before;
    full.rlim_cur = bytes;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    std::uint64_t lines = 0;
    while ((*sink)->lost() == 0) {
      for (int i = 0; i < 100; ++i) (*sink)->append(std::to_string(lines++) + "\n");
      ignore((*sink)->flush(), "that there is no room is what is wanted");
    }
    std::uint64_t holes = 0;
    EXPECT_EQ(count_lines(content(), holes), lines) << "the file says it at once";
    EXPECT_GT(holes, 0U);
    // The file has space again, so the sink continues.
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    do {
      (*sink)->append(std::to_string(lines++) + "\n");
    } while (!(*sink)->flush().has_value());
    EXPECT_EQ(count_lines(content(), holes), lines);
    EXPECT_TRUE(content().ends_with("\n" + std::to_string(lines - 1) + "\n"));
  }
}

TEST_F(FileSinkTest, APipeWhoseReaderStopsOrGoesHoldsUpNobody) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  auto sink = open(path_, FileSink::Mode::append);  // no process reads the pipe yet
  ASSERT_TRUE(sink.has_value()) << sink.error().message;
  { const Fd gone(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)); }
  std::uint64_t lines = 0;
  while ((*sink)->lost() == 0) {
    for (int i = 0; i < 1'000; ++i) (*sink)->append(std::to_string(lines++) + "\n");
    ignore((*sink)->flush(), "that there is no room is what is wanted");
  }
  const Fd reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string text;
  char part[4'096];
  bool over = false;
  while (!over) {
    for (ssize_t got = 0; (got = ::read(reader.get(), part, sizeof part)) > 0;) {
      text.append(part, static_cast<std::size_t>(got));
    }
    (*sink)->append(std::to_string(lines++) + "\n");
    over = (*sink)->flush().has_value();
  }
  for (ssize_t got = 0; (got = ::read(reader.get(), part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  std::uint64_t holes = 0;
  EXPECT_EQ(count_lines(text, holes), lines);
  EXPECT_GT(holes, 0U);
}

}  // namespace
}  // namespace peal::io
