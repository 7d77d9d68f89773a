# SPDX-License-Identifier: Apache-2.0
"""Clients whose node dies."""

import os
import re
import time

from bench import case
from lib import EXIT_S, START_S, Failure

GROUP = "ledger"
LINES = 20_000       # of each sender whose node lives
ENDLESS = 2_000_000  # more than a node takes before it is killed
BEFORE_KILL = 1_000  # messages of a sender that others have before its node is killed
LOST = re.compile(r"has ended: .*; (\d+) of (\d+) messages were delivered in order"
                  r"(?:, and (\d+) may have been or not)?$")


class Receiver:
    """A `peal recv` at a node that writes what it is told to a file."""

    def __init__(self, bench, cluster, name, label):
        self.path = os.path.join(bench.folder, label + ".told")
        with open(self.path, "wb") as out:
            command = [cluster.peal, "recv", "--to", name + ".sock", "--group", GROUP, "--views"]
            self.child = bench.child(command, label, stdout=out)
        self.wait_line("# view ")

    def lines(self):
        """All messages, in their order; a line that is not whole yet is none."""
        with open(self.path, encoding="ascii") as told:
            return [line[:-1] for line in told if line.endswith("\n") and not line.startswith("#")]

    def wait_line(self, begin):
        """Waits until a line begins so."""
        deadline = time.monotonic() + START_S
        while True:
            with open(self.path, encoding="ascii") as told:
                if any(line.startswith(begin) for line in told):
                    return
            if time.monotonic() > deadline:
                raise Failure(f"{self.path} holds no line that begins with {begin}")
            time.sleep(0.02)  # between two looks


def _sender(bench, cluster, name, stream, count, *groups):
    """Sends numbered lines through a node."""
    file = stream + ".lines"
    with open(os.path.join(bench.folder, file), "w", encoding="ascii") as out:
        out.writelines(f"{stream} {number}\n" for number in range(1, count + 1))
    to_groups = [word for group in groups for word in ("--group", group)]
    return bench.child([cluster.peal, "send", "--to", name + ".sock", *to_groups, file],
                       stream + ".send")


def _told(sender, stream):
    """How many messages were settled and how many taken, as a sender whose node died was told."""
    status = sender.wait(EXIT_S)
    match = LOST.search(sender.lines[-1]) if sender.lines else None
    if status != 1 or match is None:
        raise Failure(f"the sender of {stream} ends with {status} and says {sender.lines}")
    settled, taken, unknown = (int(number or 0) for number in match.groups())
    if settled + unknown != taken:
        raise Failure(f"the sender of {stream} says {sender.lines[-1]}")
    return settled, taken


def _expect_stream(lines, stream, least, most):
    """The messages of one sender are there from the first on, each once, in order."""
    numbers = [int(line.split()[1]) for line in lines if line.split()[0] == stream]
    if numbers != list(range(1, len(numbers) + 1)):
        raise Failure(f"{stream}: not each message once and in order")
    if not least <= len(numbers) <= most:
        raise Failure(f"{stream}: {len(numbers)} messages were delivered, {least} settled, "
                      f"{most} taken")
    return len(numbers)


@case(3)
def clients_of_a_killed_node(bench):
    """A node is killed under clients that send and receive, and started again: they are told that
    it is gone and what was settled; new ones go on there. What was settled is delivered, nothing
    twice, each sender's messages from the first on, in one order at the members at all nodes."""
    cluster = bench.patient_cluster()
    cluster.start(load=False)
    stay = [Receiver(bench, cluster, name, name + ".stays") for name in "bc"]
    streams, passing = [], []
    for turn in range(bench.rounds(5, 2)):
        passing.append(Receiver(bench, cluster, "a", f"a.{turn}"))
        # Counts what came of the sender at a, at another node; joined before anything is sent.
        probe = f"probe{turn}"
        counter = bench.child(["sh", "-c", 'exec "$@" >&2', "sh", cluster.peal, "recv", "--to",
                               "b.sock", "--group", probe, "--views", "--count", str(BEFORE_KILL)],
                              probe)
        counter.wait_lines(lambda lines: bool(lines), START_S, "view of the group")
        living = [(name, _sender(bench, cluster, name, f"{name}.{turn}", LINES, GROUP))
                  for name in "bc"]
        dying = _sender(bench, cluster, "a", f"a.{turn}", ENDLESS, GROUP, probe)
        if counter.wait(START_S) != 0:
            raise Failure(f"{probe}: {counter.lines[-1:]}")
        cluster["a"].crash()
        streams.append((f"a.{turn}", *_told(dying, f"a.{turn}")))
        if passing[-1].child.wait() != 1:
            raise Failure("the receiver at a does not say that its node is gone")
        for name, sender in living:
            if sender.wait(START_S) != 0:
                raise Failure(f"the sender at {name}: {sender.lines[-1:]}")
            streams.append((f"{name}.{turn}", LINES, LINES))
        cluster["a"].start()
        cluster.wait_view(bench.names)
    done = cluster.run("send", "--to", "a.sock", "--group", GROUP, _one_line(bench, "end 1"))
    if done.returncode != 0:
        raise Failure(f"the restarted node: {done.stderr.strip()}")
    for receiver in stay:
        receiver.wait_line("end 1")
    return _judge(bench, cluster, stay, passing, streams)


def _one_line(bench, text):
    with open(os.path.join(bench.folder, "end"), "w", encoding="ascii") as out:
        out.write(text + "\n")
    return "end"


def _judge(bench, cluster, stay, passing, streams):
    """Compares what all receivers were told, and with what the senders were told."""
    lines, other = (receiver.lines() for receiver in stay)
    if lines != other:
        raise Failure(f"the members at b and c were told {len(lines)} and {len(other)} messages, "
                      "not the same in the same order")
    unsettled = 0
    for stream, settled, taken in streams:
        unsettled += _expect_stream(lines, stream, settled, taken) - settled
    place = {line: number for number, line in enumerate(lines)}
    for receiver in passing:
        seen = receiver.lines()
        first = place[seen[0]] if seen else 0
        # What the node that died had delivered last, nobody else may have.
        known = [line for line in seen if line in place]
        if known != lines[first:first + len(known)] or seen[:len(known)] != known:
            raise Failure(f"{receiver.path}: another order than at b")
    checked = bench.finish(cluster)
    kills = len(passing)
    bench.figures.update(kills=kills, messages=len(lines), delivered_beyond_settled=unsettled)
    return (f"{kills} kills, {len(lines):,} messages at all members, all that was settled and "
            f"{unsettled:,} more that were on their way; {checked}")
