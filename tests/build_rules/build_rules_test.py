#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the build itself keeps the rooms apart.

For each room it takes the compiler commands that the build really uses, and asks the compiler for
one header of every other room. A header of a room that is not in the room's row of the table
(ARCHITECTURE.md, "Which room may open which") must not be found by any of them; one that is must be
found by one, in each flavour: a room may be several libraries, not all of which need all that the
room may open.
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

from checks.rooms import ROOMS, room_of_path  # noqa: E402

# Rooms that hold nothing but headers: no command of their own, nothing that could open a room.
HEADERS_ONLY = {"port", "include/peal"}

# The path of a file that CMake writes when it compiles several of a target at a time: below the
# build folder, as the target's own folder is below the source.
UNIT = re.compile(r"/CMakeFiles/[^/]+\.dir/Unity/")


def compiler_commands(build, source):
    """Room -> set of (compiler, flags that say where headers are); both flavours of a pure room."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as stream:
        entries = json.load(stream)
    commands = {}
    for entry in entries:
        top = build if UNIT.search(entry["file"]) else source
        room = room_of_path(UNIT.sub("/", os.path.relpath(entry["file"], top)))
        if room is None:
            continue
        words = shlex.split(entry["command"])
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        flags = [f for i, f in enumerate(words[1:], 1)
                 if f.startswith(("-I", "-D", "-std", "-isystem")) or words[i - 1] == "-isystem"]
        commands.setdefault(room, set()).add((words[0], tuple(flags)))
    return commands


def header_of(room, source):
    """One header of a room as others include it, and its file; or None if it has none."""
    folder = os.path.join(source, ROOMS[room][0])
    names = os.listdir(folder) if os.path.isdir(folder) else []
    names = sorted(name for name in names if name.endswith(".h"))
    prefix = "peal" if room == "include/peal" else ROOMS[room][0].removeprefix("src/")
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
    headers = {room: header_of(room, arguments.source) for room in ROOMS}
    wrong, asked = [], 0

    for room in ROOMS:
        if room not in commands and room not in HEADERS_ONLY:
            wrong.append(f"room {room}: the build compiles nothing of it")
    with tempfile.TemporaryDirectory() as folder:
        for room, variants in sorted(commands.items()):
            for other, found in headers.items():
                if found is None:
                    continue
                header, path = found
                allowed = other == room or other in ROOMS[room][1]
                asked += len(variants)
                able = [each for each in sorted(variants) if opens(each, header, path, folder)]
                # In each flavour of the room, the simulator's and the other one.
                if allowed and set(map(is_simulated, able)) != set(map(is_simulated, variants)):
                    wrong.append(f'room {room} cannot open "{header}"')
                if not allowed:
                    wrong += [f'room {room} can open "{header}": {" ".join(flags)}'
                              for _, flags in able]
    print("\n".join(wrong + [f"{asked} includes tried, {len(wrong)} wrong"]))
    return 1 if wrong or asked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
