// SPDX-License-Identifier: Apache-2.0
#include "config/file/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/file/keys.h"
#include "config/file/print.h"
#include "config/schema.h"
#include "order/ring/options.h"

namespace peal::config {
namespace {

using testing::HasSubstr;

File parsed(const std::string& text, std::string_view name = "") {
  auto config = parse_file(text, "f.toml", name);
  EXPECT_TRUE(config) << config.error();
  return config ? std::move(*config) : File{};
}

order::ring::Options ring_of(const File& file) {
  order::ring::Options ring;
  order::read_options<order::ring::Options>(file.settings.options, order::ring::fields(), ring);
  return ring;
}

const char* const kSmall =
    "cluster = \"demo\"\nkey_file = \"peal.key\"\n"
    "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
    "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\n";

TEST(Config, TakesNameFromCommandLine) {
  const File config = parsed(kSmall, "b");
  EXPECT_EQ(config.settings.cluster, "demo");
  EXPECT_EQ(config.settings.name, "b");
  ASSERT_EQ(config.settings.nodes.size(), 2U);
  EXPECT_EQ(config.settings.nodes[0].name, "a");
  EXPECT_EQ(io::to_string(config.settings.nodes[0].address), "127.0.0.1:4801");
  EXPECT_EQ(config.settings.multicast, io::MulticastMode::automatic);
}

TEST(Config, CommandLineWinsOverFile) {
  EXPECT_EQ(parsed("node = \"a\"\n" + std::string(kSmall), "b").settings.name, "b");
  EXPECT_EQ(parsed("node = \"a\"\n" + std::string(kSmall)).settings.name, "a");
}

TEST(Config, DefaultsAreThoseOfTheOptions) {
  const File config = parsed(kSmall, "a");
  EXPECT_EQ(config.settings.options, order::OptionValues{});
  const order::ring::Options normal;
  for (const auto& each : order::ring::fields()) {
    EXPECT_EQ(each.get(ring_of(config)), each.get(normal)) << each.option.key;
    EXPECT_EQ(each.option.normal, each.get(normal)) << each.option.key;
  }
}

TEST(Config, EveryKeyIsStored) {
  const File config = parsed(R"(
cluster = "x-1"
insecure = true
node = "n2"
primary = "majority"
socket = "/run/p.sock"
trace = "t.json"
state_dir = "s"
[[nodes]]
address = "[fd00::1]:4801"
name = "n1"
[[nodes]]
name = "n2"
address = "[fd00::2]:4801"
number = 65535
[network]
multicast = "239.192.7.1:4800"
packet_bytes = 8972
[ring]
token_loss_ms = 1500.5
consensus_ms = 2000
hold_ms = 0.25
accelerated_window = 0
personal_window = 30
[limits]
nodes_max = 2
message_bytes_max = 40000
submit_bytes_max = 70000
submit_messages_max = 10
receive_bytes_max = 8000000
)");
  EXPECT_EQ(config.settings.cluster, "x-1");
  EXPECT_EQ(config.settings.name, "n2");
  EXPECT_TRUE(config.settings.insecure);
  const order::ring::Options ring = ring_of(config);
  EXPECT_EQ(ring.primary, order::PrimaryRule::majority);
  EXPECT_EQ(config.socket, "/run/p.sock");
  EXPECT_EQ(config.settings.trace, "t.json");
  ASSERT_EQ(config.settings.nodes.size(), 2U);
  EXPECT_EQ(io::to_string(config.settings.nodes[1].address), "[fd00::2]:4801");
  EXPECT_EQ(config.settings.nodes[0].number, NodeId{1});
  EXPECT_EQ(config.settings.nodes[1].number, NodeId{65'535});
  EXPECT_EQ(config.settings.nodes_max, 2U);
  EXPECT_EQ(config.settings.multicast, io::MulticastMode::group);
  EXPECT_EQ(io::to_string(config.settings.group), "239.192.7.1:4800");
  EXPECT_EQ(config.settings.packet_bytes, 8972U);
  EXPECT_EQ(ring.token_loss, microseconds(1'500'500));
  EXPECT_EQ(ring.consensus, seconds(2));
  EXPECT_EQ(ring.hold, microseconds(250));
  EXPECT_EQ(ring.accelerated_window, 0U);
  EXPECT_EQ(ring.personal_window, 30U);
  EXPECT_EQ(config.settings.limits.message_bytes_max, 40000U);
  EXPECT_EQ(config.settings.limits.submit_bytes_max, 70000U);
  EXPECT_EQ(config.settings.limits.submit_messages_max, 10U);
  EXPECT_EQ(config.settings.receive_bytes_max, 8000000U);
  EXPECT_EQ(config.settings.state_dir, "s");
}

TEST(Config, AcceptsBothEndsOfEveryRange) {
  for (const auto& each : order::ring::fields()) {
    const order::Option& option = each.option;
    const bool time = option.kind == order::Option::Kind::duration;
    for (const std::int64_t end : {option.least, option.most}) {
      for (const Key<Settings>& key : keys()) {
        if (key.path() != option.key || option.kind == order::Option::Kind::word) continue;
        Settings settings;
        const Value value = end == option.automatic ? Value(std::string("auto"))
                            : time                  ? Value(static_cast<double>(end) / 1e6)
                                                    : Value(end);
        EXPECT_TRUE(key.set(value, settings)) << option.key << " " << end;
        EXPECT_EQ(settings.options.get(option.key), end) << option.key;
      }
    }
  }
}

TEST(Config, AnnotatedConfigIsValidAndHasEveryKey) {
  const std::string text = annotated_file();
  EXPECT_EQ(parsed(text, "a").settings.cluster, "demo");
  for (const Key<File>& key : file_keys()) {
    EXPECT_THAT(text, HasSubstr(key.name + " = ")) << key.path();
    EXPECT_FALSE(key.help.empty()) << key.path();
    EXPECT_TRUE(key.normal.empty() != key.example.empty()) << key.path();
  }
}

TEST(Config, AnnotatedDefaultsAreTheDefaults) {
  // Removing the comment marks of all lines with defaults must change no setting.
  std::string text = annotated_file();
  for (const Key<File>& key : file_keys()) {
    if (key.normal.empty()) continue;
    const auto at = text.find("\n#" + key.name + " = " + key.normal + "\n");
    ASSERT_NE(at, std::string::npos) << key.path();
    text.erase(at + 1, 1);
  }
  const File config = parsed(text, "a");
  const File normal = parsed(annotated_file(), "a");
  for (const Key<File>& key : file_keys()) {
    const std::string said = key.get(config), usual = key.get(normal);
    EXPECT_EQ(said.empty() ? key.normal : said, usual.empty() ? key.normal : usual) << key.path();
  }
}

TEST(Config, AnnotatedLinesFitAScreen) {
  std::string line;
  for (std::istringstream in(annotated_file()); std::getline(in, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Config, SocketLiesBesideTheFile) {
  char folder[] = "/tmp/peal-config-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/c.toml";
  std::ofstream(path) << kSmall;
  const auto implied = read_file(path, "a");
  ASSERT_TRUE(implied) << implied.error();
  EXPECT_EQ(implied->socket, std::string(folder) + "/a.sock");

  std::ofstream(path) << "socket = \"x.sock\"\n" << kSmall;
  EXPECT_EQ(read_file(path, "a")->socket, std::string(folder) + "/x.sock");
  std::ofstream(path) << "socket = \"/run/x.sock\"\n" << kSmall;
  EXPECT_EQ(read_file(path, "a")->socket, "/run/x.sock");
  std::ofstream(path) << "order = \"paxos\"\ndata_dir = \"logs\"\n" << kSmall;
  EXPECT_EQ(read_file(path, "a")->settings.data_dir, std::string(folder) + "/logs");
  std::filesystem::remove_all(folder);
}

TEST(Config, EmptyFileSaysWhatIsMissing) {
  char folder[] = "/tmp/peal-config-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/c.toml";
  std::ofstream(path).close();
  const auto config = read_file(path, "");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error(), HasSubstr("cluster is missing"));
  std::filesystem::remove_all(folder);
}

TEST(Config, Addresses) {
  EXPECT_EQ(io::to_string(*io::parse_endpoint("1.2.3.4:5", 0)), "1.2.3.4:5");
  EXPECT_EQ(io::to_string(*io::parse_endpoint("[::1]:65535", 0)), "[::1]:65535");
  for (const char* text : {"",
                           ":",
                           "1",
                           "1.2.3.4",
                           "1.2.3.4:",
                           "1.2.3.4:0",
                           "1.2.3.4:00001",
                           "1.2.3.4:65536",
                           " 1.2.3.4:5",
                           "1.2.3.4:5 ",
                           "1.2.3.4 :5",
                           "[]:5",
                           "[:5",
                           "[::1:5",
                           "::1]:5",
                           "1..3.4:5",
                           ".1.2.3:5",
                           "1.2.3.:5",
                           "+1.2.3.4:5",
                           "1.2.3.4:+5",
                           "0x1.2.3.4:5"}) {
    EXPECT_FALSE(io::parse_endpoint(text, 0).has_value()) << text;
  }
}

TEST(Config, Names) {
  EXPECT_TRUE(is_name("a"));
  EXPECT_TRUE(is_name("0-9"));
  EXPECT_TRUE(is_name(std::string(32, 'z')));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name(std::string(33, 'z')));
  EXPECT_FALSE(is_name("a_b"));
  EXPECT_FALSE(is_name(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace peal::config
