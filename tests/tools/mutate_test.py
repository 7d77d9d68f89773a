#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/mutate: on a project of a few lines, from its sources to its survivors."""

import glob
import json
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

from mutation import build, hunt, hunters, notes, report, sites  # noqa: E402
from mutation.draw import draw  # noqa: E402
from mutation.hunters import Hunter  # noqa: E402
from mutation.hunt import Verdict  # noqa: E402
from mutation.weave import weave  # noqa: E402

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

HEAD = """
#include <compare>
namespace std {
template <class T> const T& max(const T& a, const T& b);
template <class T> const T& min(const T& a, const T& b);
}
#define PEAL_ASSERT(x) ((x) ? static_cast<void>(0) : __builtin_abort())
#define PEAL_PROBE(name) do { static int hits; ++hits; } while (false)
#define PEAL_MUTANT(id) (active() == id)
int active();
void act(int n);
int read(int n);
struct Id {
  int value;
  auto operator<=>(const Id&) const = default;
  void reset();
};
"""


def found_in(body, head=HEAD):
    """What can be mutated in a text: kind, what stands there, and what takes its place."""
    text = head + body
    as_bytes = text.encode().decode("latin-1")
    found = sites.parse(("sample.cc", text), ["-std=c++20"], {"sample.cc": as_bytes},
                        {"sample.cc": "src/order/sample.cc"})
    return sites.named(found)


def changes(body):
    return [(m.kind, m.before, m.after) for m in found_in(body)]


class Sites(unittest.TestCase):
    """What is a mutant, and what is none."""

    def assert_changes(self, body, *expected):
        self.assertEqual(sorted(changes(body)), sorted(expected))

    def test_conditions_are_negated(self):
        self.assert_changes("int f(bool a) { if (a) return 1; return a ? 2 : 3; }",
                            ("negate", "a", "!(a)"), ("negate", "a", "!(a)"))
        self.assert_changes("void f(bool a) { while (a) {} for (; a;) {} do {} while (a); }",
                            *[("negate", "a", "!(a)")] * 3)

    def test_sides_are_dropped_one_by_one(self):
        self.assert_changes("bool f(bool a, bool b) { return a && b; }",
                            ("drop-left", "a && b", "b"), ("drop-right", "a && b", "a"))
        self.assert_changes("bool f(bool a, bool b, bool c) { return a || b || c; }",
                            ("drop-left", "a || b", "b"), ("drop-right", "a || b", "a"),
                            ("drop-right", "a || b || c", "a || b"))

    def test_edges_are_moved(self):
        for was, becomes in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")):
            self.assert_changes(f"bool f(int a, int b) {{ return a {was} b; }}",
                                ("edge", f"a {was} b", f"a {becomes} b"))

    def test_operators_of_types_count_too(self):
        self.assert_changes("bool f(Id a, Id b) { return a < b; }", ("edge", "a < b", "a <= b"))
        self.assert_changes("bool f(Id a, Id b) { return a != b; }",
                            ("equal", "a != b", "a == b"))

    def test_a_condition_is_not_turned_round_twice(self):
        self.assert_changes("int f(Id a, Id b) { if (a == b) return 1; return 2; }",
                            ("negate", "a == b", "!(a == b)"))

    def test_one_side_takes_the_place_of_both(self):
        self.assert_changes("int f(int a, int b) { return std::max(a, b); }",
                            ("only-left", "std::max(a, b)", "a"),
                            ("only-right", "std::max(a, b)", "b"))
        self.assert_changes("long f(int a, int b) { return std::min<long>(a, b); }",
                            ("only-left", "std::min<long>(a, b)", "a"),
                            ("only-right", "std::min<long>(a, b)", "b"))

    def test_statements_are_left_out(self):
        self.assert_changes("void f(Id& a, Id b) { act(1); a = b; ++a.value; a.value += 2; }",
                            *[("omit", text, "(left out)")
                              for text in ("act(1);", "a = b;", "++a.value;", "a.value += 2;")])
        self.assert_changes("void f(Id& a) { a.reset(); }",
                            ("omit", "a.reset();", "(left out)"))

    def test_one_is_left_out_and_answers_are_turned_round(self):
        self.assert_changes("bool f(int a) { act(a + 1); return true; }",
                            ("omit", "act(a + 1);", "(left out)"), ("one", "a + 1", "a"),
                            ("return", "return true", "return false"))

    def test_what_is_in_lambdas_and_templates_counts(self):
        self.assert_changes("int f(int a) { return [a, b = a < 2](int c) "
                            "{ return c < a + b; }(2); }",
                            ("edge", "c < a + b", "c <= a + b"))
        self.assert_changes("template <class T> bool f(T a, T b) { return a < b; }",
                            ("edge", "a < b", "a <= b"))

    def test_what_must_be_constant_is_none(self):
        self.assert_changes("""
constexpr bool f(int a) { return a < 3; }
template <bool B> int g() { if constexpr (B && sizeof(int) < 8) return 1; return 2; }
const bool outside = read(1) < 2;
void h(int a, bool b = read(1) < 2) noexcept(sizeof(int) < 8) {
  static_assert(1 < 2);
  constexpr bool kSmall = 3 < 4;
  static constexpr int kLarge = 3 < 4 ? 1 : 2;
  int bound[3 < 4 ? 2 : 1] = {};
  g<(1 < 2)>();
  switch (a) { case 3 < 4 ? 7 : 8: return; default: break; }
}
""", ("omit", "g<(1 < 2)>();", "(left out)"))

    def test_what_macros_make_is_none(self):
        self.assert_changes("""void f(int a) { PEAL_ASSERT(a < 1 && a > 2);
          if (a > 1) PEAL_PROBE("a.b"); }""",
                            ("negate", "a > 1", "!(a > 1)"), ("edge", "a > 1", "a >= 1"))

    def test_deliberate_faults_are_no_part_of_what_ships(self):
        self.assert_changes("void f() { if (PEAL_MUTANT(3)) act(1); }")
        self.assert_changes("int f() { return PEAL_MUTANT(3) ? read(1 + 1) : 2; }")
        self.assert_changes("void f(bool a) { if (a && PEAL_MUTANT(3)) act(1); }")
        self.assert_changes("void f() { if (!PEAL_MUTANT(3)) act(1); }",
                            ("omit", "act(1);", "(left out)"))
        self.assert_changes("void f(bool a) { if (a && !PEAL_MUTANT(3)) act(1); }",
                            ("negate", "a && !PEAL_MUTANT(3)", "!(a && !PEAL_MUTANT(3))"),
                            ("drop-left", "a && !PEAL_MUTANT(3)", "!PEAL_MUTANT(3)"),
                            ("omit", "act(1);", "(left out)"))

    def test_places_are_exact_and_names_differ(self):
        mutants = found_in("int read(int n);\nint f(bool a) {\n"
                           "  if ((a ? read(1) : 2) > 0) return 1;\n"
                           "  return /* δ */ a ? 1 : 2;\n}\n", "")
        self.assertEqual(len({m.name for m in mutants}), len(mutants))
        last = mutants[-1]
        self.assertEqual((last.line, last.function), (4, "f"))
        self.assertEqual(last.name, "order/sample.cc:4:19:negate")

    def test_a_text_that_cannot_be_read_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "libclang cannot read this"):
            found_in("int f() { return nothing; }")


def asked(text, number):
    """Where a woven text asks whether this mutant is active."""
    return re.findall(rf"(?:PEAL_MUTATED|PEAL_MUTATED_HERE|mutated_(?:less|greater)(?:_equal)?)"
                      rf"\({number}[,)]", text)


class Weave(unittest.TestCase):
    """Mutants inside each other, in one text."""

    def test_lines_stay_and_ranges_nest(self):
        body = ("int f(int a,\n      int b) {\n  if (a < b &&  // why\n      b + 1 < 9) {\n"
                "    act(std::max(a, b));\n  }\n  return a;\n}\n")
        mutants = found_in(body)
        self.assertGreater(len(mutants), 8)
        text = weave(HEAD + body, list(enumerate(mutants, 1)))
        self.assertEqual(text.count("\n"), (HEAD + body).count("\n"))
        for number in range(1, len(mutants) + 1):
            self.assertEqual(len(asked(text, number)), 1)
        switch = os.path.join(ROOT, "tools/mutation/switch.h")
        sites.parse(("woven.cc", text), ["-std=c++20", "-include", switch], {}, {})  # it compiles

    def test_nothing_is_added_without_mutants(self):
        self.assertEqual(weave("a < b", []), "a < b")


class Notes(unittest.TestCase):
    """The lists that people keep."""

    def setUp(self):
        self.texts = {"src/order/sample.cc": "\nbool f(int a) { return a < 1; }"}
        self.mutants = found_in("\nbool f(int a) { return a < 1; }", "")

    def inside(self, rows):
        return notes.inside(self.mutants, notes.read_outside(rows, "list"), self.texts, "list")

    def test_files_functions_and_lines_are_left_outside(self):
        self.assertEqual(len(self.inside("# nothing\n")), 1)
        for row in ("src/order/* | - | tunes", "src/* | in f | counts",
                    r"src/order/sample.cc | return a\b | describes"):
            self.assertEqual(self.inside(row + "\n"), [])

    def test_a_row_needs_a_reason_and_something_that_fits(self):
        for row, message in (("src/* | -", "list:1: a row is"), ("src/* | - | ", "a row is"),
                             ("src/wal/* | - | gone", "fits no mutant"),
                             ("src/* | in g | gone", "fits no mutant")):
            with self.assertRaisesRegex(build.Failure, message):
                self.inside(row)

    def explain(self, text):
        return notes.explain(self.mutants, notes.read_explained(text, "list"), self.texts, "list")

    def test_survivors_are_explained_by_line_and_change(self):
        text = ("# why\nfile: src/order/sample.cc\nline: bool f(int a) { return a < 1; }\n"
                "change: a < 1 => a <= 1\nreason: nobody asks\n")
        self.assertEqual(self.explain(text), {self.mutants[0].name: "nobody asks"})
        for gone in ("a < 1 => a", "src/order/s"):
            with self.assertRaisesRegex(build.Failure, "list:5: no mutant of"):
                self.explain(text.replace(gone, gone + "x"))

    def test_a_comment_is_no_part_of_the_line(self):
        for line in ("f(1);", "  f(1);  // once", "f(1);  //"):
            self.assertEqual(notes.code_of(line), "f(1);")
        for line in ('say("//");', "if (c == '/' || d == '\\'') f();", 'say("\\"//");', "a / b;"):
            self.assertEqual(notes.code_of(line + "  // so"), line)

    def test_a_note_has_four_rows_in_order(self):
        for text in ("line: a\n", "file: a\nline: b\nreason: c\n", "file:\n", "file: a\n"):
            with self.assertRaises(build.Failure):
                self.explain(text)


class Core(unittest.TestCase):
    """The files in which a survivor is an error."""

    def test_each_pattern_matches_a_file(self):
        for pattern in report.CORE:
            self.assertTrue(glob.glob(os.path.join(ROOT, pattern)), pattern)

    def test_both_phases_of_paxos_are_in_it(self):
        for name in ("coordinator.cc", "phase1.cc", "phase2.cc", "acceptor.cc", "learner.cc"):
            self.assertTrue(report.is_core("src/order/paxos/" + name), name)


class Draw(unittest.TestCase):
    """A sample is drawn from a seed."""

    def drawn(self, body, seed):
        found = found_in(body)
        texts = {"src/order/sample.cc": (HEAD + body).encode().decode("latin-1")}
        return [notes.change_of(m) for m in draw(found, texts, seed)]

    BODY = "".join(f"void f{i}(int a) {{ if (a > {i}) act({i}); }}\n" for i in range(20))

    def test_each_seed_draws_another_sample(self):
        one = self.drawn(self.BODY, 1)
        self.assertEqual(self.drawn(self.BODY, 1), one)
        self.assertNotEqual(self.drawn(self.BODY, 2), one)
        self.assertEqual(sorted(self.drawn(self.BODY, 2)), sorted(one))

    def test_an_edit_elsewhere_leaves_the_order(self):
        more = "void first(int a) { if (a > 100) act(100); }\n" + self.BODY
        kept = [change for change in self.drawn(more, 1) if "100" not in change]
        self.assertEqual(kept, self.drawn(self.BODY, 1))

    def test_equal_changes_are_drawn_each(self):
        twice = "void f(int a) { act(1);\n act(1); if (a > 0) act(2); }\n"
        self.assertEqual(len(self.drawn(twice, 1)), len(found_in(twice)))


class Hunters(unittest.TestCase):
    """Who hunts, and what is made of what they say."""

    def test_only_programs_that_may_notice_are_built(self):
        kinds = ["units", "few", "more"]
        self.assertEqual(hunters.programs_of(kinds, ["src/session/core.cc"]),
                         ["session_test", "peal-sim"])
        self.assertEqual(hunters.programs_of(kinds, ["src/wal/log.cc", "src/group/table.cc"]),
                         ["wal_test", "wal_crash_test", "group_test", "session_test",
                          "order_paxos_test", "peal-sim"])
        self.assertIn("order_explore_test", hunters.programs_of(kinds, ["src/order/paxos/x.cc"]))
        self.assertNotIn("order_explore_test", hunters.programs_of(["units"], ["src/order/x.cc"]))

    def test_programs_are_taken_apart(self):
        suites = hunters.suites_of("Running main() from x\nRing.\n  A\n  B\nP/Walk.\n"
                                   "  C/0  # GetParam() = 1\nEmpty.\n")
        self.assertEqual(suites, [("Ring", ["A", "B"]), ("P/Walk", ["C/0"]), ("Empty", [])])
        self.assertEqual(hunters.parts_of("order_test", suites),
                         {"Ring": "Ring.*", "P/Walk": "P/Walk.*"})
        self.assertEqual(hunters.parts_of("scenario_test", [("S", [
            "scenario_C1_a", "scenario_C1_b", "mutants_m1_c", "mutants_m1_c_without_it"])]),
            {"scenario_C1": "S.scenario_C1_a:S.scenario_C1_b",
             "mutants_m1": "S.mutants_m1_c_without_it"})

    def test_stories_are_those_of_the_test(self):
        with open(os.path.join(ROOT, "tools/stories"), encoding="utf-8") as stream:
            text = stream.read()
        kinds = dict(hunters.stories(text))
        self.assertIn(("--order", "paxos", "--sessions"), kinds)
        self.assertGreater(len(kinds), 20)
        self.assertEqual(hunters.stories("# a\nsim_quick 5 --order ring\nasan_sim 6 --order ring\n"
                                         "sim 7 --order ring\n"), [(("--order", "ring"), 7)])
        few, more = (hunters.seeds("bin", text, kind)[0].arguments for kind in ("few", "more"))
        self.assertIn("1-4", few)
        self.assertIn("5-60", more)

    def test_ends_are_told_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = hunters.Runner(folder, folder)

            def end(script, limit=60):
                return runner.run(Hunter("h", "/bin/sh", ["-c", script], "units"), 3, limit).how

            self.assertEqual(end("test $PEAL_MUTATED = 3"), "passed")
            self.assertEqual(end("exit 1"), "failed")
            self.assertEqual(end("kill -9 $$"), "crashed")
            self.assertEqual(end("sleep 60 & wait", 0.2), "hung")
            runner.stop()
            self.assertIsNone(runner.run(Hunter("h", "/bin/true", [], "units")))

    def test_who_killed_a_mutant_of_another_tree_is_asked_first(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = hunters.Runner(folder, folder)
            ran = os.path.join(folder, "ran")
            script = f"echo $0 >> {ran}; exit 1"
            found = [Hunter(name, "/bin/sh", ["-c", script, name], "units", seconds, {3}, {3})
                     for name, seconds in (("quick", 0.1), ("slow", 5.0))]
            hunt.Kept(folder, "before", ["units"]).add(
                Verdict("m", "killed", "slow", "failed", 1.0, ("units",)))
            kept = hunt.Kept(folder, "after", ["units"])
            self.assertIsNone(kept.get("m"))
            verdict = hunt.hunt_one(runner, found, 3, "m", ("units",), kept.killers["m"])
            self.assertEqual(verdict.hunter, "slow")
            self.assertEqual(hunt.hunt_one(runner, found, 3, "m", ("units",)).hunter, "quick")
            with open(ran, encoding="utf-8") as stream:
                self.assertEqual(stream.read(), "slow\nquick\n")

    def test_verdicts_are_kept_for_the_hunters_that_gave_them(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = hunt.Kept(folder, "abc", ["units"])
            kept.add(Verdict("a", "killed", "h", "failed", 1.5, ("units",)))
            kept.add(Verdict("b", "survived", kinds=("units",)))
            with open(kept.path, "a", encoding="utf-8") as stream:
                stream.write('{"name": "cut o')
            again = hunt.Kept(folder, "abc", ["units"])
            self.assertEqual(again.get("a").hunter, "h")
            self.assertEqual(again.get("b").outcome, "survived")
            more = hunt.Kept(folder, "abc", ["units", "few"])
            self.assertEqual(more.get("a").outcome, "killed")
            self.assertIsNone(more.get("b"))
            self.assertIsNone(hunt.Kept(folder, "other", ["units"]).get("a"))


class Blame(unittest.TestCase):
    """Which mutants do not compile, from what compilers say."""

    def setUp(self):
        self.build = build.Build.__new__(build.Build)
        self.build.tree = "/b/tree"
        self.build.folder = "/b/build"
        body = "\nbool f(Id a, Id b) { return a < b; }\nbool g(Id a, Id b) { return a > b; }\n"
        self.build.texts = {"src/order/sample.cc": HEAD + body}
        self.sample = dict(enumerate(found_in(body), 1))
        self.line = HEAD.count("\n") + 2

    def blamed(self, *lines):
        return self.build.blamed("\n".join(lines), self.sample)

    def test_those_on_the_line_of_an_error(self):
        at = f"/b/tree/src/order/sample.cc:{self.line}:9"
        self.assertEqual(self.blamed("FAILED: x.o", f"{at}: error: no match"), [1])
        inside = f"/b/build/headers/peal_order/order/sample.cc:{self.line + 1}:9"
        self.assertEqual(self.blamed(f"{inside}: error: no match"), [2])

    def test_those_that_notes_name_or_else_all_of_the_file(self):
        at = f"/b/tree/src/order/sample.cc:{self.line + 1}:9"
        other = "/usr/include/c++/12/compare:7:3: error: no"
        self.assertEqual(self.blamed(other, f"{at}:   required from here"), [2])
        self.assertEqual(self.blamed("/b/tree/src/order/sample.cc:1:1: error: no"), [1, 2])
        self.assertEqual(self.blamed(other), [])


TINY = {
    "CMakeLists.txt": """# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(tiny_test main.cc src/order/tiny.cc)
set_target_properties(tiny_test PROPERTIES UNITY_BUILD ON)
target_include_directories(tiny_test PRIVATE src)
""",
    "src/order/tiny.h": LICENCE + """#pragma once
struct Odd {
  int value;
  friend bool operator<(Odd a, Odd b);
};
inline int twice(int n) { return n + n; }
bool below(Odd a, Odd b);
int sum_to(int n);
int never(int n);
inline bool small(int n) { return n < 10; }
""",
    "src/order/tiny.cc": LICENCE + """#include "order/tiny.h"
bool operator<(Odd a, Odd b) { return a.value - b.value < 0; }
bool below(Odd a, Odd b) { return a < b; }
int sum_to(int n) {
  int sum = 0;
  while (n > 0) sum += n--;
  return sum;
}
int never(int n) { return n + 1; }
""",
    "main.cc": LICENCE + """#include "order/tiny.h"
int main() {
  const bool fine = below({1}, {2}) && !below({2}, {1}) && sum_to(3) == 6 && small(3);
  return fine && twice(2) == 4 && !small(11) ? 0 : 1;
}
""",
}


class WholeHunt(unittest.TestCase):
    """A project of its own, from configuring to the report."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = cls.folder.name
        for path, text in TINY.items():
            build.write_if_new(os.path.join(cls.root, path), text)
        cls.said = []
        cls.build = build.Build(cls.root, os.path.join(cls.root, "build/mutate"), 1)
        cls.build.configure()
        cls.mutants = cls.build.mutants()
        drawn = sorted(cls.mutants, key=lambda m: m.kind != "edge")
        held = next(m for m in drawn if m.kind == "omit")
        drawn.remove(held)
        cls.sample = dict(enumerate(drawn, 1))
        cls.dropped = cls.build.compile(cls.sample, iter([held]), ["tiny_test"], cls.said.append)
        program = os.path.join(cls.build.folder, "bin/tiny_test")
        cls.hunters = [Hunter("tiny_test all", program, [], "units")]
        cls.runner = hunters.Runner(cls.root, cls.build.work)
        hunters.PATIENCE_SECONDS_MIN = 1
        cls.tried = hunt.try_out(cls.runner, cls.hunters, 1, cls.build.path("x.reach"),
                                 cls.said.append)
        kept = hunt.Kept(cls.build.path("results"), "digest", ["units"])
        cls.verdicts = hunt.Hunt(cls.runner, cls.hunters, 1, kept, cls.said.append).run(
            cls.sample, {})
        cls.report = report.Report(list(cls.sample.values()), cls.verdicts, {}, cls.build.texts, 7)

    @classmethod
    def tearDownClass(cls):
        cls.build.lock.close()
        cls.folder.cleanup()

    def outcome(self, before):
        return {self.verdicts[m.name].outcome for m in self.sample.values() if m.before == before}

    def test_what_does_not_compile_is_dropped_and_replaced(self):
        self.assertEqual([m.before for m in self.dropped], ["a < b"])
        self.assertEqual(len(self.sample), len(self.mutants) - 1)
        self.assertTrue(any("does not compile: order/tiny.cc:4:" in line for line in self.said))

    def test_sources_stay_as_they_are_and_the_copy_has_all_mutants(self):
        for path, text in TINY.items():
            self.assertEqual(build.read(os.path.join(self.root, path)), text)
        copies = "".join(build.read(os.path.join(self.build.tree, p)) for p in self.build.texts)
        for number in self.sample:
            self.assertEqual(len(asked(copies, number)), 1)
        self.assertTrue(os.path.islink(os.path.join(self.build.tree, "main.cc")))

    def test_mutants_die_survive_and_are_not_reached(self):
        self.assertTrue(self.tried)
        self.assertEqual(self.outcome("a.value - b.value < 0"), {"survived"})
        self.assertEqual(self.outcome("n < 10"), {"survived"})
        self.assertEqual(self.outcome("n > 0"), {"killed", "survived"})
        self.assertEqual(self.outcome("sum += n--;"), {"killed"})
        self.assertEqual(self.outcome("n + 1"), {"unreached"})
        same = {m.before for m in self.sample.values()
                if self.verdicts[m.name].how == hunt.SAME}
        self.assertEqual(same, {"a.value - b.value < 0", "n < 10"})
        hung = [v for v in self.verdicts.values() if v.how == "hung"]
        self.assertEqual(len(hung), 1)  # the loop that n does not come to the end of

    def test_the_report_counts_them(self):
        text = "\n".join(self.report.lines())
        self.assertIn("killed by: tiny_test", text)
        self.assertIn("src/order/tiny.h:11: (edge) order/tiny.h:11:37:edge", text)
        self.assertIn("      n < 10 => n <= 10", text)
        found = json.loads(json.dumps(self.report.json()))
        self.assertEqual(found["killed"] + found["survived"] + found["unreached"],
                         len(self.sample))
        self.assertEqual(found["core_survivors"], 0)
        judged = found["killed"] + found["survived"]
        self.assertAlmostEqual(self.report.share(), 100 * found["killed"] / judged)
        self.assertTrue(report.is_core("src/wal/log.cc"))
        self.assertFalse(report.is_core("src/order/paxos/engine.cc"))

    def test_explained_ones_count_as_dead(self):
        row = {"killed": 1, "explained": 1, "survived": 2, "unreached": 5}
        self.assertEqual(report.share_of(row), 50)
        self.assertEqual(report.share_of(dict.fromkeys(row, 0)), 100)

    def test_a_hunter_that_fails_without_a_mutant_is_an_error(self):
        bad = Hunter("bad", "/bin/false", [], "units")
        with self.assertRaisesRegex(build.Failure, "without a mutant, this failed: /bin/false"):
            self.runner.try_out(bad, 9)

    def test_two_at_once_are_one_too_many(self):
        with self.assertRaisesRegex(build.Failure, "another one is at work"):
            build.Build(self.root, self.build.work, 1)

    def test_the_same_sample_is_not_compiled_again(self):
        path = os.path.join(self.build.tree, "src/order/tiny.cc")
        before = os.stat(path).st_mtime_ns
        self.assertEqual(self.build.compile(self.sample, iter(()), ["tiny_test"], print), [])
        self.assertEqual(os.stat(path).st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
