# SPDX-License-Identifier: Apache-2.0
"""Every public symbol of include/peal is documented where it is declared."""

import re

from .scopes import declarations, strip_templates
from .tree import Finding

# What needs no comment of its own: it says nothing that its type does not say.
_EXEMPT = re.compile(
    r"^(?:namespace|inline namespace|friend|static_assert|using\s+namespace)\b"
    r"|^(?:class|struct|enum|enum class)\s+\w+$"    # declared before its definition
    r"|^extern\s*\""
    r"|^~|^virtual\s+~"
    r"|=\s*(?:default|delete)$"
    r"|\boperator=\s*\("  # copy and move, here and below
    r"|^\w+\(\s*(?:const\s+)?\w+\s*&&?\s*\w*\s*\)(?:\s*noexcept)?$"
)


def is_forward(declaration, code_lines):
    """`struct X` followed by `;` is a forward declaration; followed by `{` it is the definition."""
    text = "\n".join(code_lines[declaration.line - 1:declaration.line + 3])
    head = re.search(r"[;{]", text)
    return head is not None and head.group(0) == ";"


def is_documented(file, declaration):
    line = declaration.line
    if "///<" in file.lines[line - 1]:
        return True
    # A declaration over several lines may carry its comment at its end.
    for index in range(line - 1, min(line + 3, len(file.lines))):
        if "///<" in file.lines[index]:
            return True
        if re.search(r"[;{,]\s*$", file.code_lines[index]):
            break
    previous = file.lines[line - 2].strip() if line >= 2 else ""
    while previous.startswith(("template", "[[", "#")) and line >= 3:
        line -= 1
        previous = file.lines[line - 2].strip()
    return previous.startswith("///")


def name_of(text):
    """The name of a declared function; None for everything else."""
    match = re.search(r"([\w~]+)\s*\(", text)
    return match.group(1) if match else None


def check_public_docs(tree):
    """Each type, function, constant, field and enumerator has a /// or ///< comment."""
    for file in tree.cpp():
        if not file.path.startswith("include/peal/") or not file.path.endswith(".h"):
            continue
        documented = None  # the name of the function above, if it has a comment
        for declaration in declarations(file.code):
            text = strip_templates(declaration.text)
            if declaration.scope == "namespace" and re.fullmatch(r"\w+", text):
                continue  # the name behind a C struct, whose comment stands before it
            if _EXEMPT.search(text):
                is_type = re.match(r"(?:class|struct|enum)", text)
                if not is_type or is_forward(declaration, file.code.split("\n")):
                    continue
            if is_documented(file, declaration):
                documented = name_of(text)
            elif documented is None or name_of(text) != documented:  # overloads share a comment
                documented = None
                yield Finding(file.path, declaration.line, "public-docs",
                              f"no /// comment: {declaration.text[:60]}")


CHECKS = [check_public_docs]
