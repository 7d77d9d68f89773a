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
        # together the longest is the outer one. Of equal ones, what cuts the operator out is the
        # inner one, and else that with the highest number.
        depth = (mutant.cut_end, number)
        inserts.append((mutant.start, 1, -size, depth, prefix, mutant.start))
        inserts.append((mutant.end, 0, size, (-mutant.cut_end, -number), suffix, mutant.end))
        if mutant.cut_end:
            inserts.append((mutant.cut_start, 0, 0, depth, ",", mutant.cut_end))
    parts = []
    at = 0
    for start, _, _, _, insert, end in sorted(inserts):
        parts.append(text[at:start])
        parts.append(insert)
        at = end
    parts.append(text[at:])
    return "".join(parts)
