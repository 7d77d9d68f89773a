# SPDX-License-Identifier: Apache-2.0
"""Nodes and clients as processes among others: their logs, their descriptors, their children."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

from bench import case
from cases_paxos import longest_stall_ms
from lib import EXIT_S, Failure, START_S, now_ns

STALL_MS = 1_000
SETTINGS = "[ring]\ntoken_loss_ms = 500\nconsensus_ms = 500"


class Quiet:
    """A node whose log goes to a pipe that nobody reads, and whose trace may go to another one."""

    def __init__(self, node, trace):
        cluster = node.cluster
        self.node = node
        self.log, out = os.pipe()
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 4096)
        command = [cluster.peal, "node", "--config", "peal.toml", "--name", node.name, "--json",
                   "--trace", trace]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            cluster.network.command(node.name, command), cwd=cluster.folder, stderr=out,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(out)

    def stop_reading(self):
        """The other end of the log goes away."""
        os.close(self.log)
        self.log = -1

    def fill(self):
        """Has the node write lines until one more is dropped: it cannot take its file."""
        path = os.path.join(self.node.cluster.folder, "peal.toml")
        with open(path, encoding="utf-8") as config:
            good = config.read()
        with open(path, "w", encoding="utf-8") as config:
            config.write("nonsense = 1\n" + good)
        before = self.dropped()
        deadline = time.monotonic() + START_S
        while self.dropped() == before:
            for _ in range(100):
                self.process.send_signal(signal.SIGHUP)
                time.sleep(0.001)
            if time.monotonic() > deadline:
                raise Failure(f"{self.node.name}: no line of the log was dropped")
        with open(path, "w", encoding="utf-8") as config:
            config.write(good)

    def dropped(self):
        """How many lines of its log the node has counted as dropped."""
        return self.node.status()["counters"]["log_lines_dropped"]

    def read_dropped(self):
        """Reads the log again, until a line says how many were dropped before it; returns that."""
        text = b""
        os.set_blocking(self.log, False)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                text += os.read(self.log, 1 << 16)
            except BlockingIOError:
                time.sleep(0.005)
            for line in text.split(b"\n")[:-1]:
                entry = json.loads(line)  # all lines are whole
                if entry["event"] == "lines_dropped":
                    return int(entry["count"])
        raise Failure(f"{self.node.name}: nothing says that lines were dropped: {text[-300:]}")

    def leave(self):
        """SIGTERM: it ends with exit status 0, though nobody reads its log."""
        self.node.stop_load()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.node.name} does not end in {EXIT_S} s") from None
        if status != 0:
            raise Failure(f"{self.node.name} ended with {status}")

    def kill(self):
        """Whatever has happened."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def stopped_pipe(path):
    """Makes a pipe that a trace may go to, and its reader, which does not read."""
    os.mkfifo(path)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def read_all(reader):
    """What is in the pipe."""
    text = b""
    while True:
        try:
            part = os.read(reader, 1 << 20)
        except BlockingIOError:
            return text
        if not part:
            return text
        text += part


def expect_hole(cluster, text):
    """The trace says that lines are missing, and `peal check` does not judge it."""
    if b'"ev":"lost"' not in text:
        raise Failure("the trace lost lines, and does not say so")
    with open(os.path.join(cluster.folder, "hole.txt"), "wb") as out:
        out.write(text)
    done = cluster.run("check", "hole.txt")
    if done.returncode == 0 or "lines are missing here" not in done.stderr:
        raise Failure(f"peal check takes a trace with a hole: {done.stdout} {done.stderr}")


@case(3)
def quiet_reader(bench):
    """Under full load, the log of one node goes to a pipe that is full, that of another to one
    whose reader has gone away, and the trace of a third to one whose reader has stopped: order goes
    on, what was dropped is counted and said, and all end well."""
    cluster = bench.cluster(settings=SETTINGS)
    full, gone, blocked, *others = bench.names
    reader = stopped_pipe(os.path.join(cluster.folder, blocked + ".pipe"))
    quiet = {}
    try:
        for name, trace in ((full, full + ".1.trace"), (gone, gone + ".1.trace"),
                            (blocked, blocked + ".pipe")):
            quiet[name] = Quiet(cluster[name], trace)
        cluster.traces += [full + ".1.trace", gone + ".1.trace"]
        for name in others:
            cluster[name].start()
        done = cluster.run("status", "--to", cluster.folder, "--wait", f"members={bench.size}",
                           "--timeout", str(START_S))
        if done.returncode != 0:
            raise Failure(f"no view of all: {done.stdout} {done.stderr}")
        for node in cluster:
            node.start_load()
        cluster.progress(bench.names)
        bench.step("a log that nobody reads, and one whose reader is gone")
        begin = now_ns()
        quiet[gone].stop_reading()
        for name in (full, gone):
            quiet[name].fill()
        cluster.progress(bench.names, 1_000)
        bench.step("a trace that nobody reads")
        deadline = time.monotonic() + START_S
        while cluster[blocked].status()["counters"]["trace_lines_lost"] == 0:
            if time.monotonic() > deadline:
                raise Failure(f"{blocked}: no line of the trace is lost")
        cluster.progress(bench.names, 1_000)
        end = now_ns()
        bench.step("the readers read again")
        dropped = quiet[full].read_dropped()
        shown = cluster.run("status", "--to", full + ".sock").stdout
        if f"{full} dropped " not in shown or " log line" not in shown or " s ago)" not in shown:
            raise Failure(f"peal status does not say that lines were dropped:\n{shown}")
        text = read_all(reader)
        cluster.progress(bench.names, 1_000)
        expect_hole(cluster, text + read_all(reader))
        bench.step("the end")
        quiet[full].fill()
        for node in quiet.values():
            node.leave()
    finally:
        for node in quiet.values():
            node.kill()
        os.close(reader)
    stall = longest_stall_ms(cluster, begin, end)
    if stall > STALL_MS:
        raise Failure(f"nothing was delivered for {stall:.0f} ms")
    bench.figures.update(stall_ms=stall, dropped=dropped)
    return (f"longest stall {stall:.0f} ms; {dropped:,} lines dropped and said; "
            f"{bench.finish(cluster)}")


@case(3)
def fork(bench):
    """A client that sends and receives forks, again and again: its children are refused with a
    reason, and neither its session nor its node notices them; when it dies, its node does at once,
    whatever children it has."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    library = os.path.join(bench.options.bin, "..", "src", "cabi", "libpeal.so")
    if not os.path.exists(library):
        raise Failure(f"{library} is not there: build the target peal_c")
    cluster = bench.cluster(settings=SETTINGS)
    cluster.start()
    node = cluster[bench.names[0]]
    before = node.status()["connections"]["accepted"]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forking_client.py")
    environment = {**os.environ, "PEAL_LIBRARY": os.path.realpath(library),
                   "PYTHONPATH": os.path.join(root, "bindings/python")}
    children = bench.rounds(50, 20)
    program = bench.child([sys.executable, "-B", script, node.name + ".sock", "forks",
                           str(children)], "forking", env=environment)
    bench.step("forks")
    program.wait_lines(lambda lines: any("child " in line for line in lines), 60, "last child")
    sleeping = int(next(line for line in program.lines if "child " in line).split()[-1])

    def session():
        return [each for each in node.status()["clients"]["sessions"]
                if any(group["group"] == "forks" for group in each["groups"])]
    try:
        if len(session()) != 1:
            raise Failure(f"{node.name} has {len(session())} sessions of the client")
        accepted = node.status()["connections"]["accepted"] - before
        bench.step("the parent dies, and leaves a child")
        program.signal(signal.SIGKILL)
        killed = time.monotonic()
        while session():
            if time.monotonic() - killed > START_S:
                raise Failure(f"{node.name} has not noticed that its client is gone")
        noticed_ms = (time.monotonic() - killed) * 1e3
    finally:
        os.kill(sleeping, signal.SIGKILL)
    cluster.progress(bench.names)
    bench.figures.update(noticed_ms=noticed_ms, accepted=accepted)
    return (f"{children} children refused under load; its node saw its end after "
            f"{noticed_ms:.0f} ms; {bench.finish(cluster)}")
