// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "history_text.h"
#include "oracle/checker.h"
#include "trace/json.h"

// Checks the histories in histories/illegal and histories/legal.

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

std::vector<TextHistory> load(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PEAL_HISTORIES "/" + folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<TextHistory> all;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    auto histories = parse_histories(text.str(), path.filename().string());
    if (!histories.has_value()) {
      ADD_FAILURE() << folder << "/" << histories.error();
      continue;
    }
    for (TextHistory& history : *histories) all.push_back(std::move(history));
  }
  return all;
}

const std::vector<TextHistory>& illegal() {
  static const std::vector<TextHistory> all = load("illegal");
  return all;
}

const std::vector<TextHistory>& legal() {
  static const std::vector<TextHistory> all = load("legal");
  return all;
}

Options options_for(const TextHistory& history, bool live) {
  Options options;
  options.layer = history.layer;
  options.live_order = live;
  options.truncated_ok = history.cut;
  options.quorum = history.quorum || history.genuine;
  options.companies = history.companies;
  options.genuine = history.genuine;
  options.domains = history.domains;
  options.universe = history.universe;
  options.names = &history.names;
  return options;
}

Report judge(const std::vector<Event>& events, const Options& options) {
  Checker checker(options);
  for (const Event& event : events) checker.add(event);
  return checker.finish();
}

std::set<std::string> broken(const Report& report) {
  std::set<std::string> ids;
  for (const Violation& violation : report.violations) {
    ids.emplace(property_id(violation.property));
  }
  return ids;
}

std::string texts(const Report& report) {
  std::string out;
  for (const Violation& violation : report.violations) {
    out += std::string(property_id(violation.property)) + ": " + violation.text + "\n";
  }
  return out;
}

// All events of one member, then all events of the next member.
std::vector<Event> by_member(std::vector<Event> events, bool backwards) {
  std::stable_sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
    return backwards ? b.node < a.node : a.node < b.node;
  });
  return events;
}

// Takes one event of each member in turn.
std::vector<Event> in_turn(const std::vector<Event>& events) {
  std::map<MemberId, std::size_t> count;
  std::vector<std::pair<std::size_t, Event>> numbered;
  for (const Event& event : events) numbered.emplace_back(count[event.node]++, event);
  std::stable_sort(numbered.begin(), numbered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Event> out;
  for (auto& [number, event] : numbered) out.push_back(std::move(event));
  return out;
}

void expect_broken(const TextHistory& history, const std::vector<Event>& events, bool live,
                   const char* how) {
  SCOPED_TRACE(how);
  const Report report = judge(events, options_for(history, live));
  EXPECT_EQ(broken(report), history.breaks) << texts(report);
  EXPECT_EQ(report.ok(), history.breaks.empty());
  for (const std::string& says : history.says) {
    const bool said =
        std::any_of(report.violations.begin(), report.violations.end(),
                    [&](const Violation& v) { return v.text.find(says) != std::string::npos; });
    // Without a common clock another member may show the violation, and the text is different.
    if (live || history.merged_only) {
      EXPECT_TRUE(said) << says << "\n" << texts(report);
    }
  }
}

void expect_broken(const TextHistory& history) {
  if (!history.merged_only) expect_broken(history, history.events, true, "in real-time order");
  if (history.live_only) return;
  expect_broken(history, history.events, false, "without a clock");
  if (history.as_written) return;
  expect_broken(history, by_member(history.events, false), false, "member after member");
  expect_broken(history, by_member(history.events, true), false, "last member first");
  expect_broken(history, in_turn(history.events), false, "in turn");
}

class IllegalHistory : public testing::TestWithParam<std::size_t> {};
class LegalHistory : public testing::TestWithParam<std::size_t> {};

TEST_P(IllegalHistory, BreaksExactlyWhatItSays) {
  const TextHistory& history = illegal()[GetParam()];
  SCOPED_TRACE(history.file + ":" + std::to_string(history.line) + ": " + history.title);
  ASSERT_FALSE(history.breaks.empty());
  expect_broken(history);
}

TEST_P(LegalHistory, Passes) {
  const TextHistory& history = legal()[GetParam()];
  SCOPED_TRACE(history.file + ":" + std::to_string(history.line) + ": " + history.title);
  ASSERT_TRUE(history.breaks.empty());
  expect_broken(history);
}

// Every prefix of a legal history is legal.
TEST_P(LegalHistory, PassesUpToEveryInstant) {
  const TextHistory& history = legal()[GetParam()];
  SCOPED_TRACE(history.file + ":" + std::to_string(history.line) + ": " + history.title);
  if (history.merged_only) return;  // its lines are not in real-time order
  for (std::size_t count = 0; count <= history.events.size(); ++count) {
    const std::vector<Event> events(history.events.begin(),
                                    history.events.begin() + static_cast<std::ptrdiff_t>(count));
    const Report report = judge(events, options_for(history, true));
    EXPECT_TRUE(report.ok()) << count << " events\n" << texts(report);
  }
}

// A member's trace may lack its end, or all its events. The checker judges the others as if the
// member had died where its trace ends.
TEST_P(LegalHistory, PassesWithAnyMembersEndCutOff) {
  const TextHistory& history = legal()[GetParam()];
  SCOPED_TRACE(history.file + ":" + std::to_string(history.line) + ": " + history.title);
  Options options = options_for(history, false);
  options.truncated_ok = true;
  std::set<MemberId> members;
  for (const Event& event : history.events) members.insert(event.node);
  for (const MemberId& member : members) {
    const auto total = static_cast<std::size_t>(
        std::count_if(history.events.begin(), history.events.end(),
                      [&](const Event& event) { return event.node == member; }));
    for (std::size_t kept = 0; kept < total; ++kept) {
      std::size_t seen = 0;
      std::vector<Event> events;
      for (const Event& event : history.events) {
        if (event.node != member || seen++ < kept) events.push_back(event);
      }
      const Report report = judge(events, options);
      EXPECT_TRUE(report.ok()) << "without all but " << kept << " of "
                               << trace::text_of(member, history.names) << "\n"
                               << texts(report);
    }
  }
}

std::string test_name(const TextHistory& history) {
  std::string name = history.file.substr(0, history.file.find('.')) + "_" + history.title;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Oracle, IllegalHistory, testing::Range<std::size_t>(0, illegal().size()),
                         [](const auto& test) { return test_name(illegal()[test.param]); });
INSTANTIATE_TEST_SUITE_P(Oracle, LegalHistory, testing::Range<std::size_t>(0, legal().size()),
                         [](const auto& test) { return test_name(legal()[test.param]); });

TEST(Histories, AreMany) {
  EXPECT_GE(illegal().size(), 60U);
  EXPECT_GE(legal().size(), 40U);
}

TEST(Histories, BreakEveryProperty) {
  std::set<std::string> ids;
  for (const TextHistory& history : illegal()) {
    ids.insert(history.breaks.begin(), history.breaks.end());
  }
  EXPECT_EQ(ids.size(), kPropertyCount);
}

TEST(Histories, ReadBackTheSameFromJson) {
  for (const auto* all : {&illegal(), &legal()}) {
    for (const TextHistory& history : *all) {
      trace::Names names = history.names;
      std::string text;
      for (const Event& event : history.events) {
        text.clear();
        trace::append_json(text, event, names);
        ASSERT_EQ(text.back(), '\n');
        text.pop_back();
        const auto back = trace::parse_json(text, names);
        ASSERT_TRUE(back.has_value()) << back.error() << ": " << text;
        std::string again;
        trace::append_json(again, *back, names);
        EXPECT_EQ(again, text + "\n");
      }
    }
  }
}

TEST(HistoryText, NamesTheLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"a reg 1 a\n", "x:1: no history yet"},
      {"history t\na\n", "x:2: a line needs a process and a verb"},
      {"history t\n\na jumps\n", "x:3: which message?"},
      {"history t\na jumps m1\n", "x:2: unknown verb 'jumps'"},
      {"history t\nA reg 1 a\n", "x:2: 'A' is not a process"},
      {"history t\na reg one a\n", "x:2: 'one' is not a view"},
      {"history t\na dlv m1\n", "x:2: nobody sends 'm1': say from whom, and @ where"},
      {"history t\na reg 1 a\na send m1 @x\n", "x:3: 'x' is not a position"},
  };
  for (const auto& [text, error] : cases) {
    const auto histories = parse_histories(text, "x");
    ASSERT_FALSE(histories.has_value()) << text;
    EXPECT_EQ(histories.error(), error);
  }
}

}  // namespace
}  // namespace peal::oracle::test
