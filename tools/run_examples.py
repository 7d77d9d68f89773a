#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/ as their pages say, and checks what they print.

usage: tools/run_examples.py FOLDER      the folder in which they were built
"""

import os
import queue
import subprocess
import sys
import threading
import time

PATIENCE_S = 30  # of each wait; what is waited for takes milliseconds


class Program:
    """A running example, whose lines come in as they are printed."""

    def __init__(self, *command):
        self.name = " ".join([os.path.basename(command[0]), *command[1:]])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.lines = []
        self.arrived = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.arrived.put(line.rstrip("\n"))
        self.arrived.put(None)

    def wait_until(self, what, condition):
        """Takes in lines until the condition on all of them holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition(self.lines):
            try:
                line = self.arrived.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                sys.exit(f"{self.name}: waited in vain until {what}; it printed {self.lines}")
            self.lines.append(line)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=PATIENCE_S)
        if status != 0:
            sys.exit(f"{self.name}: exit status {status}")


def messages(lines):
    return [line for line in lines if not line.startswith("--")]


def embedded(folder):
    """Three people in one room read the same lines in the same order."""
    names = ("a", "b", "c")
    programs = [Program(os.path.join(folder, "embedded"), name) for name in names]
    try:
        for program in programs:
            program.wait_until("all three are here", lambda lines: "-- 3 here" in lines)
        for number in range(10):
            for name, program in zip(names, programs):
                program.say(f"line {number} from {name}")
        for program in programs:
            program.wait_until("30 lines came", lambda lines: len(messages(lines)) == 30)
        for program in programs[1:]:
            if messages(program.lines) != messages(programs[0].lines):
                sys.exit(f"{program.name} printed another order than {programs[0].name}")
        for program in programs:
            program.end()
    finally:
        for program in programs:
            if program.process.poll() is None:
                program.process.kill()
    print("embedded: three programs printed the same 30 lines in the same order")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    embedded(sys.argv[1])


if __name__ == "__main__":
    main()
