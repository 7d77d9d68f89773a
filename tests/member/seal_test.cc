// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "members.h"

// Members with the same key, with different keys, and without a key.

namespace peal::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const Config& config) {
  const auto made = Member::embed(config);
  if (made) return "";
  EXPECT_EQ(made.error().code, ErrorCode::invalid_option);
  return made.error().message;
}

std::uint64_t counter(const Site& site, const std::string& name) {
  for (const auto& [each, value] : site.member->status().counters) {
    if (each == name) return value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

/// A folder that is removed after the test.
struct Folder {
  Folder() {
    char made[] = "/tmp/peal-seal-XXXXXX";
    EXPECT_NE(::mkdtemp(made), nullptr);
    path = made;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text, ::mode_t mode = 0600) const {
    const std::string file = path + "/" + name;
    std::ofstream(file) << text;
    EXPECT_EQ(::chmod(file.c_str(), mode), 0);
    return file;
  }
  std::string path;
};

// The line of a key file for the first or the second key. `use` is "send" or "accept".
std::string key_line(bool first, const std::string& use) {
  const std::string line = first ? kKeyLine : kOtherKeyLine;
  const std::size_t at = line.find("send");
  return line.substr(0, at) + use + line.substr(at + 4) + "\n";
}

TEST(MemberSeal, WithoutAKeyAMemberStartsOnlyIfItIsSaid) {
  Config config = config_of(1, 1);
  config.key_file.clear();
  EXPECT_THAT(error_of(config), HasSubstr("key_file is missing"));
  EXPECT_THAT(error_of(config), HasSubstr("peal keygen"));
  config.insecure = true;
  Sites sites;
  sites.push_back(std::make_unique<Site>(config));
  ASSERT_NE(sites[0]->member, nullptr);
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
  EXPECT_THAT(sites[0]->warnings, Contains(HasSubstr("insecure = true")));
  EXPECT_EQ(sites[0]->member->status().seal, "insecure");
  const auto reloaded = sites[0]->member->reload_keys();
  ASSERT_FALSE(reloaded);
  EXPECT_THAT(reloaded.error().message, HasSubstr("insecure = true"));
}

TEST(MemberSeal, KeyFilesThatCannotBeUsedAreRefusedWithTheReason) {
  const Folder folder;
  Config config = config_of(1, 1);
  config.insecure = true;
  EXPECT_THAT(error_of(config), HasSubstr("together"));
  config.insecure = false;
  config.key_file = folder.path + "/none";
  EXPECT_THAT(error_of(config), HasSubstr("key_file = \"" + folder.path + "/none\""));
  config.key_file = folder.write("open", key_line(true, "send"), 0644);
  EXPECT_THAT(error_of(config), HasSubstr("chmod 600"));
  config.key_file = folder.write("text", "nonsense\n");
  EXPECT_THAT(error_of(config), HasSubstr("key_file = " + folder.path + "/text:1: "));
  config.key_file = key_file();
  config.packet_bytes = 256;
  EXPECT_THAT(error_of(config), HasSubstr("packet_bytes = 256"));
  config.packet_bytes = 257;
  EXPECT_EQ(error_of(config), "");
}

TEST(MemberSeal, PacketsOfTheSmallestAndTheLargestSizeCarryMessages) {
  for (const std::uint32_t bytes : {257U, 65'507U}) {
    Sites sites = start(2, [bytes](Config& config) { config.packet_bytes = bytes; });
    ASSERT_EQ(sites.size(), 2U);
    const std::string text = pattern(200'000, 3);
    ASSERT_TRUE(sites[0]->member->multicast(text, Service::safe));
    ASSERT_TRUE(read_until(sites, [&] { return sites[1]->got.size() == 1; }));
    EXPECT_EQ(sites[1]->got[0].text, text);
    EXPECT_EQ(counter(*sites[1], "seal_bad_tag"), 0U);
    EXPECT_GT(counter(*sites[1], "seal_opened"), 3U);
  }
}

// A packet of the default size fits an Ethernet frame. It has space for a client's message of 1,350
// bytes and the header of a daemon: 1,378 bytes. One byte more takes two packets.
TEST(MemberSeal, AMessageOf1378BytesIsOnePacketOfTheDefaultSize) {
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_TRUE(
      read_until(sites, [&] { return sites[0]->members() == 2 && sites[1]->members() == 2; }));
  std::size_t messages = 0;
  for (const auto& [bytes, packets] : {std::pair{1'350U, 1U}, {1'378U, 1U}, {1'379U, 2U}}) {
    const std::uint64_t before = counter(*sites[0], "udp_data_packets_out");
    const std::string text = pattern(bytes, 1);
    ASSERT_TRUE(sites[0]->member->multicast(text, Service::agreed));
    ++messages;
    ASSERT_TRUE(read_until(sites, [&] {
      return sites[0]->got.size() == messages && sites[1]->got.size() == messages;
    }));
    EXPECT_EQ(sites[1]->got.back().text, text);
    EXPECT_EQ(counter(*sites[0], "udp_data_packets_out") - before, packets) << bytes;
  }
  EXPECT_EQ(sites[0]->got[1].position, sites[0]->got[0].position + 1);
  EXPECT_EQ(sites[0]->got[2].position, sites[0]->got[1].position + 2);
}

TEST(MemberSeal, MembersWithOtherKeysOrNoneAreIgnoredCountedAndSaid) {
  const Folder folder;
  for (const bool insecure : {false, true}) {
    Sites sites;
    sites.push_back(std::make_unique<Site>(config_of(1, 2)));
    Config odd = config_of(2, 2);
    odd.key_file = insecure ? "" : folder.write("other", key_line(false, "send"));
    odd.insecure = insecure;
    sites.push_back(std::make_unique<Site>(odd));
    ASSERT_NE(sites[0]->member, nullptr);
    ASSERT_NE(sites[1]->member, nullptr);
    const std::string reason = insecure ? "not sealed" : "sealed with a key that is not";
    ASSERT_TRUE(read_until(sites, [&] { return !sites[0]->warnings.empty(); }));
    EXPECT_THAT(sites[0]->warnings[0], HasSubstr("node n2 is ignored"));
    EXPECT_THAT(sites[0]->warnings[0], HasSubstr(reason));
    EXPECT_GT(counter(*sites[0], insecure ? "seal_unknown_version" : "seal_unknown_key"), 0U);
    ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
    const auto missing = sites[0]->member->status().missing;
    ASSERT_EQ(missing.size(), 1U);
    EXPECT_EQ(missing[0].name, "n2");
    EXPECT_THAT(missing[0].reason, HasSubstr(reason)) << "who is alone says why";
  }
}

/// Starts two members with different settings. Each must warn of the other with the given line, and
/// its status must show the same line.
void expect_lines(bool insecure, const std::function<void(Config&)>& both,
                  const std::function<void(Config&)>& second, const std::string& first_line,
                  const std::string& second_line) {
  Sites sites;
  for (std::uint32_t self = 1; self <= 2; ++self) {
    Config config = config_of(self, 2);
    config.insecure = insecure;
    if (insecure) config.key_file.clear();
    both(config);
    if (self == 2) second(config);
    sites.push_back(std::make_unique<Site>(config));
    ASSERT_NE(sites.back()->member, nullptr);
  }
  const auto lines = [](const Site& site) {
    std::vector<std::string> found;
    for (const std::string& each : site.warnings) {
      if (each.find("is ignored") != std::string::npos) found.push_back(each);
    }
    return found;
  };
  const auto reason = [](const Site& site) {
    const auto missing = site.member->status().missing;
    return missing.size() == 1 ? missing[0].reason : "";
  };
  ASSERT_TRUE(
      read_until(sites, [&] { return !lines(*sites[0]).empty() && !lines(*sites[1]).empty(); }));
  ASSERT_TRUE(read_until(
      sites, [&] { return reason(*sites[0]) == first_line && reason(*sites[1]) == second_line; }))
      << reason(*sites[0]) << "\n"
      << reason(*sites[1]);
  EXPECT_THAT(lines(*sites[0]), ElementsAre(first_line));
  EXPECT_THAT(lines(*sites[1]), ElementsAre(second_line));
}

const auto kNoChange = [](Config&) {};
const auto kPaxosInMemory = [](Config& config) {
  config.order = Paxos{.storage = Storage::memory};
};

TEST(MemberSeal, MembersWithOtherSettingsNameThemAndBothValues) {
  for (const bool insecure : {false, true}) {
    expect_lines(
        insecure, kNoChange,
        [](Config& config) { ring_of(config).tunables["token_loss_ms"] = 2'500; },
        "node n2 is ignored: ring.token_loss_ms is 2500 there and 3000 here; it must be the same "
        "on all nodes",
        "node n1 is ignored: ring.token_loss_ms is 3000 there and 2500 here; it must be the same "
        "on all nodes");
    expect_lines(
        insecure, kPaxosInMemory,
        [](Config& config) {
          config.packet_bytes = 9'000;
          config.message_bytes_max = 1U << 20;
        },
        "node n2 is ignored: limits.message_bytes_max is 1048576 there and 67108864 here, "
        "network.packet_bytes is 9000 there and 1472 here; they must be the same on all nodes",
        "node n1 is ignored: limits.message_bytes_max is 67108864 there and 1048576 here, "
        "network.packet_bytes is 1472 there and 9000 here; they must be the same on all nodes");
  }
}

TEST(MemberSeal, MembersWithAnotherOrderSaySo) {
  for (const bool insecure : {false, true}) {
    expect_lines(insecure, kNoChange, kPaxosInMemory,
                 "node n2 is ignored: order is \"paxos\" there and \"ring\" here; it must be the "
                 "same on all nodes",
                 "node n1 is ignored: order is \"ring\" there and \"paxos\" here; it must be the "
                 "same on all nodes");
  }
}

TEST(MemberSeal, KeysChangeWithoutAnotherView) {
  const Folder folder;
  const std::string file = folder.write("keys", key_line(true, "send"));
  Sites sites = start(2, [&](Config& config) { config.key_file = file; });
  ASSERT_EQ(sites.size(), 2U);
  const std::string first = sites[0]->member->status().seal;
  std::size_t sent = 0;
  const std::string steps[] = {key_line(true, "send") + key_line(false, "accept"),
                               key_line(true, "accept") + key_line(false, "send"),
                               key_line(false, "send")};
  for (const std::string& step : steps) {
    folder.write("keys", step);
    for (auto& site : sites) {
      auto sending = site->member->reload_keys();
      ASSERT_TRUE(sending) << sending.error().message;
      ASSERT_TRUE(sites[0]->member->multicast("between", Service::safe));
      ++sent;
      ASSERT_TRUE(read_until(
          sites, [&] { return sites[0]->got.size() == sent && sites[1]->got.size() == sent; }));
      EXPECT_EQ(site->member->status().seal, "key " + *sending);
    }
  }
  EXPECT_NE(sites[0]->member->status().seal, first);
  folder.write("keys", "nonsense\n");
  EXPECT_FALSE(sites[0]->member->reload_keys());
  EXPECT_NE(sites[0]->member->status().seal, first) << "the keys in use stay in use";
  for (auto& site : sites) {
    EXPECT_EQ(counter(*site, "seal_unknown_key"), 0U);
    EXPECT_EQ(site->views.back().id, sites[0]->views.back().id);
    EXPECT_EQ(std::count_if(
                  site->views.begin(), site->views.end(),
                  [](const View& view) { return view.members.size() == 2 && !view.transitional; }),
              1);
  }
}

// Threads that reload the key file do it one after the other, so no thread restores older keys.
TEST(MemberSeal, AKeyFileIsReadByOneThreadAfterTheOther) {
  const Folder folder;
  const std::string files[] = {key_line(true, "send") + key_line(false, "accept"),
                               key_line(true, "accept") + key_line(false, "send")};
  const std::string file = folder.write("keys", files[0]);
  Sites sites = start(1, [&](Config& config) { config.key_file = file; });
  ASSERT_EQ(sites.size(), 1U);
  Member& member = *sites[0]->member;
  std::atomic<bool> done{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      while (!done) EXPECT_TRUE(member.reload_keys());
    });
  }
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string next = folder.write("next", files[i % 2]);
    std::filesystem::rename(next, file);
    auto sending = member.reload_keys();
    EXPECT_TRUE(sending);
    if (!sending || member.status().seal != "key " + *sending) ++wrong;
  }
  done = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(wrong, 0);
}

// A node restarts with an earlier epoch. The other node refuses its packets as those of an earlier
// incarnation, until the node takes a later epoch.
TEST(MemberSeal, ANodeWhoseClockWasSetBackComesInAllTheSame) {
  const Folder folder;
  Config one = config_of(1, 2);
  Config two = config_of(2, 2);
  for (Config* config : {&one, &two}) {
    // With these timeouts each node soon forms a view of its own, so the test is short.
    config->order =
        Ring{.tunables = {{"token_loss_ms", 1'000}, {"consensus_ms", 1'000}, {"probe_ms", 100}}};
  }
  two.state_dir = folder.path;
  folder.write("n2.epoch", "9000000000000\n");  // the year 2305
  Sites sites;
  for (const Config& config : {one, two}) sites.push_back(std::make_unique<Site>(config));
  const auto both = [&] { return sites[0]->members() == 2 && sites[1]->members() == 2; };
  ASSERT_TRUE(read_until(sites, both));
  EXPECT_EQ(sites[1]->member->id(), "n2.9000000000001");
  sites[1].reset();
  two.state_dir.clear();
  sites[1] = std::make_unique<Site>(two);
  ASSERT_NE(sites[1]->member, nullptr);
  ASSERT_TRUE(read_until(sites, both));
  EXPECT_EQ(sites[1]->member->id(), "n2.9000000000002");
  EXPECT_GT(counter(*sites[0], "seal_old_incarnation"), 0U);
}

}  // namespace
}  // namespace peal::test
