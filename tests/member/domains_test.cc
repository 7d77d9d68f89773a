// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "members.h"
#include "trace_check.h"

// Members with domains: the nodes of a domain share messages that other nodes do not learn.

namespace peal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Four nodes: n1 and n2 are in "east", n2 and n3 in "west", and n4 is in no domain.
class MemberDomains : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kNodes = 4;

  MemberDomains()
      : folder_(fs::path(::testing::TempDir()) / ("peal-domains-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  ~MemberDomains() override { fs::remove_all(folder_); }

  std::string trace(const std::string& name) const { return folder_ / (name + ".trace"); }
  void set(Config& config) const {
    config.order = Ridge{.data_dir = folder_,
                         .domains = {{"east", {2, 1}, {}, {}}, {"west", {2, 3}, {3}, {}}}};
    config.trace = trace(config.name);
  }
  Sites start_all() const {
    return start(kNodes, [this](Config& each) { set(each); });
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
  Config alone(const std::string& name) const {
    Config config = config_of(1, kNodes);
    config.name = name;
    set(config);
    return config;
  }

  fs::path folder_;
};

/// The texts of the received messages, each with its domain in front.
std::vector<std::string> texts_of(const Site& site) {
  std::vector<std::string> texts;
  for (const Got& each : site.got) texts.push_back(each.domains + "/" + each.text);
  return texts;
}

/// The elements of `of` that `other` also has, in the order of `of`.
std::vector<std::string> common(const std::vector<std::string>& of,
                                const std::vector<std::string>& other) {
  const std::set<std::string> there(other.begin(), other.end());
  std::vector<std::string> both;
  for (const std::string& each : of) {
    if (there.contains(each)) both.push_back(each);
  }
  return both;
}

bool views_changed(const Sites& sites) {
  return std::any_of(sites.begin(), sites.end(),
                     [](const auto& site) { return site->views.size() != 1; });
}

TEST_F(MemberDomains, LearnWhatIsForThemInOneOrder) {
  Sites sites = start_all();
  ASSERT_EQ(sites.size(), kNodes);
  EXPECT_THAT(sites[1]->member->status().domains, ElementsAre("east", "west"));
  EXPECT_THAT(sites[2]->member->status().domains, ElementsAre("west"));
  EXPECT_THAT(sites[3]->member->status().domains, IsEmpty());
  const std::vector<std::vector<std::string>> own{
      {"", "east"}, {"", "east", "west"}, {"", "west"}, {""}};
  std::vector<std::size_t> due(kNodes);
  constexpr std::size_t kMessages = 40;
  for (std::size_t i = 0; i < kMessages; ++i) {
    for (std::size_t s = 0; s < kNodes; ++s) {
      const std::string& domain = own[s][i % own[s].size()];
      const std::string text = std::to_string(s) + " " + std::to_string(i) + pattern(i * 100, i);
      const auto ticket = i % 2 == 0
                              ? sites[s]->member->multicast(text, Service::agreed, domain)
                              : sites[s]->member->multicast_for(
                                    std::as_bytes(std::span<const char>(text.data(), text.size())),
                                    Service::safe, 10s, domain);
      ASSERT_TRUE(ticket);
      for (std::size_t to = 0; to < kNodes; ++to) {
        due[to] += static_cast<std::size_t>(std::count(own[to].begin(), own[to].end(), domain));
      }
    }
  }
  ASSERT_TRUE(read_until(sites, [&] {
    // On a busy machine a view may exclude a member, which then lacks messages. So a change of view
    // ends the wait.
    if (views_changed(sites)) return true;
    for (std::size_t s = 0; s < kNodes; ++s) {
      if (sites[s]->got.size() < due[s]) return false;
    }
    return true;
  }));
  std::vector<std::vector<std::string>> texts;
  for (auto& site : sites) texts.push_back(texts_of(*site));
  for (std::size_t a = 0; a < kNodes && !views_changed(sites); ++a) {
    EXPECT_EQ(texts[a].size(), due[a]);
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_EQ(common(texts[a], texts[b]), common(texts[b], texts[a]));
  }
  for (std::size_t s = 0; s < kNodes; ++s) {
    for (const Got& each : sites[s]->got) EXPECT_THAT(own[s], ::testing::Contains(each.domains));
    sites[s]->member->leave();
  }
  sites.clear();
  const Judgement judgement = judge({trace("n1"), trace("n2"), trace("n3"), trace("n4")}, kNodes);
  EXPECT_EQ(judgement.problem, "");
  EXPECT_GT(judgement.messages, 0U);
}

TEST_F(MemberDomains, ANodeSendsInItsOwnOnly) {
  Sites sites;
  for (const char* name : {"n1", "n4"}) sites.push_back(std::make_unique<Site>(alone(name)));
  const auto said = [](Site& site, const std::string& domain) {
    const auto ticket = site.member->multicast("x", Service::agreed, domain);
    if (ticket) return std::string("it is sent");
    EXPECT_EQ(ticket.error().code, ErrorCode::invalid_option);
    return ticket.error().message;
  };
  EXPECT_EQ(said(*sites[0], "east"), "it is sent");
  EXPECT_EQ(said(*sites[0], "west"),
            "domain \"west\" is none that this node is in: accepted is \"east\", or none, and all "
            "nodes learn the message");
  EXPECT_THAT(said(*sites[0], "north"), HasSubstr("domain \"north\" is none"));
  EXPECT_THAT(said(*sites[1], "east"), HasSubstr("leave it out, and all nodes learn the message"));
}

TEST_F(MemberDomains, AMessageGoesToOneDomain) {
  Site site(alone("n2"));
  const auto said = [&](const DomainNames& domains) {
    const auto ticket = site.member->multicast("x", Service::agreed, domains);
    if (ticket) return std::string("it is sent");
    EXPECT_EQ(ticket.error().code, ErrorCode::invalid_option);
    return ticket.error().message;
  };
  EXPECT_EQ(said({"west"}), "it is sent");
  EXPECT_EQ(said({"west", "west"}), "it is sent");
  EXPECT_EQ(said({}), "it is sent");
  EXPECT_EQ(said({"west", "east"}),
            "domains \"east\", \"west\" are not accepted together: with order = \"ridge\", a "
            "message goes to one domain or to all nodes: name one domain, or none");
  EXPECT_THAT(said({"west", "north"}), HasSubstr("domain \"north\" is none"));
  EXPECT_THAT(said({"west", ""}), HasSubstr("domain \"\" is none"));
  const std::vector<std::string_view> names{"east", "west"};
  EXPECT_THAT(said(names), HasSubstr("are not accepted together"));
}

TEST_F(MemberDomains, ALogOfOtherDomainsIsRefused) {
  { Site site(alone("n1")); }
  Config other = alone("n1");
  ridge_of(other).domains.pop_back();
  EXPECT_THAT(refusal(other),
              AllOf(HasSubstr("the log here is one of a domain with the nodes 1 2, a domain with "
                              "the nodes 2 3 acceptors 3, and this node has a domain with the "
                              "nodes 1 2: "),
                    HasSubstr("data_dirs that are empty")));
  ridge_of(other).domains.clear();
  EXPECT_THAT(refusal(other), HasSubstr("this node has ensembles = 1: set a domain with"));
  ridge_of(other).ensembles = 2;
  EXPECT_THAT(refusal(other), HasSubstr("this node has ensembles = 2: set a domain with"));
  // The segment files name the domains too. They are refused if the identity file describes other
  // domains.
  fs::rename(folder_ / "n1" / "log", folder_ / "other");
  fs::remove_all(folder_ / "n1");
  { Site site(other); }
  fs::remove_all(folder_ / "n1" / "log");
  fs::rename(folder_ / "other", folder_ / "n1" / "log");
  EXPECT_THAT(refusal(other), HasSubstr("is of cluster"));
  // The names and groups of domains may change, and the order of their nodes does not matter.
  fs::remove_all(folder_ / "n1");
  { Site site(alone("n1")); }
  Config renamed = alone("n1");
  ridge_of(renamed).domains[0] = {"orient", {1, 2}, {}, {"o-*"}};
  Site site(renamed);
  EXPECT_NE(site.member, nullptr);
}

TEST_F(MemberDomains, AreRefusedIfTheyAreNotRidgesOrNotWhole) {
  const auto with = [this](auto&& change) {
    Config config = alone("n1");
    change(config);
    return refusal(config);
  };
  EXPECT_THAT(with([](Config& c) { ridge_of(c).ensembles = 2; }),
              HasSubstr("[[domain]] does not go with ridge.ensembles = 2"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).optimistic = true; }),
              HasSubstr("[[domain]] does not go with ridge.optimistic = true"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).storage = Storage::memory; }),
              HasSubstr("[[domain]] does not go with paxos.storage = \"memory\""));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).domains[1].name = "east"; }),
              HasSubstr("domain.name = \"east\" is not accepted: it must be different"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).domains[0].name = "a b"; }),
              HasSubstr("domain.name = \"a b\" is not accepted"));
  EXPECT_THAT(with([](Config& c) {
                ridge_of(c).domains[0].nodes = {1, 1};
              }),
              HasSubstr("domain.nodes of \"east\" has 1 twice"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).domains[0].nodes = {0}; }),
              HasSubstr("domain.nodes of \"east\" has 0, which is not accepted: it must be 1 to"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).domains[0].nodes = {77}; }),
              HasSubstr("domain.nodes of \"east\" has none of [[nodes]]"));
  EXPECT_THAT(
      with([](Config& c) {
        ridge_of(c).domains[1].acceptors = {2, 3};
      }),
      HasSubstr(
          "domain.acceptors of \"west\" has 2 nodes, which is not accepted: it must be an odd"));
  EXPECT_THAT(with([](Config& c) { ridge_of(c).domains[1].acceptors = {1}; }),
              HasSubstr("domain.acceptors of \"west\" has 1, which is none of its nodes"));
  EXPECT_THAT(with([](Config& c) {
                for (std::uint32_t i = 0; i < 14; ++i) {
                  ridge_of(c).domains.push_back({"d" + std::to_string(i), {1}, {}, {}});
                }
              }),
              HasSubstr("domain has 16 entries: accepted are 0 to 15"));
}

// The ensemble of all nodes has a majority of its acceptors. The ensemble of one domain lacks its
// majority, and the nodes of the domain report that.
TEST_F(MemberDomains, SayInWhichDomainAMajorityIsMissing) {
  Sites sites;
  for (const char* name : {"n1", "n3", "n4", "n5"}) {
    Config config = config_of(1, 5);
    config.name = name;
    set(config);
    ridge_of(config).acceptors = {3, 4, 5};
    ridge_of(config).domains.pop_back();
    sites.push_back(std::make_unique<Site>(config));
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return sites[0]->member->status().waits_for.find("; n2 is not heard, in the domain east") !=
           std::string::npos;
  }));
  ASSERT_TRUE(read_until(sites, [&] { return sites[3]->members() >= 3; }));
  EXPECT_EQ(sites[0]->members(), 0U);  // n1 waits: values of its domain may precede the view
}

// A node that is an acceptor only in a domain needs a data folder too.
TEST_F(MemberDomains, AnAcceptorOfADomainNeedsAFolder) {
  Config config = config_of(1, 5);
  set(config);
  config.name = "n5";
  ridge_of(config).acceptors = {1, 2, 3};
  ridge_of(config).data_dir.clear();
  ridge_of(config).domains = {{"south", {5}, {}, {}}};
  EXPECT_THAT(refusal(config), HasSubstr("data_dir is missing"));
  ridge_of(config).domains = {{"south", {4}, {}, {}}};
  Site site(config);
  EXPECT_NE(site.member, nullptr);
}

TEST_F(MemberDomains, SayWhichOfTheirNodesAreNotThere) {
  Config config = alone("n1");
  ridge_of(config).domains[0].nodes = {1, 2, 9, 8};
  Sites sites;
  sites.push_back(std::make_unique<Site>(config));
  ASSERT_TRUE(read_until(sites, [&] {
    return std::any_of(sites[0]->warnings.begin(), sites[0]->warnings.end(),
                       [](const std::string& text) {
                         return text ==
                                "domain \"east\" counts without 8 9 of its nodes, which the "
                                "list of nodes does not have";
                       });
  }));
}

}  // namespace
}  // namespace peal::test
