# SPDX-License-Identifier: Apache-2.0
"""Nodes that order with ToTo: no token, no coordinator, and both sides of a cut go on."""

from bench import case
from cases_links import split_in_turns
from cases_processes import kill_in_turns, stop_in_turns
from lib import Failure

ROUNDS, QUICK, SOAK = 10, 3, 100
VIEW_MS = 1_000  # the longest that a new view may take


def toto_cluster(bench):
    """A cluster of this engine, with the rule "majority"."""
    return bench.cluster(settings='order = "toto"\nprimary = "majority"')


def expect_quick(bench, name):
    """Raises Failure if one of these view changes took too long."""
    slowest = max(bench.figures[name])
    if slowest > VIEW_MS:
        raise Failure(f"a new view took {slowest:.0f} ms, and {VIEW_MS} are expected: "
                      f"{bench.figures[name]}")


@case(3, soak=(5,))
def toto_sigkill(bench):
    """A node is killed under full load and started again, 10 times (100 with --soak): the survivors
    have a view within a second."""
    text = kill_in_turns(bench, toto_cluster(bench), bench.rounds(ROUNDS, QUICK, soak=SOAK))
    expect_quick(bench, "kill_to_view_ms")
    return text


@case(3, soak=(5,))
def toto_sigstop(bench):
    """A node is stopped under full load, 10 times (100 with --soak): the others have a view without
    it within a second, and it comes back."""
    text = stop_in_turns(bench, toto_cluster(bench), bench.rounds(ROUNDS, QUICK, soak=SOAK))
    expect_quick(bench, "stop_to_view_ms")
    return text


@case(5, soak=(3,))
def toto_partition(bench):
    """The network splits under full load, 10 times (100 with --soak): each side has a view within a
    second and goes on, exactly one of them is the primary one, and then they merge."""
    text = split_in_turns(bench, toto_cluster(bench), bench.rounds(ROUNDS, QUICK, soak=SOAK))
    expect_quick(bench, "cut_to_view_ms")
    return text
