#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints "PASSED FAILED" for a JUnit report of ctest.

Counts GoogleTest's own cases, and one for each other test. A test that did not run, or that ended
in the middle, counts as failed; one that was skipped is named on standard error."""

import re
import sys
import xml.etree.ElementTree as ElementTree


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
    return passed, failed


def main():
    print(*count(ElementTree.parse(sys.argv[1]).getroot()))


if __name__ == "__main__":
    main()
