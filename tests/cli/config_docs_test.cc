// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/config_keys.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;

/// The row of a key in docs/configuration.md, within the part about its table.
std::string row_of(const Key& key) {
  std::ifstream in("docs/configuration.md");
  const std::string heading =
      key.table.empty() ? "## Top level" : "## `[" + std::string(key.table) + "]`";
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line.starts_with(heading);
    if (inside && line.starts_with("| `" + key.name + "`")) return line;
  }
  return {};
}

TEST(ConfigDocs, EveryKeyHasARowWithItsRangeAndDefault) {
  for (const Key& key : keys()) {
    SCOPED_TRACE(key.path());
    const std::string row = row_of(key);
    ASSERT_FALSE(row.empty());
    EXPECT_THAT(row, HasSubstr(key.normal.empty() ? "|" : "`" + key.normal + "`"));
    // Of "a whole number from 1 to 8192", the range.
    if (const auto from = key.accepted.rfind(" from "); from != std::string::npos) {
      const std::string range = key.accepted.substr(from + 6);
      EXPECT_THAT(row, HasSubstr(range.substr(0, range.find(" ("))));
    }
  }
}

}  // namespace
}  // namespace peal::cli
