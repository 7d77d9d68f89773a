# SPDX-License-Identifier: Apache-2.0
"""Nodes that are added to a cluster and removed from it while it runs."""

import json
import os
import random
import signal

from bench import case
from cases_paxos import REJOIN_S, paxos_cluster, quorum_settings
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

    def __init__(self, bench, order):
        if order == "ring":
            self.settings = SETTINGS if bench.size == 3 else MAJORITY + SETTINGS
            self.cluster = bench.cluster(settings=self.settings)
        else:
            self.settings = quorum_settings(order)
            self.cluster = paxos_cluster(bench, order)
        self.names = list(bench.names)
        self.numbers = {name: place for place, name in enumerate(self.names, 1)}
        self.quiet = []  # times in which lists changed, and no view
        self.votes = order != "ring"  # who comes is a new acceptor, and says with which log

    def write(self, names, numbers=False):
        """What is in the file from now on, with numbers or without."""
        nodes = {name: self.numbers[name] if numbers else None for name in names}
        self.cluster.write_config("peal.toml", self.settings, nodes=nodes)

    def start(self, names):
        """Starts these nodes, which meet all that run."""
        for name in names:
            self.cluster[name].start()
        running = [node.name for node in self.cluster if node.child is not None]
        self.cluster.wait_view(running, REJOIN_S)
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
        self.come(old, self.names[-1], began)

    def come(self, old, new, began):
        """All lists have been changed, since `began`: the new node is started. An acceptor is
        waited for before its list counts, and any other node is not."""
        if self.votes:
            wait_list(self.cluster, old[0], f"{new}, an acceptor of this list, which is not heard")
        else:
            wait_adopted(self.cluster, old, self.names)
        self.cluster.progress(old)
        self.quiet.append((began, now_ns()))
        self.start([new])
        wait_adopted(self.cluster, old, self.names)

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
        wait_list(cluster, rest[0], f"{first}, which is not in this list and still runs: stop it,")
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
        self.come(rest, first, began)
        for name in rest:  # this list has counted before
            cluster[name].child.wait_lines(
                lambda lines, since=seen[name]: any('"nodes_adopted"' in line
                                                    for line in lines[since:]),
                START_S, f"line that {first} is a node again")


@case(3, soak=(5,))
def nodes_changed(bench):
    """Under full load, a node is added to the list and started, then the first one is removed and
    stopped, then it comes back under its number: each time all lists are changed without a restart,
    `peal status` says what the change waits for, no view changes but by those that start and stop,
    and the order holds. With five nodes, all this with primary = "majority"."""
    return nodes_come_and_go(bench, "ring")


@case(3, soak=(5,))
def ridge_nodes_changed(bench):
    """The same with acceptors: all nodes vote, so that each change of the list is one of theirs."""
    return nodes_come_and_go(bench, "ridge")


def nodes_come_and_go(bench, order):
    change = Change(bench, order)
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


class Churn:
    """A cluster whose list changes by one node at a time, again and again, while nodes are killed
    in the middle of that. Each keeps its number."""

    def __init__(self, bench, rng, order):
        self.rng, self.settings, self.order = rng, rng.choice(["", MAJORITY]), order
        if order == "ring":
            self.cluster = bench.cluster(settings=self.settings)
        else:
            self.settings = quorum_settings(order)
            self.cluster = paxos_cluster(bench, order)
        self.numbers = {name: place for place, name in enumerate(bench.names, 1)}
        self.listed = sorted(rng.sample(bench.names, bench.size - 1))
        self.write()
        self.start(self.listed)

    def write(self):
        """All files have this list from now on."""
        self.cluster.write_config("peal.toml", self.settings,
                                  nodes={name: self.numbers[name] for name in self.listed})

    def start(self, names):
        """Starts these nodes, and waits until all that are listed are together."""
        for name in names:
            if self.cluster[name].child is None:
                self.cluster[name].start()
        self.cluster.wait_view(self.listed, REJOIN_S)
        for name in names:
            self.cluster[name].start_load()
        self.cluster.progress(self.listed)

    def wait_list(self):
        """Waits until all that run go by the list."""
        deadline = now_ns() + START_S * 1e9
        for name in self.listed:
            node = self.cluster[name]
            while node.child is not None and node.status()["list"] != {"nodes": self.listed}:
                if now_ns() > deadline:
                    raise Failure(f"{name} does not go over: {node.status()['list']}")

    def restart(self, name):
        """A node is killed, and goes by the new file when it comes back. With acceptors it comes
        into a view once that list counts, or all members are in it."""
        self.cluster[name].crash()
        self.cluster[name].start()
        wait_event(self.cluster[name].child,
                   "view_installed" if self.order == "ring" else "started")
        self.cluster[name].start_load()

    def change(self):
        """Adds a node or removes one; returns what happened."""
        rng, others = self.rng, sorted(set(self.numbers) - set(self.listed))
        stay = list(self.listed)
        if others and (len(self.listed) <= 3 or rng.random() < 0.5):
            which, steps = rng.choice(others), []
            self.listed = sorted([*self.listed, which])
        else:
            which = rng.choice(self.listed)
            stay.remove(which)
            self.listed = list(stay)
            steps = [("stops", which)]
        self.write()
        steps += [("reloads", name) for name in stay]
        rng.shuffle(steps)
        if rng.random() < 0.7:
            steps.insert(rng.randrange(len(steps) + 1), ("is killed", rng.choice(stay)))
        for what, name in steps:
            if what == "reloads":
                reload_node(self.cluster, name)
            elif what == "is killed":
                self.restart(name)
            elif rng.random() < 0.5:
                self.cluster[name].leave()
            else:
                self.cluster[name].crash()
        come = [which] if which in self.listed else []
        if come and self.order != "ring":  # a new acceptor has to say which log it has
            wait_event(self.cluster[which].start().child, "started")
        self.wait_list()
        self.start(come)
        return f"{'adding' if which in self.listed else 'removing'} {which}: " + ", ".join(
            f"{name} {what}" for what, name in steps)


@case(5)
def nodes_churn(bench):
    """Under full load, the list of nodes changes by one node again and again, in any order of
    reloads, while nodes are killed in the middle of it and come back with the new list: each change
    comes to its end, all that are listed are together then, and the order holds."""
    return churn_of(bench, "ring")


@case(5)
def paxos_nodes_churn(bench):
    """The same with acceptors: of three or four nodes the three lowest vote, of five all."""
    return churn_of(bench, "paxos")


def churn_of(bench, order):
    rounds = bench.rounds(8, 4)
    rng = random.Random(os.environ.get("PEAL_CHURN_SEED", "nodes churn"))
    bench.step("the start")
    churn = Churn(bench, rng, order)
    for turn in range(rounds):
        bench.step(f"change {turn + 1}")
        bench.step(f"change {turn + 1}, after {churn.change()}")
    return f"{rounds} changes; {bench.finish(churn.cluster)}"
