# SPDX-License-Identifier: Apache-2.0
"""Which module may include which, and what the pure modules may not touch.

The table is the one of ARCHITECTURE.md, "Which module may include which"; check_module_table
compares the two. CMake links each module to the same list (tests/build_rules proves it)."""

import re

from .tree import Finding

# module: (folder, modules whose headers it may include besides its own, is it pure)
MODULES = {
    "base": ("src/base", (), True),
    "wire": ("src/wire", ("base",), True),
    "port": ("src/port", ("base",), True),
    "wal": ("src/wal", ("base", "port"), True),
    "trace": ("src/trace", ("base",), True),
    "order": ("src/order", ("base",), True),
    "order/evs": ("src/order/evs", ("base", "wire", "order"), True),
    "order/ring": ("src/order/ring", ("base", "wire", "order", "order/evs"), True),
    "order/paxos": ("src/order/paxos", ("base", "wire", "port", "order"), True),
    "order/ridge": ("src/order/ridge", ("base", "wire", "port", "order", "order/paxos"), True),
    "order/toto": ("src/order/toto", ("base", "wire", "order", "order/evs"), True),
    "order/ramcast": ("src/order/ramcast", ("base", "wire", "port", "order"), True),
    "order/registry": ("src/order/registry", ("base", "wire", "port", "order", "order/ring",
                                              "order/paxos", "order/ridge", "order/toto",
                                              "order/ramcast"), True),
    "order/inspection": ("src/order/inspection", ("base", "order"), True),
    "order/ring/inspection": ("src/order/ring/inspection",
                              ("base", "wire", "order", "order/ring", "order/inspection"), True),
    "order/paxos/inspection": ("src/order/paxos/inspection",
                               ("base", "wire", "port", "order", "order/paxos",
                                "order/inspection"), True),
    "order/ridge/inspection": ("src/order/ridge/inspection",
                               ("base", "wire", "port", "order", "order/paxos", "order/ridge",
                                "order/inspection", "order/paxos/inspection"), True),
    "order/toto/inspection": ("src/order/toto/inspection",
                              ("base", "wire", "order", "order/toto", "order/inspection"), True),
    "order/ramcast/inspection": ("src/order/ramcast/inspection",
                                 ("base", "wire", "port", "order", "order/ramcast",
                                  "order/inspection"), True),
    "order/registry/inspection": ("src/order/registry/inspection",
                                  ("base", "wire", "port", "order", "order/ring", "order/paxos",
                                   "order/ridge", "order/toto", "order/ramcast",
                                   "order/inspection", "order/ring/inspection",
                                   "order/paxos/inspection", "order/ridge/inspection",
                                   "order/toto/inspection", "order/ramcast/inspection"), True),
    "group": ("src/group", ("base", "wire", "order"), True),
    "session": ("src/session", ("base", "wire", "order", "group"), True),
    "seal": ("src/seal", ("base",), False),
    "node": ("src/node", ("base", "wire", "port", "order"), True),
    "io": ("src/io", ("base", "port", "seal"), False),
    "io/fabric": ("src/io/fabric", ("base", "port", "seal", "io"), False),
    "client": ("src/client", ("base", "wire", "port", "io", "include/peal"), False),
    "cabi": ("src/cabi", ("base", "wire", "port", "io", "client", "include/peal"), False),
    "config": ("src/config", ("base", "wire", "port", "order", "order/registry", "node", "io",
                              "seal", "trace"), False),
    "config/file": ("src/config/file", ("base", "wire", "port", "order", "order/registry", "group",
                                        "node", "io", "seal", "session", "trace", "config"),
                    False),
    "runtime": ("src/runtime", ("base", "wire", "port", "wal", "order", "order/registry", "node",
                                "io", "io/fabric", "seal", "trace", "config"), False),
    "member": ("src/member", ("base", "wire", "port", "order", "order/registry", "node", "io",
                              "seal", "trace", "config", "runtime", "include/peal"), False),
    "daemon": ("src/daemon", ("base", "wire", "port", "order", "order/registry", "group",
                              "session", "node", "io", "seal", "trace", "config", "config/file",
                              "runtime"), False),
    "include/peal": ("include/peal", (), False),
    "oracle": ("oracle", ("base", "trace", "order", "order/registry"), False),
    "sim": ("sim", ("base", "wire", "port", "wal", "trace", "order", "order/registry",
                    "order/inspection", "order/registry/inspection", "group", "session", "node",
                    "oracle"), False),
    "cli": ("src/cli", ("base", "wire", "port", "trace", "order", "order/registry",
                        "node", "io", "config", "config/file",
                        "runtime", "member", "include/peal", "oracle", "seal", "group", "session",
                        "client", "daemon"), False),
}

# Standard headers that cannot reach a clock, a thread, a file or randomness. Everything else,
# operating-system headers included, is refused in pure modules.
PURE_HEADERS = frozenset("""
    algorithm array bit bitset cassert cctype charconv climits cmath compare concepts cstddef
    cstdint cstring deque functional initializer_list iterator limits list map memory new numeric
    optional queue set span stack string string_view tuple type_traits unordered_map unordered_set
    utility variant vector version
    """.split())

# Modules, and single files of pure modules, that may include one more header, and why.
PURE_EXCEPTIONS = {
    "trace": {"nlohmann/json.hpp"},              # reads and writes text in memory
    "src/base/assert.h": {"cstdio", "cstdlib"},  # says what failed, and stops the process
    "src/base/crc32c.cc": {"immintrin.h"},       # instructions of the processor
    "src/base/large_memory.cc": {"sys/mman.h"},  # asks for large pages
    "src/base/probes.h": {"atomic"},             # simulator builds only
    "src/wal/log.h": {"atomic"},                 # what the owner tells a commit under way
    "src/wal/writer.h": {"atomic"},              # the same
    "src/wire/shared.cc": {"atomic"},            # the order of stores that other processes see
}

# Words that mean a clock, a thread, outside randomness, the environment, or an exception.
BANNED_IN_PURE = [
    (r"std::chrono\b|\bclock_gettime\b|\bgettimeofday\b|\b__rdtsc\b|\b__builtin_ia32_rdtsc\b",
     "a clock: time comes in as an argument"),
    (r"(?<![\w.>:])(?:std::)?(?:time|clock)\s*\(\s*(?:NULL|nullptr|0)?\s*\)",
     "a clock: time comes in as an argument"),
    (r"\bstd::(?:thread|jthread|mutex|shared_mutex|recursive_mutex|lock_guard|unique_lock|"
     r"scoped_lock|condition_variable|future|promise|async|call_once|latch|barrier)\b",
     "threads: pure modules have one thread and no locks"),
    (r"\bthread_local\b", "a global per thread: state belongs to an object"),
    (r"\bstd::(?:random_device|mt19937\w*|minstd_rand\w*|default_random_engine)\b|"
     r"(?<![\w.>:])(?:std::)?s?rand\s*\(", "randomness of its own: take base/random.h and a seed"),
    (r"\bgetenv\b", "the environment: options come in as an argument"),
    (r"\b(?:throw|try|catch)\b", "an exception: return a Result"),
    (r"\bdynamic_cast\b|\btypeid\b", "run-time types"),
    (r"(?<![\w:])std::(?:cout|cerr|clog|cin|printf|fprintf|puts)\b|(?<![\w:.>])f?printf\s*\(",
     "input or output: report an event"),
]
# (path, word) pairs that are allowed, and why.
BANNED_EXCEPTIONS = {
    ("src/base/hooks.cc", "thread_local"),  # the mutant of a thread; simulator builds only
    ("src/base/assert.h", "printf"),        # says what failed, and stops the process
}

BANNED_HEADERS = {
    "ranges": "clang 14 cannot compile it with this standard library",
    "format": "the compiler does not have it",
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
_UNORDERED = re.compile(r"\bunordered_(?:multi)?(?:map|set)\s*<")


# Headers of include/peal that all modules may include: types that the public interfaces and the
# modules share.
SHARED_HEADERS = frozenset({"peal/result.h", "peal/service.h"})


def module_of_path(path):
    """The module of a file: the longest folder that holds it, or None (tests, tools, …)."""
    best = None
    for module, (folder, _, _) in MODULES.items():
        if path.startswith(folder + "/") and (best is None or len(folder) > len(MODULES[best][0])):
            best = module
    return best


def module_of_include(target):
    """The module of the header in `#include "target"`, or None if it is not one of ours."""
    prefix = "include/" if target.startswith("peal/") else ""
    for top in ("", "src/"):
        module = module_of_path(top + prefix + target)
        if module:
            return module
    return None


def includes(file):
    """(line number, is quoted, target) of every #include."""
    for number, line in enumerate(file.code_lines, 1):
        match = _INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def check_includes(tree):
    """Modules include only the modules of their row."""
    for file in tree.cpp():
        module = module_of_path(file.path)
        for line, quoted, target in includes(file):
            if not quoted and target in BANNED_HEADERS:
                yield Finding(file.path, line, "includes", f"<{target}>: {BANNED_HEADERS[target]}")
            if not quoted or module is None or target in SHARED_HEADERS:
                continue
            opened = module_of_include(target)
            if opened is None:
                yield Finding(file.path, line, "includes", f'"{target}" names no module: write '
                              '"module/file.h", or <…> for libraries')
            elif opened != module and opened not in MODULES[module][1]:
                allowed = ", ".join(MODULES[module][1]) or "nothing but the standard library"
                yield Finding(file.path, line, "includes",
                              f"module {module} may not include module {opened}; it may include: "
                              f"{allowed}")


def check_pure(tree):
    """The pure modules hold no clock, thread, socket, file, outside randomness or exception."""
    for file in tree.cpp():
        module = module_of_path(file.path)
        if module is None or not MODULES[module][2]:
            continue
        extra = PURE_EXCEPTIONS.get(file.path, set()) | PURE_EXCEPTIONS.get(module, set())
        for line, quoted, target in includes(file):
            if not quoted and target not in PURE_HEADERS and target not in extra:
                yield Finding(file.path, line, "pure",
                              f"<{target}> in pure module {module}; allowed are the headers listed "
                              "in tools/checks/modules.py")
        for number, line in enumerate(file.code_lines, 1):
            for pattern, reason in BANNED_IN_PURE:
                match = re.search(pattern, line)
                if match and not any(path == file.path and word in match.group(0)
                                     for path, word in BANNED_EXCEPTIONS):
                    yield Finding(file.path, number, "pure",
                                  f"'{match.group(0).strip()}' is {reason}")


def _unordered_names(code):
    """Names of variables and members that are declared with an unordered container type."""
    for match in _UNORDERED.finditer(code):
        depth, index = 1, match.end()
        while index < len(code) and depth:
            depth += (code[index] == "<") - (code[index] == ">")
            index += 1
        name = re.match(r"[&*\s]*(\w+)\s*[;{=,)\[]", code[index:])
        if name:
            yield name.group(1)


def check_unordered(tree):
    """Pure modules never iterate over an unordered container: its order differs between runs."""
    names = {}
    for file in tree.cpp():
        module = module_of_path(file.path)
        if module and MODULES[module][2]:
            names.setdefault(module, set()).update(_unordered_names(file.code))
    for file in tree.cpp():
        module = module_of_path(file.path)
        for name in sorted(names.get(module, ())):
            walk = re.compile(rf"\bfor\s*\([^;)]*:\s*(?:this->)?{name}\s*\)|"
                              rf"\b{name}\s*\.\s*c?begin\s*\(")
            for number, line in enumerate(file.code_lines, 1):
                if walk.search(line):
                    yield Finding(file.path, number, "unordered", "iterates over the unordered "
                                  f"container '{name}': use a sorted one")


def check_namespace_use(tree):
    """No using-directives: a name says where it comes from."""
    for file in tree.cpp():
        for number, line in enumerate(file.code_lines, 1):
            if re.search(r"\busing\s+namespace\b(?!\s+std::(?:string_view_)?literals)", line):
                yield Finding(file.path, number, "includes", "'using namespace': name what you use")


def check_module_table(tree):
    """ARCHITECTURE.md shows the same table as this file."""
    page = tree.get("ARCHITECTURE.md")
    if page is None:
        yield Finding("ARCHITECTURE.md", 0, "module-table", "the page with the table is missing")
        return
    rows = dict(re.findall(r"^\| `([\w/]+)` \| ([^|]*) \|", page.text, re.MULTILINE))
    for module, (_, allowed, _) in MODULES.items():
        if module not in rows:
            yield Finding(page.path, 0, "module-table", f"no row for module {module}")
            continue
        shown = set(re.findall(r"`([\w/]+)`", rows[module]))
        if shown != set(allowed):
            yield Finding(page.path, 0, "module-table",
                          f"module {module}: the page says {sorted(shown)}, "
                          f"tools/checks/modules.py says {sorted(allowed)}")


CHECKS = [check_includes, check_pure, check_unordered, check_namespace_use, check_module_table]
