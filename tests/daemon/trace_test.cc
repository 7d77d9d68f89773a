// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "oracle/files.h"
#include "site.h"

// The oracle checks the traces of daemons. The traces describe the order of units below the groups.

namespace peal::daemon::test {
namespace {

TEST(Trace, OfTwoDaemonsAndAThirdThatLeavesIsWhatPealPromises) {
  Folder folder;
  std::vector<std::string> paths;
  const auto traced = [&](std::uint32_t self) {
    Options options = options_of(folder, self, 3);
    options.member.trace = folder.path() + "/" + options.member.name + ".trace";
    paths.push_back(options.member.trace);
    return options;
  };
  {
    Site first(traced(1));
    Site second(traced(2));
    Site third(traced(3));
    Client ann(first.socket(), hello_as("ann"));
    Client bob(second.socket(), hello_as("bob"));
    Client eve(third.socket(), hello_as("eve"));
    ann.join("g");
    bob.join("g");
    eve.join("g");
    while (const auto got = ann.until(wire::RecordKind::group_view)) {
      ASSERT_EQ(got->kind, wire::RecordKind::group_view);
      if (got->as<wire::GroupViewEvent>().members.size() == 3) break;
    }
    for (int i = 0; i < 100; ++i) {
      ann.send("g", "a" + std::to_string(i));
      bob.send("g", "b" + std::to_string(i));
      eve.send("g", "e" + std::to_string(i));
    }
    for (int i = 0; i < 300; ++i) {
      const std::string next = ann.message();
      EXPECT_EQ(next, bob.message());
      EXPECT_EQ(next, eve.message());
    }
    third.stop();
    while (const auto got = ann.until(wire::RecordKind::group_view)) {
      ASSERT_EQ(got->kind, wire::RecordKind::group_view);
      if (got->as<wire::GroupViewEvent>().members.size() == 2) break;
    }
    ann.send("g", "the last");
    EXPECT_EQ(bob.message(), "the last");
  }
  oracle::Options options = oracle::file_options();
  options.truncated_ok = false;
  options.universe = 3;
  const auto report = oracle::check_files(paths, options);
  ASSERT_TRUE(report) << report.error();
  for (const auto& violation : report->order.violations) ADD_FAILURE() << violation.text;
  EXPECT_TRUE(report->ok());
  EXPECT_GT(report->order.figures.deliveries, 900U);
}

}  // namespace
}  // namespace peal::daemon::test
