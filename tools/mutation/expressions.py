# SPDX-License-Identifier: Apache-2.0
"""What can be mutated in one expression."""

import re
from dataclasses import dataclass

from clang.cindex import CursorKind as Kind

# In prefixes, what asks whether this mutant is the active one: see switch.h. The second only notes
# that the place was reached; whether the mutant differs there is for others to say.
ASK = "PEAL_MUTATED(@)"
ASK_FIRST = "PEAL_MUTATED_HERE(@)"

EDGES = {"<": "peal_mutated_less", "<=": "peal_mutated_less_equal",
         ">": "peal_mutated_greater", ">=": "peal_mutated_greater_equal"}
FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {"==": "!=", "!=": "=="}
# What holds no code that runs, or none that may change.
CLOSED = (Kind.STATIC_ASSERT, Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF,
          Kind.DECL_REF_EXPR, Kind.CXX_UNARY_EXPR, Kind.PARM_DECL, Kind.FIELD_DECL,
          Kind.ENUM_DECL, Kind.TYPEDEF_DECL, Kind.TYPE_ALIAS_DECL, Kind.USING_DECLARATION,
          Kind.STRUCT_DECL, Kind.CLASS_DECL, Kind.INTEGER_LITERAL, Kind.STRING_LITERAL)
COMMENT_OR_LITERAL = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)


@dataclass(frozen=True)
class Mutant:
    """One change of one file. Offsets count bytes; `line` and `column` are of its name. A comma
    takes the place of what is cut."""

    file: str
    line: int
    column: int
    start: int
    end: int
    kind: str
    before: str
    after: str
    prefix: str
    suffix: str
    function: str
    cut_start: int = 0
    cut_end: int = 0
    name: str = ""


def one_line(text):
    """Source text without comments, on one line."""
    text = COMMENT_OR_LITERAL.sub(
        lambda match: " " if match.group("comment") else match.group(0), text)
    return re.sub(r"\s+", " ", text).strip()


def shown(text):
    """Latin-1 stands for bytes in here: the text that these bytes are."""
    return text.encode("latin-1").decode("utf-8", "replace")


def is_expression(node):
    return node.kind.is_expression()


class Expressions:
    """Walks through expressions of one file; statements inside lambdas are for who derives."""

    def __init__(self, file, text, macros):
        self.file = file
        self.text = text
        self.macros = macros  # [start, end) of each use of a macro
        self.found = {}
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.function_name = ""
        self.negated = set()  # ranges that are conditions, and so are negated as a whole

    # Places and texts.

    def range_of(self, node):
        return node.extent.start.offset, node.extent.end.offset

    def text_of(self, node):
        start, end = self.range_of(node)
        return self.text[start:end]

    def in_macro(self, start, end):
        return any(first <= start and end <= last for first, last in self.macros)

    def has_place(self, node):
        start, end = self.range_of(node)
        return start < end and not self.in_macro(start, end)

    def place(self, offset):
        low = 0
        high = len(self.line_starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self.line_starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low + 1, offset - self.line_starts[low] + 1

    def next_char(self, offset):
        rest = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL).match(self.text, offset)
        return self.text[rest.end():rest.end() + 1]

    # Adding a mutant.

    def add(self, kind, span, at, texts, change, cut=(0, 0)):
        """`texts`: the prefix and the suffix; `change`: what stands there, and what the mutant
        has in its place."""
        start, end = span
        if start >= end or self.in_macro(start, end):
            return
        line, column = self.place(at)
        before, after = (shown(one_line(part)) for part in change)
        key = (start, end, kind)
        if key not in self.found:
            self.found[key] = Mutant(self.file, line, column, start, end, kind, before, after,
                                     *texts, self.function_name, *cut)

    # The simulator's own mutants are false in what ships.

    def hook_value(self, node):
        """True or False if a condition has that value whenever no PEAL_MUTANT is active."""
        text = one_line(self.text_of(node))
        if re.fullmatch(r"PEAL_MUTANT\s*\(\s*\w+\s*\)", text):
            return False
        children = list(node.get_children())
        if len(children) == 1 and children[0].extent == node.extent:
            return self.hook_value(children[0])
        if node.kind == Kind.PAREN_EXPR and children:
            return self.hook_value(children[0])
        if node.kind == Kind.UNARY_OPERATOR and text.startswith("!") and children:
            value = self.hook_value(children[0])
            return None if value is None else not value
        if node.kind == Kind.BINARY_OPERATOR and len(children) == 2:
            operator = self.operator_between(*children)[0]
            values = [self.hook_value(child) for child in children]
            if operator == "&&" and False in values or operator == "||" and True in values:
                return operator == "||"
            if operator in ("&&", "||") and values[0] is not None and values[0] == values[1]:
                return values[0]
        return None

    def condition(self, node):
        if not self.has_place(node) or self.hook_value(node) is not None:
            return
        span = self.range_of(node)
        text = self.text_of(node)
        inner = one_line(text)
        self.negated.add(span)
        self.add("negate", span, span[0], (f"({ASK} != static_cast<bool>(", "))"),
                 (text, f"!({inner})"))
        self.expression(node)

    def expression(self, node):
        if node.kind in CLOSED:
            return
        start, end = self.range_of(node)
        if start < end and self.in_macro(start, end):
            return
        children = list(node.get_children())
        if node.kind == Kind.LAMBDA_EXPR:
            for child in children:
                if child.kind == Kind.COMPOUND_STMT:
                    self.statement(child)
            return
        if re.match(r"(?:noexcept|sizeof|alignof|decltype|requires)\b", self.text[start:end]):
            return
        if node.kind == Kind.CONDITIONAL_OPERATOR and len(children) == 3:
            self.choice(children)
            return
        if node.kind == Kind.BINARY_OPERATOR and len(children) == 2:
            if self.hook_value(node) is not None:
                return
            self.binary(node, children)
        elif node.kind == Kind.CALL_EXPR:
            self.call(node, children)
        if node.kind == Kind.MEMBER_REF_EXPR:
            children = children[:1]  # template arguments come behind
        for child in children:
            if is_expression(child):
                self.expression(child)

    def choice(self, children):
        value = self.hook_value(children[0])
        self.condition(children[0])
        for child, skipped in zip(children[1:], (False, True)):
            if value is not skipped:
                self.expression(child)

    def operator_between(self, left, right):
        """The operator between two operands, and where it is."""
        start = self.range_of(left)[1]
        gap = self.text[start:self.range_of(right)[0]]
        token = one_line(gap)
        return token, start + max(gap.find(token), 0)

    def binary(self, node, children):
        if not all(self.has_place(c) or self.text_of(c) for c in children):
            return
        operator, at = self.operator_between(*children)
        if operator in ("&&", "||"):
            self.sides(operator, at, children)
        else:
            self.compared(operator, at, children)

    def sides(self, operator, at, children):
        both = [one_line(self.text_of(c)) for c in children]
        if any(self.hook_value(c) is not None for c in children):
            # One side is the simulator's: what drops it is what ships.
            drops = [c for c in children if self.hook_value(c) is None]
        else:
            drops = list(children)
        # The mutant differs where this side alone decides.
        ask = (f"({ASK_FIRST} || ::peal_mutated_side(@, false, static_cast<bool>(", ")))")
        if operator == "||":
            ask = (f"(!{ASK_FIRST} && ::peal_mutated_side(@, true, static_cast<bool>(", ")))")
        for child in drops:
            if child is children[0] and self.continues(child, operator):
                continue  # its own sides are dropped one by one
            side = "left" if child is children[0] else "right"
            other = both[1] if side == "left" else both[0]
            self.add(f"drop-{side}", self.range_of(child), at, ask,
                     (f"{both[0]} {operator} {both[1]}", other))

    def continues(self, node, operator):
        inner = list(node.get_children())
        return (node.kind == Kind.BINARY_OPERATOR and len(inner) == 2
                and self.operator_between(*inner)[0] == operator)

    def compared(self, operator, at, children):
        left, right = (self.text_of(c) for c in children)
        span = self.range_of(children[0])[0], self.range_of(children[1])[1]
        plain = f"{one_line(left)} {operator} {one_line(right)}"
        if operator in FLIPPED:
            changed = f"{one_line(left)} {FLIPPED[operator]} {one_line(right)}"
            self.add("edge", span, at, (f"::{EDGES[operator]}(@, ", ")"), (plain, changed),
                     (at, at + len(operator)))
        elif operator in OPPOSITE and span not in self.negated:
            changed = f"{one_line(left)} {OPPOSITE[operator]} {one_line(right)}"
            self.add("equal", span, at, (f"({ASK} != (", "))"), (plain, changed))
        elif operator in ("+", "-") and re.fullmatch(r"1[uUlL]*", right):
            self.add("one", self.range_of(children[1]), at, (f"({ASK} ? 0 : ", ")"),
                     (plain, one_line(left)))

    def call(self, node, children):
        if node.spelling.startswith("operator") and len(children) == 3:
            left, callee, right = children
            ranges = [self.range_of(c) for c in children]
            if (ranges[0][0] < ranges[0][1] <= ranges[1][0]
                    and ranges[1][1] <= ranges[2][0] < ranges[2][1]):
                self.compared(self.text_of(callee), ranges[1][0], [left, right])
            return
        match = re.match(r"std::(max|min)\s*(?:<[\w:\s]*>\s*)?\(", self.text_of(node))
        if match and len(children) == 3:
            self.extreme(node, children[1:])

    def extreme(self, node, sides):
        if self.operator_between(*sides)[0] != ",":
            return
        texts = [one_line(self.text_of(c)) for c in sides]
        if any(text.startswith("{") for text in texts):
            return
        for i, side in enumerate(("left", "right")):
            # max(b, b) is b: so the types stay what they are.
            self.add(f"only-{side}", self.range_of(sides[1 - i]), self.range_of(node)[0],
                     (f"({ASK} ? ({texts[i]}) : (", "))"), (self.text_of(node), texts[i]))
