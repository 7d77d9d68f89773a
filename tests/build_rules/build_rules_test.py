#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the build itself keeps the modules apart.

For each module it takes the compiler commands of the build, and asks the compiler for one header of
every other module. If the other module is not in the module's row of the table (ARCHITECTURE.md,
"Which module may include which"), no command may find the header. If it is, at least one command of
each flavour must: a module may be several libraries, not all of which need all that the module may
include.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))

from checks.modules import MODULES, module_of_path  # noqa: E402

# Modules of headers only: they have no command of their own.
HEADERS_ONLY = {"port", "include/peal", "order/inspection"}

# The path of a file that CMake writes when it compiles several of a target at a time: below the
# build folder, as the target's own folder is below the source.
UNIT = re.compile(r"/CMakeFiles/[^/]+\.dir/Unity/")


def compiler_commands(build, source):
    """Module -> set of (compiler, flags with include paths); both flavours of a pure module."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as stream:
        entries = json.load(stream)
    commands = {}
    for entry in entries:
        top = build if UNIT.search(entry["file"]) else source
        module = module_of_path(UNIT.sub("/", os.path.relpath(entry["file"], top)))
        if module is None:
            continue
        words = shlex.split(entry["command"])
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        flags = [f for i, f in enumerate(words[1:], 1)
                 if f.startswith(("-I", "-D", "-std", "-isystem")) or words[i - 1] == "-isystem"]
        commands.setdefault(module, set()).add((words[0], tuple(flags)))
    return commands


def header_of(module, source):
    """One header of a module as others include it, and its file; or None if it has none."""
    folder = os.path.join(source, MODULES[module][0])
    names = os.listdir(folder) if os.path.isdir(folder) else []
    names = sorted(name for name in names if name.endswith(".h"))
    prefix = "peal" if module == "include/peal" else MODULES[module][0].removeprefix("src/")
    return (f"{prefix}/{names[0]}", os.path.join(folder, names[0])) if names else None


def opens(command, header, path, folder):
    """Whether the compiler finds that very file; the system may have one of the same name."""
    probe = os.path.join(folder, "probe.cc")
    with open(probe, "w", encoding="utf-8") as stream:
        stream.write(f'#include "{header}"\n')
    compiler, flags = command
    result = subprocess.run([compiler, *flags, "-E", "-H", "-o", os.devnull, probe],
                            capture_output=True, text=True, check=False)
    first = re.search(r"^\. (.*)$", result.stderr, re.MULTILINE)
    if first:
        return os.path.realpath(first.group(1)) == os.path.realpath(path)
    if result.returncode == 0 or header not in result.stderr:
        sys.exit(f"{compiler} cannot answer for {header}:\n{result.stderr}")
    return False


def is_simulated(command):
    """Whether the command is one of the simulator's flavour."""
    return "-DPEAL_SIM=1" in command[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    commands = compiler_commands(arguments.build, arguments.source)
    headers = {module: header_of(module, arguments.source) for module in MODULES}
    wrong, asked = [], 0

    for module in MODULES:
        if module not in commands and module not in HEADERS_ONLY:
            wrong.append(f"module {module}: the build compiles nothing of it")
    with tempfile.TemporaryDirectory() as folder:
        for module, variants in sorted(commands.items()):
            for other, found in headers.items():
                if found is None:
                    continue
                header, path = found
                allowed = other == module or other in MODULES[module][1]
                asked += len(variants)
                able = [each for each in sorted(variants) if opens(each, header, path, folder)]
                # In each flavour of the module, the simulator's and the other one.
                if allowed and set(map(is_simulated, able)) != set(map(is_simulated, variants)):
                    wrong.append(f'module {module} cannot include "{header}"')
                if not allowed:
                    wrong += [f'module {module} can include "{header}": {" ".join(flags)}'
                              for _, flags in able]
    print("\n".join(wrong + [f"{asked} includes tried, {len(wrong)} wrong"]))
    return 1 if wrong or asked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
