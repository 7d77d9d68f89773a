// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace peal::io {
namespace {

class EpochFile : public testing::Test {
 protected:
  EpochFile() {
    std::string pattern = testing::TempDir() + "/peal-epoch-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~EpochFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/state"; }
  void put(const std::string& text) const { std::ofstream(path()) << text; }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }
  std::string folder_;
};

TEST(Clock, NeverGoesBack) {
  const Instant first = Clock::now();
  EXPECT_LE(first, Clock::now());
  EXPECT_GT(first.ns, 0);
}

TEST(Clock, CountsWallTimeFrom2020) {
  const auto year = [](std::uint64_t years) { return years * 365 * 24 * 3'600 * 1'000; };
  EXPECT_GT(Clock::wall_ms_since_2020(), year(4));
  EXPECT_LT(Clock::wall_ms_since_2020(), year(200));
}

TEST_F(EpochFile, IsTheClockWithoutAFile) {
  const std::uint64_t before = Clock::wall_ms_since_2020();
  const EpochChoice choice = choose_epoch("");
  EXPECT_GE(choice.epoch, before);
  EXPECT_LE(choice.epoch, Clock::wall_ms_since_2020());
  EXPECT_FALSE(choice.warning);
}

TEST_F(EpochFile, GrowsEvenIfTheClockStepsBack) {
  const std::uint64_t future = Clock::wall_ms_since_2020() + 1'000'000;
  put(std::to_string(future) + "\n");
  const EpochChoice choice = choose_epoch(path());
  EXPECT_EQ(choice.epoch, future + 1);
  EXPECT_FALSE(choice.warning);
  ASSERT_TRUE(store_epoch(path(), choice.epoch));
  EXPECT_EQ(choose_epoch(path()).epoch, future + 2);
}

TEST_F(EpochFile, IsCreatedWhenAnEpochIsStored) {
  const EpochChoice choice = choose_epoch(path());
  EXPECT_FALSE(choice.warning);
  EXPECT_FALSE(std::filesystem::exists(path()));
  ASSERT_TRUE(store_epoch(path(), choice.epoch));
  EXPECT_EQ(content(), std::to_string(choice.epoch) + "\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
}

TEST_F(EpochFile, WarnsOfNonsenseWhichTheNextOneReplaces) {
  for (const char* text :
       {"", "x\n", "12", "-5\n", "12 \n", "99999999999999999999999\n", "18446744073709551615\n"}) {
    put(text);
    const EpochChoice choice = choose_epoch(path());
    EXPECT_TRUE(choice.warning) << text;
    ASSERT_TRUE(store_epoch(path(), choice.epoch));
    EXPECT_EQ(content(), std::to_string(choice.epoch) + "\n");
  }
}

TEST_F(EpochFile, ThatCannotBeReadIsAWarning) {
  put("");
  const EpochChoice choice = choose_epoch(path() + "/no/file/in/a/file");
  EXPECT_GT(choice.epoch, 0U);
  ASSERT_TRUE(choice.warning);
  EXPECT_NE(choice.warning->message.find("no/file/in/a/file"), std::string::npos);
}

TEST_F(EpochFile, ThatCannotBeWrittenIsNamed) {
  const auto stored = store_epoch(folder_ + "/no/such/folder", 7);
  ASSERT_FALSE(stored);
  EXPECT_NE(stored.error().message.find("no/such/folder"), std::string::npos);
}

TEST_F(EpochFile, IsStoredInOneStep) {
  ASSERT_TRUE(store_epoch(path(), 7).has_value());
  ASSERT_TRUE(store_epoch(path(), 8).has_value());
  EXPECT_EQ(content(), "8\n");
  // A folder has the final name, so store_epoch() must fail.
  std::filesystem::remove(path());
  std::filesystem::create_directories(path() + "/in/the/way");
  EXPECT_FALSE(store_epoch(path(), 9).has_value());
}

}  // namespace
}  // namespace peal::io
