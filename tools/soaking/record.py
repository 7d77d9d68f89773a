# SPDX-License-Identifier: Apache-2.0
"""What a soak has done so far, in a file, so that an interrupted one goes on where it was."""

import collections
import dataclasses
import json
import os


@dataclasses.dataclass
class Failure:
    """One thing that failed, and how to see it again."""

    what: str
    commands: list
    folder: str
    commit: str


class Record:
    """The state of one soak. save() replaces the file as a whole, so that it is never half."""

    def __init__(self, path, hours, seed):
        self.path = path
        self.hours = hours
        self.first_seed = self.seed = seed
        self.turn = 0
        self.seconds = 0.0
        self.failures = []
        self.by_kind = collections.defaultdict(lambda: {"turns": 0, "runs": 0, "seconds": 0.0,
                                                        "failed": 0})
        self.by_commit = collections.Counter()  # seconds

    @classmethod
    def load(cls, path):
        """Raises OSError or ValueError if there is no such record."""
        with open(path, encoding="utf-8") as stream:
            kept = json.load(stream)
        try:
            record = cls(path, kept["hours"], kept["first_seed"])
            record.seed, record.turn, record.seconds = kept["seed"], kept["turn"], kept["seconds"]
            record.failures = [Failure(**each) for each in kept["failures"]]
            for kind, counts in kept["by_kind"].items():
                record.by_kind[kind].update(counts)
            record.by_commit.update(kept["by_commit"])
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"{path} is not the record of a soak: {wrong!r}") from wrong
        return record

    def save(self):
        """Writes everything."""
        kept = {name: getattr(self, name) for name in
                ("hours", "first_seed", "seed", "turn", "seconds", "by_kind", "by_commit")}
        kept["failures"] = [dataclasses.asdict(each) for each in self.failures]
        with open(self.path + ".new", "w", encoding="utf-8") as stream:
            json.dump(kept, stream, indent=1)
        os.replace(self.path + ".new", self.path)

    def take_seeds(self, count):
        """The next `count` seeds, which no other turn gets: the first and the last."""
        first = self.seed
        self.seed += count
        return first, self.seed - 1

    def done(self, kind, runs, seconds, failures, commit):
        """A turn is over."""
        counts = self.by_kind[kind]
        counts["turns"] += 1
        counts["runs"] += runs
        counts["seconds"] += seconds
        counts["failed"] += len(failures)
        self.turn += 1
        self.seconds += seconds
        self.by_commit[commit] += seconds
        self.failures += failures
        self.save()

    def over(self):
        """The time is up."""
        return self.seconds >= self.hours * 3600

    def lines(self):
        """A table for people."""
        yield f"{'':22} {'turns':>6} {'runs':>9} {'minutes':>8} {'failed':>7}"
        for kind, each in self.by_kind.items():
            yield (f"{kind:22} {each['turns']:6} {each['runs']:9,} {each['seconds'] / 60:8.1f} "
                   f"{each['failed']:7}")
        for commit, seconds in self.by_commit.items():
            yield f"{seconds / 60:.1f} minutes on {commit}"
        for failure in self.failures:
            yield f"FAIL  {failure.what} ({failure.commit}); see {failure.folder}"
            yield from (f"      {command}" for command in failure.commands)
