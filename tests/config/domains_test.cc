// SPDX-License-Identifier: Apache-2.0
#include "config/domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/file/file.h"
#include "config/file/lists.h"
#include "config/file/print.h"

// The tables [[domain]] of a configuration file.

namespace peal::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDomainsTop = "cluster = \"demo\"\nnode = \"a\"\ninsecure = true\n";
const std::string kDomainsNodes =
    "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n"
    "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.1:4803\"\n"
    "[[nodes]]\nname = \"c\"\naddress = \"127.0.0.1:4805\"\n";
const std::string kEast = "[[domain]]\nname = \"east\"\n";

Result<File, std::string> with_domains(
    const std::string& domains, const std::string& top = "order = \"ridge\"\ndata_dir = \"d\"\n") {
  return parse_file(kDomainsTop + top + kDomainsNodes + domains, "f.toml", "");
}

std::string domain_error(const std::string& domains,
                         const std::string& top = "order = \"ridge\"\ndata_dir = \"d\"\n") {
  const auto config = with_domains(domains, top);
  if (config) return "it is accepted";
  EXPECT_EQ(config.error().find('\n'), std::string::npos);
  return config.error();
}

TEST(ConfigDomains, AreRead) {
  const auto config = with_domains(kEast +
                                   "nodes = [3, 1, 9]\nacceptors = [1]\ngroups = [\"e-*\", \"x\"]\n"
                                   "[[domain]]\nname = \"west\"\nnodes = [2]\n");
  ASSERT_TRUE(config) << config.error();
  ASSERT_EQ(config->settings.domains.size(), 2U);
  EXPECT_EQ(config->settings.domains[0].name, "east");
  EXPECT_THAT(config->settings.domains[0].nodes, ElementsAre(NodeId{3}, NodeId{1}, NodeId{9}));
  EXPECT_THAT(config->settings.domains[0].acceptors, ElementsAre(NodeId{1}));
  EXPECT_THAT(config->settings.domains[0].groups, ElementsAre("e-*", "x"));
  EXPECT_EQ(config->line_of("[[domain]]"), 15U);
  EXPECT_TRUE(config->settings.domains[1].groups.empty());
  EXPECT_TRUE(with_domains("").value().settings.domains.empty());
}

TEST(ConfigDomains, ErrorsNameTheKeyItsValueAndWhatIsAccepted) {
  const std::pair<std::string, const char*> rows[] = {
      {"[domain]\nname = \"east\"\n", "f.toml:15: domain = a table: accepted is tables [[domain]]"},
      {"[[domain]]\nnodes = [1]\n", "f.toml:15: domain.name is missing: accepted is 1 to 32"},
      {kEast, "f.toml:15: domain.nodes is missing: accepted is a list of 1 to 128"},
      {"[[domain]]\nname = \"A\"\n", "f.toml:16: domain.name = \"A\": accepted is 1 to 32"},
      {kEast + "node = [1]\n",
       "f.toml:17: unknown key domain.node = [1]: did you mean domain.nodes?"},
      {kEast + "nodes = 1\n", "f.toml:17: domain.nodes = 1: accepted is a list of 1 to 128"},
      {kEast + "nodes = []\n", "f.toml:17: domain.nodes = a list: accepted is a list of 1 to 128"},
      {kEast + "nodes = [1, 1]\n", "f.toml:17: domain.nodes = [1, 1]: accepted is a list"},
      {kEast + "nodes = [0]\n", "f.toml:17: domain.nodes = [0]"},
      {kEast + "nodes = [65536]\n", "f.toml:17: domain.nodes = [65536]"},
      {kEast + "nodes = [\"a\"]\n", "f.toml:17: domain.nodes"},
      {kEast + "nodes = [1, 2]\nacceptors = [1, 2]\n",
       "f.toml:18: domain.acceptors = [1, 2]: accepted is an odd number"},
      {kEast + "nodes = [1, 2]\nacceptors = [3]\n",
       "f.toml:15: domain.acceptors of \"east\" has 3, which is none of its nodes"},
      {kEast + "nodes = [1]\ngroups = \"x\"\n", "f.toml:18: domain.groups = \"x\": accepted is"},
      {kEast + "nodes = [1]\ngroups = [1]\n", "f.toml:18: domain.groups"},
      {kEast + "nodes = [1]\ngroups = [\"a*b\"]\n", "f.toml:18: domain.groups"},
      {kEast + "nodes = [1]\ngroups = [\"#a\"]\n", "f.toml:18: domain.groups"},
      {kEast + "nodes = [1]\n" + kEast + "nodes = [2]\n",
       "f.toml:18: domain.name = \"east\" is there twice"},
      {kEast + "nodes = [7]\n",
       "f.toml:15: domain.nodes of \"east\" has none of [[nodes]]: accepted are their numbers"},
      {kEast + "nodes = [1, 7]\nacceptors = [7]\n",
       "f.toml:15: domain.acceptors of \"east\" has none of [[nodes]]"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(text);
    EXPECT_THAT(domain_error(text), testing::StartsWith(what));
  }
  std::string many;
  for (int i = 0; i < 16; ++i) {
    many += "[[domain]]\nname = \"d" + std::to_string(i) + "\"\nnodes = [1]\n";
  }
  EXPECT_THAT(domain_error(many), HasSubstr("domain has 16 entries: accepted are 0 to 15"));
}

TEST(ConfigDomains, GoWithOneEnsembleOfRidgeAlone) {
  const std::string good = kEast + "nodes = [1]\n";
  EXPECT_THAT(
      domain_error(good, ""),
      HasSubstr("f.toml:13: [[domain]] does not go with order = \"ring\", the default: leave it "
                "out, or set order = \"ridge\""));
  EXPECT_THAT(domain_error(good, "order = \"paxos\"\n"), HasSubstr("order = \"paxos\""));
  EXPECT_THAT(domain_error(good, "order = \"ridge\"\nridge.ensembles = 2\n"),
              HasSubstr("[[domain]] does not go with ridge.ensembles"));
  EXPECT_THAT(domain_error(good, "order = \"ridge\"\nridge.optimistic = true\n"),
              HasSubstr("[[domain]] does not go with ridge.optimistic"));
  EXPECT_THAT(domain_error(good, "order = \"ridge\"\npaxos.storage = \"memory\"\n"),
              HasSubstr("[[domain]] does not go with paxos.storage = \"memory\""));
}

TEST(ConfigDomains, ThatAreDisjointNameEachGroupOnce) {
  const std::string top = "order = \"ramcast\"\n";
  const std::string west = "[[domain]]\nname = \"west\"\nnodes = [2]\n";
  EXPECT_THAT(
      domain_error(kEast + "nodes = [1]\ngroups = [\"e*\"]\n" + west + "groups = [\"x\", \"e*\"]\n",
                   top),
      HasSubstr("domain.groups of \"west\" has \"e*\", which is one of \"east\", too"));
  EXPECT_EQ(
      domain_error(kEast + "nodes = [1]\ngroups = [\"e*\"]\n" + west + "groups = [\"*\"]\n", top),
      "it is accepted");
  EXPECT_THAT(domain_error(kEast + "nodes = [1, 2]\n" + west, top),
              HasSubstr("domain.nodes of \"west\" has 2, which is a node of \"east\", too"));
}

enum class Multicast { to_one_domain, genuine };

/// The destinations of a message of node a, which is in the domains east and south, as text.
std::string destinations_text(const std::vector<std::string_view>& names, Multicast multicast) {
  auto config = with_domains(kEast +
                             "nodes = [1]\n[[domain]]\nname = \"west\"\nnodes = [2]\n"
                             "[[domain]]\nname = \"south\"\nnodes = [1, 3]\n");
  if (!config) return config.error();
  order::Descriptor engine = *config->settings.order;
  engine.traits.genuine = multicast == Multicast::genuine;
  config->settings.order = &engine;
  const auto found = destinations(config->settings, names);
  if (!found) return found.error();
  std::string text = "to";
  for (const DomainId domain : *found) text += " " + std::to_string(domain);
  return text;
}

TEST(ConfigDomains, DestinationsAreOneDomainOfTheSendersOrAllNodes) {
  EXPECT_EQ(destinations_text({}, Multicast::to_one_domain), "to");
  EXPECT_EQ(destinations_text({"east"}, Multicast::to_one_domain), "to 1");
  EXPECT_EQ(destinations_text({"south", "south"}, Multicast::to_one_domain), "to 3");
  EXPECT_EQ(destinations_text({"west"}, Multicast::to_one_domain),
            "domain \"west\" is none that this node is in: accepted is \"east\", \"south\", or "
            "none, and all nodes learn the message");
  EXPECT_EQ(destinations_text({"south", "east"}, Multicast::to_one_domain),
            "domains \"east\", \"south\" are not accepted together: with order = \"ridge\", a "
            "message goes to one domain or to all nodes: name one domain, or none");
}

TEST(ConfigDomains, DestinationsWithAGenuineEngineAreAnyDomains) {
  EXPECT_EQ(destinations_text({}, Multicast::genuine), "to 1 2 3");
  EXPECT_EQ(destinations_text({"west"}, Multicast::genuine), "to 2");
  EXPECT_EQ(destinations_text({"south", "west"}, Multicast::genuine), "to 2 3");
  EXPECT_EQ(destinations_text({"west", "north"}, Multicast::genuine),
            "domain \"north\" is not configured: accepted is \"east\", \"west\", \"south\", or "
            "none, and the nodes of all domains learn the message");
}

const std::string kRamcast = "order = \"ramcast\"\n";

TEST(ConfigDomains, OfRamcastHaveNoNodeInCommonAndAllTheirNodesVote) {
  const std::string west = "[[domain]]\nname = \"west\"\n";
  const auto config = with_domains(kEast + "nodes = [1, 2]\n" + west + "nodes = [3]\n", kRamcast);
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->settings.domains.size(), 2U);
  // A node in no domain only sends.
  EXPECT_TRUE(with_domains(kEast + "nodes = [2, 3]\n", kRamcast));
  const std::pair<std::string, const char*> rows[] = {
      {kEast + "nodes = [1, 2]\n" + west + "nodes = [2, 3]\n",
       "which is a node of \"east\", too: accepted with order = \"ramcast\" are domains that have "
       "no node in common"},
      {kEast + "nodes = [1, 2, 3]\nacceptors = [1]\n",
       "is not accepted with order = \"ramcast\": leave it out, since all nodes of a domain vote"},
      {kEast + "nodes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n",
       "has 16 nodes, which is not accepted with order = \"ramcast\": it must be at most 15"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(text);
    EXPECT_THAT(domain_error(text, kRamcast), HasSubstr(what));
  }
}

TEST(ConfigDomains, NodesOfOneDomainOfRamcastMayShareAView) {
  const auto config = with_domains(kEast + "nodes = [1, 2]\n", kRamcast);
  ASSERT_TRUE(config) << config.error();
  EXPECT_TRUE(may_share_view(config->settings, NodeId{2}));
  EXPECT_FALSE(may_share_view(config->settings, NodeId{3}));
  const auto one = with_domains("", kRamcast);
  ASSERT_TRUE(one) << one.error();
  EXPECT_TRUE(may_share_view(one->settings, NodeId{3}));
  const auto ridge = with_domains(kEast + "nodes = [1]\n");
  ASSERT_TRUE(ridge) << ridge.error();
  EXPECT_TRUE(may_share_view(ridge->settings, NodeId{3})) << "views are those of all nodes";
}

TEST(ConfigDomains, WithoutThemRamcastTakesUpToFifteenNodes) {
  const auto config_of = [](int nodes) {
    std::string text = "cluster = \"demo\"\nnode = \"n1\"\ninsecure = true\n" + kRamcast;
    for (int i = 1; i <= nodes; ++i) {
      text += "[[nodes]]\nname = \"n" + std::to_string(i) +
              "\"\naddress = \"127.0.0.1:" + std::to_string(4800 + 2 * i) + "\"\n";
    }
    return parse_file(text, "f.toml", "");
  };
  EXPECT_TRUE(config_of(14)) << "an even number survives no more failures, but is accepted";
  EXPECT_TRUE(config_of(15));
  const auto many = config_of(16);
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error(),
              HasSubstr("nodes has 16 entries: with order = \"ramcast\", accepted are "
                        "up to 15 without [[domain]]; divide them into domains"));
}

// The example of [[domain]] in --print-config is accepted once its comment marks are removed.
TEST(ConfigDomains, TheHelpIsAnExample) {
  std::string text = annotated_file();
  text = text.substr(text.find("#[[domain]]"));
  text.resize(text.find("\n\n"));
  std::erase(text, '#');
  const auto config = with_domains(text);
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->settings.domains.at(0).name, "east");
}

// Domains of some engines share no message with all nodes, have no logs, and are smaller.
TEST(ConfigDomains, TheHelpIsTrueOfEachEngineWithDomains) {
  std::string text = annotated_file();
  text = text.substr(text.find("# Some nodes with an order of their own"));
  text.resize(text.find("\n\n"));
  EXPECT_EQ(text.find("with the messages to all nodes"), std::string::npos) << text;
  EXPECT_NE(text.find("where nodes keep logs"), std::string::npos) << text;
  EXPECT_NE(text.find("with order = \"ramcast\" 1 to 15"), std::string::npos) << text;
}

}  // namespace
}  // namespace peal::config
