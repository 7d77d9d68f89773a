# SPDX-License-Identifier: Apache-2.0
"""Nodes with other keys or none, sealed packets that are sent once more or changed, other keys for
a cluster that is busy."""

import os
import random
import signal
import socket

from bench import case
from cases_processes import expect_no_view
from cases_strangers import with_stranger
from lib import Failure, PORT, now_ns
from packets import Datagram

PREFIX_BYTES = 7  # of sealed data: what stays the same in a batch
DATA = b"\xd2"
OTHERS = b"PS\x03"
HOSTILE = 20_000   # packets for each node


@case(3)
def foreign_keys(bench):
    """A node with another key, or with none, on the network of a cluster under load: it is not
    admitted, it is counted, and both sides say so once, with the reason; the cluster goes on."""
    cluster = bench.cluster()
    cluster.write_config("foreign.toml", key="foreign.key")
    bench.step("another key")
    everybody = {"a": ["c"], "b": ["c"], "c": ["a", "b"]}
    with_stranger(cluster, "foreign.toml", "sealed with a key", everybody)
    bench.step("no key")
    cluster.write_config("plain.toml", key=None)
    for name in "ab":
        cluster[name].start()
    cluster["c"].start("plain.toml")
    cluster.wait_view("ab")
    cluster.wait_view("c")
    for name in "ab":
        cluster[name].child.wait_lines(
            lambda lines: any("node c is ignored" in line and "not sealed" in line
                              for line in lines), 20, "line that c is ignored")
    said = [line for line in cluster["c"].child.lines if "insecure = true" in line]
    if len(said) != 1:
        raise Failure(f"c does not say once that it is insecure: {said}")
    cluster.leave()
    return f"not admitted, said once on both sides; {bench.finish(cluster)}"


def _captured(cluster, seconds_of_load):
    """Sealed packets that pass on all cables meanwhile, as (source, target, packet)."""
    taps = [cluster.network.tap(name) for name in cluster.nodes]
    seconds_of_load()
    seen = []
    for tap in taps:
        for _ in range(20_000):
            try:
                datagram = Datagram.parse(tap.recv(65_536, socket.MSG_DONTWAIT))
            except BlockingIOError:
                break
            if datagram is not None:
                seen += [(datagram.source, datagram.target, packet)
                         for packet in _cut(datagram.payload)]
        tap.close()
    return seen


def _cut(payload):
    """The packets of a batch that the kernel had not cut up yet: only data travels in batches."""
    if payload.startswith(OTHERS):
        return [payload]
    prefix = payload[:PREFIX_BYTES]
    if not prefix.startswith(DATA) or len(prefix) < PREFIX_BYTES:
        return []
    ends = []
    at = payload.find(prefix, PREFIX_BYTES)
    while at > 0:
        ends.append(at)
        at = payload.find(prefix, at + PREFIX_BYTES)
    return [payload[begin:end] for begin, end in zip([0, *ends], [*ends, len(payload)])]


def _refused(node):
    counters = node.status()["counters"]
    return {name: count for name, count in counters.items()
            if name.startswith("seal_") and name != "seal_opened"}


@case(3, soak=(5,))
def replays(bench):
    """Sealed packets that passed on the cables are sent once more, as they were or with one byte
    changed, to every port of every node under full load: refused and counted, no change of view,
    and the order holds."""
    cluster = bench.patient_cluster()
    cluster.start()
    seen = _captured(cluster, lambda: cluster.progress(bench.names, 500))
    began = now_ns()
    if len(seen) < 100:
        raise Failure(f"only {len(seen)} sealed packets were seen")
    rng = random.Random(f"replays {bench.size}")
    before = {node.name: _refused(node) for node in cluster}
    sent = 0
    for node in cluster:
        address = cluster.network.address(node.name)
        tap = cluster.network.tap(node.name)
        hardware = cluster.network.hardware_address(node.name)
        others = [each for each in seen if each[0][0] != address]
        for _ in range(bench.rounds(HOSTILE, 2_000)):
            source, target, packet = rng.choice(others)
            if rng.random() < 0.5:
                packet = bytearray(packet)
                packet[rng.randrange(len(packet))] ^= rng.randrange(1, 256)
            port = target[1] if target[1] in (PORT, PORT + 1) else PORT + 1
            tap.send(Datagram(source, (address, port), bytes(packet)).frame(hardware))
            sent += 1
        tap.close()
    cluster.progress(bench.names)
    ended = now_ns()
    reasons = {}
    for node in cluster:
        for reason, count in _refused(node).items():
            more = count - before[node.name].get(reason, 0)
            if more:
                reasons[reason] = reasons.get(reason, 0) + more
    if not {"seal_replayed", "seal_bad_tag"} <= set(reasons):
        raise Failure(f"not refused for what they are: {reasons}")
    checked = bench.finish(cluster)
    expect_no_view(cluster, began, ended)
    bench.figures.update(hostile=sent, reasons=reasons)
    return f"{sent:,} packets refused under {len(reasons)} reasons, no change of view; {checked}"


def _reload(cluster, key):
    """SIGHUP to each node; each says that it seals with `key`, and the cluster goes on."""
    for node in cluster:
        seen = len(node.child.lines)
        node.child.signal(signal.SIGHUP)
        node.child.wait_lines(lambda lines, seen=seen: any('"reloaded"' in line and key in line
                                                           for line in lines[seen:]),
                              10, f"line that {key} is the key to send with")
        cluster.progress([node.name])
    for node in cluster:
        shown = node.status()["seal"]
        if shown != f"key {key}":
            raise Failure(f"{node.name} says that it seals with {shown}, not {key}")


@case(3, soak=(5,))
def key_rotation(bench):
    """Under full load, a cluster goes to another key in the three steps of keygen, twice: no change
    of view, nothing lost. A key file that cannot be used changes nothing. A node that is started
    afterwards comes in with the new key."""
    cluster = bench.patient_cluster()
    old = cluster.keygen("--list", "peal.key")
    first = old
    cluster.start()
    began = now_ns()
    for _ in range(2):
        new = cluster.keygen("--add", "peal.key")
        _reload(cluster, old)
        cluster.keygen("--use", new, "peal.key")
        _reload(cluster, new)
        cluster.keygen("--remove", old, "peal.key")
        _reload(cluster, new)
        old = new
    path = os.path.join(bench.folder, "peal.key")
    os.chmod(path, 0o644)
    cluster["a"].child.signal(signal.SIGHUP)
    cluster["a"].child.wait_lines(lambda lines: any("not_reloaded" in line and "peal.key" in line
                                                    for line in lines), 10, "line about the file")
    os.chmod(path, 0o600)
    cluster.progress(bench.names)
    ended = now_ns()
    refused = {node.name: _refused(node)["seal_unknown_key"] for node in cluster}
    if any(refused.values()):
        raise Failure(f"packets were lost to a key that was not known: {refused}")
    last = bench.names[-1]
    cluster[last].crash()
    cluster.wait_view(bench.names[:-1])
    cluster[last].start()
    cluster.wait_view(bench.names)
    checked = bench.finish(cluster)
    expect_no_view(cluster, began, ended)
    return f"from {first} to {old} without a stop; {checked}"
