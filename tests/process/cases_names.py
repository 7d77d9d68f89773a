# SPDX-License-Identifier: Apache-2.0
"""Nodes whose addresses are names, as those of pods are."""

import json
import os
import signal

from bench import case
from lib import Failure, PORT, START_S, now_ns


def host_name(name):
    """The name under which a node is found."""
    return f"peal-{name}.test"


def wait_event(child, what, timeout=START_S, **fields):
    """Waits for a line of the log with this event and these fields, and returns it."""
    found = []

    def seen(lines):
        for line in lines:
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == what and fields.items() <= event.items():
                found.append(event)
                return True
        return False

    child.wait_lines(seen, timeout, f"event {what} with {fields}")
    return found[0]


def expect_found(node, other, address):
    """A Failure unless `peal status` of a node says that another one is at this address."""
    (entry,) = [each for each in node.status()["nodes"] if each["name"] == other]
    if entry["at"] != address or entry["address"] != f"{host_name(other)}:{PORT}":
        raise Failure(f"status of {node.name} says {entry}, not {address}")


@case(3)
def moved_address(bench):
    """Nodes with host names, under full load: one is started before its name is known, and waits
    for it; then it is killed and comes back with another address under its name, again and again;
    the others find it: time from its start to the view of all."""
    cluster = bench.cluster()
    network, hosts = cluster.network, os.path.join(bench.folder, "hosts")
    cluster.write_config("peal.toml", address=host_name)
    *known, late = bench.names

    def publish(names):
        network.publish({host_name(name): name for name in names}, hosts)

    bench.step("without the name of one")
    publish(known)
    for name in bench.names:
        cluster[name].start()
    wait_event(cluster[late].child, "waiting", name=f"{host_name(late)}:{PORT}")
    cluster.wait_view(known)
    for name in known:
        cluster[name].start_load()
    wait_event(cluster[known[0]].child, "node_address", node=late, at="not found")
    cluster[late].child.signal(signal.SIGTERM)
    if cluster[late].child.wait() != 0:
        raise Failure(f"{late} was told to stop while it waited: {cluster[late].child.lines[-1]}")
    cluster.traces.remove(f"{late}.1.trace")  # it has not begun
    cluster[late].start()
    wait_event(cluster[late].child, "waiting", name=f"{host_name(late)}:{PORT}")

    bench.step("its name is published")
    publish(bench.names)
    cluster.wait_view(bench.names, timeout=60)
    cluster[late].start_load()
    cluster.progress(bench.names)

    times = []
    for turn in range(bench.rounds(2, 2, soak=5)):
        bench.step(f"move {turn + 1}")
        victim = cluster[late]
        victim.crash()
        cluster.wait_view(known)
        cluster.progress(known)
        address = f"{network.renumber(late)}:{PORT}"
        publish(bench.names)
        began = now_ns()
        victim.start()
        cluster.wait_view(bench.names, timeout=60)
        times.append((now_ns() - began) / 1e9)
        for name in known:
            wait_event(cluster[name].child, "node_address", node=late, at=address)
            expect_found(cluster[name], late, address)
        victim.start_load()
        cluster.progress(bench.names)
    bench.step("end")
    text = bench.finish(cluster)
    bench.figures["back_s"] = times
    return f"back after {min(times):.1f} to {max(times):.1f} s; {text}"
