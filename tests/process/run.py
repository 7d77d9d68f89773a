#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Real processes in network namespaces, under full load, while things break.

Prints one line with its figure for each case, and last "N passed, M failed". Exit status: 0 if
nothing failed, 1 otherwise, 2 if the arguments are wrong. See README.md in this folder.
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import cases  # pylint: disable=wrong-import-position
import isolation  # pylint: disable=wrong-import-position
import lib  # pylint: disable=wrong-import-position
import network  # pylint: disable=wrong-import-position


def parse_arguments():
    """The command line; wrong arguments end the process with status 2."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("case", nargs="*", help="run only these; --list shows all")
    parser.add_argument("--list", action="store_true", help="show the cases, run nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")
    parser.add_argument("--nodes", default="3,5", help="sizes of clusters (3,5)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter stops")
    parser.add_argument("--soak", action="store_true",
                        help="also what ./test has no time for: larger clusters, longer stops")
    parser.add_argument("--rounds", type=int, help="instead of what a case has by itself")
    parser.add_argument("--keep", action="store_true",
                        help="keep traces and acceptors' logs of cases that passed")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/release/bin"),
                        help="folder of the programs under test")
    parser.add_argument("--peal", help="the program under test, instead of --bin")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/process"),
                        help="for logs and traces: FOLDER/CASE-NODES/")
    options = parser.parse_args()
    options.peal = os.path.abspath(options.peal or os.path.join(options.bin, "peal"))
    try:
        options.nodes = sorted({int(size) for size in options.nodes.split(",")})
    except ValueError:
        parser.error(f"--nodes {options.nodes}: accepted are numbers such as 3,5")
    chosen = []
    for name in options.case:
        matching = ([name] if name in cases.ALL else
                    [each for each in cases.ALL if each.startswith(name + "_")])
        if not matching:
            parser.error(f"no case {name}; there are {', '.join(cases.ALL)}")
        chosen += matching
    options.case = chosen
    if not options.list and not os.access(options.peal, os.X_OK):
        parser.error(f"{options.peal} is not a program; build it first: ./dev build")
    return options


def selected(options):
    """Pairs of a case and a number of nodes."""
    wanted = options.case or list(cases.ALL)
    more = [(name, size) for name in wanted if options.soak for size in cases.ALL[name].soak]
    return [(name, size) for name in wanted for size in cases.ALL[name].sizes
            if size in options.nodes] + [pair for pair in more if pair[1] in options.nodes]


def run_case(options, name, size, number):
    """Runs one case; returns its result for --json."""
    folder = os.path.join(options.folder, f"{name}-{size}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    bench = cases.Bench(options, folder, size, subnet=number)
    began = time.monotonic()
    problem = figure = None
    try:
        figure = cases.ALL[name].run(bench)
    except lib.Failure as failure:
        problem = f"{bench.doing}: {failure}" if bench.doing else str(failure)
    except Exception as error:  # pylint: disable=broad-except
        with open(os.path.join(folder, "error.txt"), "w", encoding="utf-8") as out:
            traceback.print_exc(file=out)
        problem = f"the test itself failed: {error!r}, see {folder}/error.txt"
    finally:
        conditions = bench.conditions() if problem is not None else []
        bench.close()
    seconds = time.monotonic() - began
    result = {"case": name, "nodes": size, "ok": problem is None, "seconds": round(seconds, 1),
              "figure": figure, "problem": problem, "conditions": conditions, **bench.figures}
    say(result)
    if problem is None and not options.keep:
        bench.discard()
    return result


def say(result):
    """Prints the line of a result, and what the machine was like if it failed."""
    print(f"{'ok  ' if result['ok'] else 'FAIL'} {result['case']} {result['nodes']} nodes: "
          f"{result['problem'] or result['figure']} ({result['seconds']:.1f} s)",
          *result["conditions"], sep="\n     ", flush=True)


def go_first():
    """Gets more of the processors than what else runs on this machine; without root nothing."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    with contextlib.suppress(OSError):
        os.setsid()  # the kernel shares out by sessions first
        with open("/proc/self/autogroup", "w", encoding="ascii") as nice:
            nice.write("-10")


def run_all(options):
    """Runs the selected cases inside the place of their own; returns the exit status."""
    go_first()
    results = []
    for number, (name, size) in enumerate(selected(options), 1):
        results.append(run_case(options, name, size, number))
    failed = [result for result in results if not result["ok"]]
    if options.json:
        print(json.dumps({"results": results}, indent=2))
    if failed and len(results) > 1:
        print("\nOnce more, what failed:")
        for result in failed:
            say(result)
    if failed:
        print(f"logs and traces are in {options.folder}/CASE-NODES/")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not results else 0


def not_run(reason):
    """Says loudly that nothing was tested; in CI that is a failure."""
    in_ci = os.environ.get("CI", "").lower() in ("1", "true", "yes")
    print("*" * 79)
    print("* THE TESTS OF REAL PROCESSES DID NOT RUN: no network namespaces on this machine.")
    print(f"* {reason}")
    print("* They need Linux, iproute2, nftables, util-linux, and root or user namespaces.")
    print("*" * 79)
    print(f"0 passed, {1 if in_ci else 0} failed")
    return 1 if in_ci else 0


def main():
    """Returns the exit status."""
    options = parse_arguments()
    if options.list:
        for name, case in cases.ALL.items():
            soak = f"; with --soak {' and '.join(map(str, case.soak))}" if case.soak else ""
            print(f"{name} ({' and '.join(map(str, case.sizes))} nodes{soak}): {case.about}")
        return 0
    if network.missing_tools():
        return not_run(f"missing: {', '.join(network.missing_tools())}")
    try:
        return isolation.enter(lambda: run_all(options))
    except isolation.NoNamespaces as reason:
        return not_run(str(reason))


if __name__ == "__main__":
    sys.exit(main())
