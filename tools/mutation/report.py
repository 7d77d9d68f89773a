# SPDX-License-Identifier: Apache-2.0
"""What a hunt found, for people and as JSON."""

import fnmatch

from .notes import change_of, line_of

# Where a survivor that nobody has explained is an error: what promises rest on.
CORE = ("src/order/paxos/acceptor.*", "src/order/paxos/coordinator.*", "src/order/paxos/phase1.*",
        "src/order/paxos/phase2.*", "src/order/paxos/learner.*", "src/order/evs/gathering.*",
        "src/order/evs/attempt.*", "src/order/ring/recovery.*", "src/wal/*")
OUTCOMES = ("killed", "explained", "survived", "unreached")


def is_core(file):
    return any(fnmatch.fnmatch(file, pattern) for pattern in CORE)


class Report:
    """`mutants` are those of the sample, `verdicts` by name, fewer if the hunt was stopped."""

    def __init__(self, mutants, verdicts, reasons, texts, seed):
        self.mutants = [m for m in mutants if m.name in verdicts]
        self.left = len(mutants) - len(self.mutants)
        self.verdicts = verdicts
        self.reasons = reasons
        self.texts = texts
        self.seed = seed

    def of(self, outcome):
        return sorted((m for m in self.mutants if self.verdicts[m.name].outcome == outcome),
                      key=lambda m: (m.file, m.start))

    def core_survivors(self):
        return [m for m in self.of("survived") if is_core(m.file)]

    def files(self):
        """From each file to how many of its mutants had which outcome."""
        result = {}
        for mutant in sorted(self.mutants, key=lambda m: m.file):
            row = result.setdefault(mutant.file, dict.fromkeys(OUTCOMES, 0))
            row[self.verdicts[mutant.name].outcome] += 1
        return result

    def kills(self):
        """From each hunting program to how many mutants it killed, the most first."""
        result = {}
        for mutant in self.of("killed"):
            program = self.verdicts[mutant.name].hunter.split()[0]
            result[program] = result.get(program, 0) + 1
        return dict(sorted(result.items(), key=lambda item: (-item[1], item[0])))

    def share(self):
        """Of those that a hunter reached, how many per cent died or are explained."""
        return share_of(self.total())

    def total(self):
        rows = self.files().values()
        return {outcome: sum(row[outcome] for row in rows) for outcome in OUTCOMES}

    # For people.

    def lines(self):
        yield from self.table()
        kills = [f"{program} {count}" for program, count in self.kills().items()]
        if kills:
            yield ""
            yield "killed by: " + ", ".join(kills)
        for outcome, title in (("unreached", "not reached by any hunter"),
                               ("explained", "change nothing (tools/mutate-survivors)"),
                               ("survived", "survivors")):
            found = self.of(outcome)
            if not found:
                continue
            yield ""
            yield f"{title}: {len(found)}"
            for mutant in found:
                yield from self.described(mutant)
        yield ""
        yield self.last_line()

    def table(self):
        yield f"{'mutants':>7} {'killed':>6} {'expl.':>6} {'alive':>6} {'unreached':>9}  share"
        rows = list(self.files().items()) + [("all", self.total())]
        for file, row in rows:
            yield (f"{sum(row.values()):7} {row['killed']:6} {row['explained']:6} "
                   f"{row['survived']:6} {row['unreached']:9}  {share(row):>5}  {file}")

    def described(self, mutant):
        core = ", core" if is_core(mutant.file) else ""
        yield f"  {mutant.file}:{mutant.line}: ({mutant.kind}{core}) {mutant.name}"
        yield f"      {line_of(mutant, self.texts)}"
        yield f"      {change_of(mutant)}"
        verdict = self.verdicts[mutant.name]
        if mutant.name in self.reasons:
            yield f"      because: {self.reasons[mutant.name]}"
        elif verdict.outcome == "survived" and verdict.how:
            yield f"      {verdict.how}"

    def last_line(self):
        total = self.total()
        text = (f"seed {self.seed}: {sum(total.values())} mutants, {total['killed']} killed, "
                f"{total['explained']} explained, {total['survived']} survived "
                f"({len(self.core_survivors())} in core files), {total['unreached']} not reached")
        return text + (f"; stopped before {self.left} more" if self.left else "")

    # For programs.

    def json(self):
        return {
            "seed": self.seed,
            **self.total(),
            "left": self.left,
            "core_survivors": len(self.core_survivors()),
            "killed_by": self.kills(),
            "files": self.files(),
            "mutants": [{
                "name": m.name, "file": m.file, "line": m.line, "kind": m.kind,
                "before": m.before, "after": m.after, "reason": self.reasons.get(m.name, ""),
                "outcome": self.verdicts[m.name].outcome,
                "hunter": self.verdicts[m.name].hunter, "how": self.verdicts[m.name].how,
                "seconds": round(self.verdicts[m.name].seconds, 2),
            } for m in self.mutants],
        }


def share_of(row):
    """In per cent of those that a hunter reached; 100 if it reached none."""
    judged = row["killed"] + row["explained"] + row["survived"]
    return 100 * (judged - row["survived"]) / judged if judged else 100.0


def share(row):
    judged = row["killed"] + row["explained"] + row["survived"]
    return f"{share_of(row):.0f} %" if judged else "-"
