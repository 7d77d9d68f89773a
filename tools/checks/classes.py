# SPDX-License-Identifier: Apache-2.0
"""Limits that keep a class to one responsibility, and names that say which."""

from .scopes import classes
from .tree import Finding

AIMED = (40, 30)  # member functions, fields
LIMITS = (60, 40)
BETWEEN_MOST = 9
EXCEPTIONS = "tools/class_exceptions.txt"
NAMES = {"Core", "Stage", "Reader"}


def read_exceptions(tree):
    """Lines of `path:Class reason…`: a dict to the line's number, and findings."""
    file = tree.get(EXCEPTIONS)
    lines, findings = {}, []
    for number, line in enumerate(file.lines if file else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *reason = line.split(None, 1)
        if not reason:
            findings.append(Finding(EXCEPTIONS, number, "class-sizes",
                                    "expected: path:Class reason"))
        lines[name] = number
    return lines, findings


def shipped(file):
    return file.is_cpp and file.path.startswith(("include/", "src/", "sim/", "oracle/", "bench/"))


def check_class_sizes(tree):
    """Classes aim at 40 member functions and 30 fields; 9 may have up to 60 and 40."""
    exceptions, findings = read_exceptions(tree)
    yield from findings
    used = set()
    for file in filter(shipped, tree.files):
        for each in classes(file.code):
            counts = (len(each.functions), len(each.fields))
            # A list of values, as of counters or options, has no responsibility to cut.
            if not each.functions or all(n <= aim for n, aim in zip(counts, AIMED)):
                continue
            said = f"class {each.name} has {counts[0]} member functions and {counts[1]} fields"
            name = f"{file.path}:{each.name}"
            used.add(name)
            if any(n > most for n, most in zip(counts, LIMITS)):
                yield Finding(file.path, each.line, "class-sizes",
                              f"{said}, at most {LIMITS[0]} and {LIMITS[1]}: cut it by "
                              "responsibility")
            elif name not in exceptions:
                yield Finding(file.path, each.line, "class-sizes",
                              f"{said}, aimed at {AIMED[0]} and {AIMED[1]}: cut it by "
                              f"responsibility, or give its reason in {EXCEPTIONS}")
    for name in exceptions.keys() - used:
        yield Finding(EXCEPTIONS, exceptions[name], "class-sizes", f"{name} needs no exception")
    if len(exceptions) > BETWEEN_MOST:
        yield Finding(EXCEPTIONS, 0, "class-sizes",
                      f"{len(exceptions)} exceptions, at most {BETWEEN_MOST}")


def check_class_names(tree):
    """No class is called just Core, Stage or Reader: its name says of what."""
    for file in filter(shipped, tree.files):
        for each in classes(file.code):
            if each.name in NAMES:
                yield Finding(file.path, each.line, "class-names",
                              f"class {each.name}: say of what it is the {each.name.lower()}")


CHECKS = [check_class_sizes, check_class_names]
