#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what the tests of real processes are made of. Needs no build."""

import contextlib
import io
import os
import random
import socket
import struct
import sys
import tempfile
import unittest
from unittest import mock

import bench
import cases
import isolation
import lib
import network
import packets
import run
from packets import Datagram

GROUP = "239.1.2.3"


def sample(kind=packets.DATA, bytes_after_header=50):
    """A packet with a right header; the rest is 7, 8, 9, …"""
    head = struct.pack("<HBBIQIQI", packets.MAGIC, 1, kind, 0, 99, 1, 5, 0)
    return packets.sealed(head + bytes((7 + i) % 256 for i in range(bytes_after_header)))


class Packets(unittest.TestCase):
    """packets.py"""

    def test_checksum_is_castagnoli(self):
        self.assertEqual(packets.crc32c(b"123456789"), 0xE3069283)

    def test_a_batch_is_cut_into_its_packets(self):
        batch = [sample(bytes_after_header=size) for size in (50, 50, 3)]
        self.assertEqual(packets.cut(b"".join(batch)), batch)
        self.assertEqual(packets.cut(b"".join(batch)[:-1]), batch[:2])
        self.assertEqual(packets.cut(b"nonsense" * 10), [])

    def test_damage_is_damage(self):
        rng = random.Random(1)
        whole = sample()
        for make in packets.DAMAGE:
            for _ in range(200):
                packet = make(whole, rng)
                head = struct.unpack_from("<HBBIQIQI", packet.ljust(32, b"\0"))
                valid = (len(packet) >= 32 and packets.sealed(packet) == packet and
                         head[:2] == (packets.MAGIC, 1) and 1 <= head[2] <= 7 and head[4] == 99)
                self.assertFalse(valid, make.__name__)

    def test_a_frame_is_parsed_as_it_was_made(self):
        sent = Datagram(("10.0.0.1", 4801), ("10.0.0.2", 4802), b"hello")
        got = Datagram.parse(sent.frame(b"\x02" * 6))
        self.assertEqual((got.source, got.target), (sent.source, sent.target))
        self.assertEqual(got.payload, b"hello")
        self.assertIsNone(Datagram.parse(b"\0" * 60))


class Texts(unittest.TestCase):
    """lib.py, run.py"""

    def test_median(self):
        self.assertEqual(lib.median([5, 1, 3]), 3)
        self.assertEqual(lib.median([4, 1, 3, 2]), 2.5)

    def test_no_namespaces_fails_in_ci_only(self):
        for in_ci, status in (("true", 1), ("", 0)):
            with mock.patch.dict(os.environ, CI=in_ci), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(run.not_run("why"), status)

    def test_every_case_says_what_it_does(self):
        self.assertEqual(cases.ALL, bench.ALL)
        for case in cases.ALL.values():
            self.assertTrue(case.about and case.sizes)


class Children(unittest.TestCase):
    """lib.Child"""

    def test_waits_for_lines_and_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "echo one >&2; echo two >&2; exec sleep 100"
            child = lib.Child(["sh", "-c", script], folder, "x")
            child.wait_lines(lambda lines: lines == ["one", "two"], 10, "two")
            self.assertGreater(child.memory_bytes(), 0)
            with self.assertRaisesRegex(lib.Failure, "have passed.*two"):
                child.wait_lines(lambda lines: "three" in lines, 0.01, "three")
            child.kill()
            self.assertEqual(child.wait(), -9)
            with self.assertRaisesRegex(lib.Failure, "has ended"):
                child.wait_lines(lambda lines: "three" in lines, 10, "three")


class Conditions(unittest.TestCase):
    """lib.Node: what a failure says of every node"""

    def test_of_what_has_ended_or_does_not_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            cluster = mock.Mock(folder=folder)
            cluster.run.return_value = mock.Mock(returncode=1, stderr="no answer", stdout="")
            node = lib.Node(cluster, "a")
            self.assertEqual(node.condition(), "a.0: was ended")
            node.child = lib.Child(["sh", "-c", "echo why >&2; exit 3"], folder, "a")
            node.child.wait()
            self.assertRegex(node.condition(), "a.0: ended with 3; it says: .'why'.")
            node.child = lib.Child(["sleep", "100"], folder, "b")
            self.assertRegex(node.condition(), "a.0: runs, but status of a: no answer")
            status = b'[{"delivered": {"messages": 5}, "waits_for": "a quorum"}]'
            cluster.run.return_value = mock.Mock(returncode=0, stdout=status.decode())
            self.assertEqual(node.condition(), "a.0: view none, 5 delivered, waits for a quorum")
            self.assertTrue(os.path.exists(os.path.join(folder, "a.0.status.json")))
            node.child.kill()


ARP, IPV4 = b"\x08\x06", b"\x08\x00"


class Discarding(unittest.TestCase):
    """bench.Bench: what a case that passed leaves behind"""

    def test_large_files_go_and_what_was_said_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "data/a/log"))
            sizes = {"a.1.log": 1 << 20, "peal.toml": 100, "a.trace": 1 << 20,
                     "data/a/log/0000000000000001.wal": 1 << 20, "data/a/STATE": 183}
            for name, size in sizes.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.truncate(size)
            bench.Bench(None, folder, 3, 1).discard()
            left = {name for name in sizes if os.path.exists(os.path.join(folder, name))}
            self.assertEqual(left, {"a.1.log", "peal.toml", "data/a/STATE"})


class Networks(unittest.TestCase):
    """network.py: what the cases rely on is really so on this machine."""

    def setUp(self):
        self.network = network.Network("abc", subnet=200)
        self.sockets = {host: self.network.udp(host, 4801) for host in "abc"}
        for host, opened in self.sockets.items():
            opened.settimeout(5)
            own = socket.inet_aton(self.network.address(host))
            opened.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
        self.members = {host: isolation.in_network(self.network.path(host), self._member)
                        for host in "abc"}

    def tearDown(self):
        for opened in self.members.values():
            opened.close()
        self.network.close()

    @staticmethod
    def _member():
        member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        member.bind((GROUP, 4900))
        index = dict((name, number) for number, name in socket.if_nameindex())["e0"]
        request = struct.pack("=4s4si", socket.inet_aton(GROUP), b"\0" * 4, index)
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
        member.settimeout(5)
        return member

    def arrives(self, source, target, seconds=5.0):
        """True if a datagram gets from one host to the other."""
        self.sockets[target].settimeout(seconds)
        try:
            self.sockets[source].sendto(b"hello", (self.network.address(target), 4801))
            return self.sockets[target].recv(100) == b"hello"
        except (TimeoutError, OSError):
            return False

    def test_multicast_reaches_everyone(self):
        self.sockets["a"].sendto(b"all", (GROUP, 4900))
        for host in "bc":
            self.assertEqual(self.members[host].recv(100), b"all")

    def test_links_go_down_and_up(self):
        for fault in (self.network.link, self.network.cable):
            self.assertTrue(self.arrives("a", "c"))
            fault("c", False)
            self.assertFalse(self.arrives("a", "c", 0.2))
            fault("c", True)
            self.assertTrue(self.arrives("c", "a"))

    def test_a_split_network_is_joined_again(self):
        self.assertTrue(self.arrives("a", "c"))
        self.network.split("ab", "c")
        self.assertTrue(self.arrives("a", "b"))
        self.assertFalse(self.arrives("a", "c", 0.2))
        self.network.join()
        self.assertTrue(self.arrives("a", "c"))

    def test_loss_has_a_direction(self):
        self.network.lose("a", "b", 100)
        self.assertFalse(self.arrives("a", "b", 0.2))
        self.assertTrue(self.arrives("b", "a"))
        self.assertTrue(self.arrives("c", "b"))
        self.assertGreater(self.network.lost("b"), 0)
        self.network.lose("a", "b", 0)
        self.assertTrue(self.arrives("a", "b"))

    def test_what_lies_between_carries_frames(self):
        to_host, to_bridge = self.network.between("c")
        self.sockets["a"].sendto(b"hello", (self.network.address("c"), 4801))
        to_host.send(self.next_frame(to_bridge, ARP))  # who has the address of c
        to_bridge.send(self.next_frame(to_host, ARP))
        datagram = None
        while datagram is None or datagram.payload != b"hello":
            datagram = Datagram.parse(self.next_frame(to_bridge, IPV4))

    @staticmethod
    def next_frame(tap, kind):
        """The next frame of a kind that came from there; hosts also say which groups they are in,
        whenever they like."""
        tap.settimeout(5)
        while True:
            frame, where = tap.recvfrom(2_000)
            if where[2] != socket.PACKET_OUTGOING and frame[12:14] == kind:
                return frame

    def test_a_tap_sees_and_sends(self):
        tap = self.network.tap("b")
        forged = Datagram((self.network.address("c"), 4801), (self.network.address("b"), 4801),
                          b"forged")
        tap.send(forged.frame(self.network.hardware_address("b")))
        payload, source = self.sockets["b"].recvfrom(100)
        self.assertEqual((payload, source), (b"forged", (self.network.address("c"), 4801)))
        group = Datagram((self.network.address("c"), 4802), (GROUP, 4900), b"to all")
        tap.send(group.frame(self.network.hardware_address("b")))
        self.assertEqual(self.members["b"].recv(100), b"to all")
        self.sockets["a"].sendto(b"seen", (self.network.address("b"), 4801))
        seen = []
        while not seen or seen[-1] is None or seen[-1].payload != b"seen":
            seen.append(Datagram.parse(tap.recv(2_000)))
        self.assertEqual(seen[-1].source, (self.network.address("a"), 4801))


def main():
    """Runs all tests in a place of their own; returns the exit status."""
    if network.missing_tools():
        return run.not_run(f"missing: {', '.join(network.missing_tools())}")

    def inside():
        program = unittest.main(exit=False, argv=sys.argv)
        return 0 if program.result.wasSuccessful() and program.result.testsRun > 0 else 1

    try:
        return isolation.enter(inside)
    except isolation.NoNamespaces as reason:
        return run.not_run(str(reason))


if __name__ == "__main__":
    sys.exit(main())
