// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "talk.h"

// Members with Paxos or Ridge, whose acceptors keep logs in real folders.

namespace peal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A folder for logs, which is removed after the test.
class PaxosMembers : public ::testing::Test {
 protected:
  PaxosMembers()
      : folder_(fs::path(testing::TempDir()) / ("peal-paxos-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  ~PaxosMembers() override { fs::remove_all(folder_); }

  void set(Config& config) const { config.order = Paxos{.data_dir = folder_}; }
  void set_ensembles(Config& config, std::uint32_t ensembles) const {
    config.order = Ridge{.data_dir = folder_, .ensembles = ensembles};
  }
  Config config(std::uint32_t self, std::uint32_t count) const {
    Config made = config_of(self, count);
    set(made);
    return made;
  }
  Sites start_all(std::uint32_t count) const {
    return start(count, [this](Config& each) { set(each); });
  }
  std::string refusal(const Config& config) const {
    auto made = Member::embed(config);
    if (!made) {
      EXPECT_EQ(made.error().code, ErrorCode::invalid_option) << made.error().message;
      EXPECT_EQ(made.error().message.find('\n'), std::string::npos);
      return made.error().message;
    }
    ADD_FAILURE() << "it started";
    return {};
  }

  fs::path folder_;
};

std::uint64_t counted(const Site& site, const std::string& name) {
  for (const auto& [each, value] : site.member->status().counters) {
    if (each == name) return value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST_F(PaxosMembers, OverStreamsTheyAgreeOnTheSame) {
  for (const char* order : {"paxos", "ridge"}) {
    SCOPED_TRACE(order);
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    Sites sites = start(3, [&](Config& each) {
      set(each);
      if (order == std::string("ridge")) set_ensembles(each, 1);
      each.data = Data::streams;
    });
    talk(sites, 200);
    for (auto& site : sites) {
      EXPECT_EQ(site->member->status().data, "streams");
      EXPECT_GT(counted(*site, "stream_packets_in"), 0U);
      EXPECT_EQ(counted(*site, "udp_data_packets_in"), 0U);
      EXPECT_EQ(counted(*site, "stream_close_forged"), 0U);
    }
  }
}

TEST_F(PaxosMembers, OfSeveralEnsemblesAgreeOnOneOrder) {
  for (const Data data : {Data::datagrams, Data::streams}) {
    SCOPED_TRACE(static_cast<int>(data));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    for (int life = 0; life < 2; ++life) {
      Sites sites = start(3, [&](Config& each) {
        set_ensembles(each, 3);
        each.data = data;
        // The second run opens the logs of the first run, and merges by the other method.
        ridge_of(each).merge = life == 0 ? Merge::keys : Merge::rotation;
      });
      ASSERT_EQ(sites.size(), 3U);
      talk(sites, 200);
      if (HasFatalFailure()) return;
      EXPECT_EQ(sites[0]->member->status().options.at("ridge.ensembles"), "3");
      EXPECT_EQ(sites[0]->member->status().options.at("ridge.merge"),
                life == 0 ? "keys" : "rotation");
      for (auto& site : sites) {
        EXPECT_EQ(counted(*site, "ensembles"), 3U);
        EXPECT_GT(counted(*site, "ensembles_delivered"), 0U);
        EXPECT_EQ(counted(*site, "quorum_acceptors"), 3U);
        EXPECT_EQ(counted(*site, "quorum_no_buffer"), 0U);
      }
    }
  }
}

// With several ensembles, each unit begins with a prefix. The smallest packet has space for this
// prefix and for a part of a message.
TEST_F(PaxosMembers, OfSeveralEnsemblesHaveRoomInTheSmallestPackets) {
  for (const bool sealed : {true, false}) {
    SCOPED_TRACE(sealed);
    fs::remove_all(folder_ / "n1");
    fs::remove_all(folder_ / "n2");
    Sites sites = start(2, [&](Config& each) {
      set_ensembles(each, 16);
      each.packet_bytes = sealed ? 298 : 256;
      each.insecure = !sealed;
      if (!sealed) each.key_file.clear();
    });
    ASSERT_EQ(sites.size(), 2U);
    talk(sites, 50);
    if (HasFatalFailure()) return;
  }
}

TEST_F(PaxosMembers, ALogOfAnotherNumberOfEnsemblesIsRefused) {
  Config own = config(1, 1);
  const auto run_once = [&](std::uint32_t ensembles) {
    set_ensembles(own, ensembles);
    Sites sites;
    sites.push_back(std::make_unique<Site>(own));
    ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
  };
  run_once(3);
  for (const std::uint32_t other : {1U, 2U}) {
    set_ensembles(own, other);
    EXPECT_THAT(refusal(own),
                AllOf(HasSubstr("data_dir: "), HasSubstr("one of ensembles = 3"),
                      HasSubstr("this node has ensembles = " + std::to_string(other)),
                      HasSubstr("set ensembles = 3 again"), HasSubstr("data_dirs that are empty")));
  }
  // The segment files name the number of ensembles too. They are refused if the identity file has
  // another number.
  fs::rename(folder_ / "n1" / "log", folder_ / "of-three");
  fs::remove_all(folder_ / "n1");
  run_once(1);
  fs::rename(folder_ / "n1" / "log", folder_ / "of-one");
  fs::rename(folder_ / "of-three", folder_ / "n1" / "log");
  EXPECT_THAT(refusal(own), HasSubstr("is of cluster"));
  fs::remove_all(folder_ / "n1" / "log");
  fs::rename(folder_ / "of-one", folder_ / "n1" / "log");
  set_ensembles(own, 4);
  EXPECT_THAT(refusal(own), AllOf(HasSubstr("ensembles = 1"), HasSubstr("has ensembles = 4")));
  // Paxos opens a log of one ensemble: the identity file of such a log has no line about ensembles.
  set(own);
  Sites sites;
  sites.push_back(std::make_unique<Site>(own));
  EXPECT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
}

TEST_F(PaxosMembers, DeliverInOneOrderAndSayWhatTheyAre) {
  Sites sites = start_all(3);
  ASSERT_EQ(sites.size(), 3U);
  talk(sites, 200);
  const Status status = sites[1]->member->status();
  EXPECT_EQ(status.order, "paxos");
  EXPECT_GT(counted(*sites[1], "quorum_delivered"), 0U);
  EXPECT_EQ(counted(*sites[1], "quorum_acceptors"), 3U);
  EXPECT_EQ(counted(*sites[1], "quorum_acceptors_heard"), 3U);
  EXPECT_EQ(counted(*sites[1], "bad_version"), 0U);
  EXPECT_EQ(sites[0]->views.back().primary, true);
}

TEST_F(PaxosMembers, GoOnAfterAllOfThemHaveRestarted) {
  for (int life = 0; life < 3; ++life) {
    Sites sites = start_all(3);
    ASSERT_EQ(sites.size(), 3U);
    talk(sites, 50);
    if (HasFatalFailure()) return;
    // A member warns of a new log once, at its first start.
    const auto said = [&](const Site& site) {
      return std::any_of(site.warnings.begin(), site.warnings.end(), [](const std::string& text) {
        return text.find("a new one was made") != std::string::npos;
      });
    };
    for (auto& site : sites) EXPECT_EQ(said(*site), life == 0);
  }
}

TEST_F(PaxosMembers, BeginWithAllAcceptorsAndGoOnWithAMajorityAndSayWhoIsMissing) {
  Sites sites;
  sites.push_back(std::make_unique<Site>(config(1, 3)));
  ASSERT_NE(sites[0]->member, nullptr);
  EXPECT_THAT(sites[0]->member->status().waits_for,
              HasSubstr("no order has begun yet; n2 and n3 are not heard"));
  sites.push_back(std::make_unique<Site>(config(2, 3)));
  ASSERT_TRUE(read_until(sites, [&] {
    return sites[1]->member->status().waits_for.find("begun yet; n3 is not heard") !=
           std::string::npos;
  }));
  sites.push_back(std::make_unique<Site>(config(3, 3)));
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 3; }));
  talk(sites, 10);
  sites.pop_back();
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 2; }));
  talk(sites, 10);
  sites.pop_back();
  ASSERT_TRUE(read_until(sites, [&] {
    return sites[0]->member->status().waits_for.find(
               "a majority of the acceptors; n2 and n3 are not heard") != std::string::npos;
  }));
}

TEST_F(PaxosMembers, ALogOfAnotherClusterOrNodeIsRefused) {
  Config own = config(1, 1);
  Sites sites;
  sites.push_back(std::make_unique<Site>(own));
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
  {
    auto made = Member::embed(own);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::address_in_use);
  }
  sites.clear();
  Config other = own;
  other.cluster = "another";
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("data_dir: "), HasSubstr("cluster test-"),
                                    HasSubstr("cluster another"), HasSubstr("its own data_dir")));
  other = own;
  other.nodes[0].number = 9;
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("number 1"), HasSubstr("number 9")));
  // The folder of n1 gets the name of n2's folder.
  fs::rename(folder_ / "n1", folder_ / "n2");
  other = config(2, 2);
  paxos_of(other).acceptors = {2};
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("node n1"), HasSubstr("node n2")));
  fs::rename(folder_ / "n2", folder_ / "n1");
  sites.push_back(std::make_unique<Site>(own));
  EXPECT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
}

TEST_F(PaxosMembers, ALogThatIsGoneOrDamagedIsRefused) {
  const Config own = config(1, 1);
  {
    Sites sites;
    sites.push_back(std::make_unique<Site>(own));
    ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
    talk(sites, 20);
  }
  const fs::path log = folder_ / "n1" / "log";
  const fs::path kept = folder_ / "kept";
  fs::copy(log, kept);
  for (const auto& file : fs::directory_iterator(log)) {
    const int fd = ::open(file.path().c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(::pwrite(fd, "xxxx", 4, 200), 4);
    ::close(fd);
  }
  EXPECT_THAT(refusal(own), AllOf(HasSubstr(log.string()), HasSubstr("is damaged at offset")));
  // The newest segment is cut to 200 bytes.
  fs::remove_all(log);
  fs::copy(kept, log);
  fs::permissions(log, fs::perms::owner_all);
  fs::path newest;
  for (const auto& file : fs::directory_iterator(log)) newest = std::max(newest, file.path());
  fs::resize_file(newest, 200);
  EXPECT_THAT(refusal(own), AllOf(HasSubstr(newest.string() + " is damaged at offset "),
                                  HasSubstr("has 200 bytes"), HasSubstr("must not take part")));
  fs::remove_all(log);
  EXPECT_THAT(refusal(own), AllOf(HasSubstr(log.string()), HasSubstr("holds no log")));
  fs::remove_all(log);
  fs::copy(kept, log);
  fs::permissions(log, fs::perms::owner_all);
  Sites sites;
  sites.push_back(std::make_unique<Site>(own));
  EXPECT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
}

TEST_F(PaxosMembers, StopsAtOnceWhenItsLogCannotBeWritten) {
  Sites sites;
  sites.push_back(std::make_unique<Site>(config(1, 3)));
  ASSERT_NE(sites[0]->member, nullptr);
  // Once the node sends packets, it has read its log. While it is alone, it writes nothing to the
  // log.
  ASSERT_TRUE(read_until(sites, [&] { return counted(*sites[0], "udp_control_packets_out") > 0; }));
  fs::remove_all(folder_ / "n1" / "log");
  sites.push_back(std::make_unique<Site>(config(2, 3)));
  sites.push_back(std::make_unique<Site>(config(3, 3)));
  ASSERT_TRUE(read_until(sites, [&] {
    return !sites[0]->closed.empty() && sites[1]->members() == 2 && sites[2]->members() == 2;
  }));
  EXPECT_FALSE(sites[0]->closed[0].on_request);
  EXPECT_THAT(sites[0]->closed[0].reason,
              AllOf(HasSubstr("must not vote any more"), HasSubstr("n1/log/"),
                    HasSubstr("No such file"), HasSubstr("see to the disk")));
  sites.erase(sites.begin());
  talk(sites, 10);
}

TEST_F(PaxosMembers, SayWhyAViewEnded) {
  Sites sites = start_all(3);
  ASSERT_EQ(sites.size(), 3U);
  sites[1]->member->leave();
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 2; }));
  EXPECT_EQ(sites[0]->views.back().reason, "n2 left, or was silent for too long");
  sites[1].reset();  // closes its sockets, which the next member needs
  sites[1] = std::make_unique<Site>(config(2, 3));
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 3; }));
  EXPECT_EQ(sites[0]->views.back().reason, "others came");
}

bool all_have(const Sites& sites, std::size_t members) {
  return std::all_of(sites.begin(), sites.end(), [&](const auto& site) {
    return site->members() == members && site->member->status().list.size() == members &&
           site->member->status().next_list.empty();
  });
}

// A new node is in the views of all ensembles, and the new list is active in all of them.
TEST_F(PaxosMembers, OfSeveralEnsemblesComeAndGo) {
  const auto made = [this](std::uint32_t self, std::uint32_t count) {
    Config each = config(self, count);
    set_ensembles(each, 3);
    return each;
  };
  Sites sites;
  for (std::uint32_t count = 1; count <= 3; ++count) {
    for (auto& site : sites) ASSERT_TRUE(site->member->set_nodes(made(1, count).nodes));
    sites.push_back(std::make_unique<Site>(made(count, count)));
    ASSERT_NE(sites.back()->member, nullptr);
    ASSERT_TRUE(read_until(sites, [&] { return all_have(sites, count); })) << count;
    talk(sites, 20);
    if (HasFatalFailure()) return;
  }
  sites[0]->member->leave();
  sites.erase(sites.begin());
  ASSERT_TRUE(
      read_until(sites, [&] { return sites[0]->members() == 2 && sites[1]->members() == 2; }));
  talk(sites, 20);
}

// The list grows from one node to three, all of them acceptors. Then the first node is removed, and
// two remain.
TEST_F(PaxosMembers, ComeAndGoWhileTheOthersGoOn) {
  Sites sites;
  for (std::uint32_t count = 1; count <= 3; ++count) {
    for (auto& site : sites) {
      ASSERT_TRUE(site->member->set_nodes(config(1, count).nodes));
    }
    sites.push_back(std::make_unique<Site>(config(count, count)));
    ASSERT_NE(sites.back()->member, nullptr);
    ASSERT_TRUE(read_until(sites, [&] { return all_have(sites, count); })) << count;
    talk(sites, 20);
    EXPECT_EQ(counted(*sites[0], "quorum_acceptors"), count);
  }
  std::vector<Node> nodes = config(1, 3).nodes;
  for (std::uint32_t i = 0; i < 3; ++i) nodes[i].number = i + 1;
  nodes.erase(nodes.begin());
  const auto refused = sites[0]->member->set_nodes(nodes);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("stop it and reload the others"));
  for (std::size_t i = 1; i < 3; ++i) ASSERT_TRUE(sites[i]->member->set_nodes(nodes));
  ASSERT_TRUE(read_until(sites, [&] {
    return sites[1]->member->status().list_waits_for.find("n1, which is not in this list") == 0;
  }));
  sites[0]->member->leave();
  sites.erase(sites.begin());
  ASSERT_TRUE(read_until(sites, [&] { return all_have(sites, 2); }));
  talk(sites, 20);
  EXPECT_EQ(counted(*sites[0], "quorum_list"), 3U);
}

// All three nodes stop. Two of them restart with configuration files that no longer list the third.
TEST_F(PaxosMembers, GoOverToTheListOfTheirFilesAfterARestart) {
  Sites sites = start_all(3);
  ASSERT_EQ(sites.size(), 3U);
  talk(sites, 5);
  sites.clear();
  for (std::uint32_t self = 1; self <= 2; ++self) {
    sites.push_back(std::make_unique<Site>(config(self, 2)));
    ASSERT_NE(sites.back()->member, nullptr);
  }
  ASSERT_TRUE(read_until(
      sites, [&] { return all_have(sites, 2) && counted(*sites[0], "quorum_acceptors") == 2; }));
  talk(sites, 5);
}

TEST_F(PaxosMembers, WhoDoesNotVoteNeedsNoFolder) {
  Sites sites;
  for (std::uint32_t self = 1; self <= 4; ++self) {
    Config each = config(self, 4);
    if (self == 4) paxos_of(each).data_dir.clear();
    sites.push_back(std::make_unique<Site>(each));
    ASSERT_NE(sites.back()->member, nullptr);
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return std::all_of(sites.begin(), sites.end(), [](const auto& s) { return s->members() == 4; });
  }));
  talk(sites, 20);
  EXPECT_FALSE(fs::exists(folder_ / "n4"));
}

}  // namespace
}  // namespace peal::test
