# SPDX-License-Identifier: Apache-2.0
"""Who hunts mutants: the tests of the modules, simulated seeds, and scenarios."""

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

from .build import Failure

# Kinds of hunters, in the order of their cost, and what each is.
KINDS = {
    "units": "unit tests",
    "few": "a few seeds of each kind of scenarios of tools/stories",
    "stories": "scenarios",
    "more": "more seeds, and every scenario of a small system of Paxos engines",
}
# The programs of a kind, each with the folders whose mutants it may notice.
ORDER = tuple(f"src/order/{part}" for part in (
    "ring/", "evs/", "paxos/", "ridge/", "registry/", "inspection/", "option", "vocabulary",
    "field", "said_once", "member_set"))
TOTO = ("src/order/toto/", "src/order/evs/")
QUORUMS = ("src/order/paxos/", "src/order/ridge/")
# Some of their cases take many times as long as others of the same suite.
BY_CASE = ("order_explore_test", "order_ramcast_test")
ALL = ("src/",)
PROGRAMS = {
    "units": {"wal_test": ("src/wal/",), "wal_crash_test": ("src/wal/",),
              "group_test": ("src/group/",), "session_test": ("src/group/", "src/session/"),
              "order_membership_test": ("src/order/evs/",),
              "order_registry_test": ("src/order/registry/",), "order_test": ORDER,
              "order_paxos_test": ("src/wal/", *ORDER), "order_ridge_test": ORDER,
              "order_toto_test": TOTO, "order_toto_hostile_test": TOTO,
              "order_ramcast_test": ("src/order/ramcast/",)},
    "few": {"peal-sim": ALL},
    "stories": {"scenario_test": ALL},
    "more": {"peal-sim": ALL, "order_explore_test": QUORUMS},
}
FEW_SEEDS = 4
# Of the seeds of a kind of scenarios in ./test, one in MORE_SHARE runs, and at least so many.
MORE_SHARE = 10
MORE_SEEDS = 20
# A hunter that takes so many times as long as without a mutant hangs.
PATIENCE = 10
PATIENCE_SECONDS_MIN = 5
# Of addresses: a model of many nodes takes more than 8 GiB of them, and little memory.
ADDRESSES_MAX = 16 << 30
FILE_BYTES = 256 << 20


@dataclass
class Hunter:
    """One command that fails if it notices something. Without a mutant it runs through the places
    of those it reaches; of some it is then known that they change nothing there."""

    name: str
    program: str
    arguments: list
    kind: str
    seconds: float = 0.0
    reached: set = field(default_factory=set)
    differs: set = field(default_factory=set)

    def limit(self):
        return max(PATIENCE * self.seconds, PATIENCE_SECONDS_MIN)


@dataclass
class End:
    """How a hunter ended: "passed", "failed", "crashed" or "hung"."""

    how: str
    seconds: float


def programs_of(kinds, files):
    """The programs that hunters of these kinds need for mutants of these files, each once."""
    return list(dict.fromkeys(
        program for kind in kinds for program, folders in PROGRAMS[kind].items()
        if any(file.startswith(folders) for file in files)))


def suites_of(listing):
    """From what --gtest_list_tests prints: a list of suite and cases."""
    result = []
    for line in listing.split("\n"):
        line = line.split("#")[0].rstrip()
        if line.endswith(".") and not line.startswith(" "):
            result.append((line[:-1], []))
        elif line.startswith("  ") and result:
            result[-1][1].append(line.strip())
    return result


def parts_of(program, suites):
    """From the name of each hunter that a program is taken apart into to its filter. The smaller
    they are, the fewer have to run for a mutant, and the sooner a hang is noticed."""
    parts = {}
    for suite, cases in suites:
        if program == "scenario_test":
            for case in cases:
                # Those of deliberate faults expect to fail; without their fault they hold.
                if not case.startswith("mutants_") or case.endswith("_without_it"):
                    word = "_".join(case.split("_")[:2])
                    parts.setdefault(word, []).append(f"{suite}.{case}")
        elif program in BY_CASE:
            for case in cases:
                parts[f"{suite}.{case}"] = [f"{suite}.{case}"]
        elif cases:
            parts[suite] = [f"{suite}.*"]
    return {name: ":".join(filters) for name, filters in parts.items()}


def stories(text):
    """The kinds of scenarios in tools/stories that ./test runs without sanitizers, each once:
    arguments and how many seeds."""
    result = {}
    for line in text.split("\n"):
        words = line.split()
        if len(words) > 2 and re.match(r"sim(?!_quick)(?:_\w+)?$", words[0]):
            result[tuple(words[2:])] = int(words[1])
    return list(result.items())


def seeds(folder, text, kind):
    """The hunters that run a kind of scenarios each, from the first seed, or after the few."""
    result = []
    for words, told in stories(text):
        first, last = 1, FEW_SEEDS
        if kind == "more":
            first, last = FEW_SEEDS + 1, max(told // MORE_SHARE, MORE_SEEDS)
        arguments = [*words, "--seeds", f"{first}-{last}", "--jobs", "1", "--no-replay-check"]
        result.append(Hunter(f"peal-sim {' '.join(arguments[:len(words) + 2])}",
                             os.path.join(folder, "peal-sim"), arguments, kind))
    return result


def all_hunters(folder, root, kinds, programs):
    """Every hunter of these kinds; `folder` holds the programs, of which only these are there."""
    result = []
    for kind in kinds:
        for name in filter(programs.__contains__, PROGRAMS[kind]):
            program = os.path.join(folder, name)
            if name == "peal-sim":
                with open(os.path.join(root, "tools/stories"), encoding="utf-8") as stream:
                    result += seeds(folder, stream.read(), kind)
                continue
            listing = subprocess.run([program, "--gtest_list_tests"], capture_output=True,
                                     text=True, check=True, cwd=root).stdout
            result += [Hunter(f"{name} {part}", program,
                              [f"--gtest_filter={which}", "--gtest_fail_fast"], kind)
                       for part, which in parts_of(name, suites_of(listing)).items()]
    return result


class Runner:
    """Runs hunters, from any thread, and stops all of them when asked to."""

    def __init__(self, root, work):
        self.root = root
        self.work = work
        self.stopped = False
        self._lock = threading.Lock()
        self._running = set()
        os.makedirs(os.path.join(work, "out"), exist_ok=True)

    def run(self, hunter, number=0, limit=None, reached=None, log=None):
        """One hunter with one mutant, or with none; None if everything was stopped meanwhile."""
        environment = dict(os.environ, PEAL_MUTATED=str(number))
        if reached is not None:
            environment["PEAL_MUTATED_REACHED"] = reached
        if log is None:
            log = os.path.join(self.work, "out", f"{threading.get_ident()}.log")
        # Should memory run out, it is this process that ends, and no other.
        line = ["choom", "-n", "1000", "--",
                "prlimit", "--core=0", f"--as={ADDRESSES_MAX}", f"--fsize={FILE_BYTES}",
                hunter.program, *hunter.arguments]
        began = time.monotonic()
        with open(log, "wb") as stream:
            with self._lock:
                if self.stopped:
                    return None
                # A session of its own, so that all that it forks can be ended with it.
                process = subprocess.Popen(line, cwd=self.root, env=environment, stdout=stream,
                                           stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                           start_new_session=True)
                self._running.add(process.pid)
        hung = False
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            hung = True
            self.end(process.pid)
            status = process.wait()
        with self._lock:
            self._running.discard(process.pid)
            if self.stopped:
                return None
        if status == 0:
            how = "passed"
        elif hung:
            how = "hung"
        else:
            self.end(process.pid)
            how = "crashed" if status < 0 else "failed"
        return End(how, time.monotonic() - began)

    def end(self, pid):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop(self):
        with self._lock:
            self.stopped = True
            for pid in self._running:
                self.end(pid)

    def try_out(self, hunter, at):
        """Without a mutant: it must pass. Notes how long it takes, which mutants it reaches, and
        which of them make a difference. `at` is a number that no other hunter has."""
        reached = os.path.join(self.work, "out", f"reached-{at}")
        log = os.path.join(self.work, "out", f"tried-{at}.log")
        if os.path.exists(reached):
            os.unlink(reached)
        end = self.run(hunter, reached=reached, log=log)
        if end is None:
            return False
        if end.how != "passed":
            raise Failure(f"without a mutant, this {end.how}: {hunter.program} "
                          f"{' '.join(hunter.arguments)}\nsee {log}")
        hunter.seconds = end.seconds
        with open(reached, "rb") as stream:
            noted = [(i, byte) for i, byte in enumerate(stream.read()) if byte]
        hunter.reached = {i for i, byte in noted}
        hunter.differs = {i for i, byte in noted if byte & 2}
        os.unlink(reached)
        os.unlink(log)
        return True
