# SPDX-License-Identifier: Apache-2.0
"""The layout of C++ files, as clang-format 14 gives it from .clang-format."""

import os
import re
import subprocess

from .tree import Finding

TOOL = "clang-format-14"


def formatted_paths(tree):
    return [f.path for f in tree.cpp() if not f.path.startswith("tests/build_rules/")]


def check_layout(tree):
    """./dev fmt would change nothing."""
    paths = formatted_paths(tree)
    if not paths or not tree.root:
        return
    try:
        result = subprocess.run([TOOL, "--style=file", "--dry-run", *paths], cwd=tree.root,
                                capture_output=True, text=True, check=False)
    except FileNotFoundError:
        yield Finding(TOOL, 0, "layout", "is not installed: run tools/install-deps")
        return
    seen = set()
    for match in re.finditer(r"^(\S+?):(\d+):\d+: \w+: code should be clang-formatted",
                             result.stderr, re.MULTILINE):
        path = os.path.relpath(os.path.join(tree.root, match.group(1)), tree.root)
        if path not in seen:  # one finding per file: one command repairs them all
            seen.add(path)
            yield Finding(path, int(match.group(2)), "layout", "run ./dev fmt")
    if result.returncode != 0 and not seen:
        yield Finding(TOOL, 0, "layout", result.stderr.strip()[:400])


CHECKS = [check_layout]
