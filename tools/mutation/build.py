# SPDX-License-Identifier: Apache-2.0
"""The mutated build: a copy of the tree in which a sample of mutants stands, each behind a switch.

The copy holds the mutated modules as files of their own and all else as symbolic links; what ships
is not touched."""

import concurrent.futures
import fcntl
import glob
import hashlib
import json
import os
import re
import shlex
import subprocess

from checks.tree import list_paths

from . import sites
from .expressions import Mutant
from .weave import weave

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ("src/order", "src/wal", "src/group", "src/session")
# The number of a mutant is an index into what switch.cc keeps.
NUMBERS_MAX = (1 << 16) - 1


class Failure(Exception):
    """Something that the person who called has to know; the text says what to do."""


def read(path):
    """Bytes as text of one character each, so that offsets of bytes are offsets of the text."""
    with open(path, encoding="latin-1", newline="") as stream:
        return stream.read()


def write_if_new(path, text):
    """A file that stays as it is keeps its time, and nothing that is made of it is made again."""
    if os.path.islink(path):
        os.unlink(path)
    if os.path.exists(path) and read(path) == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="latin-1", newline="") as stream:
        stream.write(text)


def link(target, path):
    if os.path.islink(path) and os.readlink(path) == target:
        return
    if os.path.lexists(path):
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def log_tail(path, lines=30):
    return "\n".join(read(path).rstrip().split("\n")[-lines:])


class Build:
    """The folder of one project's mutated build. `root` is the tree that ships."""

    def __init__(self, root, work, jobs):
        self.root = root
        self.work = work
        self.jobs = jobs
        self.tree = os.path.join(work, "tree")
        self.folder = os.path.join(work, "build")
        os.makedirs(work, exist_ok=True)
        self.lock = open(os.path.join(work, "lock"), "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another one is at work in {work}") from None
        self.sources = sorted(p for p in list_paths(root) if p.startswith("src/"))
        self.mutable = [p for p in self.sources if p.endswith((".cc", ".h"))
                        and p.startswith(tuple(module + "/" for module in MODULES))
                        and "/inspection/" not in p]  # the simulator's, which ships nowhere
        self.texts = {p: read(os.path.join(root, p)) for p in self.mutable}

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    # The copy of the tree.

    def lay_out(self):
        """Everything but the texts of what may be mutated: see write_sample()."""
        tops = {p.split("/")[0] for p in list_paths(self.root)} - {"src"}
        for top in sorted(tops):
            link(os.path.join(self.root, top), os.path.join(self.tree, top))
        for path in self.sources:
            if path not in self.texts:
                link(os.path.join(self.root, path), os.path.join(self.tree, path))
        wanted = set(self.sources)
        for folder, _, names in os.walk(os.path.join(self.tree, "src")):
            for name in names:
                full = os.path.join(folder, name)
                if os.path.relpath(full, self.tree) not in wanted:
                    os.unlink(full)

    def write_sample(self, sample):
        """`sample`: from number to mutant. Writes the texts, and what has which number."""
        by_file = {}
        for number, mutant in sample.items():
            by_file.setdefault(mutant.file, []).append((number, mutant))
        for path, text in self.texts.items():
            write_if_new(os.path.join(self.tree, path), weave(text, by_file.get(path, [])))
        names = {mutant.name: number for number, mutant in sample.items()}
        write_if_new(self.path("sample.json"), json.dumps(names, indent=1))

    # Building.

    def configure(self):
        """Once, and again if the options change. Mutated code is compiled without warnings."""
        self.lay_out()
        for path, text in self.texts.items():
            if not os.path.exists(os.path.join(self.tree, path)):
                write_if_new(os.path.join(self.tree, path), text)
        switch = self.compile_switch()
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG -D_GLIBCXX_ASSERTIONS",
            "CMAKE_CXX_FLAGS": f"-w -include {HERE}/switch.h",
            "CMAKE_EXE_LINKER_FLAGS": switch,
            "PEAL_ONE_FLAVOUR": "ON",
            "PEAL_UNITY": "all",
            "PEAL_TEST_FLAGS": "-O0",
        }
        if self.run(["which", "ccache"], self.path("which.log")) == 0:
            options["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        line = ["cmake", "-S", self.tree, "-B", self.folder, "-G", "Ninja"]
        line += [f"-D{key}={value}" for key, value in sorted(options.items())]
        done = os.path.join(self.folder, "configured")
        if (os.path.exists(done) and read(done) == "\n".join(line)
                and os.path.exists(os.path.join(self.folder, "build.ninja"))):
            line = ["ninja", "-C", self.folder, "build.ninja"]  # for files that came or went
        if self.run(line, self.path("configure.log")) != 0:
            raise Failure(log_tail(self.path("configure.log")) +
                          "\nconfiguring failed; tools/install-deps installs what is needed")
        write_if_new(done, "\n".join(line))

    def compile_switch(self):
        """The object that every program is linked with. Its name changes with its text."""
        texts = read(os.path.join(HERE, "switch.cc")) + read(os.path.join(HERE, "switch.h"))
        name = hashlib.sha256(texts.encode("latin-1")).hexdigest()[:12]
        path = self.path(f"switch-{name}.o")
        if not os.path.exists(path):
            line = ["c++", "-std=c++20", "-O1", "-include", f"{HERE}/switch.h", "-c",
                    f"{HERE}/switch.cc", "-o", path]
            if self.run(line, self.path("switch.log")) != 0:
                raise Failure(log_tail(self.path("switch.log")))
        return path

    def run(self, line, log):
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, "w", encoding="utf-8") as stream:
            return subprocess.run(line, stdin=subprocess.DEVNULL, stdout=stream,
                                  stderr=subprocess.STDOUT, check=False,
                                  env=dict(os.environ, LC_ALL="C")).returncode

    def compile(self, sample, spare, targets, say):
        """Builds the sample. What does not compile is dropped, and a mutant of `spare`, which is
        an iterator, takes its place. Returns those that were dropped."""
        dropped = []
        while True:
            self.write_sample(sample)
            line = ["ninja", "-C", self.folder, "-k", "0", "-j", str(self.jobs), *targets]
            if self.run(line, self.path("build.log")) == 0:
                return dropped
            wrong = self.blamed(read(self.path("build.log")), sample)
            if not wrong:
                raise Failure(log_tail(self.path("build.log")) + "\nbuilding failed, and no mutant "
                              f"stands where the compiler says: see {self.path('build.log')}")
            for number in wrong:
                mutant = sample.pop(number)
                dropped.append(mutant)
                say(f"does not compile: {mutant.name}: {mutant.before} => {mutant.after}")
                other = next(spare, None)
                if other is not None:
                    sample[number] = other

    def blamed(self, log, sample):
        """The numbers of mutants that the compiler's errors point at: those on the line, or else
        those on lines that its notes name, or else all of the file."""
        errors = set()
        others = set()
        for path, line, what in re.findall(r"^(?:In file included from |\s*from )?([^\s:]+):(\d+)"
                                           r"(?::\d+)?[:,] *(.*)", log, re.MULTILINE):
            place = self.in_tree(path), int(line)
            (errors if what.startswith(("error", "fatal error")) else others).add(place)
        for places in (errors, others):
            wrong = [n for n, m in sample.items() if self.on_line(m, places)]
            if wrong:
                return sorted(wrong)
        files = {path for path, _ in errors}
        return sorted(n for n, m in sample.items() if m.file in files)

    def in_tree(self, path):
        if path.startswith(self.tree + "/"):
            return os.path.relpath(path, self.tree)
        match = re.match(re.escape(self.folder) + r"/headers/\w+/(.*)", path)
        return "src/" + match.group(1) if match else path

    def on_line(self, mutant, places):
        text = self.texts[mutant.file]
        first = text.count("\n", 0, mutant.start) + 1
        last = text.count("\n", 0, mutant.end) + 1
        return any((mutant.file, line) in places for line in range(first, last + 1))

    # Reading the sources.

    def units(self):
        """What the compiler reads at once, as the configured build says: files and arguments."""
        with open(os.path.join(self.folder, "compile_commands.json"), encoding="utf-8") as stream:
            entries = json.load(stream)
        result = []
        for entry in entries:
            files = self.files_of_unit(entry["file"])
            if files:
                result.append((files, self.arguments_of(entry["command"])))
        return result

    def files_of_unit(self, path):
        """Those files of one unit that may be mutated, as paths in the tree."""
        files = [path]
        if "/Unity/" in path:
            files = re.findall(r'^#include "([^"]+)"', read(path), re.MULTILINE)
        files = [os.path.relpath(f, self.tree) for f in files if f.startswith(self.tree + "/")]
        return [f for f in files if f in self.texts]

    def arguments_of(self, command):
        """What libclang has to know. Headers of modules are read where they ship, not from the
        copy, in which others may be mutated."""
        kept = [f"-I{self.root}/src", f"-I{self.root}/include"]
        words = shlex.split(command)
        for i, word in enumerate(words):
            if word == "-isystem":
                kept += [word, words[i + 1]]
            elif word.startswith(("-D", "-std=")):
                kept.append(word)
            elif word.startswith("-I") and "/headers/" not in word:
                kept.append(word)
        return kept

    def mutants(self):
        """All mutants that can be made, in the order of the tree. Kept until a source changes."""
        digest = hashlib.sha256()
        for name in ("expressions.py", "sites.py", "build.py"):
            digest.update(read(os.path.join(HERE, name)).encode("latin-1"))
        for path in self.sources:
            digest.update(path.encode())
            digest.update(read(os.path.join(self.root, path)).encode("latin-1"))
        kept = self.path(f"sites-{digest.hexdigest()[:16]}.json")
        if not os.path.exists(kept):
            found = self.parse_all()
            for old in glob.glob(self.path("sites-*.json")):
                os.unlink(old)
            write_if_new(kept, json.dumps([m.__dict__ for m in found]))
            return found
        return [Mutant(**fields) for fields in json.loads(read(kept))]

    def parse_all(self):
        found = {}
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool:
            orders = [(self.root, self.texts, *unit) for unit in self.units()]
            for part in pool.map(parse_unit, orders):
                for mutant in part:
                    found[(mutant.file, mutant.start, mutant.end, mutant.kind)] = mutant
        return sites.named(found.values())


def parse_unit(order):
    """The mutants of what the compiler reads at once; a process of its own may do it."""
    root, all_texts, files, arguments = order
    wanted = files + [p for p in all_texts if p.endswith(".h")]
    display = {os.path.join(root, p): p for p in wanted}
    texts = {full: all_texts[p] for full, p in display.items()}
    body = "".join(f'#include "{os.path.join(root, p)}"\n' for p in files)
    return sites.parse((os.path.join(root, "unit.cc"), body), arguments, texts, display)
