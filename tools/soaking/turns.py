# SPDX-License-Identifier: Apache-2.0
"""What a soak does, one turn after the other: each is a few seconds or minutes long."""

import itertools
import os
import re
import shlex
import shutil

from soaking.record import Failure

PEAL = "build/release/bin/peal"
# In each round, besides all kinds of scenarios.
CASES_A_ROUND = 10
FUZZ_SECONDS = 60
SHRINK_SECONDS = 300
# What ./test leaves out or does once; a round has one of them.
LONG = ("order_explore_test", "peal sim --mutants", "tools/mutate", "asan_all", "alone")


class Turn:
    """One turn. run() returns how many runs it was, and what failed."""

    kind = ""

    def __init__(self, runner, record):
        self.runner, self.record = runner, record

    def about(self):
        """For the line that is printed."""
        return self.kind

    def run(self):
        """Returns a number and a list of Failure."""
        raise NotImplementedError

    def failed(self, what, commands, keep=()):
        """A failure with a folder of its own, which gets these files and folders. Sockets cannot
        be copied."""
        folder = self.runner.new_folder()
        for path in keep:
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(folder, os.path.basename(path)),
                                dirs_exist_ok=True, symlinks=True,
                                ignore=shutil.ignore_patterns("*.sock"))
            elif os.path.exists(path):
                shutil.copy(path, folder)
        return Failure(what, list(commands), folder, self.runner.commit)


class Stories(Turn):
    """The simulator runs scenarios of one kind, with seeds that no other turn has."""

    def __init__(self, runner, record, words, count):
        super().__init__(runner, record)
        self.words, self.count = words, count
        self.kind = "seeds " + words[1]

    def about(self):
        return f"{self.count} seeds of {' '.join(self.words)}"

    def run(self):
        first, last = self.record.take_seeds(self.count)
        command = [PEAL, "sim", *self.words, "--seeds", f"{first}-{last}"]
        status, log = self.runner.run(command)
        if status == 0:
            return self.count, []
        found = re.findall(r"^seed (\d+): (?:.*views: )?(\D.*)$", read(log), re.MULTILINE)
        failures = [self.smallest(seed, what) for seed, what in found]
        if not failures:  # it crashed, or was killed
            failures = [self.failed(f"{shlex.join(command)} ended with {status}",
                                    [shlex.join(command)], [log])]
        return self.count, failures

    def smallest(self, seed, what):
        """Keeps the smallest scenario that fails alike, beside the seed's own."""
        again = [PEAL, "sim", *self.words, "--seed", seed]
        failure = self.failed(f"{' '.join(self.words)}, seed {seed}: {what[:200]}",
                              [shlex.join(again)])
        whole, small = (os.path.join(failure.folder, name) for name in ("seed.txt", "small.txt"))
        status, log = self.runner.run([*again, "--print"])
        if status == 0:
            shutil.copy(log, whole)
        status, log = self.runner.run([*again, "--shrink", "--out", small], SHRINK_SECONDS)
        if os.path.exists(small):
            failure.commands.append(shlex.join([PEAL, "sim", "--scenario", small]))
        return failure


class Case(Turn):
    """A case of real processes."""

    kind = "process cases"

    def __init__(self, runner, record, name, size):
        super().__init__(runner, record)
        self.name, self.size = name, size

    def about(self):
        return f"process case {self.name} with {self.size} nodes"

    def run(self):
        command = ["tests/process/run.py", "--soak", "--nodes", str(self.size), self.name]
        status, log = self.runner.run(["/usr/bin/python3", *command])
        if status == 0:
            return 1, []
        text = next((line for line in read(log).splitlines() if line.startswith("FAIL")), "FAIL")
        return 1, [self.failed(text[5:300].strip() or self.about(), [shlex.join(command)],
                               [log, f"build/process/{self.name}-{self.size}"])]


class Fuzz(Turn):
    """One fuzz target, from its corpus and what earlier soaks have added."""

    kind = "fuzzing"

    def __init__(self, runner, record, target):
        super().__init__(runner, record)
        self.target = target

    def about(self):
        return f"{FUZZ_SECONDS} s of {self.target}"

    def run(self):
        (seed, _) = self.record.take_seeds(1)
        command = ["tools/fuzz", "one", self.target, f"-max_total_time={FUZZ_SECONDS}",
                   f"-seed={seed % (1 << 31) or 1}"]
        status, log = self.runner.run(command)
        if status == 0:
            counted = re.search(r": (\d+) executions", read(log))
            return int(counted.group(1)) if counted else 0, []
        work = f"build/fuzz/{self.target}"
        inputs = [name for name in sorted(os.listdir(work))
                  if name.startswith(("crash-", "timeout-", "oom-", "leak-"))]
        kept = self.failed(f"{self.target} fails on {', '.join(inputs) or 'some input'}", [],
                           [log, *(os.path.join(work, name) for name in inputs)])
        kept.commands += [f"build/asan/bin/{self.target} {os.path.join(kept.folder, name)}"
                          for name in inputs] or [shlex.join(command)]
        for name in inputs:  # the next turn must not find them again
            os.remove(os.path.join(work, name))
        return 0, [kept]


class Long(Turn):
    """What takes many minutes."""

    def __init__(self, runner, record, name):
        super().__init__(runner, record)
        self.name = self.kind = name

    def command(self):
        """What runs, and its environment."""
        if self.name == "order_explore_test":
            return ["build/release/bin/order_explore_test"], {"PEAL_EXPLORE_MORE": "1"}
        if self.name == "peal sim --mutants":
            return [PEAL, "sim", "--json", "--mutants"], {}
        if self.name == "tools/mutate":
            (seed, _) = self.record.take_seeds(1)
            return ["tools/mutate", "--seed", str(seed), "--count", "60", "--least", "75",
                    "--budget-minutes", "15"], {}
        return ["./test", self.name], {}

    def run(self):
        command, more = self.command()
        status, log = self.runner.run(command, environment=more)
        if status == 0:
            return 1, []
        text = " ".join([*(f"{key}={value}" for key, value in more.items()),
                         shlex.join(command)])
        return 1, [self.failed(f"{text} ended with {status}", [text], [log])]


def read(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def stories(text):
    """The kinds of scenarios in tools/stories: the words, and how many ./test runs."""
    for line in text.splitlines():
        step, *rest = line.split()
        if re.fullmatch(r"sim(_.*)?", step) and step != "sim_quick":
            yield rest[1:], int(rest[0])


class Schedule:
    """Which turn comes when: turn() is the same for the same number, so that a soak that was
    interrupted goes on where it was."""

    def __init__(self, kinds, cases, targets, only=None):
        self.round = []
        wanted = only or ("seeds", "cases", "fuzz", "long")
        told = kinds if "seeds" in wanted else []
        others = ["cases"] * CASES_A_ROUND if "cases" in wanted else []
        others += ["fuzz"] * ("fuzz" in wanted) + ["long"] * ("long" in wanted)
        # One kind of scenarios, then something else, as long as there is both.
        for kind, other in itertools.zip_longest(told, others):
            self.round += [each for each in (kind, other) if each is not None]
        self.cycles = {"cases": cases, "fuzz": targets, "long": LONG}

    def turn(self, number, runner, record):
        """The turn of this number, counted from 0."""
        around, place = divmod(number, len(self.round))
        what = self.round[place]
        if not isinstance(what, str):
            words, count = what
            # A tenth of what ./test tells: so a round takes minutes.
            return Stories(runner, record, words, max(count // 10, 5))
        before = self.round[:place].count(what) + around * self.round.count(what)
        one = self.cycles[what][before % len(self.cycles[what])]
        if what == "cases":
            return Case(runner, record, *one)
        return (Fuzz if what == "fuzz" else Long)(runner, record, one)
