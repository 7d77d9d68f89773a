# SPDX-License-Identifier: Apache-2.0
"""What a cluster costs that has nothing to do, and how soon it is there again."""

import glob
import json
import os
import time

from bench import case
from lib import Failure, median, now_ns, percentiles

QUIET_NS = 5_000_000_000
SETTLE_S = 5  # for what follows the start: probes of multicast, the first and shorter rests


def processor_ns(pid):
    """Time that all threads of a process have run."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def delays_ms(cluster, began):
    """For each message in the traces that nobody had sent anything before for a while, from its
    submission to its last delivery; those since `began`. What nodes say to each other about their
    clients follows it at once."""
    submitted, delivered = {}, {}
    for trace in cluster.traces:
        with open(os.path.join(cluster.folder, trace), encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                if event.get("layer") != "order" or event["ev"] not in ("submit", "deliver"):
                    continue
                at, message = event["at"], event["msg"]
                if event["ev"] == "submit":
                    submitted[message] = at
                else:
                    delivered[message] = max(delivered.get(message, 0), at)
    delays, before = [], began - 2 * QUIET_NS
    for at, message in sorted((at, message) for message, at in submitted.items() if at > began):
        if at - before > QUIET_NS:
            delays.append((delivered[message] - at) / 1e6)
        before = at
    return delays


@case(3)
def silence(bench):
    """Nobody sends, first for 20 seconds (with --soak a minute) and then for ten, with --soak
    twice: processor time of all nodes together. After each silence one message, and how long it
    takes to all."""
    cluster = bench.cluster()
    cluster.start(load=False)
    time.sleep(SETTLE_S)
    began = now_ns()
    used, rounds = [], bench.rounds(2, 2, soak=3)
    for turn in range(rounds):
        pids = [node.status()["pid"] for node in cluster]
        before, start = sum(map(processor_ns, pids)), now_ns()
        first = 10 if bench.quick else 60 if bench.soak else 20
        time.sleep(first if turn == 0 else 10)  # the silence itself
        used.append(100 * (sum(map(processor_ns, pids)) - before) / (now_ns() - start))
        sender = bench.names[turn % bench.size]
        with open(os.path.join(cluster.folder, "first"), "w", encoding="ascii") as file:
            file.write("first\n")
        done = cluster.run("send", "--to", sender + ".sock", "first")
        if done.returncode != 0:
            raise Failure(f"peal send: {done.stderr.strip()}")
        for node in cluster:
            node.wait_delivered(turn + 1)
    checked = bench.finish(cluster)
    delays = delays_ms(cluster, began)
    if len(delays) != rounds:
        raise Failure(f"the traces hold {len(delays)} messages, sent were {rounds}")
    bench.figures.update(processor_percent=used, first_message_ms=delays)
    return (f"all {bench.size} nodes used {median(used):.2f} % of one processor "
            f"({min(used):.2f} to {max(used):.2f}), the first message after silence took "
            f"{percentiles(delays)} to all; {checked}")
