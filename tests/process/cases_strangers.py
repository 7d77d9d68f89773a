# SPDX-License-Identifier: Apache-2.0
"""Packets that make no sense, nodes that do not belong here, addresses that are taken."""

import json
import os
import random
import socket
import struct
import threading
import time

import packets
from bench import case
from cases_processes import expect_no_view
from lib import Child, Failure, PORT, now_ns
from packets import Datagram

PER_PORT = 1_000  # packets of rubbish for each port of each node, and for each phase
# Counters of `peal status` that stay at zero as long as only nodes of one cluster send.
NONSENSE = ("truncated", "trailing_bytes", "bad_magic", "bad_version", "bad_checksum", "bad_length",
            "unknown_kind", "other_cluster", "other_settings", "count_too_large", "not_sorted",
            "bad_value", "bad_sender", "udp_drop_unknown_source", "udp_probe_bad",
            "seal_too_short", "seal_unknown_version", "seal_unknown_sender", "seal_unknown_key",
            "seal_bad_badge", "seal_bad_tag")  # these only where packets are sealed
KINDS = 1_000     # different packets of rubbish
COUNTED_S = 10    # the longest that counting may take
BURST = 250       # sent before it is looked whether they were counted


class Capture:
    """Real packets that pass on a cluster's cables, some of each kind, and the group in use."""

    PER_KIND = 40

    def __init__(self, cluster):
        """Keeps what passes from now on, as far as the sockets' buffers reach."""
        self.packets = {}
        self.group = None
        self._taps = [cluster.network.tap(name) for name in cluster.nodes]

    def stop(self):
        """Looks at what was kept."""
        for tap in self._taps:
            for _ in range(20_000):
                try:
                    self._take(Datagram.parse(tap.recv(65_536, socket.MSG_DONTWAIT)))
                except BlockingIOError:
                    break
            tap.close()
        if not {packets.TOKEN, packets.DATA} <= set(self.packets):
            raise Failure(f"only these kinds of packets were seen: {sorted(self.packets)}")

    def _take(self, datagram):
        if datagram is None:
            return
        if datagram.is_multicast():
            self.group = datagram.target
        for packet in packets.cut(datagram.payload):
            seen = self.packets.setdefault(packets.kind_of(packet), [])
            if len(seen) < self.PER_KIND:
                seen.append(packet)

    def any(self, rng):
        """One of the packets; each kind is as likely as the others."""
        return rng.choice(self.packets[rng.choice(sorted(self.packets))])


class Rubbish:
    """Sends rubbish to the ports of a cluster's nodes, from the addresses of other nodes."""

    def __init__(self, cluster, capture, rng):
        self.cluster, self.capture, self.rng = cluster, capture, rng
        network = cluster.network
        self.taps = {name: network.tap(name) for name in cluster.nodes}
        self.hardware = {name: network.hardware_address(name) for name in cluster.nodes}
        self._damaged = [packets.damaged(capture.any(rng), rng) for _ in range(KINDS)]

    def targets(self, name):
        """All addresses that the node listens on."""
        address = self.cluster.network.address(name)
        group = [self.capture.group] if self.capture.group else []
        return [(address, PORT), (address, PORT + 1), *group]

    def send(self, name, target, payload):
        """One datagram to a port of the node, from a port of a node that is not this one."""
        other = self.rng.choice([other for other in self.cluster.nodes if other != name])
        source = (self.cluster.network.address(other), PORT + self.rng.randrange(2))
        self.taps[name].send(Datagram(source, target, payload).frame(self.hardware[name]))

    def damaged(self):
        """A packet that no node may take."""
        return self.rng.choice(self._damaged)


def dropped(node):
    """What a node has dropped because it made no sense or came from elsewhere, by reason."""
    counters = node.status()["counters"]
    return {name: counters[name] for name in NONSENSE if name in counters}


def _wait_counted(node, before, expected):
    """Waits until the node has dropped so many more packets; returns them by reason."""
    deadline = time.monotonic() + COUNTED_S
    while True:
        after = dropped(node)
        found = {name: after[name] - before[name] for name in after if after[name] != before[name]}
        if sum(found.values()) >= expected:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"{node.name} has counted {sum(found.values())} of {expected}: {found}")


@case(3, soak=(5,))
def rubbish(bench):
    """Random bytes, damaged copies of real packets, and packets of other versions, kinds and
    clusters go to every port of every node: all are counted by reason. Then more of them, and old
    packets once more, under full load: no change of view, and the order holds."""
    cluster = bench.patient_cluster(key=None)  # sealed, none of this would be looked at
    capture = Capture(cluster)
    cluster.start()
    began = now_ns()
    capture.stop()
    for node in cluster:
        node.stop_load()
    rng = random.Random(f"rubbish {bench.size}")
    sender = Rubbish(cluster, capture, rng)
    reasons, total = {}, 0
    for node in cluster:
        for target in sender.targets(node.name):
            for _ in range(0, bench.rounds(PER_PORT, BURST), BURST):
                before = dropped(node)
                for _ in range(BURST):
                    sender.send(node.name, target, sender.damaged())
                counted = _wait_counted(node, before, BURST)
                if sum(counted.values()) != BURST:
                    raise Failure(f"{node.name} got {BURST} packets and has counted {counted}")
                for reason, count in counted.items():
                    reasons[reason] = reasons.get(reason, 0) + count
                total += BURST
    for node in cluster:
        _nonsense_to_socket(bench, node, rng)
        node.start_load()
    old = 0
    for _ in range(bench.rounds(PER_PORT, BURST)):
        for name in bench.names:
            for target in sender.targets(name):
                again = rng.random() < 0.5
                sender.send(name, target, capture.any(rng) if again else sender.damaged())
                old += again
                total += not again
    cluster.progress(bench.names)
    ended = now_ns()
    checked = bench.finish(cluster)
    expect_no_view(cluster, began, ended)
    bench.figures.update(rubbish=total, replayed=old, reasons=reasons)
    return (f"{total:,} packets of rubbish, {old:,} old ones again: counted under {len(reasons)} "
            f"reasons, no change of view; {checked}")


def _nonsense_to_socket(bench, node, rng):
    """Who begins with nonsense at the socket for clients is disconnected and counted."""
    for expected in range(1, 11):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(COUNTED_S)
            client.connect(os.path.join(bench.folder, node.name + ".sock"))
            body = rng.randbytes(rng.randrange(4, 50))
            client.sendall(struct.pack("<IB", len(body) + 1, rng.randrange(10, 256)) + body)
            while client.recv(65_536):
                pass  # the reason, and then the end
        counted = node.status()["counters"]["session_bad_records"]
        if counted != expected:
            raise Failure(f"{node.name} has counted {counted} of {expected} bad records")


class Relay:
    """Carries packets between one node and all others, and changes them."""

    def __init__(self, cluster, host, change):
        self.change = change
        self._stopped = False
        to_host, to_bridge = cluster.network.between(host)
        self._threads = [threading.Thread(target=self._run, args=pair, daemon=True)
                         for pair in ((to_host, to_bridge), (to_bridge, to_host))]
        for thread in self._threads:
            thread.start()

    def _run(self, source, target):
        source.settimeout(0.1)
        while not self._stopped:
            try:
                frame, where = source.recvfrom(65_536)
            except TimeoutError:
                continue
            if where[2] == socket.PACKET_OUTGOING:
                continue  # our own
            datagram = Datagram.parse(frame)
            if datagram is None:
                target.send(frame)  # who has which address, for one
                continue
            for packet in packets.cut(datagram.payload):
                changed = Datagram(datagram.source, datagram.target, self.change(packet))
                target.send(changed.frame(frame[:6]))

    def stop(self):
        """Ends it; a Failure if it has ended before."""
        alive = all(thread.is_alive() for thread in self._threads)
        self._stopped = True
        for thread in self._threads:
            thread.join(5)
        if not alive:
            raise Failure("the relay has failed")


def incompatible(node, reason):
    """Whom `node` calls incompatible in its log for this reason, once for each line."""
    found = []
    for line in list(node.child.lines):
        text = json.loads(line).get("text", "") if '"warning"' in line else ""
        if "ignored: " in text and reason in text:
            found.append(text.split()[1])
    return sorted(found)


def _expect_stranger(cluster, reason, whom):
    """c and the others have nothing to do with each other, and say so once. `reason` is a part of
    the line; or it gives one for each node, as `whom` does whom the node names."""
    reasons = reason if isinstance(reason, dict) else dict.fromkeys("abc", reason)
    cluster.wait_view("ab")
    cluster.wait_view("c")
    for node in cluster:
        node.child.wait_lines(
            lambda _lines, node=node:
            len(incompatible(node, reasons[node.name])) >= len(whom[node.name]), 20,
            f"line that {whom[node.name]} is incompatible ({reasons[node.name]})")
    # "Once" means something after more packets only.
    for node, before in [(node, dropped(node)) for node in cluster]:
        _wait_counted(node, before, 5)
    for node in cluster:
        said = incompatible(node, reasons[node.name])
        if len(said) != len(whom[node.name]) or (len(said[0]) == 1 and said != whom[node.name]):
            raise Failure(f"{node.name} says not once but: {said}")
        if incompatible(node, "") != said:
            raise Failure(f"{node.name} also says: {incompatible(node, '')}")
        if len({len(view) for view in node.views() if "c" in view} - {1}) > 0:
            raise Failure(f"c was admitted: {node.name} has seen {node.views()}")


def with_stranger(cluster, config, reason, whom, others="peal.toml"):
    """Runs a and b under load, and c with another configuration; ends all of them."""
    for name in "ab":
        cluster[name].start(others)
    cluster.wait_view("ab")
    for name in "ab":
        cluster[name].start_load()
    cluster["c"].start(config)
    _expect_stranger(cluster, reason, whom)
    cluster.progress("ab")
    cluster.leave()


@case(3)
def strangers(bench):
    """A node with another cluster name, another cluster-wide setting, or another protocol version:
    it is not admitted, it is counted, and both sides say so once, with the reason: of settings,
    which differ, and both values."""
    variants = [
        ("another cluster", {"cluster": "another"}),
        (_differs("ring.hold_ms", "7", "8"), {"settings": "[ring]\nhold_ms = 7"}),
        (_differs("primary", '"majority"', '"none"'), {"settings": 'primary = "majority"'}),
        (_differs("limits.message_bytes_max", "1000000", "67108864"),
         {"settings": "[limits]\nmessage_bytes_max = 1000000"}),
    ]
    cluster = bench.cluster()
    for number, (reason, change) in enumerate(variants):
        file = f"stranger{number}.toml"
        cluster.write_config(file, **change)
        bench.step(f"{reason}: {change}")
        with_stranger(cluster, file, reason, {"a": ["c"], "b": ["c"], "c": ["a", "b"]})
    bench.step("another version")
    # Who sends packets of another version is not known: their format is not.
    relay = Relay(cluster, "c", _next_version)
    cluster.write_config("plain.toml", key=None)
    with_stranger(cluster, "plain.toml", "another version", {"a": ["?"], "b": ["?"], "c": ["?"]},
                  others="plain.toml")
    relay.stop()
    checked = bench.finish(cluster)
    return (f"{len(variants)} other configurations and another version: not admitted, said once "
            f"on both sides; {checked}")


def _differs(key, stranger, normal):
    """The reason that each node gives, if the key has the value `stranger` at c."""
    def text(there, here):
        return f"{key} is {there} there and {here} here; it must be the same on all nodes"

    at_others = text(stranger, normal)
    return {"a": at_others, "b": at_others, "c": text(normal, stranger)}


def _next_version(packet):
    at = packets.VERSION_AT
    return packets.sealed(packet[:at] + bytes([packet[at] + 1]) + packet[at + 1:])


@case(3)
def address_in_use(bench):
    """A node whose token address, data address or socket is in use: one line that names it,
    and exit status 2."""
    cluster = bench.cluster()
    lines = []
    for port in (PORT, PORT + 1):
        taken = cluster.network.udp("a", port)
        lines.append(_refused(cluster, f"{cluster.network.address('a')}:{port}"))
        taken.close()
    cluster.start()
    lines.append(_refused(cluster, "a.sock"))
    cluster.progress(bench.names)
    checked = bench.finish(cluster)
    bench.figures.update(lines=lines)
    return f"{len(lines)} times one line and exit status 2; {checked}"


def _refused(cluster, named):
    """Starts node a once more; returns the line with which it refuses."""
    command = cluster.network.command("a", [cluster.peal, "node", "--config", "peal.toml",
                                            "--name", "a"])
    child = Child(command, cluster.folder, "a.refused")
    status = child.wait()
    if status != 2 or len(child.lines) != 1 or named not in child.lines[0]:
        raise Failure(f"with {named} in use: exit status {status}, and {child.lines}")
    return child.lines[0]
