# SPDX-License-Identifier: Apache-2.0
"""Draws a sample of mutants."""

import hashlib

from .notes import change_of, line_of


def draw(mutants, texts, seed):
    """The mutants, which come in the order of the tree, in one that a seed gives. Each has its
    place from what it changes, not from its line, so an edit elsewhere leaves the others where
    they are: what survived one hunt is in the next sample of the same seed."""
    same = {}
    keyed = []
    for mutant in mutants:
        what = (mutant.file, mutant.function, mutant.kind, line_of(mutant, texts),
                change_of(mutant))
        same[what] = same.get(what, 0) + 1
        text = "\n".join((str(seed), *what, str(same[what])))
        keyed.append((hashlib.sha256(text.encode()).digest(), mutant))
    return [mutant for _, mutant in sorted(keyed, key=lambda item: item[0])]
