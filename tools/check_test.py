#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/check.py: every rule finds what is planted for it, and leaves good code alone."""

import os
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check  # noqa: E402
import count_tests  # noqa: E402
from checks import (classes, engines, layout, modules, mutants, public_docs, scopes,  # noqa: E402
                    sizes, words)
from checks.tree import Tree, blank_comments_and_literals  # noqa: E402

CPP = "// SPDX-License-Identifier: Apache-2.0\n"
TO_DO = "TO" + "DO"


def found(rule, texts, executables=()):
    """Places and messages that a rule finds in a tree in memory."""
    return [str(f) for f in rule(Tree.of(texts, executables))]


class Rules(unittest.TestCase):
    def assert_found(self, rule, texts, *parts, executables=()):
        got = found(rule, texts, executables)
        self.assertEqual(len(got), 1, got)
        for part in parts:
            self.assertIn(part, got[0])

    def assert_clean(self, rule, texts, executables=()):
        self.assertEqual(found(rule, texts, executables), [])


class Includes(Rules):
    def test_finds_a_forbidden_module(self):
        self.assert_found(modules.check_includes,
                          {"src/wire/a.cc": '\n#include "order/engine.h"\n'},
                          "src/wire/a.cc:2:", "module wire may not include module order")

    def test_every_pair_of_modules_is_judged_by_the_table(self):
        for module, (folder, allowed, _) in modules.MODULES.items():
            for other, (other_folder, _, _) in modules.MODULES.items():
                header = other_folder.removeprefix("src/").removeprefix("include/") + "/a.h"
                got = found(modules.check_includes, {f"{folder}/b.cc": f'#include "{header}"\n'})
                legal = other == module or other in allowed
                self.assertEqual(got == [], legal, f"{module} opens {other}: {got}")

    def test_one_engine_may_not_open_the_headers_beside_a_module(self):
        self.assert_found(modules.check_includes, {"src/node/a.cc": '#include "order/evs/a.h"\n'},
                          "may not include module order/evs")

    def test_finds_an_include_without_a_module(self):
        self.assert_found(modules.check_includes, {"src/wire/a.cc": '#include "reader.h"\n'},
                          "names no module")

    def test_finds_a_header_that_a_compiler_lacks(self):
        self.assert_found(modules.check_includes, {"tests/a.cc": "#include <ranges>\n"}, "ranges")

    def test_ignores_includes_in_comments(self):
        self.assert_clean(modules.check_includes, {"src/wire/a.cc": '// #include "io/udp.h"\n'})

    def test_tests_may_open_everything(self):
        self.assert_clean(modules.check_includes, {"tests/a.cc": '#include "io/udp.h"\n'})

    def test_finds_using_namespace(self):
        self.assert_found(modules.check_namespace_use, {"src/io/a.cc": "using namespace peal;\n"},
                          "using namespace")


class Pure(Rules):
    def test_finds_each_forbidden_header(self):
        for header in ("chrono", "thread", "mutex", "atomic", "random", "sys/socket.h", "unistd.h",
                       "time.h", "iostream", "fstream", "cstdio", "netinet/in.h"):
            self.assert_found(modules.check_pure, {"src/order/ring/a.cc": f"#include <{header}>\n"},
                              f"<{header}> in pure module order/ring")

    def test_finds_each_forbidden_word(self):
        for text in ("auto now = std::chrono::steady_clock::now();", "clock_gettime(0, &t);",
                     "auto t = time(nullptr);", "std::mutex m;", "std::jthread t;",
                     "thread_local int x;", "std::random_device device;", "int r = rand();",
                     'std::getenv("A");', "throw 1;", "try {", "dynamic_cast<A*>(b);",
                     'printf("a");', "std::cerr << 1;"):
            self.assert_found(modules.check_pure, {"src/node/a.cc": text + "\n"},
                              "src/node/a.cc:1:")

    def test_every_pure_module_is_watched(self):
        for module in ("base", "wire", "port", "trace", "order", "order/evs", "order/ring", "node"):
            self.assertTrue(modules.MODULES[module][2], module)
            self.assert_found(modules.check_pure, {f"src/{module}/a.cc": "std::mutex m;\n"},
                              "threads")

    def test_leaves_innocent_words_alone(self):
        self.assert_clean(modules.check_pure, {"src/node/a.cc": "#include <vector>\n// std::mutex\n"
                          "f(entry_time(0)); x.time(); retry(); operand();\n"
                          'const char* s = "throw";\n'})

    def test_leaves_other_modules_alone(self):
        self.assert_clean(modules.check_pure, {"src/io/a.cc": "#include <thread>\nstd::mutex m;\n"})

    def test_the_named_exceptions_hold_for_their_files_only(self):
        self.assert_clean(modules.check_pure, {"src/base/probes.h": "#include <atomic>\n"})
        self.assert_found(modules.check_pure, {"src/base/bytes.h": "#include <atomic>\n"}, "atomic")
        self.assert_found(modules.check_pure, {"src/base/bytes.h": "thread_local int x;\n"},
                          "global")

    def test_finds_iteration_over_an_unordered_container(self):
        header = "std::unordered_map<Id, std::vector<int>> by_id_;\n"
        for walk in ("for (const auto& [id, v] : by_id_) f(v);", "auto it = by_id_.begin();"):
            self.assert_found(modules.check_unordered,
                              {"src/node/a.h": header, "src/node/a.cc": walk + "\n"},
                              "src/node/a.cc:1:", "by_id_")

    def test_lookup_in_an_unordered_container_is_fine(self):
        self.assert_clean(modules.check_unordered, {
            "src/node/a.h": "std::unordered_map<Id, int> by_id_;\nstd::map<Id, int> sorted_;\n",
            "src/node/a.cc": "by_id_.find(id); for (auto& x : sorted_) f(x);\n"})


class ModuleTable(Rules):
    def page(self, **changed):
        rows = {module: ", ".join(f"`{a}`" for a in allowed) or "the standard library"
                for module, (_, allowed, _) in modules.MODULES.items()}
        rows.update(changed)
        return {"ARCHITECTURE.md": "".join(f"| `{r}` | {t} |\n" for r, t in rows.items() if t)}

    def test_accepts_the_same_table(self):
        self.assert_clean(modules.check_module_table, self.page())

    def test_finds_a_difference_and_a_missing_row(self):
        self.assert_found(modules.check_module_table, self.page(wire="`base`, `io`"), "module wire")
        self.assert_found(modules.check_module_table, self.page(wire=""), "no row for module wire")
        self.assert_found(modules.check_module_table, {}, "missing")


class Words(Rules):
    def test_finds_a_missing_licence_line(self):
        for path, text in (("src/a.h", "#pragma once\n"), ("tools/a.py", "import os\n"),
                           ("dev", "#!/usr/bin/env bash\nset -e\n"),
                           ("CMakeLists.txt", "project()\n"),
                           ("tests/a.c", "// SPDX-License-Identifier: Apache-2.0\n")):
            self.assert_found(words.check_spdx, {path: text}, path, "this line must be")

    def test_accepts_the_licence_line(self):
        self.assert_clean(words.check_spdx, {
            "src/a.h": CPP, "dev": "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n",
            "tests/a.c": "/* SPDX-License-Identifier: Apache-2.0 */\n", "README.md": "# Peal\n"})

    def test_finds_unfinished_work(self):
        self.assert_found(words.check_unfinished, {"README.md": f"a\n{TO_DO}: more\n"},
                          "README.md:2")

    def test_templates_of_file_names_are_not_unfinished_work(self):
        self.assert_clean(words.check_unfinished, {"a.sh": "mktemp peal.XX" + "XXXX\n"})

    def test_finds_paths_of_one_machine(self):
        for path in ("/ho" + "me/ann/peal", "/Us" + "ers/ann", "/ro" + "ot/a", "/wo" + "rk/main"):
            self.assert_found(words.check_machine_paths, {"docs/a.md": f"see {path}/x\n"},
                              "machine")

    def test_common_paths_are_fine(self):
        self.assert_clean(words.check_machine_paths,
                          {"docs/a.md": "/etc/peal.toml /usr/bin/python3 $HOME/x tests/work/a\n"})

    def test_finds_a_script_that_cannot_run(self):
        self.assert_found(words.check_executable, {"tools/x": "#!/usr/bin/env bash\n"}, "chmod +x")
        self.assert_found(words.check_executable, {"tools/x": "#!/opt/bin/perl\n"}, "use one of",
                          executables=("tools/x",))

    def test_finds_a_word_that_the_glossary_replaces(self):
        glossary = "| write | not |\n| --- | --- |\n| view | `regular configuration` |\n\n`free`\n"
        self.assert_found(words.check_glossary,
                          {"docs/glossary.md": glossary, "a.md": "A Regular configuration.\n"},
                          "a.md:1:", "write view")
        self.assert_clean(words.check_glossary,
                          {"docs/glossary.md": glossary, "a.md": "irregular configurations free\n"})
        self.assert_found(words.check_glossary, {"a.md": "x\n"}, "the glossary is missing")

    def test_finds_words_that_only_we_would_understand(self):
        glossary = {"docs/glossary.md": "| write | in place of |\n| --- | --- |\n"
                                        "| module | `pure rooms`, `badge` |\n"}
        for path, text in (("src/a.h", "int a;  ///< the pure rooms\n"),
                           ("src/a.cc", "// All pure\n// rooms of it.\n"),
                           ("src/a.c", "/* a badge */\n"), ("docs/a.md", "Pure\nrooms.\n"),
                           ("a.cmake", "# Pure rooms.\n"), ("tests/a.txt", "# a badge\n")):
            self.assert_found(words.check_plain_words, {path: text, **glossary}, f"{path}:1:",
                              "write module (docs/glossary.md)")

    def test_leaves_names_and_code_and_ordinary_words_alone(self):
        self.assert_clean(words.check_plain_words, {
            "docs/glossary.md": "| write | in place of |\n| --- | --- |\n"
                                "| module | `rooms`, `badge` |\n| active | `that counts` |\n",
            "src/a.cc": 'int badge = f("a badge");  // bad_badge, badge.h, src/badge, `badge`\n',
            "docs/a.md": "`badge`, badges\n```\nrooms\n```\nroom\n",
            "tools/a.py": "badge = 1\n", "tests/a.txt": "expect badge\n"})

    def test_finds_a_link_that_leads_nowhere(self):
        self.assert_found(words.check_links, {"docs/a.md": "[x](b.md)\n"}, "b.md leads nowhere")
        self.assert_found(words.check_links, {"a.md": "see `src/wire/none.h`\n"}, "does not exist")
        self.assert_clean(words.check_links, {
            "docs/a.md": "[x](b.md#part) [y](../src) [z](https://example.org) `src/wire/`\n",
            "docs/b.md": "", "src/wire/a.h": ""})

    def test_finds_a_test_that_does_not_exist(self):
        test = {"tests/a.cc": "TEST_F(Ring, KeepsOrder) {}\n"}
        self.assert_clean(words.check_named_tests, {"T.md": "`Ring.KeepsOrder`\n", **test})
        self.assert_found(words.check_named_tests, {"T.md": "`Ring.LosesOrder`\n", **test},
                          "no test is named Ring.LosesOrder")

    def test_finds_sleeping_and_skipped_tests(self):
        for text in ("std::this_thread::sleep_for(x);", "usleep(1);", "GTEST_SKIP();",
                     "TEST(A, DISABLED_B) {}"):
            self.assert_found(words.check_test_sleeps, {"tests/io/a.cc": text + "\n"},
                              "tests/io/a.cc")
        self.assert_clean(words.check_test_sleeps,
                          {"tests/io/a.cc": 'if (!has_ipv6) GTEST_SKIP() << "no IPv6";\n'})


class Sizes(Rules):
    def test_finds_files_above_their_limit(self):
        for path, limit in (("src/io/a.cc", 800), ("tests/io/a.cc", 1200),
                            ("include/peal/a.h", 300), ("tools/a.py", 800)):
            self.assert_found(sizes.check_file_sizes, {path: "x;\n" * (limit + 1)},
                              path, "split it")
            self.assert_clean(sizes.check_file_sizes, {path: "x;\n" * limit})

    def test_an_exception_needs_a_number_a_reason_and_a_file(self):
        long_file = {"src/a.cc": "x;\n" * 900}
        for line in ("src/a.cc 900", "src/a.cc many reasons", "src/b.cc 900 gone"):
            got = found(sizes.check_file_sizes, {sizes.EXCEPTIONS: line + "\n", **long_file})
            self.assertEqual(len(got), 2, got)
        self.assert_clean(sizes.check_file_sizes,
                          {sizes.EXCEPTIONS: "# why\nsrc/a.cc 900 one table\n", **long_file})

    def test_finds_long_functions_in_each_language(self):
        body = "  f();\n" * 69
        for path, text in (("src/a.cc", "void A::long_one() {\n" + body + "}\n"),
                           ("src/b.cc", "class B {\n void long_one() const {\n" + body + "}\n};\n"),
                           ("tests/c.cc", "TEST(Long, One) {\n" + body + "}\n"),
                           ("a.py", "def long_one():\n" + body),
                           ("a.sh", "long_one() {\n" + body + "}\n")):
            longer = text.replace("  f();\n", "  f();\n  f();\n", 1)
            rest = {} if path != "a.py" else {"a.py": longer + "  f()\n"}
            self.assert_found(sizes.check_function_sizes, {path: longer, **rest}, "split it")

    def test_short_functions_in_a_long_type_are_fine(self):
        text = "struct A {\n" + "  int f() { return g({1, 2}); }\n" * 200 + "};\n"
        self.assert_clean(sizes.check_function_sizes, {"src/a.h": text})

    def test_tables_are_not_functions(self):
        text = "const std::vector<Row> kRows = {\n" + "  {1, f(2)},\n" * 200 + "};\n"
        text += "INSTANTIATE_TEST_SUITE_P(A, B, Values(\n" + "  Row{1, {2}},\n" * 200 + "  0));\n"
        self.assert_clean(sizes.check_function_sizes, {"tests/a.cc": text})

    def test_an_exception_names_one_function(self):
        text = "void f() {\n" + "  g();\n" * 80 + "}\n"
        self.assert_clean(sizes.check_function_sizes, {
            "src/a.cc": text, sizes.EXCEPTIONS: "src/a.cc:f 90 one switch over all kinds\n"})

    def test_finds_bad_lines(self):
        for text, part in (("x" * 101 + "\n", "101 columns"), ("a\tb\n", "a tab"),
                           ("a \n", "blanks"), ("a", "no newline")):
            self.assert_found(sizes.check_lines, {"src/a.cc": text}, part)
        self.assert_clean(sizes.check_lines,
                          {"src/a.cc": "x" * 100 + "\n", "a.md": "x" * 300 + "\n"})


def a_class(functions, fields, name="Thing"):
    """A header with a class of that many member functions and fields."""
    members = "".join(f"  int f{i}() const {{ return a[{i}]; }}\n" for i in range(functions))
    members += "".join(f"  std::map<int, int> v{i}_{{}};\n" for i in range(fields))
    return f"class {name} : public Base {{\n public:\n  {name}();\n  ~{name}();\n{members}}};\n"


class Classes(Rules):
    def test_counts_member_functions_and_fields(self):
        code = """class A final : public B<int> {
 public:
  explicit A(int x) : a_(x) {}
  ~A() override;
  A& operator=(const A&) = delete;
  int f(std::function<void(int)> g) const override { return a_; }
  static std::pair<int, int> h();
  template <typename T>
  void t(T x);
 private:
  struct Inner {
    int x = 0;
    void y();
  };
  using Z = int;
  friend class C;
  int a_ = 3;
  std::function<void(int)> g_;
  std::array<Inner, 3> many_{{}};
};
"""
        a, inner = scopes.classes(blank_comments_and_literals(code))
        self.assertEqual((a.name, a.functions), ("A", ["f", "h", "t"]))
        self.assertEqual(len(a.fields), 3, a.fields)
        self.assertEqual((inner.name, inner.functions, inner.fields), ("Inner", ["y"], ["int x"]))

    def test_a_class_has_one_responsibility(self):
        for counts in ((61, 1), (1, 41)):
            self.assert_found(classes.check_class_sizes, {"src/a.h": a_class(*counts)},
                              "src/a.h:1:", f"{counts[0]} member functions and {counts[1]} fields",
                              "at most 60 and 40")
            self.assert_clean(classes.check_class_sizes, {"tests/a.h": a_class(*counts)})
        self.assert_clean(classes.check_class_sizes, {"src/a.h": a_class(40, 30)})

    def test_a_few_may_be_larger_than_is_aimed_at(self):
        for counts in ((41, 1), (1, 31)):
            text = {"src/a.h": a_class(*counts)}
            self.assert_found(classes.check_class_sizes, text, "aimed at 40 and 30")
            self.assert_clean(classes.check_class_sizes,
                              {classes.EXCEPTIONS: "# why\nsrc/a.h:Thing one table\n", **text})
        self.assert_found(classes.check_class_sizes,
                          {classes.EXCEPTIONS: "src/a.h:Thing small by now\n",
                           "src/a.h": a_class(3, 3)}, "src/a.h:Thing needs no exception")
        many = {f"src/{i}.h": a_class(50, 5) for i in range(10)}
        rows = "".join(f"{path}:Thing reason\n" for path in many)
        self.assert_found(classes.check_class_sizes, {classes.EXCEPTIONS: rows, **many},
                          "10 exceptions, at most 9")

    def test_an_exception_has_a_reason(self):
        self.assert_found(classes.check_class_sizes,
                          {classes.EXCEPTIONS: "src/a.h:Thing\n", "src/a.h": a_class(50, 5)},
                          "expected: path:Class reason")

    def test_a_list_of_values_may_be_long(self):
        self.assert_clean(classes.check_class_sizes, {"src/a.h": a_class(0, 60)})

    def test_a_name_says_of_what(self):
        for name in sorted(classes.NAMES):
            self.assert_found(classes.check_class_names, {"src/a.h": a_class(1, 1, name)},
                              f"class {name}: say of what")
            self.assert_clean(classes.check_class_names, {"src/a.h": a_class(1, 1, "Wire" + name)})


class PublicDocs(Rules):
    def check_header(self, text):
        return found(public_docs.check_public_docs, {"include/peal/a.h": text})

    def test_finds_each_kind_of_undocumented_symbol(self):
        for text in ("struct A {};", "enum class E { };", "int f(int a, int b);", "using X = int;",
                     "inline constexpr int kMax = 3;", "template <class T>\nT g(T value);",
                     "/// A.\nclass A {\n public:\n  int size() const;\n};",
                     "/// A.\nstruct A {\n  int bytes = 3;\n};",
                     "/// F.\nint f(int a);\nint g(int a);",
                     "/// E.\nenum class E {\n  one\n};"):
            got = self.check_header(f"namespace peal {{\n{text}\n}}\n")
            self.assertEqual(len(got), 1, f"{text}: {got}")

    def test_accepts_documented_ones_and_what_needs_no_words(self):
        self.assertEqual(self.check_header(
            "#pragma once\nnamespace peal {\nclass Other;\nstruct Pod;\n\n"
            "/// A member.\n/// Thread: any.\nclass Member {\n public:\n"
            "  /// Opens.\n  explicit Member(int fd, int events = 0);\n  ~Member();\n"
            "  Member(const Member&) = delete;\n  Member(Member&& other) noexcept;\n"
            "  Member& operator=(Member&&) noexcept;\n"
            "  int fd() const { return fd_; }  ///< to wait on\n"
            "  int events() const;  ///< wanted\n\n"
            " private:\n  void hidden();\n  int fd_ = -1;\n};\n\n"
            "/// Sends.\nint send(int a);\nint send(long a);\n"
            "/// What.\nenum class E : int {\n  one,  ///< first\n  /// Second.\n  two,\n};\n"
            "/// Sums.\ntemplate <class T>\nT sum(T a,\n      T b);\n}  // namespace peal\n"), [])

    def test_other_headers_are_free(self):
        self.assert_clean(public_docs.check_public_docs, {"src/io/a.h": "struct A {};\n"})


class EngineNames(Rules):
    ENGINES = {"src/order/ring/descriptor.h": "", "src/order/paxos/descriptor.h": ""}

    def tree(self, text, rows="", path="sim/a.cc"):
        return {**self.ENGINES, path: text, engines.LIST: rows}

    def test_finds_each_way_to_name_an_engine(self):
        for text in ("ring::Config c;", 'find("ring.max_gap");', "class RingEngine;", "int kRing;",
                     "set_ring(1);", "ring_name();", '#include "wire/paxos.h"',
                     'say("the ring goes on");', "wire::kPaxosKinds", "isPaxos()"):
            self.assert_found(engines.check_engine_names, self.tree("\n" + text + "\n"),
                              "sim/a.cc:2:", "names an engine")

    def test_leaves_comments_buffers_and_other_words_alone(self):
        self.assert_clean(engines.check_engine_names, self.tree(
            "// the ring\n/* paxos */\nRingQueue<int> q;\nByteRing ring_;\nint bridge, during;\n"
            '#include "base/ring_queue.h"\nring_.tail();\nsmall_ring_bytes(ring_bytes);\n'))

    def test_an_engine_may_name_itself_and_codecs_may_name_it(self):
        for path in ("src/order/ring/a.cc", "src/wire/a.cc", "tests/a.cc"):
            self.assert_clean(engines.check_engine_names, self.tree("ring::Config c;\n", "", path))

    def test_a_row_needs_a_reason_and_a_file_that_names_one(self):
        self.assert_clean(engines.check_engine_names,
                          self.tree("ring::Config c;\n", "# rows\nsim/a.cc | it must\n"))
        self.assert_found(engines.check_engine_names, self.tree("ring::Config c;\n", "sim/a.cc\n"),
                          "expected: path | reason")
        self.assert_found(engines.check_engine_names, self.tree("", "sim/a.cc | it must\n"),
                          "drop the row")

    def test_there_are_at_most_ten(self):
        names = [f"sim/{letter}.cc" for letter in "abcdefghijk"]
        texts = {**self.ENGINES, **{name: "ring::Config c;\n" for name in names},
                 engines.LIST: "".join(f"{name} | it must\n" for name in names)}
        self.assert_found(engines.check_engine_names, texts, engines.LIST, "more than 10")


class MutantNotes(Rules):
    NOTE = "# why\nfile: src/a.cc\nline: f(1);\nchange: f(1); => (left out)\nreason: none\n"

    def test_a_quoted_line_is_in_its_file_whatever_its_comment_says(self):
        self.assert_clean(mutants.check_mutant_notes,
                          {"src/a.cc": "{\n  f(1);  // once\n}\n", mutants.NOTES: self.NOTE})

    def test_finds_a_line_that_is_gone(self):
        for texts in ({"src/a.cc": "f(2);\n"}, {"src/b.cc": "f(1);\n"}):
            self.assert_found(mutants.check_mutant_notes, {**texts, mutants.NOTES: self.NOTE},
                              mutants.NOTES + ":3:", "src/a.cc has no line 'f(1);'")


class Reading(unittest.TestCase):
    def test_comments_and_literals_are_blanked_in_place(self):
        text = "int a = 4'096; // x{\nconst char* b = \"{\"; char c = '{'; /* { */\n"
        blank = blank_comments_and_literals(text)
        self.assertEqual(len(blank), len(text))
        self.assertNotIn("{", blank)
        self.assertIn("4'096", blank)

    def test_raw_strings_are_blanked(self):
        self.assertNotIn("}", blank_comments_and_literals('auto s = R"x({"a": "}"})x"; int b;'))

    def test_functions_are_told_from_other_braces(self):
        code = ("namespace a {\nstruct S : B<int> {\n  S() : x_{1}, y_(2) {\n    f();\n  }\n"
                "  int x_{0};\n};\nenum class E { one };\nint t[] = {1, 2};\n"
                "template <class T>\nauto g(T a) -> T {\n  auto l = [&](int b) { return b; };\n"
                "  return l(a);\n}\n}  // namespace a\n")
        names = [(f.name, f.last) for f in scopes.functions(code) if f.length > 1]
        self.assertEqual(names[-1], ("g", 14))
        self.assertEqual([last for _, last in names], [5, 14])


class Layout(unittest.TestCase):
    def test_finds_code_that_is_laid_out_otherwise(self):
        root = tempfile.mkdtemp(prefix="peal-check-")
        try:
            here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            shutil.copy(os.path.join(here, ".clang-format"), root)
            for name, text in (("good.cc", "int f() { return 1; }\n"),
                               ("bad.cc", "int  f( ){return 1;}\n")):
                with open(os.path.join(root, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
            got = [f.path for f in layout.check_layout(Tree.read(root))]
            self.assertEqual(got, ["bad.cc"])
        finally:
            shutil.rmtree(root)


class CountTests(unittest.TestCase):
    def count(self, status, output):
        case = f'<testcase name="a" status="{status}"><system-out>{output}</system-out></testcase>'
        return count_tests.count(ElementTree.fromstring(f"<testsuite>{case}</testsuite>"))

    def test_counts_cases_and_never_takes_silence_for_success(self):
        two = "[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[       OK ] A.C (1 ms)\n"
        one_bad = two + "[  FAILED  ] A.D (2 ms)\n[  PASSED  ] 2 tests.\n[  FAILED  ] A.D\n"
        self.assertEqual(self.count("run", two), (2, 0))
        self.assertEqual(self.count("run", "no cases of its own"), (1, 0))
        self.assertEqual(self.count("fail", one_bad), (2, 1))
        self.assertEqual(self.count("fail", two + "Segmentation fault"), (2, 1))
        self.assertEqual(self.count("notrun", ""), (0, 1))
        skipped = two + "[  SKIPPED ] A.E (0 ms)\n[  SKIPPED ] 1 test, listed below:\n"
        self.assertEqual(self.count("run", skipped), (2, 0))
        self.assertEqual(self.count("disabled", ""), (0, 1))

    def test_what_a_failed_test_printed_is_told_apart_from_the_rest(self):
        text = ("[ RUN      ] A.B\nfine\n[       OK ] A.B (0 ms)\n"
                "[ RUN      ] A.C\na.cc:7: Failure\n  1\n[  FAILED  ] A.C (3 ms)\n")
        self.assertEqual(count_tests.failures("a", text), ["failed: A.C", "a.cc:7: Failure", "  1"])
        long = "[ RUN      ] A.C\n" + "x\n" * 100 + "[  FAILED  ] A.C, where TypeParam = int\n"
        self.assertEqual(len(count_tests.failures("a", long)), 42)
        died = "[ RUN      ] A.C\n" + "x\n" * 100 + "Segmentation fault"
        self.assertEqual(count_tests.failures("a", died)[-1], "Segmentation fault")


class Driver(unittest.TestCase):
    def test_rules_can_be_chosen_by_name(self):
        files = Tree.of({"src/a.cc": f"// {TO_DO}\n"})
        self.assertEqual({f.check for f in check.run(files, ["unfinished"])}, {"unfinished"})
        self.assertIn("spdx", {f.check for f in check.run(files, [])})

    def test_every_rule_has_a_name_and_a_sentence(self):
        names = [check.name_of(c) for c in check.CHECKS]
        self.assertEqual(len(names), len(set(names)))
        for rule in check.CHECKS:
            self.assertTrue(rule.__doc__, rule.__name__)


if __name__ == "__main__":
    unittest.main()
