#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What one daemon takes for many clients and groups, as a table.

usage: tools/measure_daemon.py [PEAL] [--clients N] [--groups N]

Runs `peal node` alone on this machine, connects clients (1000) that join groups of their own
(10000 in sum), and measures memory and times; then how much silent connections delay a good one.
Speaks the protocol of docs/client-protocol.md itself.
"""

import argparse
import os
import pathlib
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60
ROUNDS = 200  # of a message to oneself

HELLO, JOIN, SEND = 1, 2, 4
MESSAGE, GROUP_VIEW, WELCOME, ACKED, REPLY = 64, 65, 80, 81, 83


def name(text):
    """A name as it stands in a record."""
    return bytes([len(text)]) + text.encode()


class Client:
    """One connection that says hello, and waits for every answer."""

    def __init__(self, path, silent=False):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(path)
        self.input = b""
        self.sent = 0
        if not silent:
            self.say(HELLO, struct.pack("<H16xQI", 1, 0, 0) + name(""))
            body = self.until(WELCOME)
            length = body[19]
            self.name = body[20 : 20 + length].decode()

    def say(self, kind, body):
        """Sends one record."""
        self.socket.sendall(struct.pack("<IB", len(body) + 1, kind) + body)

    def until(self, kind):
        """The body of the next record of this kind; others are left out."""
        while True:
            while len(self.input) < 5:
                self.more()
            length, found = struct.unpack_from("<IB", self.input)
            while len(self.input) < 4 + length:
                self.more()
            body, self.input = self.input[5 : 4 + length], self.input[4 + length :]
            if found == kind:
                return body
            if found == 85:
                sys.exit("measure_daemon: closed: " + body[1:].decode(errors="replace"))

    def more(self):
        """Reads once."""
        got = self.socket.recv(65536)
        if not got:
            sys.exit("measure_daemon: the daemon hung up")
        self.input += got

    def join(self, group):
        """Seconds from the wish to the view with this client in it."""
        began = time.perf_counter()
        self.say(JOIN, struct.pack("<IBQQI", 1, 0, 0, 0, 0) + name(group))
        self.until(GROUP_VIEW)
        return time.perf_counter() - began

    def round_trip(self):
        """Seconds for a message to oneself."""
        self.sent += 1
        began = time.perf_counter()
        head = struct.pack("<QBHBB", self.sent, 2, 0, 0, 1)
        self.say(SEND, head + name(self.name) + b"x" * 100)
        self.until(MESSAGE)
        return time.perf_counter() - began


def resident(pid):
    """Bytes of memory that a process really uses."""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def start(peal, folder):
    """A daemon that serves; and the path of its socket."""
    config = folder + "/peal.toml"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1] & ~1
    pathlib.Path(config).write_text(
        'cluster = "measure"\nnode = "a"\ninsecure = true\n'
        f'[[nodes]]\nname = "a"\naddress = "127.0.0.1:{port}"\n'
        "[clients]\nhello_ms = 600000\n"
    )
    with open(folder + "/log", "w", encoding="utf-8") as log:
        # pylint: disable-next=consider-using-with
        daemon = subprocess.Popen([peal, "node", "--config", config], stderr=log)
    end = time.monotonic() + PATIENCE_S
    while "view_installed" not in pathlib.Path(folder + "/log").read_text(encoding="utf-8"):
        if daemon.poll() is not None or time.monotonic() > end:
            sys.exit("measure_daemon: " + pathlib.Path(folder + "/log").read_text(encoding="utf-8"))
        time.sleep(0.01)
    return daemon, folder + "/a.sock"


def row(what, value):
    """One line of the table."""
    print(f"| {what} | {value} |", flush=True)


def milliseconds(times):
    """Median and the slowest of a hundred."""
    ordered = sorted(times)
    slow = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return f"{statistics.median(ordered) * 1e3:.2f} ms, 99 %: {slow * 1e3:.2f} ms"


def measure(arguments, folder):
    """Prints the table."""
    daemon, path = start(arguments.peal, folder)
    try:
        good = Client(path)
        alone = [good.round_trip() for _ in range(ROUNDS)]
        print("| what | measured |\n| --- | --- |")
        row("a message to oneself, alone", milliseconds(alone))
        silent = [Client(path, silent=True) for _ in range(arguments.clients)]
        beside = [good.round_trip() for _ in range(ROUNDS)]
        row(f"beside {len(silent)} silent connections", milliseconds(beside))
        for each in silent:
            each.socket.close()
        good.round_trip()
        before = resident(daemon.pid)
        began = time.perf_counter()
        clients = [Client(path) for _ in range(arguments.clients)]
        took = time.perf_counter() - began
        row("from connect to welcome", f"{took / len(clients) * 1e3:.2f} ms each, one by one")
        connected = resident(daemon.pid)
        row("memory of a client", f"{(connected - before) / len(clients) / 1024:.1f} KiB")
        times = [clients[i % len(clients)].join(f"group-{i}") for i in range(arguments.groups)]
        row("joining a group", milliseconds(times))
        joined = resident(daemon.pid) - connected
        row("memory of a group with one member", f"{joined / arguments.groups / 1024:.2f} KiB")
        row("a message to oneself then", milliseconds([good.round_trip() for _ in range(ROUNDS)]))
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()


def main():
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peal", nargs="?", default="build/release/bin/peal")
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=10000)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        measure(arguments, folder)


if __name__ == "__main__":
    main()
