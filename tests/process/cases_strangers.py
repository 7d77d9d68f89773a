# SPDX-License-Identifier: Apache-2.0
"""Packets that make no sense, nodes that do not belong here, addresses that are taken."""

import json
import random
import threading

import packets
from bench import case
from lib import Child, Failure, PORT
from packets import Datagram

PER_PORT = 1_000  # packets of rubbish for each port of each node, and for each phase
BURST = 250       # sent before it is looked whether they were counted


class Capture:
    """Real packets that pass on a cluster's cables, some of each kind, and the group in use."""

    PER_KIND = 40

    def __init__(self, cluster):
        self.packets = {}
        self.group = None
        for tap in [cluster.network.tap(name) for name in cluster.nodes]:
            for _ in range(4_000):
                self._take(Datagram.parse(tap.recv(65_536)))
            tap.close()
        if not {packets.TOKEN, packets.DATA} <= set(self.packets):
            raise Failure(f"only these kinds of packets were seen: {sorted(self.packets)}")

    def _take(self, datagram):
        if datagram is None:
            return
        if datagram.target[0].startswith("239."):
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
        return packets.damaged(self.capture.any(self.rng), self.rng)


def dropped(node):
    """All that a node has dropped, by reason."""
    counters = node.status()["counters"]
    return {name: value for name, value in counters.items()
            if "drop" in name or name == "probe_bad"}


def _rejected(before, after):
    return {name: after[name] - before.get(name, 0) for name in after
            if after[name] != before.get(name, 0)}


def _wait_counted(node, before, expected):
    """Waits until the node has dropped so many more packets; returns them by reason."""
    for _ in range(200):
        found = _rejected(before, dropped(node))
        if sum(found.values()) >= expected:
            return found
    raise Failure(f"{node.name} has counted {sum(found.values())} of {expected}: {found}")


@case(3, 5)
def rubbish(bench):
    """Random bytes, damaged copies of real packets, and packets of other versions, kinds and
    clusters go to every port of every node: all are counted by reason. Then more of them, and old
    packets once more, under full load: no change of view, and the order holds."""
    cluster = bench.cluster()
    cluster.start()
    capture = Capture(cluster)
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
                for reason, count in _wait_counted(node, before, BURST).items():
                    reasons[reason] = reasons.get(reason, 0) + count
                total += BURST
    for node in cluster:
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
    views = {node.name: len(node.views()) for node in cluster}
    checked = bench.finish(cluster)
    bench.figures.update(rubbish=total, replayed=old, reasons=reasons)
    if len(set(views.values())) != 1 or any(
            event[3] != tuple(bench.names) for event in _after_first(cluster, bench.size)):
        raise Failure(f"views have changed: {views}")
    return (f"{total:,} packets of rubbish, {old:,} old ones again: counted under {len(reasons)} "
            f"reasons, no change of view; {checked}")


def _after_first(cluster, size):
    """The views after the first of all nodes, without those of the nodes' leaving at the end."""
    events = cluster.view_events()
    whole = [event[0] for event in events if len(event[3]) == size]
    return [event for event in events if whole[0] <= event[0] <= whole[-1]]


class Relay(threading.Thread):
    """Carries packets between a node alone on its cable and all others, and changes them."""

    def __init__(self, cluster, alone, change):
        super().__init__(daemon=True)
        self.network, self.alone, self.change = cluster.network, alone, change
        self.others = [name for name in cluster.nodes if name != alone]
        self.stopped = False
        self.problem = None
        self._hardware = {name: self.network.hardware_address(name) for name in cluster.nodes}
        self._taps = {name: self.network.tap(name) for name in cluster.nodes}
        for tap in self._taps.values():
            tap.settimeout(0.02)

    def run(self):
        while not self.stopped:
            for name, tap in self._taps.items():
                try:
                    frame, where = tap.recvfrom(65_536)
                except TimeoutError:
                    continue
                except OSError as error:
                    self.problem = error
                    return
                datagram = Datagram.parse(frame)
                outgoing = where[2] == 4  # towards the host: it is ours, or the bridge's
                if datagram is not None and not outgoing:
                    self._carry(name, datagram)

    def _carry(self, name, datagram):
        for packet in packets.cut(datagram.payload):
            changed = Datagram(datagram.source, datagram.target, self.change(packet))
            for target in self.others if name == self.alone else [self.alone]:
                if datagram.target[0] in (self.network.address(target), "239"):
                    self._taps[target].send(changed.frame(self._hardware[target]))

    def stop(self):
        """Ends the thread."""
        self.stopped = True
        self.join(5)


def incompatible(node, reason):
    """Whom `node` has called incompatible for this reason, once for each line."""
    found = []
    for line in list(node.child.lines):
        if '"incompatible_peer"' in line:
            event = json.loads(line)
            if event["reason"] == reason:
                found.append(event.get("who", ""))
    return sorted(found)


def _expect_stranger(cluster, reason, whom):
    """c and the others have nothing to do with each other, and say so once. `whom` gives for each
    node whom it names."""
    cluster.wait_view("ab")
    cluster.wait_view("c")
    for node in cluster:
        node.child.wait_lines(
            lambda _lines, node=node: set(incompatible(node, reason)) >= set(whom[node.name]), 20,
            f"line that {whom[node.name]} is incompatible ({reason})")
    # "Once" means something after many more packets only.
    for node in cluster:
        _wait_counted(node, dropped(node), 20)
    for node in cluster:
        if incompatible(node, reason) != whom[node.name]:
            raise Failure(f"{node.name} says not once but: {incompatible(node, reason)}")
        if len({len(view) for view in node.views() if "c" in view} - {1}) > 0:
            raise Failure(f"c was admitted: {node.name} has seen {node.views()}")


def _with_stranger(cluster, config, reason, whom):
    """Runs a and b under load, and c with another configuration; ends all of them."""
    for name in "ab":
        cluster[name].start()
    cluster.wait_view("ab")
    for name in "ab":
        cluster[name].start_load()
    cluster["c"].start(config)
    _expect_stranger(cluster, reason, whom)
    cluster.progress("ab")
    for node in cluster:
        node.leave()


@case(3)
def strangers(bench):
    """A node with another cluster name, another cluster-wide setting, or another protocol version:
    it is not admitted, it is counted, and both sides say so once, with the reason."""
    variants = [
        ("other_cluster", {"cluster": "another"}),
        ("other_settings", {"settings": "[ring]\ntoken_loss_ms = 230"}),
        ("other_settings", {"settings": 'primary = "majority"'}),
        ("other_settings", {"settings": "[limits]\nmessage_bytes_max = 1000000"}),
    ]
    cluster = bench.cluster()
    for number, (reason, change) in enumerate(variants):
        file = f"stranger{number}.toml"
        cluster.write_config(file, **change)
        _with_stranger(cluster, file, reason, {"a": ["c"], "b": ["c"], "c": ["a", "b"]})
    # Who sends packets of another version is not known: their format is not.
    cluster.network.alone("c")
    relay = Relay(cluster, "c", _next_version)
    relay.start()
    _with_stranger(cluster, "peal.toml", "bad_version", {"a": [""], "b": [""], "c": [""]})
    relay.stop()
    if relay.problem is not None:
        raise Failure(f"the relay failed: {relay.problem}")
    checked = bench.finish(cluster)
    return (f"{len(variants)} other configurations and another version: not admitted, said once "
            f"on both sides; {checked}")


def _next_version(packet):
    at = packets.VERSION_AT
    return packets.sealed(packet[:at] + bytes([packet[at] + 1]) + packet[at + 1:])


@case(3)
def address_in_use(bench):
    """A node whose token address, data address or local socket is in use: one line that names it,
    and exit status 2."""
    cluster = bench.cluster()
    lines = []
    for port in (PORT, PORT + 1):
        taken = cluster.network.udp("a", port)
        lines.append(_refused(cluster, f"{cluster.network.address('a')}:{port}"))
        taken.close()
    cluster.start(load=False)
    lines.append(_refused(cluster, f"{cluster.network.address('a')}:{PORT}"))
    cluster.progress([], 0)
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
