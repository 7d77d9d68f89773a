# SPDX-License-Identifier: Apache-2.0
"""Rules about text: licence lines, unfinished work, paths of one machine, the glossary, links."""

import os
import re

from .tree import Finding

SPDX = "SPDX-License-Identifier: Apache-2.0"

# Kept apart so that this file does not break its own rule.
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
MACHINE_PATH = re.compile(
    r"(?<![\w.$}])/(?:home|Users)/\w+|(?<![\w.$}/])/(?:ro" + r"ot|wo" + r"rk)/")
INTERPRETERS = ("#!/usr/bin/env bash", "#!/usr/bin/python3", "#!/usr/bin/env python3")
SUFFIXES = (".py", ".sh", ".toml", ".yml", ".yaml")


NAMED_PATH = re.compile(
    r"`((?:src|tests|docs|tools|sim|oracle|fuzz|bench|include|cmake)/[\w./-]*)`")
TEST_CASE = re.compile(r"\b(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def comment_mark(file):
    """How a comment starts in a file that must carry the licence line; None if it need not."""
    name = os.path.basename(file.path)
    if file.path.endswith((".h", ".cc")):
        return "//"
    if file.path.endswith(".c"):
        return "/*"
    if (file.shebang or file.is_cmake or file.path.endswith(SUFFIXES)
            or name in (".clang-format", ".clang-tidy")):
        return "#"
    return None


def check_spdx(tree):
    """Each source file starts with its licence line (after the interpreter line, if any)."""
    for file in tree.files:
        mark = comment_mark(file)
        if mark is None:
            continue
        index = 1 if file.shebang else 0
        line = file.lines[index] if len(file.lines) > index else ""
        if not line.startswith(f"{mark} {SPDX}"):
            yield Finding(file.path, index + 1, "spdx", f'this line must be "{mark} {SPDX}"')


def check_unfinished(tree):
    """Nothing is left for later in the text: finish it or write it down as a limit."""
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            match = UNFINISHED.search(line)
            if match:
                yield Finding(file.path, number, "unfinished", f"'{match.group(0)}': finish it")


def check_machine_paths(tree):
    """No path that exists on one machine only."""
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            match = MACHINE_PATH.search(line)
            if match:
                yield Finding(file.path, number, "machine-path",
                              f"'{match.group(0)}' exists on one machine only")


def check_executable(tree):
    """Scripts with an interpreter line can be run, and name one that Debian has."""
    for file in tree.files:
        if file.shebang and not file.executable:
            yield Finding(file.path, 1, "executable", "has an interpreter line: chmod +x")
        if file.shebang and file.shebang not in INTERPRETERS:
            yield Finding(file.path, 1, "executable", f"use one of: {', '.join(INTERPRETERS)}")


def glossary_rules(tree, heads=("write", "not")):
    """Rows `| write | not |` of docs/glossary.md: a list of (wanted, wrong)."""
    page = tree.get("docs/glossary.md")
    if page is None:
        return []
    rules = []
    inside = False
    for line in page.lines:
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif tuple(cells[:2]) == heads:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            for wrong in re.findall(r"`([^`]+)`", cells[1]):
                rules.append((cells[0].strip("`"), wrong))
    return rules


def check_glossary(tree):
    """One word per idea: what docs/glossary.md replaces is not used."""
    if tree.get("docs/glossary.md") is None:
        yield Finding("docs/glossary.md", 0, "glossary", "the glossary is missing")
    rules = [(wanted, re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE))
             for wanted, wrong in glossary_rules(tree)]
    for file in tree.files:
        if file.path == "docs/glossary.md" or file.path.startswith("tools/check"):
            continue
        for number, line in enumerate(file.lines, 1):
            for wanted, wrong in rules:
                match = wrong.search(line)
                if match:
                    yield Finding(file.path, number, "glossary",
                                  f"'{match.group(0)}': write {wanted} (docs/glossary.md)")


def check_plain_words(tree):
    """Comments and pages use the field's words, not those in the last table of docs/glossary.md."""
    rules = [(wanted, re.compile(
        # No part of a name, a path or a quotation; a phrase may go on in the next line.
        r"""(?<![\w/."'-])""" + r"[\s*#]+".join(re.escape(w) for w in wrong.split())
        + r"""(?![\w/"'-]|\.\w)""", re.IGNORECASE))
             for wanted, wrong in glossary_rules(tree, ("write", "in place of"))]
    for file in tree.files:
        if file.path == "docs/glossary.md" or file.path.startswith("tools/check"):
            continue
        for wanted, wrong in rules:
            for match in wrong.finditer(file.prose):
                line = file.prose.count("\n", 0, match.start()) + 1
                text = " ".join(match.group(0).split())
                yield Finding(file.path, line, "plain-words",
                              f"'{text}': write {wanted} (docs/glossary.md)")


def check_links(tree):
    """Links between the pages lead somewhere, and so do the paths that pages name in backquotes."""
    folders = {os.path.dirname(p) for p in tree.paths}
    folders |= {"/".join(f.split("/")[:i]) for f in folders for i in range(1, f.count("/") + 1)}
    for file in tree.files:
        if not file.path.endswith(".md"):
            continue
        base = os.path.dirname(file.path)
        for number, line in enumerate(file.lines, 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:|#", target):
                    continue
                path = os.path.normpath(os.path.join(base, target.split("#")[0]))
                if path not in tree.paths and path not in folders:
                    yield Finding(file.path, number, "links", f"{target} leads nowhere")
            for target in NAMED_PATH.findall(line):
                path = target.rstrip("/")
                if path not in tree.paths and path not in folders:
                    yield Finding(file.path, number, "links", f"{target} does not exist")


def test_names(tree):
    """`Suite.Case` of every GoogleTest case."""
    names = set()
    for file in tree.cpp():
        if file.path.startswith("tests/"):
            names.update(f"{suite}.{case}" for suite, case in TEST_CASE.findall(file.code))
    return names


def check_named_tests(tree):
    """Tests that a page names in backquotes as `Suite.Case` exist."""
    names = test_names(tree)
    for file in tree.files:
        if file.path.endswith(".md"):
            for number, line in enumerate(file.lines, 1):
                for name in re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", line):
                    if name not in names and not re.search(r"\.[A-Z]+$", name):
                        yield Finding(file.path, number, "named-tests", f"no test is named {name}")


def check_test_sleeps(tree):
    """Tests wait for what they need, and never for time to pass."""
    for file in tree.cpp():
        if not file.path.startswith("tests/"):
            continue
        for number, line in enumerate(file.code_lines, 1):
            match = re.search(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\s*\(", line)
            if match:
                yield Finding(file.path, number, "test-sleeps",
                              f"{match.group(0)}…): wait for the event itself, or use virtual time")
            match = re.search(r"\bDISABLED_\w+|\bGTEST_SKIP\s*\(\s*\)\s*;", line)
            if match:
                yield Finding(file.path, number, "test-sleeps",
                              f"{match.group(0)}: a test that does not run proves nothing; where "
                              "a machine lacks something, GTEST_SKIP() << says what")


CHECKS = [check_spdx, check_unfinished, check_machine_paths, check_executable, check_glossary,
          check_plain_words, check_links, check_named_tests, check_test_sleeps]
