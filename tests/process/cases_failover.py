# SPDX-License-Identifier: Apache-2.0
"""How long nothing is delivered when the node that leads is killed: `peal bench failover`."""

import json
import os
import subprocess

from bench import case
from lib import Failure

WAYS = (("ring", None), ("paxos", "disk"), ("paxos", "memory"), ("ridge", "disk"),
        ("ridge", "memory"), ("toto", None))
# The slowest delivery may be so much later than the slowest sync of 4 KiB on the same disk.
ABOVE_SYNC_MS = 1_000
KILL_S = 60


def measure(bench, order, storage, kills):
    """What `peal bench failover` says, after its bound was judged."""
    command = [bench.options.peal, "bench", "failover", "--json", "--order", order, "--nodes",
               str(bench.size), "--kills", str(kills), "--dir", bench.folder]
    if storage is not None:
        command += ["--storage", storage]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=KILL_S * (kills + 2))
    name = f"{order}-{storage or 'no-votes'}"
    with open(os.path.join(bench.folder, name + ".json"), "w", encoding="utf-8") as out:
        out.write(done.stdout)
    if done.returncode != 0:
        raise Failure(f"it ended with status {done.returncode}: {done.stderr.strip()}")
    figures = json.loads(done.stdout)
    if figures["kills"] != kills or len(figures["each_kill"]) != kills:
        raise Failure(f"{figures['kills']} kills of {kills}")
    slowest, sync = figures["delivery_ms"]["max"], figures["longest_sync_ms"]
    if slowest > sync + ABOVE_SYNC_MS:
        raise Failure(f"a delivery came {slowest:.0f} ms after the kill, and the longest sync took "
                      f"{sync:.0f} ms; load {figures['load_1min']:.1f} on "
                      f"{figures['processors']} processors")
    return figures


@case(3)
def failover(bench):
    """The coordinator, or the first member of the ring, is killed under 20 Mb/s and started again:
    the longest time from a kill to the next delivery at a survivor, which may exceed the longest
    sync of the same disk by one second."""
    texts = []
    for order, storage in WAYS:
        bench.step(f"{order}, {storage or 'no votes'}")
        figures = measure(bench, order, storage, bench.rounds(3, 2, soak=5))
        bench.figures[f"{order} {storage}"] = figures
        texts.append(f"{order}{' ' + storage if storage else ''} "
                     f"{figures['delivery_ms']['median']:.0f}/{figures['delivery_ms']['max']:.0f}")
    return "ms to the next delivery, median/longest: " + ", ".join(texts)
