# SPDX-License-Identifier: Apache-2.0
"""The hunt: hunters are tried out, then each mutant is hunted; what is found out is kept."""

import concurrent.futures
import glob
import hashlib
import json
import os
import threading
import time
from dataclasses import asdict, dataclass

from checks.tree import list_paths

# What a hunter's answer depends on.
JUDGES = ("src/", "sim/", "oracle/", "tests/", "tools/mutation/", "tools/stories")
# Why a mutant survived that no hunter had to run for.
SAME = "the same in all that hunters do"


@dataclass
class Verdict:
    """What became of one mutant: "killed", "survived", "unreached" or "explained"."""

    name: str
    outcome: str
    hunter: str = ""
    how: str = ""
    seconds: float = 0.0
    kinds: tuple = ()


def digest_of(root):
    """Of all files on which results depend."""
    digest = hashlib.sha256()
    for path in sorted(list_paths(root)):
        full = os.path.join(root, path)
        if path.startswith(JUDGES) and os.path.isfile(full):
            digest.update(path.encode())
            with open(full, "rb") as stream:
                digest.update(stream.read())
    return digest.hexdigest()[:16]


def read_verdicts(path):
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if line.endswith("\n"):  # the last one may have been cut off
                yield Verdict(**json.loads(line))


class Kept:
    """What was found out about this state of the tree, in a file that only grows."""

    def __init__(self, folder, digest, kinds):
        os.makedirs(folder, exist_ok=True)
        self.kinds = tuple(kinds)
        self.path = os.path.join(folder, f"{digest}.jsonl")
        self.lock = threading.Lock()
        self.verdicts = {}
        self.killers = {}  # by the name of each mutant that was killed in any state of the tree
        for path in sorted(glob.glob(os.path.join(folder, "*.jsonl")), key=os.path.getmtime):
            for verdict in read_verdicts(path):
                if verdict.outcome == "killed":
                    self.killers[verdict.name] = verdict.hunter
                if path == self.path:
                    self.verdicts[verdict.name] = verdict

    def get(self, name):
        """A verdict that still holds: who survived some hunters may not survive others."""
        verdict = self.verdicts.get(name)
        if verdict and (verdict.outcome == "killed" or set(self.kinds) <= set(verdict.kinds)):
            return verdict
        return None

    def add(self, verdict):
        with self.lock:
            self.verdicts[verdict.name] = verdict
            with open(self.path, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(verdict)) + "\n")


def try_out(runner, hunters, jobs, kept_in, say):
    """Proves that all hunters pass without a mutant; returns False if that was stopped. `kept_in`
    is a file: what this build's hunters reach is found out once."""
    if os.path.exists(kept_in):
        with open(kept_in, encoding="utf-8") as stream:
            kept = json.load(stream)
        if set(kept) == {h.name for h in hunters}:
            for hunter in hunters:
                hunter.seconds, reached, differs = kept[hunter.name]
                hunter.reached, hunter.differs = set(reached), set(differs)
            return True
    say(f"trying {len(hunters)} hunters without a mutant: all of them have to pass")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(runner.try_out, hunter, i) for i, hunter in enumerate(hunters)]
        try:
            done = all([f.result() for f in concurrent.futures.as_completed(futures)])
        except BaseException:
            runner.stop()
            raise
    if done:
        with open(kept_in, "w", encoding="utf-8") as stream:
            json.dump({h.name: (h.seconds, sorted(h.reached), sorted(h.differs)) for h in hunters},
                      stream)
    return done


def hunt_one(runner, hunters, number, name, kinds, killer=None):
    """Runs those hunters to which the mutant makes a difference, the cheapest first, until one
    notices it. `killer`, the name of a hunter that did before, comes before all."""
    spent = 0.0
    if not any(number in h.reached for h in hunters):
        return Verdict(name, "unreached", kinds=kinds)
    for hunter in sorted((h for h in hunters if number in h.differs),
                         key=lambda h: (h.name != killer, h.seconds)):
        end = runner.run(hunter, number, hunter.limit())
        if end is None:
            return None
        spent += end.seconds
        if end.how != "passed":
            return Verdict(name, "killed", hunter.name, end.how, spent, kinds)
    return Verdict(name, "survived", "", "" if spent else SAME, spent, kinds)


class Hunt:
    """All mutants of a sample, several at a time."""

    def __init__(self, runner, hunters, jobs, kept, say):
        self.runner = runner
        self.hunters = hunters
        self.jobs = jobs
        self.kept = kept
        self.say = say
        self.lock = threading.Lock()
        self.done = 0
        self.verdicts = {}

    def run(self, sample, reasons):
        """`sample`: from number to mutant; `reasons`: why some change nothing. Returns the
        verdicts, by name: fewer than the sample if the runner was stopped."""
        waiting = []
        for number, mutant in sorted(sample.items()):
            verdict = self.kept.get(mutant.name)
            if mutant.name in reasons:
                self.verdicts[mutant.name] = Verdict(mutant.name, "explained")
            elif verdict:
                self.verdicts[mutant.name] = verdict
            else:
                waiting.append((number, mutant))
        if len(waiting) < len(sample):
            self.say(f"{len(sample) - len(waiting)} of {len(sample)} are known already")
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                list(pool.map(lambda item: self.judge(*item, began, len(waiting)), waiting))
            except BaseException:
                self.runner.stop()
                raise
        return self.verdicts

    def judge(self, number, mutant, began, total):
        verdict = hunt_one(self.runner, self.hunters, number, mutant.name, self.kept.kinds,
                           self.kept.killers.get(mutant.name))
        if verdict is None:
            return
        self.kept.add(verdict)
        with self.lock:
            self.verdicts[mutant.name] = verdict
            self.done += 1
            left = (time.monotonic() - began) / self.done * (total - self.done)
            what = f"{verdict.how}: {verdict.hunter}" if verdict.hunter else verdict.how
            self.say(f"[{self.done}/{total}, {left / 60:.0f} min left] {verdict.outcome:9} "
                     f"{verdict.seconds:6.1f} s  {mutant.name}  {what}".rstrip())
