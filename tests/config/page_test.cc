// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "config/file/keys.h"
#include "config/file/print.h"

// docs/configuration.md has a row for each key, between marks that name the key's table. With
// PEAL_WRITE_PAGE=1 in the environment this test writes the rows into the page.

namespace peal::config {
namespace {

constexpr const char* kPage = "docs/configuration.md";
constexpr std::string_view kBegin = "<!-- keys of ";
constexpr std::string_view kEnd = "<!-- end of keys -->";

std::string content() {
  std::ifstream in(kPage);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Page {
  std::string expected;          ///< the page with the correct rows
  std::set<std::string> tables;  ///< the tables with rows in the page; "" is the top level
};

Page page_of(const std::string& text) {
  Page page;
  std::istringstream in(text);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == kEnd) inside = false;
    if (!inside) page.expected += line + "\n";
    if (!line.starts_with(kBegin)) continue;
    const std::string table = line.substr(kBegin.size(), line.find(" -->") - kBegin.size());
    const std::string key = table == "the top level" ? "" : table.substr(1, table.size() - 2);
    EXPECT_FALSE(page_rows(key).empty()) << table;
    page.expected += page_rows(key);
    page.tables.insert(key);
    inside = true;
  }
  return page;
}

TEST(ConfigPage, HasTheRowOfEveryKey) {
  const std::string text = content();
  const Page page = page_of(text);
  if (std::getenv("PEAL_WRITE_PAGE") != nullptr) std::ofstream(kPage) << page.expected;
  EXPECT_EQ(text == page.expected, true)
      << "run PEAL_WRITE_PAGE=1 build/release/bin/config_file_test, which writes:\n"
      << page.expected;
  for (const Key<File>& key : file_keys()) {
    EXPECT_TRUE(page.tables.contains(key.table)) << key.path();
  }
  for (const char* list : {"[nodes]", "[domain]", "[client]", "[group]"}) {
    EXPECT_TRUE(page.tables.contains(list)) << list;
  }
}

}  // namespace
}  // namespace peal::config
