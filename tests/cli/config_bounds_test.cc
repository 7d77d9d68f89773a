// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/config_keys.h"
#include "config/settings.h"

// Last: see cli/inner_names.h.
#include "cli/client/member_config.h"
#include "member/config.h"

namespace peal::cli {
namespace {

/// What the member says about a limit that the file accepts; empty if it takes it.
std::string problem_with(const Key& key, const std::string& value) {
  const bool largest_message = key.name == "message_bytes_max";
  const auto config = parse_config(
      "cluster = \"c\"\nnode = \"a\"\ninsecure = true\n[[nodes]]\nname = \"a\"\naddress = "
      "\"127.0.0.1:4801\"\n"
      "[limits]\n" +
          (largest_message ? "submit_bytes_max = 1073741824\n" : std::string()) +
          (key.name == "submit_bytes_max" ? "message_bytes_max = 65536\n" : "") + key.name + " = " +
          value + "\n",
      "f.toml", "");
  if (!config) return config.error();
  const auto settings = member::settings_of(member_config(*config));
  if (const auto* error = std::get_if<v0::Error>(&settings)) return error->message;
  return config::validate(std::get<config::Settings>(settings));
}

// What the file accepts, the member takes: otherwise its line and its range would not be named.
TEST(ConfigBounds, EveryLimitIsTakenAtBothEnds) {
  int rows = 0;
  for (const Key& key : keys()) {
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

// What is best depends on how data travel, unless the file says it.
TEST(ConfigBounds, PacketsOfStreamsAreLargeUnlessTheFileSaysOtherwise) {
  const auto packet_bytes = [](const std::string& network) {
    const auto config = parse_config(
        "cluster = \"c\"\nnode = \"a\"\ninsecure = true\norder = \"ridge\"\ndata_dir = \"d\"\n"
        "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n[network]\n" +
            network,
        "f.toml", "");
    if (!config) return 0U;
    const auto settings = member::settings_of(member_config(*config));
    if (std::get_if<v0::Error>(&settings) != nullptr) return 1U;
    return std::get<config::Settings>(settings).ring.packet_bytes_max;
  };
  EXPECT_EQ(packet_bytes(""), 1'472U);
  EXPECT_EQ(packet_bytes("data = \"streams\"\n"), 16'384U);
  EXPECT_EQ(packet_bytes("data = \"streams\"\npacket_bytes = 1472\n"), 1'472U);
  EXPECT_EQ(packet_bytes("packet_bytes = 9000\n"), 9'000U);
}

}  // namespace
}  // namespace peal::cli
