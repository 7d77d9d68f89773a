// SPDX-License-Identifier: Apache-2.0
// Nodes that do not belong to a cluster, and packets that no node sent.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <map>
#include <numeric>

#include "base/random.h"
#include "cli/node/report.h"
#include "io/fd.h"
#include "tool.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{30};

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// A UDP socket at a port of 127.0.0.1. Port 0 means any free port.
io::Fd socket_at(std::uint16_t port) {
  io::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return fd;
}

class Strangers : public Tool {
 protected:
  /// A configuration of four nodes on this machine.
  std::string four_nodes(const std::string& cluster) {
    if (ports_.empty()) ports_ = free_port_pairs(4);
    EXPECT_EQ(ports_.size(), 4U);
    // Clusters with the same name use the same multicast group, so parallel runs of this test need
    // different names.
    const std::string ours_alone = cluster + "-" + std::to_string(ports_.front());
    std::string text = "cluster = \"" + ours_alone + "\"\ninsecure = true\n";
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      text += "[[nodes]]\nname = \"" + std::string(1, static_cast<char>('a' + i)) +
              "\"\naddress = \"127.0.0.1:" + std::to_string(ports_[i]) + "\"\n";
    }
    // Long timeouts, so that the load of this machine does not cause a new view.
    return text + "[ring]\ntoken_loss_ms = 3000\nconsensus_ms = 3000\n";
  }
  void start_node(const std::string& file, const std::string& name) {
    start({"node", "--config", dir_ + "/" + file, "--name", name}, name + ".log");
  }
  NodeReport report_of(const std::string& name) {
    NodePoller poller;
    poller.set_sockets({dir_ + "/" + name + ".sock"});
    return poller.ask(5'000).front();
  }
  std::uint64_t dropped_by(const std::string& name) {
    const auto dropped = report_of(name).dropped;
    return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& row) { return sum + row.second; });
  }
  /// Returns true when the node has dropped `count` packets, or false after kPatience.
  bool wait_dropped(const std::string& name, std::uint64_t count) {
    const auto deadline = Clock::now() + kPatience;
    while (dropped_by(name) < count) {
      if (Clock::now() > deadline) return false;
      ::poll(nullptr, 0, 10);
    }
    return true;
  }
  /// Returns true when the node's log has the text, or false after kPatience.
  bool wait_log(const std::string& name, const std::string& text) {
    const auto deadline = Clock::now() + kPatience;
    while (content(dir_ + "/" + name + ".log").find(text) == std::string::npos) {
      if (Clock::now() > deadline) return false;
      ::poll(nullptr, 0, 10);
    }
    return true;
  }
  /// Checks that nodes a and b of one cluster and node c with the configuration `other` ignore each
  /// other.
  void expect_apart(const std::string& other, const std::string& counter,
                    const std::string& reason) {
    write("ours.toml", four_nodes("ours"));
    write("other.toml", other);
    start_node("ours.toml", "a");
    start_node("ours.toml", "b");
    start_node("other.toml", "c");
    const std::pair<const char*, const char*> pairs[] = {
        {"a", "c"}, {"b", "c"}, {"c", "a"}, {"c", "b"}};
    const auto line_about = [](const char* peer) {
      return "node " + std::string(peer) + " is ignored: ";
    };
    for (const auto& [name, peer] : pairs) EXPECT_TRUE(wait_log(name, line_about(peer))) << name;
    // Later packets of an ignored node are counted too.
    for (const char* name : {"a", "b", "c"}) {
      EXPECT_TRUE(wait_dropped(name, dropped_by(name) + 5)) << name;
    }
    for (const char* name : {"a", "b", "c"}) {
      const NodeReport report = report_of(name);
      ASSERT_EQ(report.dropped.size(), 1U) << name;
      EXPECT_EQ(report.dropped[0].first, counter);
      if (!report.view) continue;
      const std::string other_side = name[0] == 'c' ? "a" : "c";
      EXPECT_THAT(report.view->members, testing::Not(testing::Contains(other_side)));
    }
    for (const auto& [name, peer] : pairs) {
      const std::string log = content(dir_ + "/" + name + ".log");
      EXPECT_EQ(occurrences(log, line_about(peer)), 1U) << log;
      EXPECT_THAT(log, HasSubstr(line_about(peer) + reason));
    }
    EXPECT_THAT(run("peal status --to $DIR/c.sock").out,
                testing::ContainsRegex("c dropped [0-9,]+ packets that it cannot use: " + counter));
  }

  std::vector<std::uint16_t> ports_;
};

TEST_F(Strangers, AnotherClusterIsIgnoredCountedAndSaidOnce) {
  expect_apart(four_nodes("theirs"), "other_cluster", "it belongs to another cluster");
}

TEST_F(Strangers, OtherClusterWideSettingsAreIgnoredCountedAndSaidOnce) {
  expect_apart(four_nodes("ours") + "[limits]\nmessage_bytes_max = 100000\n", "other_settings",
               "limits.message_bytes_max is ");
}

/// Bytes that no node may accept as a packet. They have every error that a sender can make without
/// knowing the cluster.
std::vector<std::byte> rubbish(Random& random) {
  constexpr std::size_t kLengths[] = {0, 1, 3, 31, 32, 33, 82, 200, 1'400};
  std::vector<std::byte> bytes(kLengths[random.below(std::size(kLengths))]);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  if (bytes.size() < 8 || random.below(4) == 0) return bytes;
  // Magic, version, kind and length may be right. The checksum is wrong.
  bytes[0] = std::byte{0x50};
  bytes[1] = std::byte{0x4c};
  bytes[2] = static_cast<std::byte>(random.below(3));
  bytes[3] = static_cast<std::byte>(random.below(9));
  if (random.below(2) == 0) {
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[4 + i] = static_cast<std::byte>((bytes.size() >> (8 * i)) & 0xffU);
    }
  }
  return bytes;
}

TEST_F(Strangers, RubbishIsCountedByReasonAndChangesNothing) {
  write("ours.toml", four_nodes("ours"));
  for (const char* name : {"a", "b", "c"}) start_node("ours.toml", name);
  // This test takes the place of node d: it sends from an address that the other nodes know.
  const io::Fd known[] = {socket_at(ports_[3]),
                          socket_at(static_cast<std::uint16_t>(ports_[3] + 1))};
  const io::Fd unknown = socket_at(0);
  wait_for("members=3");
  const std::string view = report_of("a").view->id;
  std::map<std::string, std::string> log_before;
  for (const char* name : {"a", "b", "c"}) log_before[name] = content(dir_ + "/" + name + ".log");

  write("load.sh", "seq 20000 | " PEAL_PROGRAM " send --to " + dir_ + "/b.sock");
  auto load = Child::start("/bin/sh", {dir_ + "/load.sh"}, dir_ + "/load.log");
  ASSERT_TRUE(load) << load.error();
  Random random(3);
  constexpr int kBursts = 20, kBurst = 100;
  std::uint64_t sent = 0;
  for (int burst = 0; burst < kBursts; ++burst) {
    for (int i = 0; i < kBurst; ++i) {
      const auto bytes = rubbish(random);
      const bool stranger = random.below(8) == 0;
      for (std::size_t node = 0; node < 3; ++node) {
        const std::uint64_t lane = random.below(2);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(ports_[node] + lane));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const io::Fd& from = stranger ? unknown : known[lane];
        ASSERT_EQ(::sendto(from.get(), bytes.data(), bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  static_cast<ssize_t>(bytes.size()));
      }
      ++sent;
    }
    for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(wait_dropped(name, sent)) << name;
  }
  load->wait();
  EXPECT_EQ(load->status(), 0) << content(dir_ + "/load.log");
  wait_for("delivered=20000");
  for (const char* name : {"a", "b", "c"}) {
    const NodeReport report = report_of(name);
    EXPECT_EQ(report.view->id, view);
    EXPECT_EQ(report.delivered_messages, 20'000U);
    EXPECT_EQ(dropped_by(name), sent);
    EXPECT_GE(report.dropped.size(), 6U) << "by reason";
    // The log has one new line only, about packets that look like another version. It names no
    // node.
    const std::string log = content(dir_ + "/" + name + ".log").substr(log_before[name].size());
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
    EXPECT_THAT(log, HasSubstr("packets that begin like those of another version of Peal"));
  }
}

}  // namespace
}  // namespace peal::cli
