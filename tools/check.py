#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the house: layout, sizes, modules, words, documentation. See ./dev check."""

import argparse
import os
import sys
import time
import unittest

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True

from checks import (classes, engines, layout, modules, mutants, public_docs, sizes,  # noqa: E402
                    tree, words)

CHECKS = (modules.CHECKS + words.CHECKS + sizes.CHECKS + classes.CHECKS + public_docs.CHECKS +
          layout.CHECKS + engines.CHECKS + mutants.CHECKS)


def name_of(check):
    return check.__name__.removeprefix("check_").replace("_", "-")


def first_line(check):
    return check.__doc__.split("\n")[0]


def run(files, wanted):
    """All findings of the wanted checks, sorted by place."""
    findings = []
    for check in CHECKS:
        if not wanted or name_of(check) in wanted:
            findings.extend(check(files))
    return sorted(findings, key=lambda f: (f.path, f.line, f.check, f.message))


def self_test():
    """Plants one violation per rule and proves that it is found."""
    suite = unittest.defaultTestLoader.discover(TOOLS, pattern="check_test.py")
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


def main():
    parser = argparse.ArgumentParser(
        prog="./dev check", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="rules:\n" + "\n".join(f"  {name_of(c):16}{first_line(c)}" for c in CHECKS))
    parser.add_argument("rules", nargs="*", help="check only these rules (default: all)")
    parser.add_argument("--self-test", action="store_true",
                        help="plant a violation of each rule and see it found")
    parser.add_argument("--root", default=os.path.dirname(TOOLS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    unknown = set(arguments.rules) - {name_of(c) for c in CHECKS}
    if unknown:
        parser.error(f"no rule named {', '.join(sorted(unknown))}; "
                     f"rules: {', '.join(name_of(c) for c in CHECKS)}")

    began = time.monotonic()
    files = tree.Tree.read(arguments.root)
    findings = run(files, arguments.rules)
    for finding in findings:
        print(finding)
    rules = len(arguments.rules) or len(CHECKS)
    print(f"{len(files.files)} files, {rules} rules, {len(findings)} findings, "
          f"{time.monotonic() - began:.1f} s; {sizes.overview(files)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
