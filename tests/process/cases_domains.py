# SPDX-License-Identifier: Apache-2.0
"""Clients of groups of two domains, with genuine multicast."""

import os
import sys
import time

from bench import case
from lib import START_S, Failure

EAST, WEST = "abc", "de"
SETTINGS = """order = "ramcast"
[ramcast]
suspect_ms = 500
[[domain]]
name = "east"
nodes = [1, 2, 3]
groups = ["east"]
[[domain]]
name = "west"
nodes = [4, 5]
groups = ["*"]
"""
LINES = 5_000  # of each sender
# A client in Python, on the C library, sends one message to the groups of both domains and waits
# until it is acknowledged.
PYTHON = """import peal, sys
with peal.Client(sys.argv[1], name="python") as client:
    client.send(["west", "east"], "python 1")
    client.flush(60)
"""


class Receiver:
    """A `peal recv` at a node that writes the messages of a group to a file."""

    def __init__(self, bench, cluster, name, group, label):
        self.path = os.path.join(bench.folder, label + ".told")
        with open(self.path, "wb") as out:
            command = [cluster.peal, "recv", "--to", name + ".sock", "--group", group, "--views"]
            self.child = bench.child(command, label, stdout=out)
        self.wait("a view", lambda lines: any(line.startswith("# view ") for line in lines))

    def _read(self):
        with open(self.path, encoding="ascii") as told:
            return [line[:-1] for line in told if line.endswith("\n")]

    def lines(self):
        """All messages, in their order."""
        return [line for line in self._read() if not line.startswith("#")]

    def wait(self, what, enough):
        """Waits until the lines so far are enough."""
        deadline = time.monotonic() + START_S
        while not enough(self._read()):
            if time.monotonic() > deadline:
                raise Failure(f"{self.path} has {len(self._read())} lines, and not {what}")
            time.sleep(0.02)  # between two looks


def _send(bench, cluster, name, stream, *groups):
    file = stream + ".lines"
    with open(os.path.join(bench.folder, file), "w", encoding="ascii") as out:
        out.writelines(f"{stream} {number}\n" for number in range(1, LINES + 1))
    to_groups = [word for group in groups for word in ("--group", group)]
    return bench.child([cluster.peal, "send", "--to", name + ".sock", *to_groups, file],
                       stream + ".send")


def _expect_all(receiver, streams):
    """Each message of these streams is there once, in its sender's order."""
    lines = receiver.lines()
    for stream in streams:
        numbers = [int(line.split()[1]) for line in lines if line.split()[0] == stream]
        if numbers != list(range(1, LINES + 1)):
            raise Failure(f"{receiver.path}: {len(numbers)} of {LINES} of {stream}, or no order")


@case(5)
def ramcast_groups(bench):
    """Two domains with a group each. Clients of both send to both groups and to one, while a node
    is killed and comes back. Each message is delivered once at all members; what is for both groups
    comes in one order everywhere; joins at nodes of another domain are refused."""
    cluster = bench.cluster(SETTINGS)
    for node in cluster:
        node.start()
    cluster.wait_view(EAST)
    cluster.wait_view(WEST)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    library = os.path.join(bench.options.bin, "..", "src", "cabi", "libpeal.so")
    if not os.path.exists(library):
        raise Failure(f"{library} is not there: build the target peal_c")
    bindings = {**os.environ, "PYTHONPATH": os.path.join(root, "bindings/python"),
                "PEAL_LIBRARY": os.path.realpath(library)}
    members = ([Receiver(bench, cluster, name, "east", name + ".east") for name in "ab"] +
               [Receiver(bench, cluster, name, "west", name + ".west") for name in WEST])

    bench.step("refusals")
    refused = cluster.run("recv", "--to", "a.sock", "--group", "west", "--count", "1")
    if refused.returncode == 0 or "domain 'west'" not in refused.stderr:
        raise Failure(f"a join elsewhere: {refused.returncode} {refused.stderr.strip()}")

    bench.step("messages, and a kill")
    both, east, west = ("a1", "d1"), ("b1", "e1"), ("e2",)
    senders = [_send(bench, cluster, stream[0], stream, "east", "west") for stream in both]
    senders += [_send(bench, cluster, stream[0], stream, "east") for stream in east]
    senders += [_send(bench, cluster, stream[0], stream, "west") for stream in west]
    members[0].wait("messages", lambda lines: len(lines) > 100)
    cluster["c"].crash()
    cluster.wait_view("ab")
    cluster["c"].start()
    cluster.wait_view(EAST)
    back = Receiver(bench, cluster, "c", "east", "c.east")
    for sender in senders:
        if sender.wait(START_S) != 0:
            raise Failure(f"a sender: {sender.lines[-1:]}")
    bound = bench.child([sys.executable, "-B", "-c", PYTHON, "e.sock"], "python", env=bindings)
    if bound.wait(START_S) != 0:
        raise Failure(f"the client in Python: {bound.lines[-1:]}")
    last = _send(bench, cluster, "c", "c1", "east", "west")
    if last.wait(START_S) != 0:
        raise Failure(f"the sender at c: {last.lines[-1:]}")
    for member in [*members, back]:
        member.wait("the last message", lambda lines: f"c1 {LINES}" in lines[-1:])

    for member in members[:2]:
        _expect_all(member, (*both, *east, "c1"))
    for member in members[2:]:
        _expect_all(member, (*both, *west, "c1"))
    if members[0].lines() != members[1].lines() or members[2].lines() != members[3].lines():
        raise Failure("two members of a group were told different orders")
    common = [[line for line in member.lines() if line.split()[0] in (*both, "c1", "python")]
              for member in (members[0], members[2])]
    if "python 1" not in common[0]:
        raise Failure("the message of the client in Python did not come")
    if common[0] != common[1]:
        raise Failure("what is for both groups came in different orders")
    tail = back.lines()
    if members[0].lines()[-len(tail):] != tail:
        raise Failure("the node that came back was told another order")
    checked = bench.finish(cluster)
    bench.figures.update(messages=len(common[0]))
    return f"{len(common[0]):,} messages to both groups in one order at all members; {checked}"
