// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/file/file.h"
#include "order/ring/options.h"

// Wrong configurations. Each error is one line with the key, the wrong value and the accepted
// values.

namespace peal::config {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kNodes =
    "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
    "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\n";
const std::string kTop = "cluster = \"demo\"\nnode = \"a\"\n";

std::string error_of(const std::string& text, std::string_view name = "") {
  const auto config = parse_file(text, "f.toml", name);
  return config ? "" : config.error();
}

void expect_one_line(const std::string& error) {
  EXPECT_NE(error, "") << "it was accepted";
  EXPECT_THAT(error, Not(HasSubstr("\n")));
  EXPECT_LT(error.size(), 900U) << error;
}

struct BadConfig {
  const char* text;  ///< the wrong part of the file
  const char* key;   ///< the error must have key, value and accepted
  const char* value;
  const char* accepted;
};

void expect_error(const std::string& text, const BadConfig& bad) {
  SCOPED_TRACE(text);
  const std::string error = error_of(text);
  expect_one_line(error);
  EXPECT_THAT(error, HasSubstr(bad.key));
  EXPECT_THAT(error, HasSubstr(bad.value));
  EXPECT_THAT(error, HasSubstr(bad.accepted));
}

// Wrong keys of the top level. Each text replaces kTop.
const BadConfig kBadTop[] = {
    {"cluster = \"\"\nnode = \"a\"", "cluster", "\"\"", "1 to 32 characters of a-z, 0-9 and -"},
    {"cluster = \"Demo\"\nnode = \"a\"", "cluster", "\"Demo\"", "1 to 32 characters of a-z"},
    {"cluster = \"a b\"\nnode = \"a\"", "cluster", "\"a b\"", "1 to 32 characters of a-z"},
    {"cluster = \"a_b\"\nnode = \"a\"", "cluster", "\"a_b\"", "1 to 32 characters of a-z"},
    {"cluster = \"a\\nb\"\nnode = \"a\"", "cluster", "\"a\\x0ab\"", "1 to 32 characters of a-z"},
    {"cluster = \"é\"\nnode = \"a\"", "cluster", "\"\\xc3\\xa9\"", "1 to 32 characters of a-z"},
    {"cluster = \"abcdefghijklmnopqrstuvwxyz0123456\"\nnode = \"a\"", "cluster",
     "\"abcdefghijklmnopqrstuvwxyz0123456\"", "1 to 32 characters"},
    {"cluster = 7\nnode = \"a\"", "cluster", "7", "1 to 32 characters"},
    {"cluster = true\nnode = \"a\"", "cluster", "true", "1 to 32 characters"},
    {"cluster = [\"x\"]\nnode = \"a\"", "cluster", "a list", "1 to 32 characters"},
    {"cluster = {x = 1}\nnode = \"a\"", "cluster", "a table", "1 to 32 characters"},
    {"cluster = 2026-01-01\nnode = \"a\"", "cluster", "a date or time", "1 to 32 characters"},
    {"node = \"a\"", "cluster", "is missing", "1 to 32 characters"},
    {"cluster = \"demo\"", "node", "is missing", "accepted is a, b"},
    {"cluster = \"demo\"\nnode = \"c\"", "node", "\"c\"", "a, b"},
    {"cluster = \"demo\"\nnode = \"A\"", "node", "\"A\"", "1 to 32 characters"},
    {"cluster = \"demo\"\nnode = 1", "node", "1", "1 to 32 characters"},
    {"cluster = \"demo\"\nnode = \"\"", "node", "\"\"", "1 to 32 characters"},
    {"cluster = \"demo\"\nnode = \"a\"\nprimary = \"most\"", "primary", "\"most\"",
     "\"none\" or \"majority\""},
    {"cluster = \"demo\"\nnode = \"a\"\nprimary = true", "primary", "true", "\"none\" or"},
    {"cluster = \"demo\"\nnode = \"a\"\nprimary = \"\"", "primary", "\"\"", "\"none\" or"},
    {"cluster = \"demo\"\nnode = \"a\"\nsocket = \"\"", "socket", "\"\"", "a path of 1 to 100"},
    {"cluster = \"demo\"\nnode = \"a\"\nsocket = 5", "socket", "5", "a path of 1 to 100"},
    {"cluster = \"demo\"\nnode = \"a\"\nsocket = \"a\\u0000b\"", "socket", "\"a\\x00b\"", "a path"},
    {"cluster = \"demo\"\nnode = \"a\"\ntrace = \"\"", "trace", "\"\"", "a path of 1 to 4000"},
    {"cluster = \"demo\"\nnode = \"a\"\ntrace = false", "trace", "false", "a path of 1 to 4000"},
    {"cluster = \"demo\"\nnode = \"a\"\nstate_dir = \"\"", "state_dir", "\"\"",
     "a path of 1 to 4000"},
    {"cluster = \"demo\"\nnode = \"a\"\nclustre = \"x\"", "clustre", "\"x\"",
     "did you mean cluster"},
    {"cluster = \"demo\"\nnode = \"a\"\nport = 4801", "port", "4801", "accepted keys are cluster"},
    {"cluster = \"demo\"\nnode = \"a\"\nstorage = \"memory\"", "storage", "\"memory\"",
     "did you mean paxos.storage?"},
    {"cluster = \"demo\"\nnode = \"a\"\nnetwrk = {}", "netwrk", "a table", "did you mean network"},
    {"cluster = \"demo\"\nnode = \"a\"\n\"we ird\" = 1", "\"we ird\"", "1", "accepted keys are"},
    {"cluster = \"demo\"\nnode = \"a\"\n\"\" = 1", "\"\"", "1", "accepted keys are"},
    {"cluster = \"demo\"\nnode = \"a\"\nring = 5", "ring", "5", "a table, such as [ring]"},
    {"cluster = \"demo\"\nnode = \"a\"\nnetwork = \"auto\"", "network", "\"auto\"",
     "a table, such as [network]"},
    {"cluster = \"demo\"\nnode = \"a\"\nclients = 3", "clients", "3", "a table, such as [clients]"},
    {"cluster = \"demo\"\nnode = \"a\"\nlimits = []", "limits", "a list",
     "a table, such as [limits]"},
};

TEST(BadConfig, TopLevel) {
  for (const BadConfig& bad : kBadTop) expect_error(std::string(bad.text) + "\n" + kNodes, bad);
}

// Wrong keys of tables. Each text stands at the end of the file.
const BadConfig kBadTables[] = {
    {"[network]\nmulticast = \"on\"", "network.multicast", "\"on\"",
     "\"auto\", \"off\" or a group"},
    {"[network]\nmulticast = true", "network.multicast", "true", "\"auto\", \"off\""},
    {"[network]\nmulticast = \"239.1.1.1\"", "network.multicast", "\"239.1.1.1\"",
     "port 1 to 65535"},
    {"[network]\nmulticast = \"239.1.1.1:0\"", "network.multicast", "239.1.1.1:0",
     "port 1 to 65535"},
    {"[network]\nmulticast = \"239.1.1.1:65536\"", "multicast", ":65536", "port 1 to 65535"},
    {"[network]\nmulticast = \"10.0.0.1:4800\"", "multicast", "10.0.0.1:4800",
     "group 224.0.1.0 to"},
    {"[network]\nmulticast = \"224.0.0.1:4800\"", "multicast", "224.0.0.1:4800", "224.0.1.0"},
    {"[network]\nmulticast = \"[ff02::1]:4800\"", "multicast", "[ff02::1]:4800", "239.255.255.255"},
    {"[network]\ndata = \"tcp\"", "network.data", "\"tcp\"", "\"datagrams\" or \"streams\""},
    {"[network]\ndata = true", "network.data", "true", "\"datagrams\" or \"streams\""},
    {"[network]\npacket_bytes = 255", "network.packet_bytes", "255", "256 to 65507"},
    {"[network]\npacket_bytes = 65508", "network.packet_bytes", "65508", "256 to 65507"},
    {"[network]\npacket_bytes = 1472.5", "network.packet_bytes", "1472.5", "whole number from 256"},
    {"[network]\npacket_bytes = \"auto\"", "network.packet_bytes", "\"auto\"", "whole number"},
    {"[network]\npacket_byte = 1472", "network.packet_byte", "1472",
     "did you mean network.packet_bytes"},
    {"[network]\nmtu = 1500", "network.mtu", "1500",
     "accepted keys are multicast, data, packet_bytes"},
    {"[ring]\ntoken_los_ms = 200", "ring.token_los_ms", "200", "did you mean ring.token_loss_ms"},
    {"[ridge]\nstorage = \"memory\"", "ridge.storage", "\"memory\"", "did you mean paxos.storage?"},
    {"[ring]\ntoken_loss = 200", "ring.token_loss", "200", "did you mean ring.token_loss_ms"},
    {"[ring]\npacket_bytes_max = 1472", "ring.packet_bytes_max", "1472", "accepted keys are"},
    {"[ring]\ntoken_loss_ms = \"200ms\"", "ring.token_loss_ms", "\"200ms\"", "5 to 60000 (millis"},
    {"[ring]\ntoken_loss_ms = nan", "ring.token_loss_ms", "nan", "5 to 60000 (milliseconds)"},
    {"[ring]\ntoken_loss_ms = inf", "ring.token_loss_ms", "inf", "5 to 60000 (milliseconds)"},
    {"[ring]\ntoken_loss_ms = -5", "ring.token_loss_ms", "-5", "5 to 60000 (milliseconds)"},
    {"[ring]\ntoken_loss_ms = 1e300", "ring.token_loss_ms", "1e+300", "5 to 60000"},
    {"[ring]\ntoken_loss_ms = 9223372036854775807", "ring.token_loss_ms", "9223372036854775807",
     "5 to 60000"},
    {"[ring]\nhold_ms = 0.0999", "ring.hold_ms", "0.0999", "0.1 to 5000 (milliseconds)"},
    {"[ring]\npersonal_window = 8193", "ring.personal_window", "8193", "0 to 8192"},
    {"[ring]\npersonal_window = -1", "ring.personal_window", "-1", "0 to 8192"},
    {"[ring]\npersonal_window = \"auto\"", "ring.personal_window", "\"auto\"", "0 to 8192"},
    {"[ring]\naccelerated_window = \"big\"", "ring.accelerated_window", "\"big\"", "\"auto\" or a"},
    {"[ring]\naccelerated_window = 4294967295", "accelerated_window", "4294967295", "\"auto\" or"},
    {"[ring]\nmax_gap = 15", "ring.max_gap", "15", "16 to 8192"},
    {"[ring]\nmax_gap = 16.0", "ring.max_gap", "16", "a whole number from 16"},
    // Values that break a rule between two keys.
    {"[ring]\nhold_ms = 10", "ring.hold_ms", "10",
     "less than half of ring.token_retransmit_ms = 20"},
    {"[ring]\ntoken_loss_ms = 100", "ring.token_loss_ms", "100",
     "at least 5 * ring.token_retransmit_ms"},
    {"[ring]\nconsensus_ms = 199", "ring.consensus_ms", "199", "at least ring.token_loss_ms"},
    {"[ring]\ndamping_max_ms = 499", "ring.damping_max_ms", "499",
     "at least ring.damping_ms = 500"},
    {"[ring]\nglobal_window = 1025", "ring.global_window = 1025", "4096", "= 4100"},
    {"[limits]\nmessage_bytes_max = 32767", "limits.message_bytes_max", "32767",
     "32768 to 1073741824"},
    {"[limits]\nmessage_bytes_max = 1073741825", "message_bytes_max", "1073741825",
     "32768 to 1073741824"},
    {"[limits]\nmessage_bytes_max = \"64M\"", "message_bytes_max", "\"64M\"",
     "32768 to 1073741824"},
    {"[limits]\nsubmit_bytes_max = 65535", "limits.submit_bytes_max", "65535", "65536 to"},
    {"[limits]\nsubmit_bytes_max = 65536", "limits.submit_bytes_max", "65536",
     "at least limits.message_bytes_max = 67108864"},
    {"[limits]\nsubmit_messages_max = 0", "limits.submit_messages_max", "0", "1 to 16777216"},
    {"[limits]\nreceive_bytes_max = 1", "limits.receive_bytes_max", "1", "1048576 to"},
    {"[limits]\nmessage_byte_max = 5", "limits.message_byte_max", "5",
     "did you mean limits.message_bytes_max"},
};

TEST(BadConfig, Tables) {
  for (const BadConfig& bad : kBadTables) {
    expect_error(kTop + kNodes + bad.text + "\n", bad);
  }
}

// Wrong lists of nodes.
const BadConfig kBadNodes[] = {
    {"", "nodes", "is missing", "1 to 128 tables [[nodes]]"},
    {"nodes = []", "nodes", "is missing", "1 to 128 tables [[nodes]]"},
    {"nodes = 3", "nodes", "3", "1 to 128 tables [[nodes]]"},
    {"nodes = [\"a\"]", "nodes", "a list", "1 to 128 tables [[nodes]]"},
    {"[nodes]\na = \"127.0.0.1:4801\"", "nodes", "a table", "1 to 128 tables [[nodes]]"},
    {"[[nodes]]\naddress = \"127.0.0.1:4801\"", "nodes.name", "is missing", "1 to 32 characters"},
    {"[[nodes]]\nname = \"a\"", "nodes.address of a", "is missing", "an IP address or a host"},
    {"[[nodes]]\nname = \"A\"\naddress = \"127.0.0.1:4801\"", "nodes.name", "\"A\"", "1 to 32"},
    {"[[nodes]]\nname = \"a.b\"\naddress = \"127.0.0.1:4801\"", "nodes.name", "\"a.b\"", "1 to 32"},
    {"[[nodes]]\nname = 1\naddress = \"127.0.0.1:4801\"", "nodes.name", "1", "1 to 32"},
    {"[[nodes]]\nname = \"a\"\naddress = 4801", "nodes.address", "4801",
     "an IP address or a host name and a port"},
    {"[[nodes]]\nname = \"a\"\naddress = \"\"", "nodes.address", "\"\"", "port 1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \":4801\"", "nodes.address", "\":4801\"",
     "port 1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1\"", "nodes.address", "\"127.0.0.1\"",
     "a port"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:\"", "nodes.address", "\"127.0.0.1:\"",
     "a port"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:0\"", "nodes.address", ":0",
     "port 1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:65535\"", "address", ":65535", "1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:99999\"", "address", ":99999", "1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:-1\"", "address", ":-1", "1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:48o1\"", "address", ":48o1", "1 to 65534"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.256:4801\"", "address", ".256", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.01:4801\"", "address", "127.0.01",
     "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.01:4801\"", "address", "0.01:", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"1.2.3.4.5:4801\"", "address", "1.2.3.4.5",
     "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"1.2.3:4801\"", "address", "1.2.3:", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"local host:4801\"", "address", "local host",
     "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"localhost\"", "address", "localhost", "and a port"},
    {"[[nodes]]\nname = \"a\"\naddress = \"node.7:4801\"", "address", "node.7", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"node.example:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"node.example:4802\"",
     "nodes.address", "\"node.example:4802\" collides with a", "ports at least 2 apart"},
    {"[[nodes]]\nname = \"a\"\naddress = \"0.0.0.0:4801\"", "address", "0.0.0.0", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"239.1.1.1:4801\"", "address", "239.1.1.1",
     "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"255.255.255.255:4801\"", "address", "255.255", "an IP"},
    {"[[nodes]]\nname = \"a\"\naddress = \"[::]:4801\"", "address", "[::]:4801", "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"[fd00::g]:4801\"", "address", "fd00::g",
     "an IP address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"fd00::1:4801\"", "address", "fd00::1:4801", "an IP"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nid = 1", "nodes.id", "1",
     "name, address"},
    {"[[nodes]]\nname = \"a\"\nadress = \"127.0.0.1:4801\"", "nodes.adress", "127.0.0.1:4801",
     "did you mean nodes.address"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4803\"",
     "nodes.name", "\"a\" is there twice", "a name of its own for each node"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4801\"",
     "nodes.address", "\"127.0.0.1:4801\" collides with a", "ports at least 2 apart"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4802\"",
     "nodes.address", "\"127.0.0.1:4802\" collides with a", "ports at least 2 apart"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4802\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4801\"",
     "nodes.address", "\"127.0.0.1:4801\" collides with a", "ports at least 2 apart"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"[::1]:4801\"",
     "nodes.address", "[::1]:4801", "addresses of one family"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = 0", "nodes.number", "0",
     "1 to 65535"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = 65536", "nodes.number",
     "65536", "1 to 65535"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = \"1\"", "nodes.number",
     "\"1\"", "1 to 65535"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = 1.5", "nodes.number", "1.5",
     "1 to 65535"},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = 3\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\nnumber = 3",
     "nodes.number = 3 of \"b\" is there twice", "\"a\" has it too:", "number = 1 for \"b\""},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\nnumber = 1",
     "nodes.number = 1 of \"a\", its place in the file,",
     "\"b\" has it too:", "number = 2 for \"a\""},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\nnumber = 2\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"",
     "nodes.number = 2 of \"b\", its place in the file,",
     "\"a\" has it too:", "number = 1 for \"b\""},
    {"[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
     "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\n[limits]\nnodes_max = 1",
     "nodes has 2 entries", "limits.nodes_max = 1", "accepted are up to"},
};

TEST(BadConfig, Nodes) {
  for (const BadConfig& bad : kBadNodes) expect_error(kTop + bad.text + "\n", bad);
}

TEST(BadConfig, TooManyNodes) {
  std::string text = kTop;
  for (int i = 0; i < 129; ++i) {
    text += "[[nodes]]\nname = \"n" + std::to_string(i) + "\"\naddress = \"10.0.0." +
            std::to_string(i + 1) + ":4801\"\n";
  }
  const std::string error = error_of(text);
  expect_one_line(error);
  EXPECT_THAT(error, HasSubstr("nodes has 129 entries: accepted are 1 to 128"));
}

struct NotToml {
  const char* text;
  const char* line;
};
const NotToml kNotToml[] = {
    {"cluster", "f.toml:1: "},
    {"cluster = ", "f.toml:1: "},
    {"cluster = demo", "f.toml:1: "},
    {"\n\ncluster = 'a", "f.toml:3: "},
    {"[ring", "f.toml:1: "},
    {"a = 1\na = 2", "f.toml:2: "},
    {"a = [1,\n2,\n", "f.toml:"},
    {"= 3", "f.toml:1: "},
    {"a = 1 b = 2", "f.toml:1: "},
    {"a = \"\\q\"", "f.toml:1: "},
    {"[ring]\n[ring]\n", "f.toml:2: "},
    {"a = 99999999999999999999", "f.toml:1: "},
    {"a = \"\xff\"", "f.toml:1: "},
    {"{", "f.toml:1: "},
    {"a = 2026-13-01", "f.toml:1: "},
    {"\x01", "f.toml:1: "},
    {"a = 1\n[[/b]]\n", "f.toml:2: not TOML: a key was expected"},
    {"a = 1\n[/b]", "f.toml:2: not TOML: a key was expected"},
    {"clust\xc9\xaci = 3", "f.toml:1: not TOML: "},
    {"a = [[[[6\x01 \"\xef\xbb\xbb", "f.toml:1: not TOML: "},
};

TEST(BadConfig, NotToml) {
  for (const NotToml& bad : kNotToml) {
    SCOPED_TRACE(bad.text);
    const std::string error = error_of(bad.text);
    expect_one_line(error);
    EXPECT_THAT(error, HasSubstr(bad.line));
    EXPECT_THAT(error, HasSubstr("not TOML"));
  }
}

TEST(BadConfig, SaysTheLine) {
  EXPECT_THAT(error_of(kTop + kNodes + "[ring]\n# a comment\nmax_gap = 3\n"),
              testing::StartsWith("f.toml:11: ring.max_gap = 3"));
  EXPECT_THAT(error_of(kTop + kNodes + "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4805\"\n"),
              testing::StartsWith("f.toml:10: nodes.name = \"b\""));
  EXPECT_THAT(error_of("cluster = \"x\"\nnode = \"z\"\n" + kNodes),
              testing::StartsWith("f.toml:2: node = \"z\""));
}

/// Values that break a rule between keys. The error first names a key that the file sets.
const std::pair<const char*, const char*> kTogether[] = {
    {"[ring]\nglobal_window = 1025",
     "f.toml:10: ring.global_window = 1025 is not accepted: ring.max_gap = 4096, its default, must "
     "be at least (ring.request_lag + 3) * ring.global_window = 4100"},
    {"[ring]\nrequest_lag = 4\nglobal_window = 1000\n",
     "f.toml:10: ring.request_lag = 4 is not accepted with ring.global_window = 1000 (line 11): "
     "ring.max_gap = 4096, its default, must be at least (ring.request_lag + 3) * "
     "ring.global_window = 7000"},
    {"[ring]\nmax_gap = 1000\nglobal_window = 300",
     "f.toml:10: ring.max_gap = 1000 is not accepted with ring.global_window = 300 (line 11): "
     "ring.max_gap = 1000 must be at least (ring.request_lag + 3) * ring.global_window = 1200"},
    {"[ring]\ntoken_retransmit_ms = 2.5",
     "f.toml:10: ring.token_retransmit_ms = 2.5 is not accepted: ring.hold_ms = "},
    {"[ring]\nhold_ms = 10", "f.toml:10: ring.hold_ms = 10 is not accepted: it must be less than"},
    {"[ring]\ntoken_retransmit_ms = 50",
     "f.toml:10: ring.token_retransmit_ms = 50 is not accepted: ring.token_loss_ms = "},
    {"[ring]\njoin_ms = 400",
     "f.toml:10: ring.join_ms = 400 is not accepted: ring.consensus_ms = "},
    {"[ring]\ntoken_loss_ms = 50_000",
     "f.toml:10: ring.token_loss_ms = 50000 is not accepted: ring.consensus_ms = "},
    {"[ring]\ndamping_ms = 60_000",
     "f.toml:10: ring.damping_ms = 60000 is not accepted: ring.damping_max_ms = "},
    {"[limits]\nmessage_bytes_max = 200_000_000",
     "f.toml:10: limits.message_bytes_max = 200000000 is not accepted: limits.submit_bytes_max = "
     "134217728, its default, must be at least limits.message_bytes_max = 200000000"},
};

TEST(BadConfig, RulesBetweenKeysNameTheKeysThatTheFileSets) {
  for (const auto& [text, what] : kTogether) {
    SCOPED_TRACE(text);
    const std::string error = error_of(kTop + kNodes + text);
    expect_one_line(error);
    EXPECT_THAT(error, testing::StartsWith(what));
  }
}

// Keys of Paxos, and keys that only some engines accept.
TEST(BadConfig, KeysOfEngines) {
  const std::pair<const char*, const char*> rows[] = {
      {"order = \"raft\"\n",
       "f.toml:3: order = \"raft\": accepted is \"ring\", \"paxos\", \"ridge\", \"toto\" or "
       "\"ramcast\""},
      {"order = 1\n",
       "f.toml:3: order = 1: accepted is \"ring\", \"paxos\", \"ridge\", \"toto\" or \"ramcast\""},
      {"data_dir = \"/x\"\n",
       "f.toml:3: data_dir = \"/x\" does not go with order = \"ring\", the default: leave it out"},
      {"order = \"paxos\"\nprimary = \"none\"\n",
       "f.toml:4: primary = \"none\" does not go with order = \"paxos\": leave it out, as every "
       "view"},
      {"order = \"paxos\"\ndata_dir = \"\"\n",
       "f.toml:4: data_dir = \"\": accepted is a path of 1 to 4000 bytes"},
      {"order = \"paxos\"\nring.max_gap = 5000\n",
       "f.toml:4: ring.max_gap = 5000 does not go with order = \"paxos\": leave it out"},
      {"paxos.acceptors = [1]\n",
       "f.toml:3: paxos.acceptors = [1] does not go with order = \"ring\", the default: leave it"},
      {"order = \"paxos\"\npaxos.acceptors = []\n",
       "f.toml:4: paxos.acceptors = a list: accepted is an odd number of numbers of [[nodes]]"},
      {"order = \"paxos\"\npaxos.acceptors = [1, 2]\n",
       "f.toml:4: paxos.acceptors = [1, 2]: accepted is an odd number of numbers of [[nodes]]"},
      {"order = \"paxos\"\npaxos.acceptors = [1, 2, 2]\n",
       "f.toml:4: paxos.acceptors = [1, 2, 2]: accepted is an odd number of numbers of [[nodes]], "
       "each once"},
      {"order = \"paxos\"\npaxos.acceptors = [\"a\"]\n",
       "f.toml:4: paxos.acceptors = a list: accepted is an odd number"},
      {"order = \"paxos\"\npaxos.acceptors = 1\n",
       "f.toml:4: paxos.acceptors = 1: accepted is an odd number"},
      {"order = \"paxos\"\npaxos.acceptors = [0]\n",
       "f.toml:4: paxos.acceptors = [0]: accepted is an odd number"},
      {"order = \"paxos\"\npaxos.acceptors = [-9223372036854775808]\n",
       "f.toml:4: paxos.acceptors = [-9223372036854775808]: accepted is an odd number"},
      {"order = \"paxos\"\npaxos.acceptors = [1, 2, 9]\n",
       "f.toml:4: paxos.acceptors has 9, which is no number of [[nodes]]: accepted are 1, 2"},
      {"order = \"paxos\"\npaxos.storage = \"tape\"\n",
       "f.toml:4: paxos.storage = \"tape\": accepted is \"disk\" or \"memory\""},
      {"paxos.storage = \"memory\"\n",
       "f.toml:3: paxos.storage = \"memory\" does not go with order = \"ring\", the default"},
      {"order = \"paxos\"\npaxos.acceptor = [1]\n",
       "f.toml:4: unknown key paxos.acceptor = [1]: did you mean paxos.acceptors?"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(text);
    const std::string error = error_of(kTop + text + "insecure = true\n" + kNodes);
    expect_one_line(error);
    EXPECT_THAT(error, testing::StartsWith(what));
  }
  const auto good = parse_file(kTop +
                                   "order = \"paxos\"\npaxos.acceptors = [2]\ndata_dir = \"d\"\n"
                                   "insecure = true\n" +
                                   kNodes,
                               "f.toml", "");
  ASSERT_TRUE(good) << good.error();
  EXPECT_EQ(good->settings.order->name, "paxos");
  EXPECT_EQ(good->settings.acceptors, std::vector<NodeId>{NodeId{2}});
  EXPECT_EQ(good->settings.data_dir, "d");
}

TEST(BadConfig, KeysOfRidge) {
  const std::pair<const char*, const char*> rows[] = {
      {"ridge.dissemination = \"ring\"\n",
       "f.toml:3: ridge.dissemination = \"ring\" does not go with order = \"ring\", the default: "
       "leave it out, or set order = \"ridge\""},
      {"order = \"paxos\"\nridge.dissemination = \"ring\"\n",
       "f.toml:4: ridge.dissemination = \"ring\" does not go with order = \"paxos\": leave "
       "it out, or set order = \"ridge\""},
      {"order = \"ridge\"\nridge.dissemination = \"bus\"\n",
       "f.toml:4: ridge.dissemination = \"bus\": accepted is \"distributors\" or \"ring\""},
      {"order = \"ridge\"\nridge.dissemination = 1\n",
       "f.toml:4: ridge.dissemination = 1: accepted is \"distributors\" or \"ring\""},
      {"ridge.ensembles = 2\n",
       "f.toml:3: ridge.ensembles = 2 does not go with order = \"ring\", the default: leave it "
       "out, or set order = \"ridge\""},
      {"order = \"paxos\"\nridge.ensembles = 2\n",
       "f.toml:4: ridge.ensembles = 2 does not go with order = \"paxos\": leave it out, or set "
       "order = \"ridge\""},
      {"ridge.optimistic = true\n",
       "f.toml:3: ridge.optimistic = true does not go with order = \"ring\", the default: leave it "
       "out, or set order = \"ridge\""},
      {"order = \"ridge\"\nridge.optimistic = 1\n",
       "f.toml:4: ridge.optimistic = 1: accepted is true or false"},
      {"order = \"ridge\"\nridge.optimistic = true\nridge.ensembles = 2\n",
       "f.toml:4: ridge.optimistic = true does not go with ridge.ensembles = 2: leave one of the "
       "two "
       "out"},
      {"order = \"ridge\"\nridge.ensembles = 0\n",
       "f.toml:4: ridge.ensembles = 0: accepted is a whole number from 1 to 16"},
      {"order = \"ridge\"\nridge.ensembles = 17\n",
       "f.toml:4: ridge.ensembles = 17: accepted is a whole number from 1 to 16"},
      {"order = \"ridge\"\nridge.ensembles = \"2\"\n",
       "f.toml:4: ridge.ensembles = \"2\": accepted is a whole number from 1 to 16"},
      {"order = \"ridge\"\nridge.acceptors = [1]\n", "f.toml:4: unknown key ridge.acceptors"},
      {"order = \"ridge\"\nring.max_gap = 5000\n",
       "f.toml:4: ring.max_gap = 5000 does not go with order = \"ridge\": leave it out"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(text);
    const std::string error = error_of(kTop + text + "insecure = true\n" + kNodes);
    expect_one_line(error);
    EXPECT_THAT(error, testing::StartsWith(what));
  }
  const auto ring = parse_file(kTop +
                                   "order = \"ridge\"\nridge.dissemination = \"ring\"\n"
                                   "ridge.ensembles = 3\n"
                                   "data_dir = \"d\"\ninsecure = true\n" +
                                   kNodes,
                               "f.toml", "");
  ASSERT_TRUE(ring) << ring.error();
  EXPECT_EQ(ring->settings.options.get("ridge.dissemination"), 1);
  EXPECT_EQ(ring->settings.options.get("ridge.ensembles"), 3);
  const auto early = parse_file(kTop +
                                    "order = \"ridge\"\nridge.optimistic = true\n"
                                    "data_dir = \"d\"\ninsecure = true\n" +
                                    kNodes,
                                "f.toml", "");
  ASSERT_TRUE(early) << early.error();
  EXPECT_EQ(early->settings.options.get("ridge.optimistic"), 1);
  // A key of another engine is accepted with its default value.
  EXPECT_TRUE(
      parse_file(kTop + "ridge.optimistic = false\ninsecure = true\n" + kNodes, "f.toml", ""));
  EXPECT_TRUE(parse_file(kTop + "ridge.ensembles = 1\ninsecure = true\n" + kNodes, "f.toml", ""));
}

TEST(BadConfig, RotationIsOfSeveralEnsembles) {
  const std::pair<const char*, const char*> wrong[] = {
      {"ridge.merge = \"rotation\"\n",
       "f.toml:3: ridge.merge = \"rotation\" does not go with order = \"ring\", the default: leave "
       "it out, or set order = \"ridge\""},
      {"order = \"ridge\"\nridge.merge = \"rotation\"\n",
       "f.toml:4: ridge.merge = \"rotation\" does not go with ridge.ensembles = 1: leave it out, "
       "or "
       "set ridge.ensembles = 2 or more"},
      {"order = \"ridge\"\nridge.merge = \"turns\"\n",
       "f.toml:4: ridge.merge = \"turns\": accepted is \"keys\" or \"rotation\""},
  };
  for (const auto& [text, what] : wrong) {
    SCOPED_TRACE(text);
    const std::string error = error_of(kTop + text + "insecure = true\n" + kNodes);
    expect_one_line(error);
    EXPECT_THAT(error, testing::StartsWith(what));
  }
  const auto rotation = parse_file(kTop +
                                       "order = \"ridge\"\nridge.ensembles = 3\n"
                                       "ridge.merge = \"rotation\"\n"
                                       "data_dir = \"d\"\ninsecure = true\n" +
                                       kNodes,
                                   "f.toml", "");
  ASSERT_TRUE(rotation) << rotation.error();
  EXPECT_EQ(rotation->settings.options.get("ridge.merge"), 1);
  EXPECT_TRUE(
      parse_file(kTop + "ridge.merge = \"keys\"\ninsecure = true\n" + kNodes, "f.toml", ""));
}

TEST(BadConfig, StreamsAreNotForTheRing) {
  const std::string streams = kNodes + "[network]\ndata = \"streams\"\n";
  const std::string error = error_of(kTop + "insecure = true\n" + streams);
  expect_one_line(error);
  EXPECT_THAT(
      error, testing::HasSubstr("network.data = \"streams\" does not go with order = \"ring\", the "
                                "default: leave it out, or set order = \"paxos\", \"ridge\" or "
                                "\"ramcast\""));
  const std::string top = kTop + "order = \"ridge\"\ndata_dir = \"d\"\ninsecure = true\n";
  const auto good = parse_file(top + streams, "f.toml", "");
  ASSERT_TRUE(good) << good.error();
  EXPECT_TRUE(good->settings.streams);
  // The default value of network.data is accepted with the ring too.
  EXPECT_TRUE(parse_file(kTop + "insecure = true\n" + kNodes + "[network]\ndata = \"datagrams\"",
                         "f.toml", ""));
}

TEST(BadConfig, NameThatTheFileDoesNotHave) {
  const std::string error = error_of(kTop + kNodes, "c");
  expect_one_line(error);
  EXPECT_THAT(error, HasSubstr("--name \"c\": accepted is a node of f.toml: a, b"));
}

TEST(BadConfig, FileThatIsTooLong) {
  const std::string error = error_of(std::string(kFileBytesMax + 1, '#'));
  expect_one_line(error);
  EXPECT_THAT(error, HasSubstr("has 1048577 bytes: accepted are up to 1048576"));
}

TEST(BadConfig, FileThatCannotBeRead) {
  for (const char* path : {"/nonexistent/peal.toml", "/"}) {
    const auto config = read_file(path, "");
    ASSERT_FALSE(config);
    expect_one_line(config.error());
    EXPECT_THAT(config.error(), HasSubstr(std::string("--config \"") + path + "\""));
    EXPECT_THAT(config.error(), HasSubstr("accepted is a configuration file in TOML"));
  }
}

// Sets each tunable of the ring to values one step below and above its range, and to values of
// other types.
TEST(BadConfig, EveryKnob) {
  int rows = 0;
  for (const auto& each : order::ring::fields()) {
    const order::Option& option = each.option;
    if (!option.is_tunable()) continue;
    const std::string name(option.name());
    const bool is_auto = option.automatic == option.most;
    const bool time = option.kind == order::Option::Kind::duration;
    const double unit = time ? 1e6 : 1;
    const auto at = [&](std::int64_t value) {
      char text[64];
      std::snprintf(text, sizeof text, "%.10g", static_cast<double>(value) / unit);
      return std::string(text);
    };
    const auto outside = [&](std::int64_t value) {
      char text[64];
      std::snprintf(text, sizeof text, time ? "%.7f" : "%.0f", static_cast<double>(value) / unit);
      return std::string(text);
    };
    const std::int64_t step = time ? 1'000 : 1;
    for (const std::string& value : {outside(option.least - step), outside(option.most + step),
                                     std::string("\"x\""), std::string("false")}) {
      const std::string error = error_of(kTop + kNodes + "[ring]\n" + name + " = " + value + "\n");
      SCOPED_TRACE(name + " = " + value);
      expect_one_line(error);
      EXPECT_THAT(error, HasSubstr("ring." + name + " = "));
      const std::string last = is_auto ? "4294967294" : at(option.most);
      EXPECT_THAT(error, HasSubstr(at(option.least) + " to " + last));
      ++rows;
    }
  }
  EXPECT_GE(rows, 4 * 15);
}

}  // namespace
}  // namespace peal::config
