# SPDX-License-Identifier: Apache-2.0
"""Faults that stay: a node that others hear, and that cannot be served. The others go on."""

import contextlib
import json
import os
import subprocess
import time

from bench import case
from cases_paxos import DATA, REJOIN_S, acceptors, coordinator, paxos_cluster
from lib import Failure, PORT, now_ns

STALL_MS = 2_000
FAULT_S = 6
# Two changes of a view and one of the coordinator; what comes on top is a view that flaps.
VIEWS_MAX = 4
DISK_BYTES = 256 << 20


def stalls_ms(cluster, names, begin, end):
    """The longest time without any delivery between these times, at each of these nodes."""
    times = {name: [] for name in names}
    for trace in cluster.traces:
        with open(os.path.join(cluster.folder, trace), "rb") as lines:
            for line in lines:
                if b'"ev":"deliver"' not in line or not line.endswith(b"\n"):
                    continue
                event = json.loads(line)
                name = event["node"].rpartition(".")[0]
                if name in times and begin < event["at"] < end:
                    times[name].append(event["at"])
    longest = {}
    for name, at in times.items():
        inside = [begin, *sorted(at), end]
        longest[name] = max(after - before for before, after in zip(inside, inside[1:])) / 1e6
    return longest


def unserved(bench, cluster, fault, heal, served):
    """Starts the cluster, lets the fault stay for a while, and heals it. `fault()` returns the node
    that is not served; `served` has the others of a node."""
    if not any(node.child is not None for node in cluster):
        cluster.start()
    bench.step("fault")
    views = {node.name: len(node.views()) for node in cluster}
    begin = now_ns()
    away = fault()
    time.sleep(FAULT_S)  # this is the fault itself
    end = now_ns()
    others = served(away)
    seen = max(len(cluster[name].views()) - views[name] for name in others)
    waits_for = cluster[away].status()["waits_for"]
    bench.step("after the fault")
    heal(away)
    cluster.wait_view(bench.names, REJOIN_S)
    cluster.progress(bench.names)
    bench.step("end")
    checked = bench.finish(cluster)
    stalls = stalls_ms(cluster, others, begin, end)
    bench.figures.update(stalls_ms=stalls, views=seen)
    longest = max(stalls.values())
    if longest > STALL_MS:
        raise Failure(f"the others deliver nothing for {longest:.0f} ms: {stalls}")
    if seen > VIEWS_MAX:
        raise Failure(f"the others install {seen} views in {FAULT_S} s; at most {VIEWS_MAX} "
                      "are expected")
    return (f"the others stall for at most {longest:.0f} ms, {seen} views; {away} waits for "
            f"{waits_for!r}; {checked}")


def all_but(bench):
    """The others of a node."""
    return lambda away: [name for name in bench.names if name != away]


def quorum_cluster(bench, order, more=""):
    """A cluster of acceptors, started."""
    cluster = paxos_cluster(bench, order, more=more)
    cluster.start()
    return cluster


def last_other(bench, first):
    """The last acceptor but this one."""
    return [name for name in acceptors(bench) if name != first][-1]


def receives_none(bench, cluster, victim, match=""):
    """What `match` describes (everything) does not arrive at the node that `victim()` names."""

    def fault():
        name = victim()
        cluster.network.lose(None, name, 100, match)
        return name

    return unserved(bench, cluster, fault, lambda away: cluster.network.lose(None, away, 0),
                    all_but(bench))


def one_way(bench, order):
    """The coordinator's packets do not arrive at the last acceptor."""
    cluster = quorum_cluster(bench, order)

    def fault():
        first = coordinator(cluster)
        last = last_other(bench, first)
        cluster.network.lose(first, last, 100)
        return last

    return unserved(bench, cluster, fault, lambda away: cluster.network.lose(None, away, 0),
                    all_but(bench))


@case(3, soak=(5,))
def one_way_paxos(bench):
    """What the coordinator sends does not arrive at one of the acceptors, and all else does: the
    others go on."""
    return one_way(bench, "paxos")


@case(3, soak=(5,))
def one_way_ridge(bench):
    """The same with ridge."""
    return one_way(bench, "ridge")


def deaf(bench, order):
    """The coordinator hears nobody."""
    cluster = quorum_cluster(bench, order)
    return receives_none(bench, cluster, lambda: coordinator(cluster))


@case(3, soak=(5,))
def deaf_ring(bench):
    """A member of the ring hears nobody, while all hear it: the others go on in a view without it.
    """
    return receives_none(bench, bench.cluster(), lambda: bench.names[0])


@case(3, soak=(5,))
def deaf_paxos(bench):
    """The coordinator hears nobody, while all hear it: another one coordinates."""
    return deaf(bench, "paxos")


@case(3, soak=(5,))
def deaf_ridge(bench):
    """The same with ridge."""
    return deaf(bench, "ridge")


# ---- a disk that hangs ----


def run(*command):
    """Runs a command of the system; raises with its error text if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextlib.contextmanager
def disks_of_their_own(cluster, names):
    """Each node's log lies on a file system of its own, which can be frozen."""
    loops, mounts = [], []
    try:
        for name in names:
            image = os.path.join(cluster.folder, name + ".disk")
            with open(image, "wb") as file:
                file.truncate(DISK_BYTES)
            loops.append(run("losetup", "--find", "--show", image))
            run("mkfs.ext4", "-q", loops[-1])
            folder = os.path.join(cluster.folder, DATA, name)
            os.mkdir(folder, 0o700)
            run("mount", loops[-1], folder)
            mounts.append(folder)
            # What a file system makes for itself is no part of a log.
            os.rmdir(os.path.join(folder, "lost+found"))
            os.chmod(folder, 0o700)
        yield
    finally:
        for folder in mounts:
            subprocess.run(["fsfreeze", "--unfreeze", folder], capture_output=True, check=False)
        cluster.abort()
        for node in cluster:
            if node.child is not None:
                node.child.wait()
        for folder in mounts:
            subprocess.run(["umount", folder], capture_output=True, check=False)
        for loop in loops:
            subprocess.run(["losetup", "--detach", loop], capture_output=True, check=False)
        for name in names:
            with contextlib.suppress(OSError):
                os.remove(os.path.join(cluster.folder, name + ".disk"))


def frozen_disk(bench, order):
    """The disk of the coordinator hangs."""
    cluster = paxos_cluster(bench, order)
    with disks_of_their_own(cluster, bench.names):
        cluster.start()

        def folder(name):
            return os.path.join(cluster.folder, DATA, name)

        def fault():
            first = coordinator(cluster)
            run("fsfreeze", "--freeze", folder(first))
            return first

        return unserved(bench, cluster, fault,
                        lambda away: run("fsfreeze", "--unfreeze", folder(away)), all_but(bench))


@case(3, soak=(5,))
def frozen_disk_paxos(bench):
    """The disk of the coordinator hangs, and comes back: another one coordinates."""
    return frozen_disk(bench, "paxos")


@case(3, soak=(5,))
def frozen_disk_ridge(bench):
    """The same with ridge."""
    return frozen_disk(bench, "ridge")


# ---- a lane that is dead ----


# All but the first fragment of a datagram have no ports, and control packets may be larger than
# what the network takes in one piece.
DATAGRAMS_OF_DATA = f"ip frag-off & 0x1fff == 0 udp dport != {PORT}"


def one_lane(bench, order, match, more=""):
    """No data arrive at the last acceptor that does not coordinate; all else does."""
    cluster = quorum_cluster(bench, order, more)
    return receives_none(bench, cluster, lambda: last_other(bench, coordinator(cluster)), match)


@case(3, soak=(5,))
def one_lane_ring(bench):
    """No data arrive at a member of the ring, and tokens do: the others go on in a view without it.
    """
    return receives_none(bench, bench.cluster(), lambda: bench.names[-1], DATAGRAMS_OF_DATA)


@case(3, soak=(5,))
def one_lane_paxos(bench):
    """Of what all send to one acceptor, the data are lost, and its control packets are not."""
    return one_lane(bench, "paxos", DATAGRAMS_OF_DATA)


@case(3, soak=(5,))
def one_lane_ridge(bench):
    """The same with ridge."""
    return one_lane(bench, "ridge", DATAGRAMS_OF_DATA)


@case(3, soak=(5,))
def one_lane_streams(bench):
    """The same with ridge where data take streams: TCP is blocked, and UDP is not."""
    return one_lane(bench, "ridge", "ip protocol tcp", '\n[network]\ndata = "streams"\n')
