# SPDX-License-Identifier: Apache-2.0
"""Data over TCP between nodes: streams break, stand still, and strangers come to their ports."""

import os
import random
import signal
import socket
import time

import isolation
import network
from bench import case
from cases_paxos import DATA, REJOIN_S, coordinator, quorum_settings
from lib import Failure, PORT, START_S

STREAM_PORT = PORT + 1
SILENT = 1_000
STOP_S = 0.6  # three times the silence after which a node is suspected


def stream_cluster(bench, order, ensembles=1):
    """A cluster whose data goes over streams, nothing started."""
    settings = quorum_settings(order, ensembles) + '[network]\ndata = "streams"\n'
    cluster = bench.cluster(settings=settings)
    os.mkdir(os.path.join(cluster.folder, DATA), 0o700)
    return cluster


def expect_streams(cluster, names):
    """These nodes are all connected, nobody was taken for a forger, and data went that way."""
    deadline = time.monotonic() + START_S
    for name in names:
        while True:
            status = cluster[name].status()
            if status["data"] == "streams":
                break
            if time.monotonic() > deadline:
                raise Failure(f"{name} says of its data: {status['data']}")
        counters = status["counters"]
        if counters["stream_packets_in"] == 0 or counters["udp_data_packets_in"] != 0:
            raise Failure(f"{name} got {counters['stream_packets_in']} packets over streams, "
                          f"{counters['udp_data_packets_in']} as datagrams")
    return sum(cluster[name].status()["counters"]["stream_close_forged"] for name in names)


def breaks(bench, order, ensembles=1, rounds=(2, 1, 3)):
    """Kills, stops and cuts off nodes in turns, under full load."""
    cluster = stream_cluster(bench, order, ensembles)
    cluster.start()
    everybody = list(bench.names)
    for turn in range(bench.rounds(*rounds)):
        leader = coordinator(cluster)
        victim = leader if turn % 2 else next(name for name in everybody if name != leader)
        others = [name for name in everybody if name != victim]
        bench.step(f"kill {turn + 1}, of {victim}")
        cluster[victim].crash()
        cluster.wait_view(others)
        cluster.progress(others)
        cluster[victim].start()
        cluster.wait_view(everybody, REJOIN_S)
        cluster[victim].start_load()
        cluster.progress(everybody)

        bench.step(f"stop {turn + 1}, of {victim}")
        cluster[victim].child.signal(signal.SIGSTOP)
        time.sleep(STOP_S)  # this is the fault itself
        cluster.wait_view(others)
        cluster.progress(others)
        cluster[victim].child.signal(signal.SIGCONT)
        cluster.wait_view(everybody, REJOIN_S)
        cluster.progress(everybody)

        bench.step(f"cut {turn + 1}, of {victim}")
        cluster.network.link(victim, False)
        cluster.wait_view(others)
        cluster.progress(others)
        cluster.network.link(victim, True)
        cluster.wait_view(everybody, REJOIN_S)
        cluster.progress(everybody)
    bench.step("end")
    if forged := expect_streams(cluster, everybody):
        raise Failure(f"{forged} connections of nodes were taken for forged ones")
    return f"kills, stops and cuts; {bench.finish(cluster)}"


@case(3)
def streams_ridge(bench):
    """Data over TCP, ordered by ridge: a node is killed, stopped and cut off under full load; the
    others go on without it, and its streams come back with it."""
    return breaks(bench, "ridge")


@case(3)
def streams_paxos(bench):
    """The same with paxos, whose coordinator sends to all."""
    return breaks(bench, "paxos")


@case(3)
def streams_ensembles(bench):
    """The same with three ensembles of ridge."""
    return breaks(bench, "ridge", ensembles=3, rounds=(1, 1, 2))


def connect(cluster, source, target):
    """A TCP connection to a node's port for data, from the machine of another node or from none."""
    def make():
        taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        taken.settimeout(START_S)
        taken.bind((cluster.network.address(source), 0))
        taken.connect((cluster.network.address(target), STREAM_PORT))
        return taken

    return isolation.in_network(cluster.network.path(source), make)


def wait_counter(node, name, least):
    """Waits until a node counts so many."""
    deadline = time.monotonic() + START_S
    while (count := node.status()["counters"][name]) < least:
        if time.monotonic() > deadline:
            raise Failure(f"{node.name} counts {name} {count} times, not {least}")
        time.sleep(0.02)
    return count


@case(3)
def streams_strangers(bench):
    """Programs on a node's machine connect to another node's port for data: they send rubbish, or
    hold a thousand silent connections. No view changes, and everybody delivers on."""
    cluster = stream_cluster(bench, "ridge")
    cluster.start()
    first, second = bench.names[0], bench.names[1]
    view = cluster[first].status()["view"]["id"]
    rng = random.Random(bench.size)

    bench.step("rubbish")
    rubbish = [b"\0\0\0\0", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
               (100).to_bytes(4, "little") + rng.randbytes(100),
               (9_000).to_bytes(4, "little") + rng.randbytes(9_000)]
    for bytes_ in rubbish:
        with connect(cluster, second, first) as stranger:
            stranger.sendall(bytes_)
            try:
                if stranger.recv(1) != b"":
                    raise Failure(f"{first} answers {bytes_[:20]!r}")
            except ConnectionResetError:
                pass
    counters = cluster[first].status()["counters"]
    closed = counters["stream_close_bad_length"] + counters["stream_close_forged"]
    if closed != len(rubbish):
        raise Failure(f"{first} closed {closed} connections for rubbish, not {len(rubbish)}")

    bench.step("silence")
    silent = [connect(cluster, second, first) for _ in range(SILENT)]
    wait_counter(cluster[first], "stream_accepted", SILENT)
    cluster.progress(bench.names)
    counters = cluster[first].status()["counters"]
    if counters["stream_close_replaced"] < SILENT - 2:
        raise Failure(f"{first} holds {SILENT - counters['stream_close_replaced']} connections")
    for each in silent:
        each.close()
    expect_streams(cluster, bench.names)
    if cluster[first].status()["view"]["id"] != view:
        raise Failure("strangers changed the view")
    return f"{len(rubbish)} rubbish, {SILENT} silent connections; {bench.finish(cluster)}"


@case(3)
def streams_blocked(bench):
    """A firewall lets datagrams pass, and no TCP from one node to another: both `peal status` and a
    warning of the node name who is not reached."""
    cluster = stream_cluster(bench, "ridge")
    first, second = bench.names[0], bench.names[1]
    # A route of the other's address for TCP alone that leads nowhere, until it is taken back.
    rule = ["-n", cluster.network.space(first), "rule"]
    what = ["to", cluster.network.address(second), "ipproto", "tcp", "dport", str(STREAM_PORT),
            "unreachable"]
    network.ip(*rule, "add", *what)
    for node in cluster:
        node.start()
    cluster.wait_view(bench.names)
    bench.step("blocked")
    deadline = time.monotonic() + START_S
    wanted = f"streams; not connected to {second}"
    while not cluster[first].status()["data"].startswith(wanted):
        if time.monotonic() > deadline:
            raise Failure(f"{first} says of its data: {cluster[first].status()['data']}")
    warning = f"node {second} is there, but data cannot reach it"
    cluster[first].child.wait_lines(
        lambda lines: any(warning in line for line in lines), START_S, "the warning")
    bench.step("open again")
    network.ip(*rule, "del", *what)
    for node in cluster:
        node.start_load()
    cluster.progress(bench.names)
    expect_streams(cluster, bench.names)
    return f"named, and warned of; {bench.finish(cluster)}"
