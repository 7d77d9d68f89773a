# SPDX-License-Identifier: Apache-2.0
"""Notes about mutants follow the code: tools/mutate refuses one that does not, minutes later."""

from mutation.code_lines import code_of

from .tree import Finding

NOTES = "tools/mutate-survivors"


def check_mutant_notes(tree):
    """Each line of code that a note about a mutant quotes is in its file."""
    notes = tree.get(NOTES)
    code = {}  # of each file: its lines without their comments
    path = ""
    for number, row in enumerate(notes.lines if notes else [], 1):
        word, _, rest = row.partition(": ")
        if word == "file":
            path = rest.strip()
        elif word == "line":
            file = tree.get(path)
            if file is not None and path not in code:
                code[path] = {code_of(line) for line in file.lines}
            if rest.strip() not in code.get(path, ()):
                yield Finding(NOTES, number, "mutant-notes",
                              f"{path} has no line '{rest.strip()}': remove or mend this note")


CHECKS = [check_mutant_notes]
