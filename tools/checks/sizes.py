# SPDX-License-Identifier: Apache-2.0
"""Limits that keep a file readable in one sitting, and layout that editors get wrong."""

import ast
import re

from .scopes import functions
from .tree import Finding

LINE_COLUMNS = 100
FUNCTION_LINES = 70
FILE_LINES = 800
TEST_LINES = 1200
PUBLIC_HEADER_LINES = 300
EXCEPTIONS = "tools/size_exceptions.txt"


def is_source(file):
    return file.is_cpp or file.is_python or file.is_shell or file.is_cmake


def read_exceptions(tree):
    """Lines of `path limit reason…`, or `path:function limit reason…`: a dict to the limit."""
    file = tree.get(EXCEPTIONS)
    limits, findings = {}, []
    for number, line in enumerate(file.lines if file else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 2)
        if len(words) < 3 or not words[1].isdigit():
            findings.append(Finding(EXCEPTIONS, number, "sizes", "expected: path limit reason"))
        elif words[0].split(":")[0] not in tree.paths:
            findings.append(Finding(EXCEPTIONS, number, "sizes", f"no such file: {words[0]}"))
        else:
            limits[words[0]] = int(words[1])
    return limits, findings


def file_limit(file):
    if file.path.startswith("include/"):
        return PUBLIC_HEADER_LINES
    return TEST_LINES if file.is_test else FILE_LINES


def check_file_sizes(tree):
    """Files aim below 400 lines; above 800 (tests 1,200, public headers 300) they are refused."""
    limits, findings = read_exceptions(tree)
    yield from findings
    for file in tree.files:
        limit = limits.get(file.path, file_limit(file))
        if is_source(file) and len(file.lines) > limit:
            yield Finding(file.path, 0, "sizes",
                          f"{len(file.lines)} lines, at most {limit}: split it")


def python_functions(file):
    try:
        nodes = ast.walk(ast.parse(file.text))
    except SyntaxError as error:
        yield (f"syntax error: {error.msg}", error.lineno or 0, 10**6)
        return
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(file):
    name, first = None, 0
    for number, line in enumerate(file.lines, 1):
        opened = re.match(r"(?:function\s+)?([\w-]+)\s*\(\)\s*[{(]\s*$", line)
        if opened:
            name, first = opened.group(1), number
        elif name and line.rstrip() in ("}", ")"):
            yield name, first, number - first + 1
            name = None


def all_functions(file):
    """(name, first line, lines) of each function of a source file."""
    if file.is_cpp:
        return [(f.name, f.first, f.length) for f in functions(file.code)]
    if file.is_python:
        return list(python_functions(file))
    return list(shell_functions(file)) if file.is_shell else []


def check_function_sizes(tree):
    """Functions have at most 70 lines."""
    limits, _ = read_exceptions(tree)
    for file in tree.files:
        for name, line, length in all_functions(file):
            limit = limits.get(f"{file.path}:{name}", FUNCTION_LINES)
            if length > limit:
                yield Finding(file.path, line, "sizes",
                              f"function {name} has {length} lines, at most {limit}: split it")


def check_lines(tree):
    """Lines have at most 100 columns, no tabs, no trailing blanks; files end with a newline."""
    for file in tree.files:
        if not is_source(file) and not file.path.endswith((".md", ".toml")):
            continue
        if file.text and not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "lines", "no newline at the end of the file")
        for number, line in enumerate(file.lines, 1):
            if is_source(file) and len(line) > LINE_COLUMNS:
                yield Finding(file.path, number, "lines",
                              f"{len(line)} columns, at most {LINE_COLUMNS}")
            if "\t" in line:
                yield Finding(file.path, number, "lines", "a tab: use spaces")
            if line != line.rstrip():
                yield Finding(file.path, number, "lines", "blanks at the end of the line")


def overview(tree):
    """One line about sizes, for the end of a run."""
    counts = [len(f.lines) for f in tree.cpp()]
    long_ones = sorted((len(f.lines), f.path) for f in tree.cpp() if len(f.lines) > 400
                       and not f.is_test)
    text = f"{len(counts)} C++ files, {sum(counts)} lines"
    if long_ones:
        text += "; above the aim of 400: " + ", ".join(f"{p} ({n})" for n, p in reversed(long_ones))
    return text


CHECKS = [check_file_sizes, check_function_sizes, check_lines]
