// SPDX-License-Identifier: Apache-2.0
#include "oracle/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "group_text.h"

// Checks the histories in histories/groups.

namespace peal::oracle::test {
namespace {

std::vector<GroupText> load(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(PEAL_HISTORIES "/groups/" + folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<GroupText> all;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    auto histories = parse_groups(text.str(), path.filename().string());
    if (!histories.has_value()) {
      ADD_FAILURE() << folder << "/" << histories.error();
      continue;
    }
    for (GroupText& history : *histories) all.push_back(std::move(history));
  }
  return all;
}

const std::vector<GroupText>& illegal() {
  static const std::vector<GroupText> all = load("illegal");
  return all;
}

const std::vector<GroupText>& legal() {
  static const std::vector<GroupText> all = load("legal");
  return all;
}

GroupReport judge(const GroupText& history, std::size_t count) {
  GroupChecker::Options options;
  options.names = &history.names;
  options.at_once = history.at_once;
  options.companies = history.companies;
  options.crash_stop = history.crash_stop;
  GroupChecker checker(options);
  checker.set_domains(domains_of(history));
  for (std::size_t i = 0; i < count; ++i) play(checker, history.events[i]);
  return checker.finish();
}

std::set<std::string> broken(const GroupReport& report) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kGroupPropertyCount; ++i) {
    if (report.violations_of[i] != 0) {
      ids.emplace(group_property_id(static_cast<GroupProperty>(i)));
    }
  }
  return ids;
}

std::string texts(const GroupReport& report) {
  std::string out;
  for (const GroupViolation& violation : report.violations) {
    out += std::string(group_property_id(violation.property)) + ": " + violation.text + "\n";
  }
  return out;
}

std::string place(const GroupText& history) {
  return history.file + ":" + std::to_string(history.line) + ": " + history.title;
}

class IllegalGroups : public testing::TestWithParam<std::size_t> {};
class LegalGroups : public testing::TestWithParam<std::size_t> {};

TEST_P(IllegalGroups, BreakExactlyWhatTheySay) {
  const GroupText& history = illegal()[GetParam()];
  SCOPED_TRACE(place(history));
  ASSERT_EQ(history.breaks.size(), 1U);
  const GroupReport report = judge(history, history.events.size());
  EXPECT_EQ(broken(report), history.breaks) << texts(report);
  EXPECT_FALSE(report.ok());
  for (const std::string& says : history.says) {
    EXPECT_NE(texts(report).find(says), std::string::npos) << says << "\n" << texts(report);
  }
}

// Every prefix of a legal history is legal.
TEST_P(LegalGroups, PassUpToEveryInstant) {
  const GroupText& history = legal()[GetParam()];
  SCOPED_TRACE(place(history));
  ASSERT_TRUE(history.breaks.empty());
  for (std::size_t count = 0; count <= history.events.size(); ++count) {
    const GroupReport report = judge(history, count);
    EXPECT_TRUE(report.ok()) << count << " events\n" << texts(report);
  }
}

std::string test_name(const GroupText& history) {
  std::string name = history.file.substr(0, history.file.find('.')) + "_" + history.title;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Oracle, IllegalGroups, testing::Range<std::size_t>(0, illegal().size()),
                         [](const auto& test) { return test_name(illegal()[test.param]); });
INSTANTIATE_TEST_SUITE_P(Oracle, LegalGroups, testing::Range<std::size_t>(0, legal().size()),
                         [](const auto& test) { return test_name(legal()[test.param]); });

TEST(Groups, BreakEveryProperty) {
  std::set<std::string> ids;
  for (const GroupText& history : illegal()) {
    ids.insert(history.breaks.begin(), history.breaks.end());
  }
  EXPECT_EQ(ids.size(), kGroupPropertyCount);
  EXPECT_GE(illegal().size(), 60U);
  EXPECT_GE(legal().size(), 25U);
}

constexpr MemberId kA{NodeId{1}, 1};
constexpr MemberId kB{NodeId{2}, 1};
constexpr ViewId kView{1, kA};

TEST(Groups, CountWhatHappened) {
  const std::string text =
      "history t\na/1,b/1 connect\na/1,b/1 view g 1+1 network a/1,b/1 with me\n"
      "a/1 send m to g,h\na/1,b/1 dlv m\na/1,b/1 trans g\na/1,b/1 view g 2+1 network a/1,b/1\n"
      "a/1 left g\nb/1 gone\na exchange 2 1\nb exchange 2 1\na table 2\n";
  const auto histories = parse_groups(text, "x");
  ASSERT_TRUE(histories.has_value());
  const GroupReport report = judge(histories->front(), histories->front().events.size());
  EXPECT_TRUE(report.ok()) << texts(report);
  const GroupFigures& figures = report.figures;
  EXPECT_EQ(figures.clients, 2U);
  EXPECT_EQ(figures.gone, 1U);
  EXPECT_EQ(figures.groups, 1U);
  EXPECT_EQ(figures.messages, 1U);
  EXPECT_EQ(figures.deliveries, 2U);
  EXPECT_EQ(figures.states, 2U);
  EXPECT_EQ(figures.views, 4U);
  EXPECT_EQ(figures.network_views, 4U);
  EXPECT_EQ(figures.transitional, 2U);
  EXPECT_EQ(figures.left, 1U);
  EXPECT_EQ(figures.exchanges, 2U);
  EXPECT_EQ(figures.tables, 1U);
  EXPECT_EQ(figures.compared, 1U);
}

TEST(Groups, JudgeTheLastTableOfANode) {
  GroupChecker checker;
  const ClientId client{kA, 1};
  const std::vector<GroupTableEntry> one{{"g", {kView, 1}, {client}}};
  checker.connected(1, client);
  checker.final_table(kA, kView, one);
  checker.final_table(kA, kView, {});
  const GroupReport report = checker.finish();
  EXPECT_TRUE(report.ok()) << texts(report);
  EXPECT_EQ(report.figures.tables, 1U);
}

TEST(Groups, KeepTheFirstViolationsAndCountAll) {
  GroupChecker::Options options;
  options.violations_max = 3;
  GroupChecker checker(options);
  for (int i = 0; i < 10; ++i) checker.left(i, {kA, 1}, "g");
  EXPECT_EQ(checker.violations_total(), 10U);
  const GroupReport report = checker.finish();
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.violations.size(), 3U);
  EXPECT_EQ(report.violations_total, 10U);
  EXPECT_EQ(report.violations_of[static_cast<std::size_t>(GroupProperty::g6_members_only)], 10U);
}

TEST(Groups, SayWhatAndWhen) {
  trace::Names names;
  ASSERT_TRUE(names.set(NodeId{1}, "anna"));
  for (const trace::Names* known :
       {static_cast<const trace::Names*>(nullptr), static_cast<const trace::Names*>(&names)}) {
    GroupChecker::Options options;
    options.names = known;
    GroupChecker checker(options);
    checker.exchanged(5, kA, kView, 1);
    checker.exchanged(1234, kB, kView, 2);
    const GroupReport report = checker.finish();
    ASSERT_EQ(report.violations.size(), 1U);
    const std::string anna = known == nullptr ? "#1.1" : "anna.1";
    EXPECT_EQ(report.violations[0].property, GroupProperty::g1_equal_tables);
    EXPECT_EQ(report.violations[0].at_ns, 1234);
    EXPECT_EQ(report.violations[0].text,
              "#2.1 completes the exchange in view 1@" + anna + " with another table than " + anna);
  }
}

TEST(Groups, MoveWithTheirHistory) {
  GroupChecker first;
  first.exchanged(1, kA, kView, 1);
  GroupChecker second = std::move(first);
  second.exchanged(2, kB, kView, 2);
  EXPECT_EQ(second.violations_total(), 1U);
  GroupChecker third;
  third = GroupChecker();
  EXPECT_TRUE(third.finish().ok());
}

TEST(GroupText, NamesTheLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"a/1 connect\n", "x:1: no history yet"},
      {"history t\na/1\n", "x:2: a line needs somebody and a verb"},
      {"history t\n\na/1 jumps g\n", "x:3: unknown verb 'jumps'"},
      {"history t\na connect\n", "x:2: 'a' is not a client"},
      {"history t\nA/1 connect\n", "x:2: 'A' is not a node"},
      {"history t\na/x connect\n", "x:2: 'x' is not a number"},
      {"history t\na/1 view g 1+1 why a/1\n", "x:2: 'why' is not a cause"},
      {"history t\na table 1 g\n", "x:2: 'g' is not an entry"},
  };
  for (const auto& [text, error] : cases) {
    const auto histories = parse_groups(text, "x");
    ASSERT_FALSE(histories.has_value()) << text;
    EXPECT_EQ(histories.error(), error);
  }
}

}  // namespace
}  // namespace peal::oracle::test
