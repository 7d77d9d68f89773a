# SPDX-License-Identifier: Apache-2.0
"""Those who do not take what is sent to them."""

import signal
import time

from bench import case
from lib import Failure

STOPPED_S, STOPPED_QUICK_S, STOPPED_SOAK_S = 20, 10, 60
MEGABYTE = 1 << 20
# What one node may hold when everything that it bounds is full at once (see limits in the
# configuration) is far more; this is what it needs in this case, with room for other machines.
PEAK_MAX = 768 * MEGABYTE
GROWTH_MAX = 32 * MEGABYTE  # between the first quarter of the stop and its end


@case(3)
def stopped_receiver(bench):
    """For 20 seconds (with --soak a minute) under full load one node stands still, and so does a
    `peal recv` at another one, which asked for eviction: nobody's memory grows, the receiver is
    told why it is cut off, the node comes back."""
    cluster = bench.cluster(sizes=[60_000, 400_000])  # few lines of trace for many bytes
    cluster.start()
    receiver = bench.child([cluster.peal, "recv", "--to", "b.sock", "--policy", "evict"], "b.recv")
    cluster["b"].wait_member("all")
    cluster.progress(bench.names)
    receiver.signal(signal.SIGSTOP)
    cluster["c"].child.signal(signal.SIGSTOP)
    seconds = (STOPPED_QUICK_S if bench.quick else
               STOPPED_SOAK_S if bench.soak else STOPPED_S)
    samples = {name: [] for name in "ab"}
    count, began = cluster["a"].delivered(), time.monotonic()
    while time.monotonic() - began < seconds:
        time.sleep(0.25)  # between two looks
        for name, sizes in samples.items():
            sizes.append(cluster[name].child.memory_bytes())
    rate = (cluster["a"].delivered() - count) / (time.monotonic() - began)
    slow = cluster["b"].status()["counters"]["session_evicted"]
    cluster["c"].child.signal(signal.SIGCONT)
    receiver.signal(signal.SIGCONT)
    cluster.wait_view(bench.names)
    cluster.progress(bench.names)
    told = _told(receiver)
    peaks = {node.name: node.child.memory_bytes("VmHWM") for node in cluster}
    checked = bench.finish(cluster)

    bench.figures.update(peak_bytes=peaks, messages_per_second=rate, told=told)
    if slow != 1:
        raise Failure(f"b has evicted {slow} clients instead of 1")
    for name, sizes in samples.items():
        early, late = max(sizes[:len(sizes) // 4]), max(sizes[-len(sizes) // 4:])
        if late > early + GROWTH_MAX:
            raise Failure(f"{name} grows from {early // MEGABYTE} to {late // MEGABYTE} MB while "
                          "others stand still")
    for name, peak in peaks.items():
        if peak > PEAK_MAX:
            raise Failure(f"{name} has held {peak // MEGABYTE} MB at once; at most "
                          f"{PEAK_MAX // MEGABYTE} are expected")
    shown = ", ".join(f"{name} {peak // MEGABYTE} MB" for name, peak in peaks.items())
    return (f"node c and a receiver at b stopped for {seconds} s, {rate:,.0f} messages/s "
            f"meanwhile: memory at most {shown}; {checked}")


def _told(receiver):
    """What the receiver says when it ends; it must end by itself, with status 1 and one line."""
    status = receiver.wait()
    if status != 1 or len(receiver.lines) != 1:
        raise Failure(f"the receiver that fell behind ends with {status} and {receiver.lines}")
    return receiver.lines[0]
