// SPDX-License-Identifier: Apache-2.0
#include "oracle/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/random.h"

namespace peal::oracle {
namespace {

// Each test has a folder of its own.
class Files : public testing::Test {
 protected:
  Files() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("peal_oracle_" + std::to_string(::getpid()) + "_" + test->name());
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  static Result<FilesReport, std::string> check(const std::vector<std::string>& paths) {
    return check_files(paths, file_options());
  }

  std::filesystem::path folder_;
};

std::string trace_line(const std::string& node, const std::string& rest, int at = 1) {
  return R"({"at":)" + std::to_string(at) + R"(,"layer":"order","node":")" + node + R"(",)" + rest +
         "}\n";
}

const std::string kFilesView =
    R"("ev":"view","view":"1@a.1","kind":"regular","members":["a.1","b.1"])";
const std::string kHash = R"("service":"agreed","hash":"00000000000000aa")";

std::string sender(int count) {
  std::string text = trace_line("a.1", R"("ev":"start")") + trace_line("a.1", kFilesView);
  for (int n = 1; n <= count; ++n) {
    const std::string id = R"("msg":"a.1:)" + std::to_string(n) + R"(",)";
    const std::string place = R"("view":"1@a.1","seq":)" + std::to_string(n) + ",";
    text += trace_line("a.1", R"("ev":"submit",)" + id + kHash + R"(,"bytes":3)", 10 * n);
    text += trace_line("a.1", R"("ev":"originate",)" + id + place + R"("service":"agreed")",
                       10 * n + 1);
    text += trace_line("a.1", R"("ev":"deliver",)" + id + place + kHash, 10 * n + 2);
  }
  return text;
}

std::string receiver(int count) {
  std::string text = trace_line("b.1", R"("ev":"start")") + trace_line("b.1", kFilesView);
  for (int n = 1; n <= count; ++n) {
    text += trace_line("b.1",
                       R"("ev":"deliver","msg":"a.1:)" + std::to_string(n) +
                           R"(","view":"1@a.1","seq":)" + std::to_string(n) + "," + kHash,
                       10 * n + 5);
  }
  return text;
}

// Node a sends messages to domain 1. Node b may be in the domain or outside it. If b is in the
// domain, it must not lack the first message. A node that restarts in other domains is an error.
TEST_F(Files, KnowWhoLearnsWhat) {
  const auto insert_before = [](std::string& text, const std::string& mark,
                                const std::string& what) {
    for (auto at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + what.size() + mark.size())) {
      text.insert(at, what);
    }
  };
  const auto with = [&](std::string text, const std::string& domains) {
    const std::string start = R"("ev":"start")";
    text.insert(text.find(start) + start.size(), R"(,"order":"ridge")" + domains);
    insert_before(text, R"("seq":)", R"("domain":1,)");
    insert_before(text, R"("bytes":)", R"("domain":1,)");
    return text;
  };
  const std::string in_it = R"(,"domains":[1])";
  const std::string sends = with(sender(2), in_it);
  std::string lacks = receiver(2);
  const auto first = lacks.find(R"("msg":"a.1:1")");
  const auto begin = lacks.rfind('\n', first) + 1;
  lacks.erase(begin, lacks.find('\n', first) + 1 - begin);
  const auto nothing =
      trace_line("b.1", R"("ev":"start","order":"ridge")") + trace_line("b.1", kFilesView);

  const auto whole = check({write("a", sends), write("b", with(receiver(2), in_it))});
  ASSERT_TRUE(whole.has_value()) << whole.error();
  EXPECT_TRUE(whole->ok());
  const auto outside = check({write("a", sends), write("b", nothing)});
  ASSERT_TRUE(outside.has_value()) << outside.error();
  EXPECT_TRUE(outside->ok());
  const auto lacking = check({write("a", sends), write("b", with(lacks, in_it))});
  ASSERT_TRUE(lacking.has_value()) << lacking.error();
  EXPECT_FALSE(lacking->ok());
  const auto changed =
      check({write("a", sends),
             write("b", nothing + trace_line("b.2", R"("ev":"start","order":"ridge","domains":[2])",
                                             9))});
  ASSERT_FALSE(changed.has_value());
  EXPECT_NE(changed.error().find("b:3: this node was in other domains before"), std::string::npos)
      << changed.error();
}

TEST_F(Files, AcceptsWhatIsLegal) {
  const auto report = check({write("a", sender(5)), write("b", receiver(5))});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->lines, 24U);
  EXPECT_EQ(report->cut_lines, 0U);
  EXPECT_EQ(report->order.figures.deliveries, 10U);
  EXPECT_EQ(report->order.figures.crashed, 2U);
  EXPECT_EQ(report->unit.figures.deliveries, 0U);
}

TEST_F(Files, NeedsNoCommonClockAndNoOrderOfFiles) {
  std::string early = receiver(5);
  for (std::size_t at = early.find("\"at\":"); at != std::string::npos;
       at = early.find("\"at\":", at + 6)) {
    early.insert(at + 5, "-");
  }
  const std::string a = write("a", sender(5));
  const std::string b = write("b", early);
  for (const auto& paths : {std::vector<std::string>{a, b}, std::vector<std::string>{b, a}}) {
    const auto report = check(paths);
    ASSERT_TRUE(report.has_value()) << report.error();
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->order.figures.unwitnessed, 0U);
  }
}

// Node b delivers a message whose sender died before the sender knew the place. Paxos allows that.
// A ring does not, because there the sender itself gives the place.
TEST_F(Files, JudgesByThePromisesOfTheEngineThatTheTracesName) {
  const auto start = [](const std::string& node, const std::string& more) {
    return trace_line(node, R"("ev":"start")" + more);
  };
  const auto both = [&](const std::string& more) {
    std::string first = start("a.1", more) + trace_line("a.1", kFilesView);
    first += trace_line("a.1", R"("ev":"submit","msg":"a.1:1",)" + kHash + R"(,"bytes":3)", 10);
    const std::string second = start("b.1", more) + receiver(1).substr(start("b.1", "").size());
    return std::vector<std::string>{write("a", first), write("b", second)};
  };
  Options strict = file_options();
  strict.truncated_ok = false;
  const auto paxos = check_files(both(R"(,"order":"paxos")"), strict);
  ASSERT_TRUE(paxos.has_value()) << paxos.error();
  EXPECT_TRUE(paxos->ok()) << paxos->order.violations[0].text;
  const auto ring = check_files(both(""), strict);
  ASSERT_TRUE(ring.has_value()) << ring.error();
  EXPECT_FALSE(ring->ok());
}

// Two members deliver two causal messages, each its own first: a ring has one order for all.
TEST_F(Files, JudgeCausalMessagesByTheEngineThatTheTracesName) {
  const std::string sent = R"("service":"causal")";
  const std::string taken = sent + R"(,"hash":"00000000000000aa")";
  const auto trace = [&](const std::string& node, const std::string& other,
                         const std::string& engine) {
    const std::string own = R"("msg":")" + node + R"(:1",)";
    const std::string place = R"("view":"1@a.1","seq":0,)";
    return trace_line(node, R"("ev":"start")" + engine) + trace_line(node, kFilesView) +
           trace_line(node, R"("ev":"submit",)" + own + taken + R"(,"bytes":3)", 10) +
           trace_line(node, R"("ev":"originate",)" + own + place + sent, 11) +
           trace_line(node, R"("ev":"deliver",)" + own + place + taken, 12) +
           trace_line(node, R"("ev":"deliver","msg":")" + other + R"(:1",)" + place + taken, 13);
  };
  for (const bool toto : {true, false}) {
    const std::string engine = toto ? R"(,"order":"toto")" : "";
    const auto report =
        check({write("a", trace("a.1", "b.1", engine)), write("b", trace("b.1", "a.1", engine))});
    ASSERT_TRUE(report.has_value()) << report.error();
    EXPECT_EQ(report->ok(), toto);
    EXPECT_EQ(report->order.figures.deliveries, 4U);
  }
}

TEST_F(Files, RefusesTracesOfTwoEngines) {
  const std::string paxos = trace_line("b.1", R"("ev":"start","order":"paxos")");
  const std::string a = write("a", sender(1)), b = write("b", paxos);
  const auto two = check({a, b});
  ASSERT_FALSE(two.has_value());
  EXPECT_EQ(two.error(),
            b + ":1: ordered by paxos, and " + a + " by ring: accepted are traces of one cluster");
  const std::string later =
      write("c", sender(1) + trace_line("c.1", R"("ev":"start","order":"paxos")", 90));
  const auto one = check({later});
  ASSERT_FALSE(one.has_value());
  EXPECT_EQ(one.error(), later + ":6: ordered by paxos, and " + later +
                             " by ring: accepted are traces of one cluster");
}

TEST_F(Files, RefusesATraceOfAnEngineThatItDoesNotKnow) {
  const std::string a = write("a", trace_line("a.1", R"("ev":"start","order":"bus")"));
  const auto one = check({a});
  ASSERT_FALSE(one.has_value());
  EXPECT_EQ(one.error(), a + ": ordered by bus, which this program does not know: accepted is "
                             "\"ring\", \"paxos\", \"ridge\", \"toto\" or \"ramcast\"");
}

TEST_F(Files, ReportsWhatIsBroken) {
  std::string twice = receiver(2);
  twice += twice.substr(twice.rfind("{"));
  const auto report = check({write("a", sender(2)), write("b", twice)});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_FALSE(report->ok());
  ASSERT_EQ(report->order.violations.size(), 1U);
  EXPECT_EQ(property_id(report->order.violations[0].property), "E3");
  EXPECT_EQ(report->order.violations[0].text, "b.1 delivers a.1:2 twice in view 1@a.1");
}

TEST_F(Files, ChecksUnitsToo) {
  std::string text =
      trace_line("a.1", kFilesView) +
      trace_line("a.1", R"("ev":"deliver","msg":"a.1:1","view":"1@a.1","seq":2,)" + kHash);
  for (std::size_t at = text.find("order"); at != std::string::npos; at = text.find("order", at)) {
    text.replace(at, 5, "unit");
  }
  const auto report = check({write("a", text)});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_TRUE(report->order.ok());
  EXPECT_EQ(report->unit.violations_of[static_cast<std::size_t>(Property::e7_total_order)], 1U);
}

TEST_F(Files, TakesOneFileOfManyProcesses) {
  const auto report = check({write("all", sender(3) + receiver(3))});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_TRUE(report->ok());
}

TEST_F(Files, ChecksWithoutTheSendersTrace) {
  const auto report = check({write("b", receiver(4))});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->order.figures.unwitnessed, 4U);
}

TEST_F(Files, AcceptsALastLineThatIsCutOffAnywhere) {
  const std::string whole = receiver(3);
  const std::size_t last = whole.rfind("{");
  const std::string a = write("a", sender(3));
  for (std::size_t end = last; end <= whole.size(); ++end) {
    const auto report = check({a, write("b", whole.substr(0, end))});
    ASSERT_TRUE(report.has_value()) << report.error();
    EXPECT_TRUE(report->ok());
    const bool cut = end > last && end + 1 < whole.size();
    EXPECT_EQ(report->cut_lines, cut ? 1U : 0U) << end;
    EXPECT_EQ(report->order.figures.deliveries, end + 1 < whole.size() ? 5U : 6U) << end;
  }
}

TEST_F(Files, RefusesALineThatIsCutOffInTheMiddle) {
  std::string text = sender(2);
  text.erase(text.find("submit") + 3, 20);
  const std::string path = write("a.trace", text);
  const auto report = check({path});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), path + ":3: the line is not JSON");
}

TEST_F(Files, RefusesATraceWithAHole) {
  const std::string hole = trace_line("b.1", R"("ev":"lost","lines":3)", 99);
  const auto report = check({write("a", sender(5)), write("b", receiver(5) + hole)});
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().find(": 3 lines are missing here"), std::string::npos) << report.error();
  EXPECT_NE(report.error().find("accepted are whole traces"), std::string::npos);
}

TEST_F(Files, RefusesABadLastLineThatHasItsEnd) {
  const std::string path = write("a.trace", sender(1) + "{\"at\":12\n");
  const auto report = check({path});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), path + ":6: the line is not JSON");
}

TEST_F(Files, NamesFileLineAndKey) {
  const std::string good = write("good", sender(3));
  const std::string path = write(
      "bad", receiver(1) + trace_line("b.1", R"("ev":"deliver","msg":"a.1:2","view":"1@a.1")"));
  const auto report = check({good, path});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), path + ":4: key 'seq' is missing");
  const std::string empty_line = write("empty", "\n");
  EXPECT_EQ(check({empty_line}).error(), empty_line + ":1: the line is not JSON");
  const std::string first = write("first", "x\n" + sender(1));
  EXPECT_EQ(check({first, good}).error(), first + ":1: the line is not JSON");
}

TEST_F(Files, NamesAFileThatIsNotThere) {
  const std::string path = folder_ / "nowhere";
  const auto report = check({write("a", sender(1)), path});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), path + ": No such file or directory");
}

TEST_F(Files, NamesAFolder) {
  const auto report = check({folder_.string()});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), folder_.string() + ": Is a directory");
}

TEST_F(Files, AcceptsEmptyFilesAndNone) {
  const auto none = check({});
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->ok());
  const auto empty = check({write("a", "")});
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->lines, 0U);
}

TEST_F(Files, RefusesAnEndlessLine) {
  const std::string path = write("a", sender(1) + std::string(2U << 20U, ' '));
  const auto report = check({path});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error(), path + ":6: the line is too long");
}

TEST_F(Files, ReadsFilesLargerThanOneChunk) {
  const auto report = check({write("a", sender(2'000)), write("b", receiver(2'000))});
  ASSERT_TRUE(report.has_value()) << report.error();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->order.figures.deliveries, 4'000U);
  EXPECT_EQ(report->lines, 8'004U);
}

// For a damaged file the result is a report, or an error that begins with the file's name.
TEST_F(Files, SurvivesDamage) {
  Random random(5);
  const std::string good = sender(4) + receiver(4);
  std::size_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string text = good;
    for (std::uint64_t n = 1 + random.below(2); n > 0; --n) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    const std::string path = write("a", text);
    const auto report = check({path});
    if (report.has_value()) continue;
    ++refused;
    EXPECT_TRUE(report.error().starts_with(path + ":")) << report.error();
  }
  EXPECT_GT(refused, 50U);
}

}  // namespace
}  // namespace peal::oracle
