# SPDX-License-Identifier: Apache-2.0
"""Puts the mutants of a sample into the text of a file, each behind its number."""


def weave(text, numbered):
    """`numbered`: pairs of number and mutant, all of this file. Lines stay where they are."""
    inserts = []
    for number, mutant in numbered:
        size = mutant.end - mutant.start
        prefix = mutant.prefix.replace("@", str(number))
        suffix = mutant.suffix.replace("@", str(number))
        # Where one range ends and another begins, the end comes first. Of ranges that begin
        # together the longest is the outer one, and of equal ones that with the lowest number.
        inserts.append((mutant.start, 1, -size, number, prefix))
        inserts.append((mutant.end, 0, size, -number, suffix))
    parts = []
    at = 0
    for insert in sorted(inserts):
        parts.append(text[at:insert[0]])
        parts.append(insert[4])
        at = insert[0]
    parts.append(text[at:])
    return "".join(parts)
