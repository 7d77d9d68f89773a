# SPDX-License-Identifier: Apache-2.0
"""Clients whose node was not where messages were ordered."""

import os
import signal
import time

from bench import case
from cases_paxos import DATA, quorum_settings
from lib import Failure, START_S

STOPPED_S = 2.5
ORDERS = ("ring", "paxos", "ridge", "toto")


class Member:
    """A `peal recv` in one group; what it is told, as lines."""

    def __init__(self, bench, cluster, name, group):
        self.group = group
        self.path = os.path.join(bench.folder, f"{name}.{group}.told")
        with open(self.path, "wb") as out:
            command = [cluster.peal, "recv", "--to", name + ".sock", "--group", group]
            self.child = bench.child(command, f"{name}.{group}", stdout=out)
        cluster[name].wait_member(group)

    def lines(self):
        """All that it was told so far; a line that is not whole yet is none."""
        with open(self.path, encoding="ascii") as told:
            return [line[:-1] for line in told if line.endswith("\n")]

    def wait_line(self, text):
        """Waits for this line."""
        deadline = time.monotonic() + START_S
        while text not in self.lines():
            if time.monotonic() > deadline:
                raise Failure(f"{self.group} was told {self.lines()}, and not {text}")
            time.sleep(0.02)  # between two looks

    def expect(self, *lines):
        """It was told just this."""
        if self.lines() != list(lines):
            raise Failure(f"{self.group} was told {self.lines()}, and not {list(lines)}")


def send(bench, cluster, text, group):
    """An outsider sends a line through node a."""
    file = text + ".line"
    with open(os.path.join(bench.folder, file), "w", encoding="ascii") as out:
        out.write(text + "\n")
    done = cluster.run("send", "--to", "a.sock", "--group", group, file)
    if done.returncode != 0:
        raise Failure(f"send {text}: {done.stderr.strip()}")


def missed_by_one(bench, order):
    """Node c stops while a message is sent to the group of its client, and then for nothing."""
    votes = order in ("paxos", "ridge")
    cluster = bench.cluster(settings=quorum_settings(order) if votes else f'order = "{order}"')
    if votes:
        os.mkdir(os.path.join(bench.folder, DATA), 0o700)
    cluster.start(load=False)
    alone, quiet = (Member(bench, cluster, "c", group) for group in ("kv", "quiet"))
    send(bench, cluster, "one", "kv")
    alone.wait_line("one")
    others = [name for name in bench.names if name != "c"]
    for missed in ("MISSED", None):
        cluster["c"].child.signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)  # this is the fault itself
        cluster.wait_view(others)
        if missed:
            send(bench, cluster, missed, "kv")
        cluster["c"].child.signal(signal.SIGCONT)
        cluster.wait_view(bench.names)
    for group in (alone, quiet):
        send(bench, cluster, "three", group.group)
        group.wait_line("three")
    alone.expect("one", "# gap group=kv reason=away messages=0 bytes=0", "three")
    quiet.expect("three")
    return bench.finish(cluster)


@case(3)
def alone_in_group(bench):
    """A client is alone in its group, and its node stops while the group is sent a message, with
    each engine: it is told of a gap, where the message is missing. A client whose group was sent
    nothing is told nothing, and neither is anybody when the node stops once more."""
    return "; ".join(f"{order}: {missed_by_one(bench.part(order), order)}" for order in ORDERS)
