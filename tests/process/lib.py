# SPDX-License-Identifier: Apache-2.0
"""A cluster of real `peal node` processes in a Network, with load, and judged by `peal check`."""

import base64
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

PORT = 4801
TOKEN_LOSS_S = 0.22  # the default of ring.token_loss_ms
START_S = 20  # the longest that any change of view may take before a case fails
EXIT_S = 10


class Failure(Exception):
    """A case has shown that something is wrong; the text says what."""


def now_ns():
    """The clock of the nodes' traces."""
    return time.monotonic_ns()


class Child:
    """A process of ours, and the lines that it writes to standard error."""

    def __init__(self, command, folder, log, **options):
        self.what = log
        self.lines = []
        self._ended = False  # nothing more will be read
        self._changed = threading.Condition()
        self._file = open(os.path.join(folder, log + ".log"), "a", encoding="utf-8")
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            command, cwd=folder, stderr=subprocess.PIPE, text=True, errors="replace",
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **options})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self._file.write(line)
            self._file.flush()
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        self._file.close()
        self.process.stderr.close()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def pid(self):
        """Its process id."""
        return self.process.pid

    def wait_lines(self, enough, timeout, what):
        """Returns as soon as enough(lines) is true; a Failure after `timeout` seconds, or if the
        process ends before."""
        with self._changed:
            self._changed.wait_for(lambda: enough(self.lines) or self._ended, timeout)
            if not enough(self.lines):
                why = "it has ended" if self._ended else f"{timeout:.1f} s have passed"
                raise Failure(f"{self.what}: no {what}, and {why}; it says: {self.lines[-1:]}")

    def signal(self, number):
        """Sends a signal unless it has ended."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, timeout=EXIT_S):
        """Waits for its end and returns the exit status, or minus the signal."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.what} (pid {self.pid}) does not end in {timeout} s") from None
        self._reader.join(timeout)
        return status

    def kill(self):
        """SIGKILL, and waits."""
        self.signal(signal.SIGKILL)
        self.wait()

    def memory_bytes(self, key="VmRSS"):
        """Resident memory now, or at its greatest (VmHWM)."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) * 1024
        raise Failure(f"{self.what}: no {key}: it has ended")


class PacedChild(Child):
    """A Child that reads the lines of a file from its standard input, again and again, so many per
    second."""

    STEP_S = 0.005

    def __init__(self, command, folder, log, lines, rate):
        super().__init__(command, folder, log, stdin=subprocess.PIPE)
        with open(os.path.join(folder, lines), "rb") as file:
            self._messages = file.readlines()
        self._rate = rate
        self._over = threading.Event()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def _feed(self):
        fed, begin = 0, time.monotonic()
        while not self._over.wait(self.STEP_S):
            due = int((time.monotonic() - begin) * self._rate)
            part = [self._messages[at % len(self._messages)] for at in range(fed, due)]
            fed = due
            try:
                os.write(self.process.stdin.fileno(), b"".join(part))
            except BrokenPipeError:
                return

    def kill(self):
        super().kill()
        self._over.set()
        self._feeder.join()
        self.process.stdin.close()


def view_in(line):
    """The members of the regular view that a node's log line reports; None for other lines."""
    if '"view_installed"' not in line:
        return None
    return tuple(sorted(json.loads(line)["members"].split(",")))


class Node:
    """One configured node and its incarnations."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.incarnation = 0
        self.child = None  # while it is to run
        self.group = None  # whom its load goes to; None: as `peal send` has it
        self.rate = None  # messages per second of its load; None: as many as the node takes
        self.load = None

    def start(self, config="peal.toml"):
        """Starts the next incarnation, with a trace and a log of its own."""
        self.incarnation += 1
        label = f"{self.name}.{self.incarnation}"
        cluster = self.cluster
        arguments = [cluster.peal, "node", "--config", config, "--name", self.name, "--json",
                     "--trace", label + ".trace"]
        self.child = Child(cluster.network.command(self.name, arguments), cluster.folder, label)
        cluster.traces.append(label + ".trace")
        return self

    def views(self):
        """The members of each regular view of this incarnation, oldest first."""
        return [view for view in map(view_in, list(self.child.lines)) if view is not None]

    def wait_view(self, members, timeout=START_S):
        """Waits until the newest view has exactly these members."""
        wanted = tuple(sorted(members))

        def newest(lines):
            for line in reversed(lines):
                view = view_in(line)
                if view is not None:
                    return view == wanted
            return False

        self.child.wait_lines(newest, timeout, f"view of {','.join(wanted)}")

    def start_load(self):
        """Sends without end, as fast as the node takes it, or at self.rate."""
        cluster = self.cluster
        payload = cluster.payload(self.name)
        # The same file again and again: more than any case can send, and no process to feed it.
        # Clients come after nodes when processors are short.
        send = [cluster.peal, "send", "--to", self.name + ".sock"]
        if self.group is not None:
            send += ["--group", self.group]
        command = ["nice", "-n", "10", *send]
        if self.rate is not None:
            self.load = PacedChild(command, cluster.folder, f"{self.name}.send", payload, self.rate)
            return
        self.load = Child(command + [payload] * 20_000, cluster.folder, f"{self.name}.send")

    def stop_load(self):
        """Ends the sender; what the node has taken in it still orders."""
        if self.load is not None:
            self.load.kill()
            self.load = None

    def status(self):
        """What `peal status` says of this node."""
        done = self.cluster.run("status", "--json", "--to", self.name + ".sock")
        if done.returncode != 0:
            raise Failure(f"status of {self.name}: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(done.stdout)[0]

    def delivered(self):
        """Messages delivered by this incarnation."""
        return self.status()["delivered"]["messages"]

    def wait_member(self, group, timeout=START_S):
        """Waits until a client of this node is in the group."""
        deadline = time.monotonic() + timeout
        while not any(membership["group"] == group for session in
                      self.status()["clients"]["sessions"] for membership in session["groups"]):
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} has no client in the group {group}")

    def wait_delivered(self, count, timeout=START_S):
        """Waits until this incarnation has delivered so many messages."""
        done = self.cluster.run("status", "--to", self.name + ".sock", "--wait",
                                f"delivered={count}", "--timeout", str(timeout))
        if done.returncode != 0:
            raise Failure(f"{self.name} delivers too little: {done.stderr.strip()}")

    def crash(self):
        """SIGKILL to the node; its sender ends with it. Returns the time of the signal."""
        at = now_ns()
        self.child.kill()
        self.child = None
        self.stop_load()
        return at

    def leave(self):
        """SIGTERM: the node says goodbye and ends with exit status 0."""
        self.stop_load()
        at = now_ns()
        self.child.signal(signal.SIGTERM)
        self.wait_left()
        return at

    def wait_left(self):
        """Waits for its end after SIGTERM; a Failure too if it had ended by itself before."""
        child, self.child = self.child, None
        status = child.wait()
        if status != 0:
            raise Failure(f"{self.name} ended with {status}: {child.lines[-1:]}")

    def condition(self):
        """How it is now, in one line, whatever has happened to it: for who looks into a failure.
        Its whole status goes to a file, LABEL.status.json."""
        label = f"{self.name}.{self.incarnation}"
        if self.child is None:
            return f"{label}: was ended"
        ended = self.child.process.poll()
        if ended is not None:
            return f"{label}: ended with {ended}; it says: {self.child.lines[-2:]}"
        try:
            status = self.status()
        except (Failure, subprocess.TimeoutExpired, ValueError) as problem:
            return f"{label}: runs, but {problem}; it says: {self.child.lines[-2:]}"
        with open(os.path.join(self.cluster.folder, label + ".status.json"), "w",
                  encoding="utf-8") as out:
            json.dump(status, out, indent=1)
        view = status["view"]["members"] if "view" in status else "none"
        return (f"{label}: view {view}, {status['delivered']['messages']:,} delivered, "
                f"waits for {status['waits_for']}")


class Cluster:
    """The nodes of one case: one configuration for all, one folder for all files."""

    # Bytes of the messages that each node sends again and again: tiny ones that share packets, some
    # of one packet, and large ones that are cut into many.
    SIZES = [60] * 8 + [1_300] * 8 + [9_000] * 8 + [60_000] * 6 + [400_000]

    def __init__(self, peal, network, folder, settings="", sizes=None, key="peal.key"):
        self.peal, self.network, self.folder = peal, network, folder
        self.traces = []
        self._sizes = sizes or self.SIZES
        self.nodes = {name: Node(self, name) for name in network.hosts}
        self.write_config("peal.toml", settings, key=key)

    def __getitem__(self, name):
        return self.nodes[name]

    def __iter__(self):
        return iter(self.nodes.values())

    def write_config(self, file, settings="", cluster="process-test", key="peal.key",
                     address=None, nodes=None):
        """Writes a configuration: `settings` are TOML lines of the top level and tables; `key` is a
        key file, which is made if it is not there, or None for nodes that are insecure;
        address(name) is where a node is, without the port; and `nodes` are the names of those in
        its list, with their numbers or None. Without it, it has all of them."""
        address = address or self.network.address
        top, _, tables = settings.partition("[")
        if key is not None and not os.path.exists(os.path.join(self.folder, key)):
            self.keygen(key)
        lines = [f'cluster = "{cluster}"',
                 "insecure = true" if key is None else f'key_file = "{key}"', top]
        for name, number in (nodes or dict.fromkeys(self.nodes)).items():
            lines += ["[[nodes]]", f'name = "{name}"', f'address = "{address(name)}:{PORT}"']
            lines += [f"number = {number}"] if number is not None else []
        lines.append("[" + tables if tables else "")
        with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")

    def payload(self, name):
        """A file with one message per line, different for each node."""
        path = os.path.join(self.folder, name + ".payload")
        if not os.path.exists(path):
            rng = random.Random(name)
            with open(path, "wb") as out:
                for _ in range(4):
                    for size in rng.sample(self._sizes, len(self._sizes)):
                        out.write(base64.b64encode(rng.randbytes(size * 3 // 4 + 3))[:size] + b"\n")
        return name + ".payload"

    def run(self, *arguments):
        """Runs one `peal` command to its end."""
        return subprocess.run([self.peal, *arguments], cwd=self.folder, capture_output=True,
                              text=True, errors="replace", timeout=120, check=False)

    def keygen(self, *arguments):
        """Runs `peal keygen` and returns the id of the first key that it names."""
        done = self.run("keygen", *arguments)
        if done.returncode != 0:
            raise Failure(f"keygen {arguments}: {done.stderr.strip()}")
        return re.findall(r"key ([0-9a-f]{8})", done.stdout)[0]

    def start(self, load=True):
        """Starts all nodes, waits for the view of all, and lets all of them send."""
        for node in self:
            node.start()
        self.wait_view(self.nodes)
        if load:
            for node in self:
                node.start_load()
            self.progress(self.nodes)

    def wait_view(self, members, timeout=START_S):
        """Waits until these nodes are in one view of just them."""
        deadline = time.monotonic() + timeout
        for name in members:
            self[name].wait_view(members, max(0.1, deadline - time.monotonic()))

    def progress(self, names, messages=100, timeout=START_S):
        """Waits until each of these nodes has delivered so many more messages."""
        for name, count in {name: self[name].delivered() for name in names}.items():
            self[name].wait_delivered(count + messages, timeout)

    def abort(self):
        """Ends everything that may still run, without a word."""
        for node in self:
            for child in (node.load, node.child):
                if child is not None:
                    child.signal(signal.SIGKILL)

    def leave(self):
        """Ends all nodes with SIGTERM, at once; each must end with exit status 0."""
        for node in self:
            node.stop_load()
        running = [node for node in self if node.child is not None]
        for node in running:
            node.child.signal(signal.SIGTERM)
        for node in running:
            node.wait_left()

    def finish(self):
        """Ends all nodes in good order, and returns what `peal check` says of their traces."""
        self.leave()
        return self.check()

    def check(self):
        """Has the oracle judge all traces; returns its figures."""
        done = self.run("check", "--json", *self.traces)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            raise Failure(f"peal check: {done.stderr.strip()}") from None
        if done.returncode != 0 or not report["ok"]:
            violations = [violation["text"] for layer in ("order", "unit") if layer in report
                          for violation in report[layer]["violations"]]
            raise Failure(f"peal check: {len(violations)} violations, first: {violations[:1]}")
        figures = report["order"]["figures"]
        if figures["deliveries"] == 0:
            raise Failure("peal check: the traces hold no delivery")
        return figures

    def view_events(self):
        """All regular views in the traces: (time in ns, node, view id, names of members, primary).

        Sorted by time. `primary` is None where nothing is claimed.
        """
        events = []
        for trace in self.traces:
            with open(os.path.join(self.folder, trace), "rb") as lines:
                events += [_view_event(line) for line in lines
                           if b'"ev":"view"' in line and b'"kind":"regular"' in line]
        return sorted(events)


def _view_event(line):
    event = json.loads(line)
    members = tuple(member.rpartition(".")[0] for member in event["members"])
    name = event["node"].rpartition(".")[0]
    return event["at"], name, event["view"], members, event.get("primary")


def percentiles(values):
    """"median 312, 250 to 480" of a list of milliseconds."""
    ordered = sorted(values)
    return f"median {median(values):.0f} ms, {ordered[0]:.0f} to {ordered[-1]:.0f} ms"


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
