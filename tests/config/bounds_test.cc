// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/file/keys.h"

namespace peal::config {
namespace {

Result<File, std::string> file_with(const std::string& top, const std::string& rest) {
  return parse_file("cluster = \"c\"\nnode = \"a\"\ninsecure = true\n" + top +
                        "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n" + rest,
                    "f.toml", "");
}

/// The error of a file that sets the limit `key` to `value`; empty if the file is accepted.
std::string problem_with(const Key<File>& key, const std::string& value) {
  const bool largest_message = key.name == "message_bytes_max";
  const auto file = file_with(
      "", "[limits]\n" + (largest_message ? "submit_bytes_max = 1073741824\n" : std::string()) +
              (key.name == "submit_bytes_max" ? "message_bytes_max = 65536\n" : "") + key.name +
              " = " + value + "\n");
  return file ? "" : file.error();
}

TEST(Bounds, EveryLimitIsTakenAtBothEnds) {
  int rows = 0;
  for (const Key<File>& key : file_keys()) {
    if (key.table != "limits") continue;
    const std::string from = key.accepted.substr(key.accepted.rfind(" from ") + 6);
    const std::size_t middle = from.find(" to ");
    ASSERT_NE(middle, std::string::npos);
    for (const std::string& value : {from.substr(0, middle), from.substr(middle + 4)}) {
      EXPECT_EQ(problem_with(key, value), "") << key.name << " = " << value;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 10);
}

// The default packet size depends on the transport of data.
TEST(Bounds, PacketsOfStreamsAreLargeUnlessTheFileSaysOtherwise) {
  const auto bytes = [](const std::string& network) {
    const auto file = file_with("order = \"ridge\"\ndata_dir = \"d\"\n", "[network]\n" + network);
    EXPECT_TRUE(file) << file.error();
    return file ? packet_bytes(file->settings) : 0U;
  };
  EXPECT_EQ(bytes(""), 1'472U);
  EXPECT_EQ(bytes("data = \"streams\"\n"), 16'384U);
  EXPECT_EQ(bytes("data = \"streams\"\npacket_bytes = 1472\n"), 1'472U);
  EXPECT_EQ(bytes("packet_bytes = 9000\n"), 9'000U);
}

}  // namespace
}  // namespace peal::config
