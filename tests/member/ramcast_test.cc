// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "members.h"
#include "trace_check.h"

// Members with RamCast: sets of disjoint domains, and a node that only sends.

namespace peal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kNodes = 6;

/// n1, n2 and n3 are in "east", n4 and n5 in "west", and n6 is in no domain.
Ramcast two_domains() {
  return {.domains = {{"east", {1, 2, 3}, {}, {}}, {"west", {4, 5}, {}, {}}}, .suspect = 3s};
}

Ramcast& ramcast_of(Config& config) { return std::get<Ramcast>(config.order); }

class MemberRamcast : public ::testing::Test {
 protected:
  MemberRamcast()
      : folder_(fs::path(::testing::TempDir()) / ("peal-ramcast-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~MemberRamcast() override { fs::remove_all(folder_); }

  std::string trace(std::uint32_t node) const {
    return folder_ / ("n" + std::to_string(node) + ".trace");
  }
  Config config(std::uint32_t node) const {
    Config made = config_of(node, kNodes);
    made.order = two_domains();
    made.trace = trace(node);
    return made;
  }

  fs::path folder_;
};

std::string refusal(const Config& config) {
  const auto made = Member::embed(config);
  if (made) return "it starts";
  EXPECT_EQ(made.error().code, ErrorCode::invalid_option);
  EXPECT_EQ(made.error().message.find('\n'), std::string::npos);
  return made.error().message;
}

/// The texts of the messages to both domains, in the order of their delivery.
std::vector<std::string> common_texts(const Site& site) {
  std::vector<std::string> texts;
  for (const Got& each : site.got) {
    if (each.domains == "east,west") texts.push_back(each.text);
  }
  return texts;
}

TEST_F(MemberRamcast, MessagesToBothDomainsHaveOneOrder) {
  Sites sites;
  for (std::uint32_t node = 1; node <= kNodes; ++node) {
    sites.push_back(std::make_unique<Site>(config(node)));
    ASSERT_NE(sites.back()->member, nullptr);
  }
  ASSERT_TRUE(read_until(sites, [&] {
    for (std::size_t i = 0; i < 5; ++i) {
      if (sites[i]->members() != (i < 3 ? 3U : 2U)) return false;
    }
    return true;
  }));
  EXPECT_THAT(sites[0]->member->status().domains, ElementsAre("east"));
  EXPECT_EQ(sites[0]->member->status().order, "ramcast");
  EXPECT_THAT(sites[5]->member->status().domains, IsEmpty());

  constexpr std::size_t kEach = 30;
  // DomainNames only refers to its names.
  const std::vector<std::vector<std::string_view>> destinations{
      {"east"}, {"west", "east"}, {"west"}, {}};
  std::size_t for_east = 0, for_west = 0;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (std::size_t who = 0; who < sites.size(); ++who) {
      const std::size_t to = (i + who) % destinations.size();
      const std::string text = std::to_string(who) + " " + pattern(i * 50, i);
      const auto ticket = sites[who]->member->multicast(text, Service::agreed, destinations[to]);
      ASSERT_TRUE(ticket) << ticket.error().message;
      for_east += to != 2;
      for_west += to != 0;
    }
  }
  ASSERT_TRUE(read_until(sites, [&] {
    for (std::size_t i = 0; i < 5; ++i) {
      if (sites[i]->got.size() < (i < 3 ? for_east : for_west)) return false;
    }
    return true;
  }));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(sites[i]->got.size(), i < 3 ? for_east : for_west);
    EXPECT_EQ(common_texts(*sites[i]), common_texts(*sites[0])) << i;
    for (const Got& each : sites[i]->got)
      EXPECT_THAT(each.domains, HasSubstr(i < 3 ? "east" : "west"));
  }
  EXPECT_THAT(common_texts(*sites[0]), SizeIs(kNodes * kEach / 2));
  // A node that only sends has neither views nor messages.
  EXPECT_THAT(sites[5]->views, IsEmpty());
  EXPECT_THAT(sites[5]->got, IsEmpty());
  std::vector<std::string> traces;
  for (std::uint32_t node = 1; node <= kNodes; ++node) traces.push_back(trace(node));
  for (auto& site : sites) site->member->leave();
  sites.clear();
  const Judgement judgement = judge(traces, kNodes);
  EXPECT_EQ(judgement.problem, "");
  EXPECT_EQ(judgement.messages, kNodes * kEach);
}

/// Sends the length of a frame to the socket at which a node listens for writers of this machine,
/// and reads until the node ends the connection.
void send_frame_length(std::uint32_t node, std::uint8_t byte) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string path = "/tmp/peal-" + std::to_string(::geteuid()) + "/test-" +
                           std::to_string(::getpid()) + ".n" + std::to_string(node) + ".memory";
  ASSERT_LT(path.size(), sizeof to.sun_path);
  std::memcpy(to.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << path;
  std::array<std::uint8_t, 4> length{};
  length.fill(byte);
  EXPECT_EQ(::send(fd, length.data(), length.size(), MSG_NOSIGNAL), 4);
  EXPECT_LE(::recv(fd, length.data(), length.size(), 0), 0);
  ::close(fd);
}

TEST_F(MemberRamcast, AProcessThatBreaksARuleOfTheMemoryIsInTheWarningsOnce) {
  Site site(config(6));
  ASSERT_NE(site.member, nullptr);
  const auto lines_with = [&](const std::string& what) {
    return std::count_if(site.warnings.begin(), site.warnings.end(),
                         [&](const std::string& each) { return each.find(what) != each.npos; });
  };
  for (int i = 0; i < 3; ++i) send_frame_length(6, 0);
  send_frame_length(6, 0xff);
  const std::string other = "broke a rule: a frame of 4294967295 bytes; its connection was ended: ";
  for (int i = 0; i < 1'000 && lines_with(other) == 0; ++i) site.take(50ms);
  EXPECT_EQ(lines_with(other), 1);
  EXPECT_EQ(lines_with("broke a rule: a frame of 0 bytes; its connection was ended: "), 1);
}

TEST_F(MemberRamcast, AMessageIsRefusedIfItsDomainIsUnknownOrItIsTooLarge) {
  Site site(config(6));
  const auto unknown = site.member->multicast("x", Service::agreed, {"east", "north"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_option);
  EXPECT_EQ(unknown.error().message,
            "domain \"north\" is not configured: accepted is \"east\", \"west\", or none, and the "
            "nodes of all domains learn the message");
  const auto large = site.member->multicast(std::string(40'000, 'x'), Service::agreed, "east");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
  EXPECT_THAT(large.error().message, HasSubstr("network.packet_bytes = 33792"));
}

TEST_F(MemberRamcast, WhatDoesNotFitIsRefused) {
  const auto with = [this](auto&& change) {
    Config changed = config(1);
    change(changed);
    return refusal(changed);
  };
  EXPECT_THAT(with([](Config& c) {
                ramcast_of(c).domains[1].nodes = {3, 4};
              }),
              HasSubstr("domain.nodes of \"west\" has 3, which is a node of \"east\", too"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).domains[0].acceptors = {1}; }),
              HasSubstr("leave it out, since all nodes of a domain vote"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).slots = 0; }),
              AllOf(HasSubstr("ramcast.slots = 0"), HasSubstr("1 to 1024")));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).log_bytes = 100; }),
              HasSubstr("ramcast.log_bytes = 100"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).inline_bytes = 5'000; }),
              HasSubstr("ramcast.inline_bytes = 5000"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).beat = std::chrono::microseconds(10); }),
              HasSubstr("ramcast.beat_ms = 0.01"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).suspect = 1ms; }),
              HasSubstr("ramcast.suspect_ms = 1"));
  EXPECT_THAT(with([](Config& c) {
                ramcast_of(c).beat = std::chrono::microseconds(20'500);
                ramcast_of(c).suspect = 60ms;
              }),
              HasSubstr("ramcast.suspect_ms = 60 is not accepted: it must be at least four times "
                        "ramcast.beat_ms = 20.5"));
  EXPECT_THAT(with([](Config& c) { ramcast_of(c).fabric = static_cast<Fabric>(9); }),
              AllOf(HasSubstr("ramcast.fabric = 9"), HasSubstr("\"verbs\"")));
  EXPECT_THAT(with([](Config& c) { c.packet_bytes = 1'472; }),
              HasSubstr("where each message fits into one packet: it must be at least 2048"));
}

TEST_F(MemberRamcast, TheListOfNodesCannotChange) {
  Site site(config(1));
  std::vector<Node> fewer = config(1).nodes;
  fewer.pop_back();
  const auto changed = site.member->set_nodes(fewer);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::invalid_option);
  EXPECT_THAT(changed.error().message, HasSubstr("it cannot change while nodes run"));
}

}  // namespace
}  // namespace peal::test
