# SPDX-License-Identifier: Apache-2.0
"""The files under check, and a little C++ reading that the checks share."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from functools import cached_property

CPP_SUFFIXES = (".h", ".cc", ".c")


@dataclass(frozen=True)
class Finding:
    """One broken rule at one place. `line` 0 means the whole file."""

    path: str
    line: int
    check: str
    message: str

    def __str__(self):
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: [{self.check}] {self.message}"


@dataclass
class File:
    """One text file; `path` is relative to the root, with forward slashes."""

    path: str
    text: str
    executable: bool = False

    @property
    def is_cpp(self):
        return self.path.endswith(CPP_SUFFIXES)

    @property
    def is_python(self):
        return self.path.endswith(".py") or self.shebang.endswith("python3")

    @property
    def is_shell(self):
        return self.path.endswith(".sh") or self.shebang.endswith("bash")

    @property
    def is_cmake(self):
        return self.path.endswith(".cmake") or os.path.basename(self.path) == "CMakeLists.txt"

    @property
    def is_test(self):
        return self.path.startswith(("tests/", "fuzz/")) or self.path.endswith("_test.py")

    @cached_property
    def shebang(self):
        first = self.text.split("\n", 1)[0]
        return first if first.startswith("#!") else ""

    @cached_property
    def lines(self):
        lines = self.text.split("\n")  # as editors and compilers count, not str.splitlines()
        return lines[:-1] if lines[-1] == "" else lines

    @cached_property
    def code(self):
        """C++ text with comments, literals and preprocessor lines blanked; same lines."""
        return blank_directives(blank_comments_and_literals(self.text))

    @cached_property
    def prose(self):
        """What people read: comments of code, or a page without its code; same lines."""
        if self.is_cpp:
            return blank_all_but_comments(self.text)
        if self.path.endswith(".md"):
            return blank_code_of_page(self.text)
        return "\n".join(line if line.lstrip().startswith("#") else "" for line in self.lines)

    @cached_property
    def code_lines(self):
        """C++ lines with comments and literals blanked, preprocessor lines kept."""
        return blank_comments_and_literals(self.text).split("\n")


@dataclass
class Tree:
    """All files of the project that are, or could be, tracked; without generated ones."""

    root: str
    files: list = field(default_factory=list)
    binaries: list = field(default_factory=list)  # paths of what is no text; pages may show them

    @staticmethod
    def read(root):
        tree = Tree(root)
        for path in sorted(list_paths(root)):
            full = os.path.join(root, path)
            if os.path.islink(full) or not os.path.isfile(full):
                continue
            with open(full, "rb") as stream:
                raw = stream.read()
            if b"\0" in raw:
                tree.binaries.append(path)  # fuzz corpora, golden packets, pictures
                continue
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                continue
            tree.files.append(File(path, text, os.access(full, os.X_OK)))
        return tree

    @staticmethod
    def of(texts, executables=()):
        """A tree in memory, for tests: a dict from path to text."""
        return Tree("", [File(p, t, p in executables) for p, t in sorted(texts.items())])

    def get(self, path):
        return next((f for f in self.files if f.path == path), None)

    @cached_property
    def paths(self):
        return {f.path for f in self.files} | set(self.binaries)

    def cpp(self):
        return [f for f in self.files if f.is_cpp]


def list_paths(root):
    """Tracked files, and new ones that git does not ignore; without git, everything but build/."""
    if os.path.exists(os.path.join(root, ".git")):
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],  # a checkout may belong to another user than the one who tests
            check=True, capture_output=True).stdout
        return {p for p in out.decode().split("\0") if p}
    paths = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", "__pycache__")]
        paths.update(os.path.relpath(os.path.join(folder, n), root) for n in names)
    return paths


_TOKEN = re.compile(
    r"""(?<![\w'])\d(?:'?[\w.])*"""  # a number first: 4'096 opens no character literal
    r"""|//[^\n]*|/\*.*?\*/"""
    r"""|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)
_INCLUDE = re.compile(r"\s*#\s*include\b")


def blank_comments_and_literals(text):
    """Replaces comments, strings and characters by spaces (quotes stay); keeps every newline.

    The path of an #include stays too: the checks of includes need it."""

    def blank(match):
        token = match.group(0)
        if token[0].isdigit():
            return token
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        line_start = text.rfind("\n", 0, match.start()) + 1
        if _INCLUDE.match(text[line_start:match.start()]):
            return token
        return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]

    return _TOKEN.sub(blank, text)


def blank_all_but_comments(text):
    """The comments of C++ text, without their marks and what they quote as code; same lines."""
    out = []
    end = 0
    for match in _TOKEN.finditer(text):
        if match.group(0).startswith(("//", "/*")):
            out.append(re.sub(r"[^\n]", "", text[end:match.start()]))
            out.append(re.sub(r"^/[/*]+[!<]*", "", match.group(0)))
            end = match.end()
    out.append(re.sub(r"[^\n]", "", text[end:]))
    return blank_code_spans("".join(out))


def blank_code_of_page(text):
    """A Markdown page without code blocks and code spans; same lines."""
    out = []
    fenced = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        out.append("" if fenced or fence else line)
        fenced = fenced != fence
    return blank_code_spans("\n".join(out))


def blank_code_spans(text):
    """Blanks `code`."""
    return re.sub(r"`[^`\n]*`", "", text)


def blank_directives(text):
    """Blanks preprocessor lines with their continuations."""
    out = []
    inside = False
    for line in text.split("\n"):
        inside = inside or line.lstrip().startswith("#")
        out.append("" if inside else line)
        inside = inside and line.rstrip().endswith("\\")
    return "\n".join(out)
