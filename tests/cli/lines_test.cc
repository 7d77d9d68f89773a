// SPDX-License-Identifier: Apache-2.0
#include "cli/client/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "temp_dir.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LinesOf : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }
  /// All lines, followed by the error, if there is one.
  static std::vector<std::string> all(const std::vector<std::string>& files, std::size_t max) {
    Lines lines(files);
    std::vector<std::string> out;
    while (true) {
      const auto line = lines.next(max);
      if (!line) {
        out.push_back(line.error());
        return out;
      }
      if (*line) {
        out.emplace_back(**line);
        continue;
      }
      const auto fd = lines.fd();
      if (!fd) out.push_back(fd.error());
      if (!fd || *fd < 0) return out;
      EXPECT_TRUE(lines.read());
    }
  }

  TempDir dir_;
};

TEST_F(LinesOf, FilesFollowEachOther) {
  const std::string one = file("1", "a\n\nb"), none = file("2", ""), two = file("3", "c\r\n\n");
  EXPECT_THAT(all({one, none, two, one}, 10), ElementsAre("a", "", "b", "c\r", "", "a", "", "b"));
  EXPECT_THAT(all({none}, 10), ElementsAre());
}

TEST_F(LinesOf, LongerThanWhatIsReadAtOnce) {
  const std::string big(1'000'000, 'x');
  EXPECT_THAT(all({file("1", "a\n" + big + "\nb\n" + big)}, big.size()),
              ElementsAre("a", big, "b", big));
}

TEST_F(LinesOf, TooLongIsSaidWithItsPlaceAndBeforeItIsWhole) {
  const std::string path = file("1", "four\nfives\n");
  const auto lines = all({path}, 4);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "four");
  EXPECT_THAT(lines[1], HasSubstr(path + ":2: the line is too long for one message: accepted are "
                                         "up to 4 bytes"));
  // Of an endless line, only a limited part is read.
  Lines endless({"/dev/zero"});
  ASSERT_TRUE(endless.fd());
  ASSERT_TRUE(endless.read());
  EXPECT_FALSE(endless.next(1'000));
}

TEST_F(LinesOf, FilesThatCannotBeReadAreNamed) {
  EXPECT_THAT(all({file("1", "a\n"), "/nonexistent"}, 10),
              ElementsAre("a", HasSubstr("\"/nonexistent\" cannot be opened (No such file")));
  Lines folder({dir_.path()});
  ASSERT_TRUE(folder.fd());
  const auto read = folder.read();
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error(), HasSubstr("cannot be read (Is a directory): accepted are files"));
}

}  // namespace
}  // namespace peal::cli
