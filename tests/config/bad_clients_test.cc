// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/file/file.h"
#include "config/file/lists.h"

// Errors in [clients], [[client]] and [[group]]. Each error is one line with the key, the wrong
// value and the accepted values.

namespace peal::config {
namespace {

using session::Who;
using testing::HasSubstr;
using testing::Not;

const std::string kClientsTop =
    "cluster = \"demo\"\nnode = \"a\"\ninsecure = true\n"
    "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n";

Result<File, std::string> parse(const std::string& text) {
  return parse_file(kClientsTop + text + "\n", "f.toml", "");
}

struct BadClient {
  std::string text;
  const char* key;  ///< the error must have key, value and accepted
  const char* value;
  const char* accepted;
};

void expect_client_error(const BadClient& bad) {
  SCOPED_TRACE(bad.text);
  const auto config = parse(bad.text);
  ASSERT_FALSE(config) << "it was accepted";
  EXPECT_THAT(config.error(), Not(HasSubstr("\n")));
  EXPECT_LT(config.error().size(), 900U);
  EXPECT_THAT(config.error(), HasSubstr("f.toml:"));
  EXPECT_THAT(config.error(), HasSubstr(bad.key));
  EXPECT_THAT(config.error(), HasSubstr(bad.value));
  EXPECT_THAT(config.error(), HasSubstr(bad.accepted));
}

TEST(BadClients, Keys) {
  const std::string tls = "certificate = \"c\"\nkey = \"k\"\n";
  const BadClient cases[] = {
      {"[clients]\nlisten = 4900", "clients.listen", "4900", "port 1 to 65535"},
      {"[clients]\nlisten = \"\"", "clients.listen", "\"\"", "port 1 to 65535"},
      {"[clients]\nlisten = \"10.0.0.1\"", "clients.listen", "10.0.0.1", "port 1 to 65535"},
      {"[clients]\nlisten = \"10.0.0.1:0\"", "clients.listen", ":0", "port 1 to 65535"},
      {"[clients]\nlisten = \"10.0.0.1:65536\"", "clients.listen", ":65536", "port 1 to 65535"},
      {"[clients]\nlisten = \"here:4900\"", "clients.listen", "here", "an IP address"},
      {"[clients]\nlisten = \"239.1.1.1:4900\"", "clients.listen", "239", "an IP address"},
      {"[clients]\nlisten = \"10.0.0.1:4900\"", "clients.listen", "10.0.0.1:4900",
       "come with clients.certificate"},
      {"[clients]\nlisten = \"10.0.0.1:4900\"\ncertificate = \"c\"", "clients.listen", "4900",
       "come with clients.key"},
      {"[clients]\n" + tls, "clients.certificate", "\"c\"", "come with clients.listen"},
      {"[clients]\nkey = \"k\"", "clients.key", "\"k\"", "come with clients.listen"},
      {"[clients]\nca = \"a\"", "clients.ca", "\"a\"", "come with clients.listen"},
      {"[clients]\ncertificate = \"\"", "clients.certificate", "\"\"", "a path of 1 to 4000"},
      {"[clients]\nkey = 3", "clients.key", "3", "a path of 1 to 4000 bytes"},
      {"[clients]\nca = \"a\\u0000b\"", "clients.ca", "\\x00", "a path of 1 to 4000 bytes"},
      {"[clients]\nspool_dir = \"\"", "clients.spool_dir", "\"\"", "a path of 1 to 4000 bytes"},
      {"[clients]\nslow = \"wait\"", "clients.slow", "\"wait\"", "\"spill\", \"drop\" or"},
      {"[clients]\nslow = \"normal\"", "clients.slow", "\"normal\"", "\"block\""},
      {"[clients]\nslow = 1", "clients.slow", "1", "\"block\""},
      {"[clients]\nslow_memory_bytes = 65535", "slow_memory_bytes", "65535", "65536 to"},
      {"[clients]\nslow_memory_bytes = \"64M\"", "slow_memory_bytes", "\"64M\"", "a whole number"},
      {"[clients]\nslow_memory_bytes = 268435457", "slow_memory_bytes = 268435457", "268435457",
       "at most clients.slow_memory_bytes_max = 268435456"},
      {"[clients]\nslow_disk_bytes = -1", "slow_disk_bytes", "-1", "0 to"},
      {"[clients]\nslow_disk_bytes_max = 5", "slow_disk_bytes_max = 5", "slow_disk_bytes",
       "must be at most clients.slow_disk_bytes_max = 5"},
      {"[clients]\nslow_age_ms = 86400001", "slow_age_ms", "86400001", "0 to 86400000"},
      {"[clients]\nslow_age_ms = 1.5", "slow_age_ms", "1.5", "a whole number"},
      {"[clients]\nslow_age_ms = 500\nslow_age_ms_max = 400", "slow_age_ms = 500", "line",
       "at most clients.slow_age_ms_max = 400"},
      {"[clients]\nslow_age_ms_max = 400", "slow_age_ms_max", "400",
       "come with clients.slow_age_ms"},
      {"[clients]\nmemory_bytes_max = 1048576", "memory_bytes_max = 1048576", "slow_memory_bytes",
       "at most clients.memory_bytes_max = 1048576"},
      {"[clients]\ndisk_bytes_max = 0", "disk_bytes_max = 0", "slow_disk_bytes_max",
       "at most clients.disk_bytes_max = 0"},
      {"[clients]\nshared_memory_bytes = -1", "shared_memory_bytes", "-1", "0 to 4294967295"},
      {"[clients]\nshared_memory_bytes = 1000", "shared_memory_bytes", "1000",
       "be 0, or at least 1048576"},
      {"[clients]\nsessions_max = 0", "sessions_max", "0", "1 to 65536"},
      {"[clients]\nsessions_max = 65537", "sessions_max", "65537", "1 to 65536"},
      {"[clients]\ninput_bytes_max = 1", "input_bytes_max", "1", "1048576 to"},
      {"[clients]\nunsettled_messages_max = 0", "unsettled_messages_max", "0", "1 to 16777216"},
      {"[clients]\nunsettled_bytes_max = true", "unsettled_bytes_max", "true", "65536 to"},
      {"[clients]\nkeep_ms = -1", "keep_ms", "-1", "0 to 86400000 (milliseconds)"},
      {"[clients]\nkeep_ms = \"60s\"", "keep_ms", "\"60s\"", "(milliseconds)"},
      {"[clients]\nhello_ms = 9", "hello_ms", "9", "10 to 600000"},
      {"[clients]\nping_ms = 99", "ping_ms", "99", "100 to 600000"},
      {"[clients]\nkeep = 5", "clients.keep", "5", "did you mean clients.keep_ms"},
      {"[clients]\nsocket = \"x\"", "clients.socket", "\"x\"", "accepted keys are listen"},
  };
  for (const BadClient& bad : cases) expect_client_error(bad);
}

TEST(BadClients, Rules) {
  const std::string client = "[[client]]\nwho = \"everyone\"\n";
  const std::string group = "[[group]]\nwho = \"everyone\"\n";
  const BadClient cases[] = {
      {"[client]\nwho = \"everyone\"", "client", "a table", "tables [[client]], each with who"},
      {"[group]\nwho = \"everyone\"", "group", "a table", "tables [[group]], each with who"},
      {"[[client]]", "client.who", "is missing", "\"everyone\", \"user:NAME\""},
      {"[[client]]\nwho = \"\"", "client.who", "\"\"", "\"everyone\", \"user:NAME\""},
      {"[[client]]\nwho = true", "client.who", "true", "\"everyone\", \"user:NAME\""},
      {"[[client]]\nwho = \"Everyone\"", "client.who", "\"Everyone\"", "\"everyone\""},
      {"[[client]]\nwho = \"user:\"", "client.who", "\"user:\"", "\"user:NAME\""},
      {"[[client]]\nwho = \"user\"", "client.who", "\"user\"", "\"user:NAME\""},
      {"[[client]]\nwho = \"user:4294967296\"", "client.who", "4294967296", "has no user"},
      {"[[client]]\nwho = \"user:no such user\"", "client.who", "no such user", "has no user"},
      {"[[client]]\nwho = \"group:no such group\"", "client.who", "no such", "has no group"},
      {"[[client]]\nwho = \"certificate:\"", "client.who", "certificate:", "\"certificate:NAME\""},
      {"[[client]]\nwho = \"certificate:a\\nb\"", "client.who", "a\\x0ab", "certificate:NAME"},
      {"[[client]]\nwho = \"secret:\"", "client.who", "secret:", "\"secret:FILE\""},
      {"[[client]]\nwho = \"host:x\"", "client.who", "host:x", "\"everyone\""},
      {"[[group]]\nwho = \"root\"\ngroups = \"*\"", "group.who", "\"root\"", "\"user:NAME\""},
      {client + "names = \"\"", "client.names", "\"\"", "a name of 1 to 128 bytes"},
      {client + "names = \"a*b\"", "client.names", "a*b", "its beginning and '*'"},
      {client + "names = \"a\\tb\"", "client.names", "a\\x09b", "a name of 1 to 128 bytes"},
      {client + "names = 5", "client.names", "5", "a name of 1 to 128 bytes"},
      {client + "names = \"" + std::string(129, 'n') + "\"", "client.names", "nnn", "1 to 128"},
      {client + "sessions_max = 0", "client.sessions_max", "0", "1 to 65536"},
      {client + "groups_max = 1000001", "client.groups_max", "1000001", "0 to 1000000"},
      {client + "bytes_per_second = -1", "client.bytes_per_second", "-1", "0 to 1000000000000"},
      {client + "admin = 1", "client.admin", "1", "true or false"},
      {client + "name = \"x\"", "client.name", "\"x\"", "did you mean client.names"},
      {client + "join = true", "client.join", "true", "accepted keys are who, names"},
      {group, "group.groups", "is missing", "a name of 1 to 128 bytes"},
      {group + "groups = []", "group.groups", "a list", "a name of 1 to 128 bytes"},
      {group + "groups = \"*x\"", "group.groups", "*x", "its beginning and '*'"},
      {group + "groups = \"*\"\njoin = \"yes\"", "group.join", "\"yes\"", "true or false"},
      {group + "groups = \"*\"\nsend = 0", "group.send", "0", "true or false"},
      {group + "groups = \"*\"\nblock = 1", "group.block", "1", "true or false"},
      {group + "groups = \"*\"\nadmin = true", "group.admin", "true", "accepted keys are who"},
  };
  for (const BadClient& bad : cases) expect_client_error(bad);
}

TEST(BadClients, TooManyRules) {
  std::string text;
  for (std::size_t i = 0; i <= kRulesMax; ++i) text += "[[client]]\nwho = \"everyone\"\n";
  expect_client_error({text, "client has 1001 entries", "1001", "0 to 1000"});
}

TEST(Clients, EveryKeyIsStored) {
  const auto config = parse(R"(
[clients]
listen = "[::]:4900"
certificate = "c.crt"
key = "c.key"
ca = "ca.crt"
spool_dir = "/spool"
slow = "drop"
slow_memory_bytes = 70000
slow_disk_bytes = 1
slow_age_ms = 2
slow_memory_bytes_max = 80000
slow_disk_bytes_max = 3
slow_age_ms_max = 4
memory_bytes_max = 2000000
shared_memory_bytes = 1234567
disk_bytes_max = 5
sessions_max = 6
input_bytes_max = 3000000
unsettled_messages_max = 7
unsettled_bytes_max = 90000
keep_ms = 8
hello_ms = 11
ping_ms = 101
)");
  ASSERT_TRUE(config) << config.error();
  const Clients& clients = config->clients;
  EXPECT_EQ(io::to_string(clients.listen), "[::]:4900");
  EXPECT_EQ(clients.certificate + clients.key + clients.ca, "c.crtc.keyca.crt");
  EXPECT_EQ(clients.spool_dir, "/spool");
  const session::Options& options = clients.sessions;
  EXPECT_EQ(options.slow.policy, wire::SlowPolicy::drop);
  EXPECT_EQ(options.slow.memory_bytes, 70'000U);
  EXPECT_EQ(options.slow.disk_bytes, 1U);
  EXPECT_EQ(options.slow.age_ms, 2U);
  EXPECT_EQ(options.slow_max.memory_bytes, 80'000U);
  EXPECT_EQ(options.slow_max.disk_bytes, 3U);
  EXPECT_EQ(options.slow_max.age_ms, 4U);
  EXPECT_EQ(options.memory_bytes_max, 2'000'000U);
  EXPECT_EQ(options.shared_bytes, 1'234'567U);
  EXPECT_EQ(options.disk_bytes_max, 5U);
  EXPECT_EQ(options.sessions_max, 6U);
  EXPECT_EQ(options.input_bytes_max, 3'000'000U);
  EXPECT_EQ(options.unsettled_messages_max, 7U);
  EXPECT_EQ(options.unsettled_bytes_max, 90'000U);
  EXPECT_EQ(options.keep_max, milliseconds(8));
  EXPECT_EQ(options.hello_patience, milliseconds(11));
  EXPECT_EQ(options.ping, milliseconds(101));
}

TEST(Clients, EveryRuleIsStored) {
  const auto config = parse(R"(
[[client]]
who = "user:1000"
names = "x*"
sessions_max = 1
groups_max = 2
bytes_per_second = 3
admin = true
[[client]]
who = "group:0"
[[client]]
who = "secret:/s"
[[group]]
who = "certificate:n"
groups = "g"
join = true
[[group]]
who = "everyone"
groups = "*"
send = true
block = true
)");
  ASSERT_TRUE(config) << config.error();
  const session::Options& options = config->clients.sessions;
  ASSERT_EQ(options.clients.size(), 3U);
  EXPECT_EQ(options.clients[0].who.kind, Who::Kind::uid);
  EXPECT_EQ(options.clients[0].who.id, 1'000U);
  EXPECT_EQ(options.clients[0].names, "x*");
  EXPECT_EQ(options.clients[0].sessions_max, 1U);
  EXPECT_EQ(options.clients[0].groups_max, 2U);
  EXPECT_EQ(options.clients[0].bytes_per_second, 3U);
  EXPECT_TRUE(options.clients[0].admin);
  EXPECT_EQ(options.clients[1].who.kind, Who::Kind::gid);
  EXPECT_FALSE(options.clients[1].admin);
  EXPECT_EQ(options.clients[2].who.kind, Who::Kind::secret);
  EXPECT_EQ(options.clients[2].who.text, "/s");
  ASSERT_EQ(options.groups.size(), 2U);
  EXPECT_EQ(options.groups[0].who.text, "n");
  EXPECT_TRUE(options.groups[0].join);
  EXPECT_FALSE(options.groups[0].send);
  EXPECT_FALSE(options.groups[0].block);
  EXPECT_EQ(options.groups[1].who.kind, Who::Kind::everyone);
  EXPECT_TRUE(options.groups[1].send);
  EXPECT_TRUE(options.groups[1].block);
}

TEST(Clients, OwnerAndRootComeLast) {
  auto config = parse("[[client]]\nwho = \"everyone\"\n");
  ASSERT_TRUE(config);
  session::Options options = config->clients.sessions;
  add_own_rules(options, 1'234);
  ASSERT_EQ(options.clients.size(), 3U);
  EXPECT_EQ(options.clients[0].who.kind, Who::Kind::everyone);
  EXPECT_EQ(options.clients[1].who.id, 1'234U);
  EXPECT_EQ(options.clients[2].who.id, 0U);
  EXPECT_TRUE(options.clients[1].admin && options.clients[2].admin);
  ASSERT_EQ(options.groups.size(), 2U);
  EXPECT_TRUE(options.groups[0].join && options.groups[0].send);
}

/// A file with a secret, in a folder that exists for one test.
class SecretFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "peal-secret-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/secret";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
  }
  /// The error of load_secrets(); empty if the rules of a client and of a group got the secret.
  std::string problem(const std::string& secret = "") {
    session::Options options;
    options.clients.resize(1);
    options.clients[0].who = {Who::Kind::secret, 0, path_};
    options.groups.resize(1);
    options.groups[0].who = options.clients[0].who;
    const auto loaded = load_secrets(options);
    if (!loaded) return loaded.error();
    EXPECT_EQ(options.clients[0].who.text, secret);
    EXPECT_EQ(options.groups[0].who.text, secret);
    return "";
  }
  std::string folder_;
  std::string path_;
};

TEST_F(SecretFile, FirstLineIsTheSecret) {
  write("0123456789abcdef\nmore\n", 0600);
  EXPECT_EQ(problem("0123456789abcdef"), "");
  write(std::string(256, 's'), 0400);
  EXPECT_EQ(problem(std::string(256, 's')), "");
}

TEST_F(SecretFile, WhatIsWrongIsNamedAndNotShown) {
  EXPECT_THAT(problem(), HasSubstr("No such file"));
  for (const mode_t mode : {0640U, 0604U, 0620U, 0666U, 0610U}) {
    write("0123456789abcdef\n", mode);
    EXPECT_THAT(problem(), HasSubstr("chmod 600")) << mode;
    EXPECT_THAT(problem(), HasSubstr(path_));
    EXPECT_THAT(problem(), Not(HasSubstr("0123456789")));
  }
  for (const std::string& text : {std::string(), std::string("short\n"), std::string(257, 's')}) {
    write(text, 0600);
    EXPECT_THAT(problem(), HasSubstr("accepted are 16 to 256"));
  }
  path_ = folder_;
  EXPECT_THAT(problem(), HasSubstr("it is not a file"));
}

TEST_F(SecretFile, OfAnotherUser) {
  write("0123456789abcdef\n", 0600);
  if (::chown(path_.c_str(), 65'534, 65'534) != 0) {
    GTEST_SKIP() << "only root can make a file of another user";
  }
  EXPECT_THAT(problem(), HasSubstr("belongs to user 65534"));
}

}  // namespace
}  // namespace peal::config
