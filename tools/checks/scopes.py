# SPDX-License-Identifier: Apache-2.0
"""Just enough C++ structure for the checks: which braces are functions, and what a scope declares.

This is no parser. It reads blanked code (File.code) by its braces, and the text in front of each
brace says what the brace opens. That is exact for code that is laid out as ours is."""

import re
from dataclasses import dataclass

_TYPE_HEAD = re.compile(r"^(?:\[\[[^\]]*\]\]\s*)?(?:typedef\s+)?(class|struct|union|enum)\b")
_NAMESPACE_HEAD = re.compile(r"^(?:inline\s+)?namespace\b|^extern\s*\"")
_ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")


@dataclass
class Function:
    """A function with a body; lines count from 1, and `last` is the line of the closing brace."""

    name: str
    first: int
    last: int

    @property
    def length(self):
        return self.last - self.first + 1


@dataclass
class Declaration:
    """One declaration in a namespace or in the public part of a type."""

    text: str
    line: int
    scope: str  # namespace, class, struct, union or enum


def strip_templates(head):
    """Removes template<…> prefixes, so that what follows says what is declared."""
    head = head.strip()
    while head.startswith("template"):
        start = head.find("<")
        if start < 0:
            break
        depth = 0
        for index in range(start, len(head)):
            depth += (head[index] == "<") - (head[index] == ">")
            if depth == 0:
                break
        head = head[index + 1:].strip()
        requires = re.match(r"requires\s*\([^{]*?\)\s*(?=\w)", head)
        if requires:
            head = head[requires.end():]
    return head


def kind_of_brace(head, parent):
    """What the brace after `head` opens, inside a scope of kind `parent`."""
    if parent in ("function", "value"):
        return parent
    head = strip_templates(head)
    if _NAMESPACE_HEAD.match(head):
        return "namespace"
    type_head = _TYPE_HEAD.match(head)
    if type_head and not re.search(r"\)\s*(const|noexcept|override|final)?\s*$", head):
        return type_head.group(1)
    if "(" in head and not re.search(r"=\s*$", head) and not re.search(r"=\s*\w[\w:<>, ]*$", head):
        return "function"
    return "value"


def _line_of(text, index):
    return text.count("\n", 0, index) + 1


def _first_line(code, start, end):
    skipped = len(code[start:end]) - len(code[start:end].lstrip())
    return _line_of(code, start + skipped)


def functions(code):
    """All functions with a body, in the order of their ends; lambdas belong to what holds them."""
    found = []
    stack = []  # (kind, first line, head)
    start = 0
    depth = 0  # parentheses: a brace inside them is an argument
    for index, char in enumerate(code):
        parent = stack[-1][0] if stack else "namespace"
        depth += (char == "(") - (char == ")")
        if char == "{":
            head = _ACCESS.sub("", code[start:index])
            inside = parent == "function" or depth == 0
            kind = kind_of_brace(head, parent) if inside else "value"
            stack.append((kind, _first_line(code, start, index), head))
            start = index + 1
        elif char == "}" and stack:
            kind, first, head = stack.pop()
            outer = stack[-1][0] if stack else "namespace"
            if kind == "function" and outer != "function":
                found.append(Function(_name(head), first, _line_of(code, index)))
            start = index + 1
        elif char == ";":
            start = index + 1
    return found


def _name(head):
    names = re.findall(r"([~\w:]+|operator\s*\S+)\s*\(", strip_templates(head))
    return names[0] if names else head.strip()[:40]


def declarations(code):
    """What the namespaces and the public parts of types declare, in order."""
    found = []
    stack = []  # [kind, access]
    start = 0
    depth = 0  # parentheses and square brackets

    def visible():
        return all(kind != "function" and kind != "value" and access == "public"
                   for kind, access in stack)

    def take(end):
        nonlocal start
        text = code[start:end]
        scope = stack[-1] if stack else ["namespace", "public"]
        first = start
        for match in _ACCESS.finditer(text):
            if scope[0] in ("class", "struct", "union"):
                scope[1] = match.group(1)
                first = start + match.end()
        text = code[first:end]
        start = end + 1
        if text.strip() and not text.lstrip().startswith(",") and visible():
            line = _first_line(code, first, end)
            found.append(Declaration(" ".join(text.split()), line, scope[0]))

    for index, char in enumerate(code):
        depth += (char in "([") - (char in ")]")
        scope = stack[-1][0] if stack else "namespace"
        if char == "{" and depth == 0:
            kind = kind_of_brace(_ACCESS.sub("", code[start:index]), scope)
            take(index)
            stack.append([kind, "private" if kind == "class" else "public"])
        elif char == "}" and depth == 0 and stack:
            if scope in ("enum", "namespace", "class", "struct", "union"):
                take(index)
            stack.pop()
            start = index + 1
        elif depth == 0 and (char == ";" or (char == "," and scope == "enum")):
            if scope in ("function", "value"):
                start = index + 1
            else:
                take(index)
    return found


@dataclass
class Class:
    """A class or struct with a body: its member functions, without constructors, destructors and
    operators, and its fields, static ones too."""

    name: str
    line: int
    functions: list
    fields: list


_NO_MEMBER = re.compile(r"^(?:using|typedef|friend|static_assert|enum|class|struct|union|template"
                        r"\s*<[^;]*>\s*(?:class|struct|friend))\b")
_ANNOTATION = re.compile(r"\[\[[^\]]*\]\]|\balignas\s*\([^)]*\)")


def _without_arguments(text):
    """Template arguments removed, so that only a function's parentheses are left."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


def _add_member(to, text):
    text = strip_templates(_ANNOTATION.sub("", _ACCESS.sub("", text)).strip())
    if not text or _NO_MEMBER.match(text):
        return
    text = _without_arguments(text.replace("->", ""))
    head = text.split("=", 1)[0] if not re.search(r"\boperator\b", text) else text
    call = re.search(r"([~\w]+)\s*\(", head)
    if re.search(r"\boperator\b", head):
        return
    if call is None:
        to.fields.extend(name.strip() for name in head.split(","))
    elif call.group(1) not in (to.name, "~" + to.name):
        to.functions.append(call.group(1))


def classes(code):
    """All classes and structs with a body."""
    found = []
    stack = []  # (kind, Class or None)
    start = 0
    depth = 0
    for index, char in enumerate(code):
        depth += (char in "([") - (char in ")]")
        scope, inside = stack[-1] if stack else ("namespace", None)
        if char == "{" and depth == 0:
            head = _ACCESS.sub("", code[start:index])
            kind = kind_of_brace(head, scope)
            made = None
            if kind in ("class", "struct"):
                name = re.search(r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)",
                                 strip_templates(head))
                made = Class(name.group(1) if name else "", _first_line(code, start, index),
                             [], [])
                found.append(made)
            elif inside is not None and kind in ("function", "value"):
                _add_member(inside, head)
            stack.append((kind, made))
            if kind != "value" or inside is None:
                start = index + 1
        elif char == "}" and depth == 0 and stack:
            kind, _ = stack.pop()
            if kind == "value" and stack and stack[-1][1] is not None:
                start = index + 1  # the brace of a field's value: it is counted
                while start < len(code) and code[start] in " \n":
                    start += 1
            else:
                start = index + 1
        elif char == ";" and depth == 0:
            if inside is not None and scope in ("class", "struct"):
                _add_member(inside, code[start:index])
            start = index + 1
    return found
