# SPDX-License-Identifier: Apache-2.0
"""Acceptors whose folder on a real disk is lost, or put back as it was before."""

import os
import shutil

from bench import case
from cases_paxos import DATA, back, expect_counters, paxos_cluster
from lib import Failure, START_S

NEW_LOG = "there was no log in"
FORGOTTEN = "this node has lost its votes"
VOTES_AGAIN = "votes again"
OLDER_COPY = "is an older copy of what it was"
REMEDY = "empty the folder, and start it"


def wait_said(cluster, name, *texts):
    """The node has a line with all of these."""
    def says_all(line):
        plain = line.replace("\\", "").replace('"', "")  # names are quoted, within JSON
        return all(text in plain for text in texts)

    cluster[name].child.wait_lines(lambda lines: any(map(says_all, lines)), START_S,
                                   f"line with {texts}")


def folder_of(cluster, name):
    """Where the acceptor has its log."""
    return os.path.join(cluster.folder, DATA, name)


def start_with_nothing(cluster, victim, others):
    """The victim's folder is lost while it does not run. It comes back, says so, is taken in, which
    all others say, and votes: the smallest majority with it goes on."""
    shutil.rmtree(folder_of(cluster, victim))
    back(cluster, [victim])
    wait_said(cluster, victim, NEW_LOG)
    wait_said(cluster, victim, FORGOTTEN)
    wait_said(cluster, victim, "this node had lost its votes", VOTES_AGAIN)
    for name in others:
        wait_said(cluster, name, f"node {victim} had lost its votes", VOTES_AGAIN)
    away = others[len(others) // 2:]
    for name in away:
        cluster[name].crash()
    rest = [name for name in others if name not in away]
    cluster.progress([*rest, victim], timeout=START_S)
    back(cluster, away)


@case(3, soak=(5,))
def lost_disk(bench):
    """An acceptor is killed under full load, its folder is removed, and it starts with an empty
    one: it says that it lost its votes, the others take it in with its new log, and it votes
    again. The same with the next one. Three nodes order by Paxos, five by Ridge."""
    order = "paxos" if bench.size == 3 else "ridge"
    cluster = paxos_cluster(bench, order)
    cluster.start()
    cluster.progress(bench.names, 1_000)
    victims = bench.names[:2 if bench.quick else 3]
    for victim in victims:
        bench.step(f"{victim} loses its disk")
        others = [name for name in bench.names if name != victim]
        cluster[victim].crash()
        cluster.wait_view(others)
        cluster.progress(others)
        start_with_nothing(cluster, victim, others)
    expect_counters(cluster, bench.names, order, one_list=False)
    return f"{len(victims)} lost their disks and vote again; {bench.finish(cluster)}"


@case(3, soak=(5,))
def put_back(bench):
    """The folder of an acceptor is copied, and put back after more was ordered: the node says
    that it is an older copy and what to do, and so do the others, and it does not vote; nor
    does it after another start. With an empty folder it is taken in again. Three nodes order by
    Ridge, five by Paxos."""
    order = "ridge" if bench.size == 3 else "paxos"
    cluster = paxos_cluster(bench, order)
    cluster.start()
    cluster.progress(bench.names, 1_000)
    victim, others = bench.names[-1], bench.names[:-1]
    cluster[victim].crash()
    kept = os.path.join(cluster.folder, victim + ".kept")
    shutil.copytree(folder_of(cluster, victim), kept)
    back(cluster, [victim])
    cluster.progress(bench.names, 1_000)
    cluster[victim].crash()
    shutil.rmtree(folder_of(cluster, victim))
    shutil.copytree(kept, folder_of(cluster, victim))
    for turn in ("put back", "started once more"):
        bench.step(f"the folder of {victim} is {turn}")
        back(cluster, [victim])
        wait_said(cluster, victim, OLDER_COPY, REMEDY)
        for name in others:
            wait_said(cluster, name, f"the data_dir of node {victim}", OLDER_COPY, REMEDY)
        counters = cluster[victim].status()["counters"]
        if counters["quorum_amnesiac"] != 1:
            raise Failure(f"{victim} may vote: {counters}")
        cluster[victim].crash()
        cluster.wait_view(others)
    bench.step("an empty folder")
    start_with_nothing(cluster, victim, others)
    expect_counters(cluster, bench.names, order, one_list=False)
    return f"{victim} was refused twice as a voter, and taken in; {bench.finish(cluster)}"
