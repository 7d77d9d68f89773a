#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/ as their pages say, and checks what they print.

usage: tools/run_examples.py FOLDER [PEAL [PYTHON CHAT]]

  FOLDER   the build folder, of the examples or of all
  PEAL     the tool, through two daemons of which the clients talk (build/release/bin/peal)
  PYTHON   one that has the package peal installed, and CHAT, the example for it; without them this
           tree's package and example, with the libpeal.so of FOLDER
"""

import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import tempfile
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


def talk(programs, names):
    """All say ten lines under their names, and print all 30 in one order; then they end."""
    for program in programs:
        program.wait_until("all three are here", lambda lines: "-- 3 here" in lines)
    for number in range(10):
        for program, name in zip(programs, names):
            program.say(f"line {number} from {name}")
    for program in programs:
        program.wait_until("30 lines came", lambda lines: len(messages(lines)) == 30)
    for program in programs[1:]:
        if messages(program.lines) != messages(programs[0].lines):
            sys.exit(f"{program.name} printed another order than {programs[0].name}")
    for program in programs:
        program.end()


def kill_all(programs):
    for program in programs:
        if program.process.poll() is None:
            program.process.kill()


def built(folder, name):
    """The program of that name: a build of all keeps its programs in a folder of their own."""
    within = os.path.join(folder, "bin", name)
    return within if os.path.exists(within) else os.path.join(folder, name)


def embedded(folder):
    """Three people in one room read the same lines in the same order."""
    names = ("a", "b", "c")
    programs = [Program(built(folder, "embedded"), name) for name in names]
    try:
        talk(programs, names)
    finally:
        kill_all(programs)
    print("embedded: three programs printed the same 30 lines in the same order")


def transfer(folder):
    """A bank in two shards: its replicas in one process; then in one each, and one is killed."""
    program = built(folder, "transfer")
    together = Program(program)
    try:
        together.end()
        together.wait_until("all six replicas have checked the audits", all_six_are_right)
    finally:
        kill_all([together])
    names = [f"{shard}-{number}" for shard in ("east", "west") for number in (1, 2, 3)]
    replicas = [Program(program, name) for name in names]
    try:
        for replica, name in zip(replicas, names):
            in_view = f"{name}: 3 replicas in the view"
            replica.wait_until("its shard is there", lambda lines, wanted=in_view: wanted in lines)
        del names[3]
        killed = replicas.pop(3)  # the first one leads its shard
        killed.process.kill()
        killed.process.wait()
        for replica, name in zip(replicas, names):
            right = f"{name}: all audits are right"
            replica.wait_until("it has checked the audits",
                               lambda lines, wanted=right: wanted in lines)
        for replica in replicas:
            replica.end()
    finally:
        kill_all(replicas)
    print("transfer: six replicas of two shards agreed, and five when one was killed")


def all_six_are_right(lines):
    return sum(line.endswith(": all audits are right") for line in lines) == 6


def start_daemons(peal, folder):
    """Two daemons in one cluster, once they serve; the paths of their sockets are in the folder."""
    ports = []
    while len(ports) < 2:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1] & ~1
        if port not in ports:
            ports.append(port)
    config = 'cluster = "examples"\ninsecure = true\n'
    for name, port in zip("ab", ports):
        config += f'[[nodes]]\nname = "{name}"\naddress = "127.0.0.1:{port}"\n'
    pathlib.Path(folder, "peal.toml").write_text(config, encoding="utf-8")
    daemons = []
    for name in "ab":
        with open(f"{folder}/{name}.log", "w", encoding="utf-8") as log:
            daemons.append(subprocess.Popen(
                [peal, "node", "--config", f"{folder}/peal.toml", "--name", name], stderr=log))
    end = time.monotonic() + PATIENCE_S
    for name in "ab":
        while not os.path.exists(f"{folder}/{name}.sock"):
            if time.monotonic() > end:
                sys.exit("a daemon did not start: "
                         + pathlib.Path(folder, f"{name}.log").read_text(encoding="utf-8"))
            time.sleep(0.01)
    return daemons


def chat_of_tree(build):
    """The command for the Python example of this tree."""
    libraries = list(pathlib.Path(build).rglob("libpeal.so"))
    root = pathlib.Path(__file__).resolve().parent.parent
    if not libraries:
        sys.exit(f"{build} has no libpeal.so: build the target peal_c there")
    os.environ["PEAL_LIBRARY"] = str(libraries[0].resolve())
    os.environ["PYTHONPATH"] = str(root / "bindings/python")
    return sys.executable, str(root / "examples/chat.py")


def clients(build, peal, chat):
    """A C++, a C and a Python program chat through a group, at two daemons."""
    with tempfile.TemporaryDirectory() as folder:
        daemons = start_daemons(peal, folder)
        programs = []
        try:
            a, b = folder + "/a.sock", folder + "/b.sock"
            programs.append(Program(built(build, "chat"), a))
            programs.append(Program(built(build, "chat_c"), b))
            programs.append(Program(*chat, a))
            talk(programs, ("C++", "C", "Python"))
        finally:
            kill_all(programs)
            for daemon in daemons:
                daemon.send_signal(signal.SIGTERM)
                daemon.wait()
    print("chat: a C++, a C and a Python program printed the same 30 lines in the same order")


def main():
    if len(sys.argv) not in (2, 3, 5):
        sys.exit(__doc__)
    folder, peal = [*sys.argv[1:3], "build/release/bin/peal"][:2]
    embedded(folder)
    transfer(folder)
    clients(folder, peal, sys.argv[3:] or chat_of_tree(folder))


if __name__ == "__main__":
    main()
