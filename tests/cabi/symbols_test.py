#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What libpeal.so shows is what its header declares, and each function is called from C in a test.

usage: symbols_test.py LIBRARY SOURCE-FOLDER
"""

import os
import re
import subprocess
import sys


def main():
    library, source = sys.argv[1:]
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         capture_output=True, text=True).stdout
    # peal_0 is the name of the version; sanitizers add symbols of their own to what they build.
    shown = {line.split()[-1].split("@")[0] for line in out.splitlines()} - {"peal_0"}
    shown = {name for name in shown if not name.startswith(("__asan", "__odr_asan", "__ubsan"))}
    with open(os.path.join(source, "include/peal/peal.h"), encoding="utf-8") as stream:
        header = re.sub(r"//.*", "", stream.read())
    declared = set(re.findall(r"\b(peal_\w+)\(", header))
    with open(os.path.join(source, "tests/cabi/talk.c"), encoding="utf-8") as stream:
        called = set(re.findall(r"\b(peal_\w+)\(", stream.read()))
    for what, names in (("shown, but not declared", shown - declared),
                        ("declared, but not shown", declared - shown),
                        ("declared, but not called by tests/cabi/talk.c", declared - called)):
        if names:
            sys.exit(f"{what}: {', '.join(sorted(names))}")
    if not declared:
        sys.exit("the header declares nothing")
    print(f"{len(declared)} functions")


if __name__ == "__main__":
    main()
