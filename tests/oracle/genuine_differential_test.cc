// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "oracle/checker.h"
#include "random_genuine.h"
#include "random_history.h"
#include "reference.h"
#include "trace/json.h"

// Compares the checker with a slow and simple checker, on random histories of genuine multicast.

namespace peal::oracle::test {
namespace {

using trace::Event;

constexpr std::uint64_t kGenuineSeeds = 300;

enum class Clock { common, none };
enum class Ends { whole, cut };

Report judge_genuine(const GenuineHistory& history, Clock clock = Clock::common,
                     Ends ends = Ends::whole) {
  Options options;
  options.quorum = true;
  options.genuine = true;
  options.domains = history.domains;
  options.live_order = clock == Clock::common;
  options.truncated_ok = ends == Ends::cut;
  Checker checker(options);
  for (const Event& event : history.events) checker.add(event);
  return checker.finish();
}

std::set<std::string> broken_by(const Report& report) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    if (report.violations_of[i] != 0) ids.emplace(property_id(static_cast<Property>(i)));
  }
  return ids;
}

std::string described(const GenuineHistory& history, const Report& report) {
  std::string out = "domains";
  for (const auto& nodes : history.domains) {
    out += " ";
    for (const NodeId node : nodes) out += "#" + std::to_string(node.value);
  }
  out += "\n";
  for (const Event& event : history.events) trace::append_json(out, event, trace::Names());
  for (const Violation& violation : report.violations) {
    out += std::string(property_id(violation.property)) + ": " + violation.text + "\n";
  }
  return out;
}

// Mixes the events of members. The order of each member's own events stays.
void shuffle(std::vector<Event>& events, Random& random) {
  std::map<MemberId, std::vector<Event>> queues;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    queues[event->node].push_back(*event);
  }
  events.clear();
  while (!queues.empty()) {
    auto queue = queues.begin();
    std::advance(queue, static_cast<std::ptrdiff_t>(random.below(queues.size())));
    for (std::uint64_t n = 1 + random.below(30); n > 0 && !queue->second.empty(); --n) {
      events.push_back(queue->second.back());
      queue->second.pop_back();
    }
    if (queue->second.empty()) queues.erase(queue);
  }
}

// Removes the last events of some members.
void cut_some_ends(std::vector<Event>& events, Random& random) {
  std::map<MemberId, std::size_t> kept;
  for (const Event& event : events) ++kept[event.node];
  for (auto& [member, count] : kept) {
    if (random.below(2) == 0) count = random.below(count + 1);
  }
  std::erase_if(events, [&](const Event& event) {
    std::size_t& left = kept[event.node];
    if (left != 0) return --left, false;
    return true;
  });
}

TEST(GenuineDifferential, LegalHistoriesPass) {
  std::uint64_t deliveries = 0, shared = 0, answers = 0, unwitnessed = 0;
  for (std::uint64_t seed = 0; seed < kGenuineSeeds; ++seed) {
    Random random(seed);
    GenuineHistory history = random_genuine_history(random);
    const Report report = judge_genuine(history);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << described(history, report);
    ASSERT_TRUE(judge_slowly(history.events, history.domains).empty()) << "seed " << seed;
    for (const Event& event : history.events) {
      const bool delivers = event.kind == trace::Kind::deliver;
      if (delivers && event.domains.size() != 1 && history.domains.size() > 1) ++shared;
      if (event.kind == trace::Kind::originate && event.view.number == 0) ++answers;
    }
    deliveries += report.figures.deliveries;
    shuffle(history.events, random);
    const Report mixed = judge_genuine(history, Clock::none);
    ASSERT_TRUE(mixed.ok()) << "seed " << seed << "\n" << described(history, mixed);
    cut_some_ends(history.events, random);
    const Report cut = judge_genuine(history, Clock::none, Ends::cut);
    ASSERT_TRUE(cut.ok()) << "seed " << seed << "\n" << described(history, cut);
    unwitnessed += cut.figures.unwitnessed;
  }
  EXPECT_GT(deliveries, 10 * kGenuineSeeds);
  EXPECT_GT(shared, 2 * kGenuineSeeds);
  EXPECT_GT(answers, kGenuineSeeds);
  EXPECT_GT(unwitnessed, kGenuineSeeds);
}

// At any instant, the history so far is legal as well.
TEST(GenuineDifferential, LegalHistoriesPassUpToAnyInstant) {
  for (std::uint64_t seed = 0; seed < kGenuineSeeds; ++seed) {
    Random random(seed);
    GenuineHistory history = random_genuine_history(random);
    history.events.resize(random.below(history.events.size()));
    const Report report = judge_genuine(history);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << described(history, report);
    ASSERT_TRUE(judge_slowly(history.events, history.domains).empty()) << "seed " << seed;
  }
}

TEST(GenuineDifferential, DamagedHistoriesBreakTheSameProperties) {
  std::map<std::string, std::uint64_t> count;
  for (std::uint64_t seed = 0; seed < 8 * kGenuineSeeds; ++seed) {
    Random random(seed);
    GenuineHistory history = random_genuine_history(random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      random.below(2) == 0 ? damage(history.events, random)
                           : damage_destinations(history.events, random);
    }
    const Report report = judge_genuine(history);
    const std::set<std::string> ids = broken_by(report);
    ASSERT_EQ(ids, judge_slowly(history.events, history.domains)) << "seed " << seed << "\n"
                                                                  << described(history, report);
    for (const std::string& id : ids) ++count[id];
    if (ids.empty()) ++count["legal"];
  }
  for (const char* id : {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "uniform", "chain", "acyclic"}) {
    EXPECT_GE(count[id], 5U) << id;
  }
  EXPECT_EQ(count["E9"], 0U);
  EXPECT_LT(count["legal"], 4 * kGenuineSeeds);
}

// Without a clock, the checker detects the same violations. Violations of E1, E2 and E3 are left
// out, because they depend on the order of events. So does E7 if a message has two places.
TEST(GenuineDifferential, DamagedHistoriesBreakTheSamePropertiesWithoutAClock) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < 8 * kGenuineSeeds; ++seed) {
    Random random(seed);
    GenuineHistory history = random_genuine_history(random);
    random.below(2) == 0 ? damage(history.events, random)
                         : damage_destinations(history.events, random);
    const Report live = judge_genuine(history);
    const std::set<std::string> ids = broken_by(live);
    const bool two_places =
        std::any_of(live.violations.begin(), live.violations.end(), [](const Violation& v) {
          return v.text.find("another event has it") != std::string::npos;
        });
    if (ids.empty() || two_places || ids.contains("E1") || ids.contains("E2") ||
        ids.contains("E3")) {
      continue;
    }
    ++compared;
    shuffle(history.events, random);
    const Report report = judge_genuine(history, Clock::none);
    ASSERT_EQ(broken_by(report), ids) << "seed " << seed << "\n" << described(history, report);
  }
  EXPECT_GT(compared, kGenuineSeeds / 4);
}

}  // namespace
}  // namespace peal::oracle::test
