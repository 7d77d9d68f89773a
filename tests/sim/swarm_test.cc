// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/swarm.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "base/digest.h"
#include "sim/run/pool.h"
#include "sim/run/runner.h"
#include "sim/world/engine_options.h"

namespace peal::sim {
namespace {

TEST(Swarm, EverySeedIsALegalStory) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    const Script script = make_swarm_script(seed, {});
    ASSERT_EQ(check_script(script), "") << script.text();
  }
}

TEST(Swarm, TheSameSeedIsTheSameStory) {
  EXPECT_EQ(make_swarm_script(7, {}).text(), make_swarm_script(7, {}).text());
  EXPECT_NE(make_swarm_script(7, {}).text(), make_swarm_script(8, {}).text());
}

/// A seed gives the same scenario on every machine and with every compiler. Update the number here
/// if the generator is changed deliberately.
TEST(Swarm, ASeedIsTheSameStoryEverywhere) {
  Digest digest;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::string text = make_swarm_script(seed, {}).text();
    digest.add(std::as_bytes(std::span(text.data(), text.size())));
  }
  EXPECT_EQ(digest.value(), 7441870625424460650U);
}

/// Commands and keys, each of which must be in at least 20 of 2,000 scenarios.
constexpr const char* kWanted[] = {"cluster drift",
                                   "cluster first-count",
                                   "cluster fan-out",
                                   "cluster driver",
                                   "cluster read-budget",
                                   "cluster socket",
                                   "cluster buffers",
                                   "cluster unit-buffers",
                                   "cluster submit-messages",
                                   "cluster room",
                                   "cluster priority",
                                   "cluster primary",
                                   "load",
                                   "load large",
                                   "load burst",
                                   "network loss",
                                   "network burst",
                                   "network duplicate",
                                   "network reorder",
                                   "network late",
                                   "network flip",
                                   "network partial",
                                   "network replay",
                                   "network mtu",
                                   "network large",
                                   "network bad-kind",
                                   "inject",
                                   "replay-old",
                                   "split",
                                   "split |",
                                   "cut",
                                   "heal",
                                   "flap",
                                   "link",
                                   "crash",
                                   "crash after-sends",
                                   "start",
                                   "start epoch",
                                   "pause",
                                   "slow",
                                   "leave",
                                   "application",
                                   "target",
                                   "drop",
                                   "delay",
                                   "duplicate",
                                   "clear",
                                   "settle",
                                   "settle |"};

/// A command or key that no scenario has is a blind spot of the generator.
TEST(Swarm, UsesEveryFaultAndEveryTunable) {
  std::map<std::string, int> words;
  std::set<std::string> nodes;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    std::istringstream text(make_swarm_script(seed, {}).text());
    std::set<std::string> here;
    for (std::string line; std::getline(text, line);) {
      std::istringstream in(line);
      std::string word;
      in >> word;
      const std::string command = word;
      here.insert(word);
      while (in >> word) {
        const std::size_t equals = word.find('=');
        if (equals != std::string::npos) here.insert(command + " " + word.substr(0, equals));
        if (word.rfind("nodes=", 0) == 0 && command == "cluster") nodes.insert(word);
        if (word == "after-sends" || word == "|") here.insert(command + " " + word);
      }
    }
    for (const std::string& word : here) ++words[word];
  }
  for (const char* wanted : kWanted) {
    EXPECT_GE(words[wanted], 20) << wanted;
  }
  for (const order::Option& option : order::default_engine().options()) {
    if (option.kind == order::Option::Kind::word) continue;
    const std::string name(option.name());
    EXPECT_GE(words["cluster " + name], 100) << name;
  }
  EXPECT_EQ(nodes.size(), 8U);
}

// Scenarios test the stored state of nodes only if logs are trimmed and nodes restart.
TEST(Swarm, LogsAreCutAndNodesRestartInARow) {
  SwarmOptions options;
  options.engine = EngineOptions(*order::find_engine("paxos"));
  constexpr int kSeeds = 500;
  std::map<std::string, int> stories;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Script script = make_swarm_script(seed, options);
    ASSERT_EQ(check_script(script), "") << script.text();
    const std::string text = script.text();
    for (const char* word : {" segment=", " history=", " suspect=", " epoch=+"}) {
      if (text.find(word) != std::string::npos) ++stories[word];
    }
  }
  EXPECT_GE(stories[" segment="], kSeeds / 2);
  EXPECT_GE(stories[" history="], kSeeds / 3);
  EXPECT_GE(stories[" suspect="], kSeeds / 5);
  EXPECT_GE(stories[" epoch=+"], kSeeds / 10);
}

TEST(Swarm, TakesWhatTheCallerFixes) {
  SwarmOptions options;
  options.nodes = 6;
  options.overrides = {"accelerated_window=0", "token_loss=90ms"};
  options.targeted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Script script = make_swarm_script(seed, options);
    ASSERT_EQ(check_script(script), "") << script.text();
    const std::string& cluster = script.lines[0].text;
    EXPECT_NE(cluster.find(" nodes=6 "), std::string::npos) << cluster;
    EXPECT_NE(cluster.find(" accelerated_window=0"), std::string::npos) << cluster;
    EXPECT_NE(cluster.find(" token_loss=90ms"), std::string::npos) << cluster;
    EXPECT_EQ(script.text().find("target "), std::string::npos);
  }
}

TEST(Swarm, AFewSeedsAreClean) {
  PoolOptions pool;
  pool.first = 1;
  pool.last = 20;
  SeedOptions options;
  run_pool(
      pool, [&options](std::uint64_t seed) { return run_seed(seed, options); },
      [](const RunResult& finding) { EXPECT_EQ(finding.property, "") << finding.text; });
}

}  // namespace
}  // namespace peal::sim
