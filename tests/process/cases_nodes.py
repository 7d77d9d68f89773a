# SPDX-License-Identifier: Apache-2.0
"""Nodes that are added to a cluster and removed from it while it runs."""

import json
import os
import signal

from bench import case
from cases_names import wait_event
from cases_processes import expect_no_view
from lib import Failure, START_S, now_ns

SETTINGS = "[ring]\ntoken_loss_ms = 2000\nconsensus_ms = 2000"  # as Bench.patient_cluster()
MAJORITY = 'primary = "majority"\n'


def reload_node(cluster, name, refused=None):
    """`peal reload` of one node; it says that it has, or that it has not, with this text."""
    done = cluster.run("reload", "--to", name + ".sock")
    said = done.stdout + done.stderr
    if refused is None:
        good = done.returncode == 0 and "reloaded" in said
    else:
        good = done.returncode == 1 and refused in said
    if not good:
        raise Failure(f"reload of {name}: {done.returncode}, {said.strip()}")
    return said


def wait_list(cluster, name, text, timeout=START_S):
    """Waits until `peal status` says that the next list of a node waits for this."""
    deadline = now_ns() + timeout * 1e9
    while text not in (found := cluster[name].status()["list"]).get("waits_for", ""):
        if now_ns() > deadline:
            raise Failure(f"the list of {name} does not wait for {text!r}: {found}")
    shown = cluster.run("status", "--to", name + ".sock").stdout
    if f"next={','.join(found['next'])} waits_for=" not in shown:
        raise Failure(f"status of {name} does not show the next list: {shown}")


def wait_adopted(cluster, names, nodes):
    """Waits until the list of just these nodes counts at each of `names`."""
    for name in names:
        wait_event(cluster[name].child, "nodes_adopted", nodes=",".join(nodes))
        found = cluster[name].status()["list"]
        if found != {"nodes": list(nodes)}:
            raise Failure(f"status of {name} says {found}, not {nodes}")


def longest_pause(cluster, name, begin, end):
    """The longest time in ms between two messages that a node's application saw meanwhile."""
    before, longest = None, 0
    with open(os.path.join(cluster.folder, f"{name}.1.trace"), "rb") as lines:
        for line in lines:
            if b'"ev":"deliver"' not in line:
                continue
            at = json.loads(line)["at"]
            if before is not None and at >= begin and before <= end:
                longest = max(longest, at - before)
            before = at
    return longest / 1e6


class Change:
    """The list of a cluster that is busy, as it changes: the last node is added, the first one is
    removed and comes back."""

    def __init__(self, bench):
        self.settings = SETTINGS if bench.size == 3 else MAJORITY + SETTINGS
        self.cluster = bench.cluster(settings=self.settings)
        self.names = list(bench.names)
        self.numbers = {name: place for place, name in enumerate(self.names, 1)}
        self.quiet = []  # times in which lists changed, and no view

    def write(self, names, numbers=False):
        """What is in the file from now on, with numbers or without."""
        nodes = {name: self.numbers[name] if numbers else None for name in names}
        self.cluster.write_config("peal.toml", self.settings, nodes=nodes)

    def start(self, names):
        """Starts these nodes, which meet all that run."""
        for name in names:
            self.cluster[name].start()
        running = [node.name for node in self.cluster if node.child is not None]
        self.cluster.wait_view(running)
        for name in names:
            self.cluster[name].start_load()
        self.cluster.progress(running)

    def add_last(self):
        """Adds the last node."""
        cluster, old, began = self.cluster, self.names[:-1], now_ns()
        self.write(self.names)
        said = reload_node(cluster, old[0])
        if ",".join(self.names) not in said:
            raise Failure(f"reload of {old[0]} does not say what it goes over to: {said}")
        wait_list(cluster, old[0], "peal reload there")
        cluster.progress(old)
        for name in old[1:]:
            reload_node(cluster, name)
        wait_adopted(cluster, old, self.names)
        cluster.progress(old)
        self.quiet.append((began, now_ns()))
        self.start(self.names[-1:])

    def remove_first(self):
        """Removes the first node, after lists that are refused."""
        cluster, (first, *rest), began = self.cluster, self.names, now_ns()
        self.write(rest)
        reload_node(cluster, rest[0], refused=f"write number = {self.numbers[rest[0]]}")
        reload_node(cluster, first, refused="a node that is removed is stopped")
        self.write(rest, numbers=True)
        for name in rest[:-1]:
            reload_node(cluster, name)
        cluster[rest[-1]].child.signal(signal.SIGHUP)
        wait_event(cluster[rest[-1]].child, "nodes_given", nodes=",".join(rest))
        wait_list(cluster, rest[0], f"{first}, which is not in this list and still runs: stop it")
        cluster.progress(self.names)
        self.quiet.append((began, now_ns()))
        cluster[first].leave()
        wait_adopted(cluster, rest, rest)
        cluster.wait_view(rest)
        cluster.progress(rest)

    def bring_back_first(self):
        """It comes back under its number."""
        cluster, (first, *rest), began = self.cluster, self.names, now_ns()
        seen = {name: len(cluster[name].child.lines) for name in rest}
        self.write(self.names, numbers=True)
        for name in rest:
            reload_node(cluster, name)
        for name in rest:  # this list has counted before
            cluster[name].child.wait_lines(
                lambda lines, since=seen[name]: any('"nodes_adopted"' in line
                                                    for line in lines[since:]),
                START_S, f"line that {first} is a node again")
        wait_adopted(cluster, rest, self.names)
        cluster.progress(rest)
        self.quiet.append((began, now_ns()))
        self.start([first])


@case(3, 5)
def nodes_changed(bench):
    """Under full load, a node is added to the list and started, then the first one is removed and
    stopped, then it comes back under its number: each time all lists are changed without a restart,
    `peal status` says what the change waits for, no view changes but by those that start and stop,
    and the order holds. With five nodes, all this with primary = "majority"."""
    change = Change(bench)
    cluster = change.cluster
    change.write(change.names[:-1])
    change.start(change.names[:-1])
    bench.step("adding a node")
    change.add_last()
    bench.step("removing a node")
    change.remove_first()
    bench.step("bringing it back")
    change.bring_back_first()
    bench.step("end")
    text = bench.finish(cluster)
    for begin, end in change.quiet:
        expect_no_view(cluster, begin, end)
    if bench.size == 5 and not all(event[4] for event in cluster.view_events()
                                   if len(event[3]) >= 3):
        raise Failure("a view of most of the nodes is not primary")
    pauses = [longest_pause(cluster, "b", begin, end) for begin, end in change.quiet]
    bench.figures.update(list_pause_ms=pauses)
    return (f"added, removed and back without a restart; longest pause while lists changed "
            f"{max(pauses):.0f} ms; {text}")
