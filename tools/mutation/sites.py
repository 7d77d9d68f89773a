# SPDX-License-Identifier: Apache-2.0
"""Finds what can be mutated: reads C++ with libclang, so that every place is exact.

A mutant is two texts, one put before an expression and one behind it; nothing is taken away. So
mutants may lie inside each other, a file keeps its lines, and one build holds all of them."""

import re

import clang.cindex
from clang.cindex import CursorKind as Kind

from .expressions import ASK, CLOSED, Expressions, Mutant, is_expression

LIBRARY = "/usr/lib/llvm-14/lib/libclang.so.1"
FUNCTIONS = (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
             Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE)
SCOPES = (Kind.NAMESPACE, Kind.STRUCT_DECL, Kind.CLASS_DECL, Kind.UNION_DECL, Kind.LINKAGE_SPEC,
          Kind.CLASS_TEMPLATE, Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)


class Reader(Expressions):
    """Walks through the functions of one file of a parsed unit."""

    # Declarations.

    def declarations(self, node):
        for child in node.get_children():
            if child.kind in FUNCTIONS:
                self.function(child)
            elif child.kind in SCOPES:
                self.declarations(child)

    def function(self, node):
        bodies = [c for c in node.get_children() if c.kind == Kind.COMPOUND_STMT]
        if not bodies or not self.text_of(bodies[0]).startswith("{"):
            return  # declared, or defaulted
        head = self.text[self.range_of(node)[0]:self.range_of(bodies[0])[0]]
        if not re.search(r"\b(?:constexpr|consteval)\b", head):
            self.function_name = node.spelling
            self.statement(bodies[0])

    def variable(self, node):
        start, end = self.range_of(node)
        head = self.text[self.line_starts[self.place(start)[0] - 1]:end]
        if re.match(r"\s*(?:static |inline )*(?:constexpr|constinit)\b", head):
            return
        children = [c for c in node.get_children() if is_expression(c)]
        # An array's bound comes before what it is initialised with.
        if node.type.kind == clang.cindex.TypeKind.CONSTANTARRAY:
            return
        for child in children:
            self.expression(child)

    # Statements.

    def statement(self, node):
        kind = node.kind
        children = list(node.get_children())
        if kind == Kind.IF_STMT:
            self.branch(node, children)
        elif kind == Kind.WHILE_STMT:
            self.loop_head(children[:-1])
            self.statement(children[-1])
        elif kind == Kind.DO_STMT:
            self.statement(children[0])
            self.condition(children[1])
        elif kind == Kind.FOR_STMT:
            self.for_head(children[:-1])
            self.statement(children[-1])
        elif kind == Kind.CXX_FOR_RANGE_STMT:
            for child in children[:-1]:
                if is_expression(child):
                    self.expression(child)
            self.statement(children[-1])
        elif kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT, Kind.LABEL_STMT):
            if children:
                self.statement(children[-1])
        elif kind == Kind.SWITCH_STMT:
            for child in children[:-1]:
                self.part(child)
            self.statement(children[-1])
        elif kind == Kind.RETURN_STMT:
            self.returned(children)
        elif is_expression(node):
            self.expression_statement(node)
        elif kind not in CLOSED:
            for child in children:
                self.part(child)

    def part(self, node):
        if node.kind in (Kind.VAR_DECL, Kind.UNEXPOSED_DECL):
            self.variable(node)
        elif node.kind not in CLOSED:
            self.statement(node)

    def branch(self, node, children):
        constant = re.match(r"if\s+constexpr\b", self.text_of(node))
        head = []
        while children and (not is_expression(children[0])
                            or self.next_char(self.range_of(children[0])[1]) == ";"):
            head.append(children.pop(0))
        for child in head:
            self.part(child)
        if not children:
            return
        condition, branches = children[0], children[1:]
        if constant:
            value = None
        else:
            value = self.hook_value(condition)
            if not self.declared_in(condition, head):
                self.condition(condition)
        for branch, skipped in zip(branches, (False, True)):
            if value is not skipped:
                self.statement(branch)

    def declared_in(self, node, head):
        start, end = self.range_of(node)
        return any(self.range_of(h)[0] <= start and end <= self.range_of(h)[1] for h in head)

    def loop_head(self, children):
        head = [c for c in children if not is_expression(c)]
        for child in head:
            self.part(child)
        for child in children:
            if is_expression(child) and not self.declared_in(child, head):
                self.condition(child)

    def for_head(self, children):
        for child in children:
            start, end = self.range_of(child)
            if not is_expression(child):
                self.part(child)
            elif self.text[:start].rstrip().endswith(";") and self.next_char(end) == ";":
                self.condition(child)

    def returned(self, children):
        if not children:
            return
        text = self.text_of(children[0])
        if text in ("true", "false"):
            span = self.range_of(children[0])
            self.add("return", span, span[0], (f"({ASK} != ", ")"),
                     (f"return {text}", f"return {'false' if text == 'true' else 'true'}"))
        else:
            self.expression(children[0])

    def expression_statement(self, node):
        if not self.has_place(node):
            return
        core = node
        while core.kind == Kind.UNEXPOSED_EXPR:
            inner = list(core.get_children())
            if len(inner) != 1 or inner[0].extent != core.extent:
                break
            core = inner[0]
        if core.kind in (Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.UNARY_OPERATOR,
                         Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNEXPOSED_EXPR):
            span = self.range_of(node)
            texts = (f"({ASK} ? static_cast<void>(0) : static_cast<void>(", "))")
            self.add("omit", span, span[0], texts, (self.text_of(node) + ";", "(left out)"))
        self.expression(node)


def named(mutants):
    """Gives each its name: the file, the place, the kind, and a number if that is not enough."""
    result = []
    taken = {}
    for mutant in sorted(mutants, key=lambda m: (m.file, m.start, -m.end, m.kind)):
        name = f"{mutant.file.removeprefix('src/')}:{mutant.line}:{mutant.column}:{mutant.kind}"
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            name += f":{taken[name]}"
        result.append(Mutant(**{**mutant.__dict__, "name": name}))
    return result


def parse(main, arguments, texts, display):
    """The mutants of one unit of the compiler. `main` is its path and text; `texts` has the text
    of each file that is wanted, by its absolute path; `display` its name in the tree."""
    if not clang.cindex.Config.loaded:
        clang.cindex.Config.set_library_file(LIBRARY)
    unit = clang.cindex.Index.create().parse(
        main[0], args=arguments, unsaved_files=[main],
        options=clang.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [d for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"libclang cannot read this: {errors[0]}")
    macros = {path: [] for path in texts}
    tops = {path: [] for path in texts}
    for node in unit.cursor.get_children():
        file = node.location.file
        if file is None or file.name not in texts:
            continue
        if node.kind == Kind.MACRO_INSTANTIATION:
            macros[file.name].append((node.extent.start.offset, node.extent.end.offset))
        elif not node.kind.is_preprocessing():
            tops[file.name].append(node)
    found = []
    for path, nodes in tops.items():
        reader = Reader(display[path], texts[path], macros[path])
        for node in nodes:
            if node.kind in FUNCTIONS:
                reader.function(node)
            elif node.kind in SCOPES:
                reader.declarations(node)
        found.extend(reader.found.values())
    return found
