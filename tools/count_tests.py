#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints "PASSED FAILED" for a JUnit report of ctest.

Counts GoogleTest's own cases, and one for each other test. A test that did not run, or that ended
in the middle, counts as failed. Standard error names the skipped ones, and has what the failed
ones printed: in the output of ctest that stands among thousands of lines."""

import re
import sys
import xml.etree.ElementTree as ElementTree

LINES_MAX = 40  # of one failed test


def shortened(text):
    lines = text.splitlines()
    if len(lines) <= LINES_MAX:
        return lines
    half = LINES_MAX // 2
    return lines[:half] + [f"… {len(lines) - 2 * half} lines …"] + lines[-half:]


def failures(name, output):
    """What each failed test of a program printed; the program's last lines if it died in one."""
    blocks = re.findall(r"^\[ RUN      \] (\S+)\n((?:(?!\[ RUN  ).*\n)*?)\[  FAILED  \] \1[, ].*$",
                        output, re.MULTILINE)
    if not blocks:
        return [f"failed: {name}", *output.splitlines()[-LINES_MAX:]]
    return [line for test, text in blocks for line in (f"failed: {test}", *shortened(text))]


def count(root):
    passed = failed = 0
    for case in root.iter("testcase"):
        output = case.findtext("system-out") or ""
        good = len(re.findall(r"^\[       OK \] ", output, re.MULTILINE))
        bad = len(re.findall(r"^\[  FAILED  \] \S+ \(\d+ ms\)$", output, re.MULTILINE))
        for name in re.findall(r"^\[  SKIPPED \] (\S+) \(\d+ ms\)$", output, re.MULTILINE):
            print(f"skipped: {name}", file=sys.stderr)
        if case.get("status") == "run":
            passed += good or 1
        else:
            passed += good
            failed += bad or 1
            print(*failures(case.get("name"), output), sep="\n", file=sys.stderr)
    return passed, failed


def main():
    print(*count(ElementTree.parse(sys.argv[1]).getroot()))


if __name__ == "__main__":
    main()
