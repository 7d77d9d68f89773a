// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "oracle/checker.h"
#include "random_companies.h"
#include "random_history.h"
#include "random_quorum.h"
#include "reference.h"
#include "trace/json.h"

// Compares the checker with a slow and simple checker, on random histories.

namespace peal::oracle::test {
namespace {

using trace::Event;

constexpr std::uint64_t kSeeds = 300;

Report judge(const std::vector<Event>& events, bool live, bool truncated_ok = false,
             Promises promises = Promises::all) {
  Options options;
  options.quorum = promises == Promises::quorum;
  options.companies = promises == Promises::companies;
  options.live_order = live;
  options.truncated_ok = truncated_ok;
  Checker checker(options);
  for (const Event& event : events) checker.add(event);
  return checker.finish();
}

std::set<std::string> ids_of(const Report& report) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    if (report.violations_of[i] != 0) ids.emplace(property_id(static_cast<Property>(i)));
  }
  return ids;
}

std::string lines_of(const std::vector<Event>& events, const Report& report) {
  std::string out;
  for (const Event& event : events) trace::append_json(out, event, trace::Names());
  for (const Violation& violation : report.violations) {
    out += std::string(property_id(violation.property)) + ": " + violation.text + "\n";
  }
  return out;
}

// Mixes the events of members. The order of each member's own events stays.
std::vector<Event> shuffled(const std::vector<Event>& events, Random& random) {
  std::map<MemberId, std::vector<Event>> queues;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    queues[event->node].push_back(*event);
  }
  std::vector<Event> out;
  while (!queues.empty()) {
    auto queue = queues.begin();
    std::advance(queue, static_cast<std::ptrdiff_t>(random.below(queues.size())));
    for (std::uint64_t n = 1 + random.below(30); n > 0 && !queue->second.empty(); --n) {
      out.push_back(queue->second.back());
      queue->second.pop_back();
    }
    if (queue->second.empty()) queues.erase(queue);
  }
  return out;
}

// Removes the last events of some members.
void cut_ends(std::vector<Event>& events, Random& random) {
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

TEST(Differential, LegalHistoriesPass) {
  std::uint64_t deliveries = 0;
  std::uint64_t transitional = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const std::vector<Event> events = random_history(random);
    const Report report = judge(events, true);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    ASSERT_TRUE(judge_slowly(events).empty()) << "seed " << seed;
    deliveries += report.figures.deliveries;
    transitional += report.figures.transitional_deliveries;
  }
  EXPECT_GT(deliveries, 20 * kSeeds);
  EXPECT_GT(transitional, kSeeds);
}

TEST(Differential, LegalHistoriesPassWithoutAClock) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const std::vector<Event> events = shuffled(random_history(random), random);
    const Report report = judge(events, false);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    EXPECT_EQ(report.figures.unwitnessed, 0U);
  }
}

TEST(Differential, LegalHistoriesPassWithEndsCutOff) {
  std::uint64_t unwitnessed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = shuffled(random_history(random), random);
    cut_ends(events, random);
    const Report report = judge(events, false, true);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    unwitnessed += report.figures.unwitnessed;
  }
  EXPECT_GT(unwitnessed, kSeeds);
}

TEST(Differential, DamagedHistoriesBreakTheSameProperties) {
  std::map<std::string, std::uint64_t> count;
  std::uint64_t legal = 0;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_history(random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) damage(events, random);
    const Report report = judge(events, true);
    const std::set<std::string> ids = ids_of(report);
    ASSERT_EQ(ids, judge_slowly(events)) << "seed " << seed << "\n" << lines_of(events, report);
    for (const std::string& id : ids) ++count[id];
    if (ids.empty()) ++legal;
  }
  for (const char* id : {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9"}) {
    EXPECT_GE(count[id], 5U) << id;
  }
  EXPECT_LT(legal, kSeeds);
}

// Without a clock the checker detects the same violations. Violations of E1, E2, E3 and E9 are left
// out, because they depend on the order of events.
TEST(Differential, DamagedHistoriesBreakTheSamePropertiesWithoutAClock) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_history(random);
    damage(events, random);
    const std::set<std::string> ids = ids_of(judge(events, true));
    if (ids.empty() || ids.contains("E1") || ids.contains("E2") || ids.contains("E3") ||
        ids.contains("E9")) {
      continue;
    }
    ++compared;
    const std::vector<Event> mixed = shuffled(events, random);
    const Report report = judge(mixed, false);
    ASSERT_EQ(ids_of(report), ids) << "seed " << seed << "\n" << lines_of(mixed, report);
  }
  EXPECT_GT(compared, kSeeds / 4);
}

TEST(QuorumDifferential, LegalHistoriesPass) {
  std::uint64_t unwitnessed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_quorum_history(random);
    const Report report = judge(events, true, false, Promises::quorum);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    ASSERT_TRUE(judge_slowly(events, Promises::quorum).empty()) << "seed " << seed;
    unwitnessed += report.figures.unwitnessed;
    const std::vector<Event> mixed = shuffled(events, random);
    const Report without_clock = judge(mixed, false, false, Promises::quorum);
    ASSERT_TRUE(without_clock.ok()) << "seed " << seed << "\n" << lines_of(mixed, without_clock);
    EXPECT_EQ(without_clock.figures.unwitnessed, report.figures.unwitnessed);
    cut_ends(events, random);
    const Report cut = judge(events, false, true, Promises::quorum);
    ASSERT_TRUE(cut.ok()) << "seed " << seed << "\n" << lines_of(events, cut);
  }
  EXPECT_GT(unwitnessed, kSeeds / 4) << "messages whose sender crashed";
}

TEST(QuorumDifferential, DamagedHistoriesBreakTheSameProperties) {
  std::map<std::string, std::uint64_t> count;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events =
        random.chance(0.7) ? random_quorum_history(random) : random_history(random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) damage(events, random);
    const Report report = judge(events, true, false, Promises::quorum);
    const std::set<std::string> ids = ids_of(report);
    ASSERT_EQ(ids, judge_slowly(events, Promises::quorum)) << "seed " << seed << "\n"
                                                           << lines_of(events, report);
    for (const std::string& id : ids) ++count[id];
  }
  for (const char* id : {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "uniform", "chain"}) {
    EXPECT_GE(count[id], 5U) << id;
  }
  EXPECT_EQ(count["E9"], 0U);
}

std::uint64_t count_of(const Report& report, std::string_view text) {
  return static_cast<std::uint64_t>(
      std::count_if(report.violations.begin(), report.violations.end(),
                    [&](const Violation& v) { return v.text.find(text) != std::string::npos; }));
}

// Whether two members deliver two messages of the service in different orders.
bool has_two_orders(const std::vector<Event>& events, Service service) {
  std::map<MemberId, std::map<trace::MessageId, std::size_t>> delivered;
  for (const Event& event : events) {
    if (event.kind != trace::Kind::deliver || event.service != service) continue;
    auto& own = delivered[event.node];
    own.try_emplace(event.message, own.size());
  }
  for (const auto& [a, own] : delivered) {
    for (const auto& [b, other] : delivered) {
      std::map<std::size_t, std::size_t> both;  // by place at a: place at b
      for (const auto& [message, at] : own) {
        if (const auto found = other.find(message); found != other.end()) both[at] = found->second;
      }
      std::size_t last = 0;
      for (const auto& [at_a, at_b] : both) {
        if (at_b < last) return true;
        last = at_b;
      }
    }
  }
  return false;
}

TEST(CompaniesDifferential, LegalHistoriesPass) {
  std::uint64_t unwitnessed = 0, deliveries = 0, transitional = 0;
  std::map<Service, std::uint64_t> two_orders;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_companies_history(random);
    const Report report = judge(events, true, false, Promises::companies);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    ASSERT_TRUE(judge_slowly(events, Promises::companies).empty()) << "seed " << seed;
    unwitnessed += report.figures.unwitnessed;
    deliveries += report.figures.deliveries;
    transitional += report.figures.transitional_deliveries;
    for (const Service service : {Service::causal, Service::agreed, Service::safe}) {
      if (has_two_orders(events, service)) ++two_orders[service];
    }
    const std::vector<Event> mixed = shuffled(events, random);
    const Report without_clock = judge(mixed, false, false, Promises::companies);
    ASSERT_TRUE(without_clock.ok()) << "seed " << seed << "\n" << lines_of(mixed, without_clock);
    EXPECT_EQ(without_clock.figures.unwitnessed, report.figures.unwitnessed);
    cut_ends(events, random);
    const Report cut = judge(events, false, true, Promises::companies);
    ASSERT_TRUE(cut.ok()) << "seed " << seed << "\n" << lines_of(events, cut);
  }
  EXPECT_GT(unwitnessed, kSeeds / 4) << "messages whose sender crashed";
  EXPECT_GT(deliveries, 20 * kSeeds);
  EXPECT_GT(transitional, 5 * kSeeds);
  EXPECT_GT(two_orders[Service::causal], kSeeds / 4);
  EXPECT_GT(two_orders[Service::agreed], kSeeds / 20);
  EXPECT_GT(two_orders[Service::safe], kSeeds / 50);
}

// Each prefix of a legal history is legal.
TEST(CompaniesDifferential, LegalHistoriesPassUpToAnyInstant) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_companies_history(random);
    events.resize(random.below(events.size()));
    const Report report = judge(events, true, false, Promises::companies);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << lines_of(events, report);
    ASSERT_TRUE(judge_slowly(events, Promises::companies).empty()) << "seed " << seed;
  }
}

TEST(CompaniesDifferential, DamagedHistoriesBreakTheSameProperties) {
  std::map<std::string, std::uint64_t> count;
  for (std::uint64_t seed = 0; seed < 8 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events =
        random.chance(0.8) ? random_companies_history(random) : random_history(random);
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      random.below(2) == 0 ? damage(events, random) : exchange_deliveries(events, random);
    }
    const Report report = judge(events, true, false, Promises::companies);
    const std::set<std::string> ids = ids_of(report);
    ASSERT_EQ(ids, judge_slowly(events, Promises::companies)) << "seed " << seed << "\n"
                                                              << lines_of(events, report);
    for (const std::string& id : ids) ++count[id];
    if (count_of(report, "have no common order") != 0) ++count["safe order"];
    if (count_of(report, "both are of one company") != 0) ++count["company"];
    if (ids.empty()) ++count["legal"];
  }
  for (const char* id : {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "acyclic", "told",
                         "safe order", "company"}) {
    EXPECT_GE(count[id], 5U) << id;
  }
  EXPECT_EQ(count["uniform"] + count["chain"], 0U);
  EXPECT_LT(count["legal"], 4 * kSeeds);
}

TEST(CompaniesDifferential, DamagedHistoriesBreakTheSamePropertiesWithoutAClock) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Random random(seed);
    std::vector<Event> events = random_companies_history(random);
    random.below(4) == 0 ? damage(events, random) : exchange_deliveries(events, random);
    const std::set<std::string> ids = ids_of(judge(events, true, false, Promises::companies));
    if (ids.empty() || ids.contains("E1") || ids.contains("E2") || ids.contains("E3") ||
        ids.contains("E9")) {
      continue;
    }
    ++compared;
    const std::vector<Event> mixed = shuffled(events, random);
    const Report report = judge(mixed, false, false, Promises::companies);
    ASSERT_EQ(ids_of(report), ids) << "seed " << seed << "\n" << lines_of(mixed, report);
  }
  EXPECT_GT(compared, kSeeds / 2);
}

}  // namespace
}  // namespace peal::oracle::test
