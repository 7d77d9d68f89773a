# SPDX-License-Identifier: Apache-2.0
"""What people have written down about mutants: what is left outside, and which survivors change
nothing. A note that fits nothing any more is an error, so that none is left behind."""

import fnmatch
import re
from dataclasses import dataclass

from .build import Failure
from .code_lines import code_of
from .expressions import shown


def rows(text):
    """Lines with something on them, with their numbers; # begins a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


@dataclass
class Outside:
    """Files, or functions or lines in them, that only tune, count or describe."""

    files: str
    where: str
    used: bool = False

    def covers(self, mutant, line):
        if not fnmatch.fnmatch(mutant.file, self.files):
            return False
        if self.where.startswith("in "):
            fits = re.fullmatch(self.where.removeprefix("in "), mutant.function)
        else:
            fits = self.where == "-" or re.search(self.where, line)
        self.used = self.used or bool(fits)
        return bool(fits)


def read_outside(text, name):
    """Rows `FILES | WHERE | REASON`: a glob; -, `in FUNCTION` or a pattern of lines; and why."""
    result = []
    for number, line in rows(text):
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise Failure(f"{name}:{number}: a row is FILES | WHERE | REASON")
        result.append(Outside(parts[0], parts[1]))
    return result


def line_of(mutant, texts):
    """The code of the line on which a mutant has its place."""
    return code_of(shown(texts[mutant.file].split("\n")[mutant.line - 1]))


def inside(mutants, outside, texts, name):
    """The mutants that no row covers."""
    # Each row is asked, also when an earlier one covers the mutant: else it would seem unused.
    kept = [m for m in mutants
            if not any([row.covers(m, line_of(m, texts)) for row in outside])]
    for row in outside:
        if not row.used:
            raise Failure(f"{name}: {row.files} | {row.where} fits no mutant: remove it")
    return kept


@dataclass
class Explained:
    """A mutant that changes nothing, and why."""

    file: str
    line: str
    change: str
    reason: str
    at: int


def change_of(mutant):
    return f"{mutant.before} => {mutant.after}"


def read_explained(text, name):
    """Paragraphs of four rows: file, line, change and reason, each with its word before it."""
    result = []
    fields = {}
    for number, line in rows(text):
        word, _, rest = line.partition(":")
        expected = ("file", "line", "change", "reason")[len(fields)]
        if word != expected or not rest.strip():
            raise Failure(f"{name}:{number}: expected '{expected}: …'; each mutant has file, "
                          "line, change and reason, in this order")
        fields[word] = rest.strip()
        if word == "reason":
            result.append(Explained(**fields, at=number))
            fields = {}
    if fields:
        raise Failure(f"{name}: the last mutant has no reason")
    return result


def explain(mutants, explained, texts, name):
    """From the name of each mutant that is explained to its reason."""
    reasons = {}
    for note in explained:
        fitting = [m for m in mutants if m.file == note.file and change_of(m) == note.change
                   and line_of(m, texts) == note.line]
        if not fitting:
            raise Failure(f"{name}:{note.at}: no mutant of {note.file} is '{note.change}' on the "
                          f"line '{note.line}' any more: remove or mend this note")
        for mutant in fitting:
            reasons[mutant.name] = note.reason
    return reasons
