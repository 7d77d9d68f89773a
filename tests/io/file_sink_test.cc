// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace peal::io {
namespace {

class FileSinkTest : public testing::Test {
 protected:
  FileSinkTest() : path_(testing::TempDir() + "/peal-sink-" + std::to_string(::getpid())) {
    std::filesystem::remove(path_);
  }
  ~FileSinkTest() override { std::filesystem::remove(path_); }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  std::string path_;
};

TEST_F(FileSinkTest, WritesOnFlush) {
  auto sink = FileSink::open(path_, FileSink::Mode::append);
  ASSERT_TRUE(sink.has_value()) << sink.error().message;
  (*sink)->append("one\n");
  EXPECT_EQ(content(), "");
  EXPECT_TRUE((*sink)->flush().has_value());
  EXPECT_EQ(content(), "one\n");
}

TEST_F(FileSinkTest, KeepsTheOrderPastItsBuffer) {
  std::string expected;
  {
    auto sink = FileSink::open(path_, FileSink::Mode::append, 16);
    ASSERT_TRUE(sink.has_value());
    for (int i = 0; i < 100; ++i) {
      const std::string text = std::string(static_cast<std::size_t>(i) % 40, 'x') + "\n";
      expected += text;
      (*sink)->append(text);
    }
  }  // the end writes the rest
  EXPECT_EQ(content(), expected);
}

TEST_F(FileSinkTest, AppendsOrReplaces) {
  for (const auto mode : {FileSink::Mode::append, FileSink::Mode::append}) {
    (*FileSink::open(path_, mode))->append("a");
  }
  EXPECT_EQ(content(), "aa");
  (*FileSink::open(path_, FileSink::Mode::replace))->append("b");
  EXPECT_EQ(content(), "b");
}

TEST_F(FileSinkTest, SaysWhyItCannotOpen) {
  const auto sink = FileSink::open("/no/such/folder/file", FileSink::Mode::append);
  ASSERT_FALSE(sink.has_value());
  EXPECT_NE(sink.error().message.find("/no/such/folder/file"), std::string::npos);
}

TEST_F(FileSinkTest, KeepsTheFirstWriteError) {
  auto sink = FileSink::open("/dev/full", FileSink::Mode::append);
  ASSERT_TRUE(sink.has_value());
  (*sink)->append("text");
  const auto flushed = (*sink)->flush();
  ASSERT_FALSE(flushed.has_value());
  EXPECT_EQ(flushed.error().code, Errc::system);
  EXPECT_NE(flushed.error().message.find("/dev/full"), std::string::npos);
  (*sink)->append("more");
  EXPECT_FALSE((*sink)->flush().has_value());
  ASSERT_TRUE((*sink)->error());
  EXPECT_EQ((*sink)->error()->message, flushed.error().message);
}

}  // namespace
}  // namespace peal::io
