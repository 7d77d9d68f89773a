# SPDX-License-Identifier: Apache-2.0
"""One place for an engine: few files outside its own folder name it."""

import re

from .tree import Finding

LIST = "tools/engine_names.txt"
ROWS_MAX = 10
FOLDERS = ("include/", "src/", "sim/", "oracle/", "bench/")
DESCRIPTOR = re.compile(r"src/order/(\w+)/descriptor\.h")
# A buffer that is a ring is no engine.
BUFFERS = re.compile(r"\w*RingQueue\w*|\w*ByteRing\w*|\b(?:base/)?(?:ring_queue|byte_ring)\b|"
                     r"\bring_(?:tail|bytes)?\b|\bsmall_ring_bytes\b|\bkRingBytes\w*|"
                     r"\bkSmallPerRing\b")
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def engines(tree):
    """Folders of src/order with a descriptor."""
    return sorted({m.group(1) for f in tree.files if (m := DESCRIPTOR.fullmatch(f.path))})


def code_with_literals(text):
    """Without comments: what a program says is as much its code as the names in it."""

    def kept(match):
        token = match.group(0)
        return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)

    return _COMMENT.sub(kept, text)


def pattern_of(names):
    """`ring` in ring::Config, "ring.max_gap", RingEngine, kRing, set_ring and ring_name; not in
    bridge and during."""
    words = "|".join(names)
    titles = "|".join(n.capitalize() for n in names)
    return re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])|"
                      rf"(?:(?<=k)|(?<![A-Za-z]))(?:{titles})(?![a-z])|"
                      rf"(?<=[a-z])(?:{titles})(?![a-z])")


def naming_lines(tree):
    """From path to the first line that names an engine."""
    names = engines(tree)
    if not names:
        return {}
    own = tuple(f"src/order/{name}/" for name in names) + ("src/wire/",)
    pattern = pattern_of(names)
    lines = {}
    for file in tree.cpp():
        if not file.path.startswith(FOLDERS) or file.path.startswith(own):
            continue
        for number, line in enumerate(code_with_literals(file.text).split("\n"), 1):
            if pattern.search(BUFFERS.sub(" ", line)):
                lines[file.path] = number
                break
    return lines


def check_engine_names(tree):
    """At most ten files outside its folder name an engine, each with its reason."""
    lines = naming_lines(tree)
    file = tree.get(LIST)
    listed = set()
    for number, line in enumerate(file.lines if file else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, _, reason = line.partition(" | ")
        if not reason.strip():
            yield Finding(LIST, number, "engine-names", "expected: path | reason")
        elif path not in lines:
            yield Finding(LIST, number, "engine-names", f"{path} names no engine: drop the row")
        listed.add(path)
        if len(listed) > ROWS_MAX:
            yield Finding(LIST, number, "engine-names", f"more than {ROWS_MAX} files")
    for path, number in sorted(lines.items()):
        if path not in listed:
            yield Finding(path, number, "engine-names", "names an engine: take it from "
                          "order/registry, or give the file a row with its reason in " + LIST)


CHECKS = [check_engine_names]
