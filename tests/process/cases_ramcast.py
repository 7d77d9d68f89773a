# SPDX-License-Identifier: Apache-2.0
"""Nodes that order with RamCast, through shared memory or TCP: the leader dies or stands still."""

import json
import os
import signal
import time

from bench import case
from cases_processes import times_to_view, view_after
from lib import START_S, Failure, median, now_ns, percentiles

ROUNDS, QUICK, SOAK = 10, 3, 100
FABRICS = ("shm", "tcp")
# Each message fits one unit.
SIZES = [60] * 8 + [1_300] * 8 + [9_000] * 8 + [16_000] * 2
# Messages per second that all nodes send together. With more the processors are full, and a
# message waits for them as long as for a new leader.
RATE = 3_000
# The goals for the median of the time without deliveries. After SIGKILL the kernel closes the
# sockets; a node that stands still is only missed. They are expected with --soak alone, on a
# machine that does nothing else.
KILL_STALL_MS, STOP_STALL_MS = 10, 100
BUSY = 20  # so much slower the machine of a shorter run may be
# With --soak no single stall may be longer: then some limit of a second has ended it.
LONGEST_MS = 500


def leader(cluster):
    """The node that leads, as the nodes say themselves: the one with the highest round. On a busy
    machine another one may be about to lead: then it is waited for."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        rounds = {}
        for node in cluster:
            counters = node.status()["counters"]
            if counters["domain_leads"] == 1:
                rounds[counters["domain_round"]] = node
        if rounds:
            return rounds[max(rounds)]
    raise Failure(f"no node leads, and {START_S:.1f} s have passed")


def expect_fabric(cluster, fabric):
    """A Failure unless each node reaches all others through this fabric."""
    for node in cluster:
        memory = node.status()["memory"]
        for other in cluster.nodes:
            if other != node.name and f"{other} {fabric}" not in memory.split(", "):
                raise Failure(f"{node.name} reaches {other} otherwise than by {fabric}: {memory}")


def deliveries(cluster, name):
    """When this node delivered, in all its incarnations."""
    times = []
    for trace in cluster.traces:
        if trace.partition(".")[0] != name:
            continue
        with open(os.path.join(cluster.folder, trace), "rb") as lines:
            times += [json.loads(line)["at"] for line in lines
                      if b'"ev":"deliver"' in line and line.endswith(b"\n")]
    return sorted(times)


def stalls_ms(cluster, faults):
    """For each fault (time, survivors): the longest time in which a survivor delivered nothing,
    from the fault to its first delivery in the view of the survivors."""
    events = cluster.view_events()
    delivered = {name: deliveries(cluster, name) for name in cluster.nodes}
    stalls = []
    for at, names in faults:
        longest = 0
        for name in names:
            viewed = view_after(events, at, name, names)
            after = [time for time in delivered[name] if time > at]
            first = next(time for time in after if time > viewed)
            steps = [at, *(time for time in after if time <= first)]
            longest = max(longest, *(b - a for a, b in zip(steps, steps[1:])))
        stalls.append(longest / 1e6)
    return stalls


def sum_of(cluster, counter):
    """This counter of all nodes together, since the start of each."""
    return sum(node.status()["counters"][counter] for node in cluster)


def expect_denied(cluster, turns):
    """A Failure unless the members have revoked the memory of each leader that stood still, and a
    write of one of these was refused. The processes must be the same ones all the time, or their
    counters have begun again. Both other members revoke a region in each turn: that one of them
    does is enough here. A leader that goes on learns from its first packets that it leads no more.
    It may have nothing to write until then, so there need not be a refusal in each turn."""
    revoked = sum_of(cluster, "memory_revoked")
    if revoked < turns:
        raise Failure(f"{revoked} regions were revoked, in {turns} changes of the leader")
    denied = sum_of(cluster, "writes_denied")
    if denied == 0:
        raise Failure("no write of a leader that others had replaced was denied")
    return f"{revoked} regions revoked, {denied} writes denied"


def fault_in_turns(bench, stall_ms, strike, heal, expect=None):
    """With each fabric, `strike(leader)` under load so often, and `heal(leader)` once the
    others go on without it. `expect(cluster, turns)` checks the nodes at the end, and returns a
    text for the case's line."""
    texts = []
    for fabric in FABRICS:
        part = bench.part(fabric)
        cluster = part.cluster(f'order = "ramcast"\n[ramcast]\nfabric = "{fabric}"', SIZES)
        for node in cluster:
            node.rate = RATE / bench.size
        cluster.start()
        expect_fabric(cluster, fabric)
        faults, returns = [], []
        for turn in range(bench.rounds(ROUNDS, QUICK, soak=SOAK)):
            victim = leader(cluster)
            bench.step(f"{fabric}, fault {turn + 1}, of {victim.name}")
            others = [name for name in bench.names if name != victim.name]
            faults.append((now_ns(), others))
            strike(victim)
            cluster.wait_view(others)
            cluster.progress(others)
            returns.append((now_ns(), bench.names))
            heal(victim)
            cluster.wait_view(bench.names)
            if victim.load is None:
                victim.start_load()
            cluster.progress(bench.names)
        bench.step(f"{fabric}, end")
        seen = f", {expect(cluster, len(faults))}" if expect else ""
        checked = part.finish(cluster)
        stalls = stalls_ms(cluster, faults)
        back = times_to_view(cluster, returns)
        bench.figures[fabric] = {"stall_ms": stalls, "back_ms": back, **part.figures}
        most = stall_ms if bench.soak else stall_ms * BUSY
        if median(stalls) > most:
            raise Failure(f"the others stalled for {percentiles(stalls)}, and a median of "
                          f"{most} ms is expected: {[round(each, 1) for each in stalls]}")
        if bench.soak and max(stalls) > LONGEST_MS:
            raise Failure(f"the others stalled for {percentiles(stalls)}, and {LONGEST_MS} ms is "
                          f"expected at most: {[round(each, 1) for each in stalls]}")
        texts.append(f"{fabric}: {len(stalls)} faults, stall {percentiles(stalls)}; back after "
                     f"{percentiles(back)}{seen}; {checked}")
    return "; ".join(texts)


@case(3, soak=(5,))
def ramcast_sigkill(bench):
    """The leader is killed under load and started again, 10 times with each fabric (100 with
    --soak): nothing is lost, there is one order, and the survivors deliver nothing for 10 ms in the
    median."""
    return fault_in_turns(bench, KILL_STALL_MS, lambda node: node.crash(),
                          lambda node: node.start())


@case(3, soak=(5,))
def ramcast_sigstop(bench):
    """The leader is stopped under load until the others are in a view without it, 10 times
    with each fabric (100 with --soak): it writes when it goes on, which is denied and not seen, it
    comes back, there is one order, and the others deliver nothing for 100 ms in the median."""
    return fault_in_turns(bench, STOP_STALL_MS, lambda node: node.child.signal(signal.SIGSTOP),
                          lambda node: node.child.signal(signal.SIGCONT), expect_denied)
