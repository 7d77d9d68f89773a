# SPDX-License-Identifier: Apache-2.0
"""Acceptors whose log on a real disk is not what they wrote."""

import os
import random
import shutil
import struct

from bench import case
from cases_paxos import DATA, back, expect_counters, paxos_cluster
from lib import Failure

HEADER_BYTES, FRAME_BYTES = 80, 40  # of a segment, and of a frame without its record: docs/wal.md
REMEDY = "must not take part with it; keep a copy of the folder"


class Folder:
    """What an acceptor has on disk, a copy of it, and ways to damage it."""

    def __init__(self, cluster, name):
        self.path = os.path.join(cluster.folder, DATA, name)
        self.kept = os.path.join(cluster.folder, name + ".kept")
        shutil.copytree(self.path, self.kept)

    def restore(self):
        """As it was when the node ended."""
        shutil.rmtree(self.path)
        shutil.copytree(self.kept, self.path)

    def file(self, *names):
        """The path of one of its files."""
        return os.path.join(self.path, *names)

    def newest(self):
        """The segment that was written last."""
        return newest_in(self.path)


def newest_in(path):
    """The name of the segment that was written last, in the folder of an acceptor."""
    return max(name for name in os.listdir(os.path.join(path, "log")) if name.endswith(".wal"))


def has_its_end(path):
    """Whether the segment has an end frame: a kill may come before the next segment is there. Then
    what is cut off behind the end is not missed."""
    with open(path, "rb") as file:
        data = file.read()
    seed, at = data[12:16], HEADER_BYTES
    while at + FRAME_BYTES <= len(data) and data[at + 12:at + 16] == seed:
        kind, length = struct.unpack_from("<4sI", data, at + 4)
        if kind == b"PWE1":
            return True
        at += FRAME_BYTES + -(-length // 8) * 8
    return False


def crash_within_a_segment(cluster, victim, others):
    """Kills the node while it writes to its newest segment."""
    for _turn in range(5):
        cluster[victim].crash()
        cluster.wait_view(others)
        path = os.path.join(cluster.folder, DATA, victim)
        if not has_its_end(os.path.join(path, "log", newest_in(path))):
            return
        back(cluster, [victim])
    raise Failure(f"the newest segment of {victim} had its end at each of 5 kills")


def expect_refused(cluster, name, *texts):
    """The node does not start, and says why in these words."""
    child = cluster[name].start().child
    cluster.traces.pop()  # it is in none
    status = child.wait()
    cluster[name].child = None
    said = " ".join(child.lines)
    missing = [text for text in (*texts, REMEDY) if text not in said]
    if status == 0 or missing:
        raise Failure(f"{name} ended with {status}, without {missing}; it says: {child.lines[-2:]}")


@case(3, soak=(5,))
def truncated(bench):
    """An acceptor is killed under full load, and before it starts again its newest segment is cut,
    at many lengths, or its `identity` is gone, or all but its `epoch`: each time it refuses to
    start and names the file, and the others go on. With its files as they were it comes back. Three
    nodes order by Paxos, five by Ridge."""
    order = "paxos" if bench.size == 3 else "ridge"
    cluster = paxos_cluster(bench, order)
    cluster.start()
    victim = bench.names[-1]
    others = bench.names[:-1]
    cluster.progress(bench.names, 2_000)
    crash_within_a_segment(cluster, victim, others)
    folder = Folder(cluster, victim)
    newest = folder.newest()
    size = os.path.getsize(folder.file("log", newest))
    rng = random.Random(size)
    lengths = [0, HEADER_BYTES, size - 1]
    lengths += [rng.randrange(HEADER_BYTES, size) for _ in range(bench.rounds(9, 3))]
    for length in lengths:
        bench.step(f"{newest} of {size} bytes, cut at {length}")
        os.truncate(folder.file("log", newest), length)
        expect_refused(cluster, victim, newest, "is damaged at offset")
        folder.restore()
    bench.step("without identity")
    os.remove(folder.file("identity"))
    expect_refused(cluster, victim, folder.file("identity")[len(cluster.folder) + 1:], "is missing")
    bench.step("epoch alone")
    shutil.rmtree(folder.file("log"))
    expect_refused(cluster, victim, "is missing", "epoch is there")
    bench.step("restored")
    cluster.progress(others)
    folder.restore()
    back(cluster, [victim])
    expect_counters(cluster, bench.names, order)
    return f"refused {len(lengths) + 2} times, then back; {bench.finish(cluster)}"
