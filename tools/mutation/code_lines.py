# SPDX-License-Identifier: Apache-2.0
"""Lines of code as notes about mutants quote them; ./dev check reads them, too, without clang."""

import re

# A line up to its // comment; the slashes of a literal begin none.
_CODE = re.compile(r'''(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?!//).)*''')


def code_of(line):
    """A source line without its // comment: a note outlives other words about the same code."""
    return _CODE.match(line).group().strip()
