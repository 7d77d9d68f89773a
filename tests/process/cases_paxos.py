# SPDX-License-Identifier: Apache-2.0
"""Nodes that order on a majority of acceptors, with their logs on a real disk."""

import json
import os
import signal

from bench import case
from cases_processes import times_to_view, view_after
from lib import Failure, START_S, now_ns, percentiles

DATA = "data"
# Who comes back under full load may have to wait until the others have forgotten what it lacks, and
# begins where they are then: they do not wait for it.
REJOIN_S = 60


def quorum_settings(order, ensembles=1, optimistic=False, more=""):
    """Lines of the configuration of a cluster with acceptors."""
    several = f"ridge.ensembles = {ensembles}\n" if ensembles > 1 else ""
    early = "ridge.optimistic = true\n" if optimistic else ""
    return f'order = "{order}"\ndata_dir = "{DATA}"\n{several}{early}{more}'


def paxos_cluster(bench, order="paxos", ensembles=1, optimistic=False, more=""):
    """A cluster with acceptors, nothing started."""
    cluster = bench.cluster(settings=quorum_settings(order, ensembles, optimistic, more))
    os.mkdir(os.path.join(cluster.folder, DATA), 0o700)
    return cluster


def acceptors(bench):
    """Who votes if nobody says otherwise; the first one that seems alive coordinates."""
    return bench.names[:3] if bench.size < 5 else bench.names[:5]


def coordinator(cluster):
    """The node whose round it is: the view says who formed it."""
    for node in cluster:
        if node.child is not None:
            return node.status()["view"]["id"].partition("@")[2].partition(".")[0]
    raise Failure("no node runs")


def longest_stall_ms(cluster, begin, end):
    """The longest time without any delivery at any node, between these times."""
    times = []
    for trace in cluster.traces:
        with open(os.path.join(cluster.folder, trace), "rb") as lines:
            times += [json.loads(line)["at"] for line in lines
                      if b'"ev":"deliver"' in line and line.endswith(b"\n")]
    inside = [begin, *sorted(at for at in times if begin < at < end), end]
    return max(after - before for before, after in zip(inside, inside[1:])) / 1e6


def back(cluster, names):
    """Starts these nodes again, which come back to all, and send."""
    for name in names:
        cluster[name].start()
    running = [node.name for node in cluster if node.child is not None]
    cluster.wait_view(running, REJOIN_S)
    for name in names:
        cluster[name].start_load()
    cluster.progress(running)


def expect_counters(cluster, names, order="paxos", one_list=True):
    """Nothing was refused that nodes of one cluster send each other. When the list of acceptors
    changes, votes under way are of the one before: then `one_list` is False."""
    refused = ["bad_checksum", "bad_value", "other_settings", "truncated"]
    if one_list:
        refused.append("other_list")
    for name in names:
        status = cluster[name].status()
        if status["order"] != order:
            raise Failure(f"status of {name} says order {status['order']}")
        for counter in refused:
            if status["counters"][counter] != 0:
                raise Failure(f"{name} counts {counter}: {status['counters'][counter]}")


@case(3, 5)
def paxos_sigkill(bench):
    """Acceptors that order on a majority are killed under full load and started again, in turns the
    coordinator and another one: time from the signal until the last survivor has the new view, and
    the longest time without a delivery anywhere."""
    return sigkill(bench, "paxos")


@case(3, soak=(5,))
def ridge_sigkill(bench):
    """The same with values along a chain: in turns the coordinator, its first acceptor, and another
    one die, of the chain or a distributor."""
    return sigkill(bench, "ridge")


@case(3, soak=(5,))
def ensembles_sigkill(bench):
    """The same with three ensembles, so that whoever dies coordinates one of them, or may."""
    return sigkill(bench, "ridge", ensembles=3, rounds=(5, 3))


@case(3)
def rotation_sigkill(bench):
    """The same with three rings that merge in rotation, as Multi-Ring Paxos."""
    ways = 'ridge.merge = "rotation"\nridge.dissemination = "ring"\n'
    cluster = paxos_cluster(bench, "ridge", ensembles=3, more=ways)
    return sigkill(bench, "ridge", rounds=(5, 3), cluster=cluster)


@case(3)
def optimistic_sigkill(bench):
    """The same with messages that are told early; whether they were, and were told truly, is
    judged too."""
    return sigkill(bench, "ridge", optimistic=True, rounds=(5, 3))


@case(5)
def domains_sigkill(bench):
    """The same where a and b send to a domain of theirs and c's, d and e to one of theirs and c's,
    and c to all."""
    domains = "".join(f'[[domain]]\nname = "{name}"\nnodes = {nodes}\ngroups = ["{name}-*"]\n'
                      for name, nodes in (("left", [1, 2, 3]), ("right", [3, 4, 5])))
    cluster = paxos_cluster(bench, "ridge", more=domains)
    for name, group in zip(bench.names, ("left-1", "left-2", None, "right-1", "right-2")):
        cluster[name].group = group
    return sigkill(bench, "ridge", rounds=(5, 3), cluster=cluster)


def sigkill(bench, order, ensembles=1, optimistic=False, rounds=(6, 4), cluster=None):
    cluster = cluster or paxos_cluster(bench, order, ensembles, optimistic)
    cluster.start()
    kills, returns, stalls = [], [], []
    for turn in range(bench.rounds(*rounds)):
        leader = coordinator(cluster)
        others = [name for name in acceptors(bench) if name != leader]
        victim = leader if turn % 2 == 0 else others[turn // 2 % len(others)]
        bench.step(f"kill {turn + 1}, of {victim}")
        survivors = [name for name in bench.names if name != victim]
        kills.append((cluster[victim].crash(), survivors))
        cluster.wait_view(survivors)
        cluster.progress(survivors)
        stalls.append((kills[-1][0], now_ns()))
        returns.append((now_ns(), bench.names))
        back(cluster, [victim])
    bench.step("end")
    expect_counters(cluster, bench.names, order)
    if optimistic and cluster[bench.names[0]].status()["counters"]["opt_delivered"] == 0:
        raise Failure(f"{bench.names[0]} was told nothing early")
    checked = bench.finish(cluster)
    took, came = times_to_view(cluster, kills), times_to_view(cluster, returns)
    stall = max(longest_stall_ms(cluster, begin, end) for begin, end in stalls)
    bench.figures.update(kill_to_view_ms=took, start_to_view_ms=came, stall_ms=stall)
    return (f"SIGKILL to the view of the survivors: {percentiles(took)} of {len(took)}; longest "
            f"stall {stall:.0f} ms; restart to the view of all: {percentiles(came)}; {checked}")


@case(3, 5)
def paxos_no_majority(bench):
    """Most acceptors are killed: those that are left deliver nothing, and `peal status` names all
    that are missing, and calls no view primary; when one is back that makes a majority, order goes
    on."""
    cluster = paxos_cluster(bench)
    cluster.start()
    voters = acceptors(bench)
    gone = list(voters[len(voters) // 2:])
    left = [name for name in bench.names if name not in gone]
    for name in gone:
        cluster[name].child.signal(signal.SIGKILL)
    for name in gone:
        cluster[name].crash()
    bench.step("without a majority")
    deadline = now_ns() + START_S * 1e9
    for name in left:
        # It knows that there is no majority, who is missing, and that its view is primary no more.
        lost = gone[0] + " is" if len(gone) == 1 else (
            ", ".join(gone[:-1]) + " and " + gone[-1] + " are")
        wanted = f"a majority of the acceptors; {lost} not heard"
        while (found := cluster[name].status())["waits_for"] != wanted or found["view"]["primary"]:
            if now_ns() > deadline:
                raise Failure(f"{name} waits for {found['waits_for']!r}, not {wanted!r}; "
                              f"its view: {found['view']}")
    counts = {name: cluster[name].delivered() for name in left}
    bench.step("with a majority again")
    began = now_ns()
    cluster[gone[0]].start()
    cluster.wait_view([*left, gone[0]])
    cluster[gone[0]].start_load()
    cluster.progress([*left, gone[0]])
    took = times_to_view(cluster, [(began, [*left, gone[0]])])
    back(cluster, gone[1:])
    if any(cluster[name].delivered() <= count for name, count in counts.items()):
        raise Failure("a node delivered less than before")
    expect_counters(cluster, bench.names)
    bench.figures.update(start_to_view_ms=took)
    return f"order goes on {took[0]:.0f} ms after a majority is back; {bench.finish(cluster)}"


def last_places(cluster, traces):
    """The newest view of these traces and the last position in it that was delivered anywhere."""
    views, last = [], {}
    for trace in traces:
        with open(os.path.join(cluster.folder, trace), "rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    continue
                if b'"ev":"deliver"' in line:
                    event = json.loads(line)
                    last[event["view"]] = max(last.get(event["view"], 0), event["seq"])
                elif b'"kind":"regular"' in line:
                    views.append(json.loads(line)["view"])
    newest = max(views, key=lambda view: int(view.partition("@")[0]))
    return newest, last.get(newest, 0)


@case(3, soak=(5,))
def paxos_power(bench):
    """All nodes are killed at once under full load, again and again, as if the power failed: with
    their logs they come back, views go on counting above those of before, the instances that were
    consumed stay consumed, and the order holds over all lives."""
    return power(bench, "paxos")


@case(3, soak=(5,))
def memory_sigkill(bench):
    """With votes in memory: any minority that is killed forgets its votes, is taken in anew, and
    votes again, so that another one may die. If most are killed at once, nothing is ordered until
    all nodes have been stopped; then they begin anew."""
    cluster = bench.cluster(settings='order = "paxos"\npaxos.storage = "memory"\n')
    cluster.start()
    minority = len(bench.names) // 2
    victims = bench.names[1:] + bench.names[:1]
    for turn in range(3):
        killed = [victims[(turn * minority + i) % len(victims)] for i in range(minority)]
        bench.step(f"kill of {' and '.join(killed)}")
        for name in killed:
            cluster[name].crash()
        survivors = [name for name in bench.names if name not in killed]
        cluster.wait_view(survivors)
        cluster.progress(survivors)
        back(cluster, killed)
        deadline = now_ns() + START_S * 1e9
        for name in killed:
            while (counters := cluster[name].status()["counters"])["quorum_amnesiac"] != 0:
                if now_ns() > deadline:
                    raise Failure(
                        f"{name} does not vote: it goes by list {counters['quorum_list']}")
            if counters["quorum_list"] <= turn:
                raise Failure(f"{name} votes in list {counters['quorum_list']}")
    bench.step("kill of most")
    most = bench.names[1:minority + 2]
    for name in most:
        cluster[name].crash()
    for name in most:
        cluster[name].start()
    deadline = now_ns() + START_S * 1e9
    wanted = "all nodes to be stopped, and started again"
    while wanted not in (found := str(cluster["a"].status()["waits_for"])):
        if now_ns() > deadline:
            raise Failure(f"a does not say that most votes are lost: {found}")
    if any("view_installed" in line for name in most for line in list(cluster[name].child.lines)):
        raise Failure("a node was in a view without a majority that remembers")
    for node in cluster:
        node.crash()
    bench.step("all start again")
    # What others say of the new order before it has begun here is dropped, and counted.
    back(cluster, bench.names)
    return f"three times {minority}, once most; {bench.finish(cluster)}"


@case(3, soak=(5,))
def ridge_power(bench):
    """The same with values along a chain."""
    return power(bench, "ridge")


@case(3)
def ensembles_power(bench):
    """The same with three ensembles, whose votes are in one log."""
    return power(bench, "ridge", ensembles=3, rounds=(4, 2))


def power(bench, order, ensembles=1, rounds=(4, 3)):
    cluster = paxos_cluster(bench, order, ensembles)
    cluster.start()
    returns, consumed = [], 0
    rounds = bench.rounds(*rounds)
    for turn in range(rounds):
        bench.step(f"power failure {turn + 1}")
        cluster.progress(bench.names, 300)
        # What one of them has consumed, an acceptor's majority has on disk.
        consumed = max(cluster[name].status()["counters"]["quorum_next"] for name in bench.names)
        lives = list(cluster.traces)
        for node in cluster:
            node.child.signal(signal.SIGKILL)
        for node in cluster:
            node.crash()
        before, _position = last_places(cluster, lives)
        returns.append((now_ns(), bench.names))
        bench.step(f"return {turn + 1}")
        back(cluster, bench.names)
        after = cluster["a"].status()["view"]["id"]
        if int(after.partition("@")[0]) <= int(before.partition("@")[0]):
            raise Failure(f"view {after} comes after {before}")
        for name in bench.names:
            going_on = cluster[name].status()["counters"]["quorum_next"]
            if going_on <= consumed:
                raise Failure(f"{name} is at instance {going_on}; {consumed} was consumed before")
    bench.step("end")
    expect_counters(cluster, bench.names, order)
    checked = bench.finish(cluster)
    came = times_to_view(cluster, returns)
    bench.figures.update(start_to_view_ms=came)
    return (f"{rounds} times all at once; start to the view of all: {percentiles(came)}; {checked}")


@case(3, soak=(5,))
def paxos_restart(bench):
    """All nodes are stopped with SIGTERM and started again one after the other under full load;
    with five, there is always a majority, and so there is with three."""
    cluster = paxos_cluster(bench)
    cluster.start()
    leaves, returns = [], []
    for name in bench.names:
        bench.step(f"restart of {name}")
        others = [other for other in bench.names if other != name]
        leaves.append((cluster[name].leave(), others))
        cluster.wait_view(others)
        cluster.progress(others)
        returns.append((now_ns(), bench.names))
        back(cluster, [name])
    checked = bench.finish(cluster)
    gone, came = times_to_view(cluster, leaves), times_to_view(cluster, returns)
    stall = max(longest_stall_ms(cluster, at, view_after(
        cluster.view_events(), at, others[0], others)) for at, others in leaves)
    bench.figures.update(leave_to_view_ms=gone, start_to_view_ms=came, stall_ms=stall)
    return (f"SIGTERM to the view of the others: {percentiles(gone)}; "
            f"longest stall {stall:.0f} ms; start to the view of all: "
            f"{percentiles(came)}; {checked}")


@case(3)
def paxos_strangers(bench):
    """A node that is started with another list of acceptors goes by the list that counts, waits
    outside the view until the others are given its own, and says so; the others go on, and it comes
    back with the list of all."""
    cluster = paxos_cluster(bench)
    cluster.start()
    cluster["c"].crash()
    cluster.wait_view(["a", "b"])
    bench.step("other acceptors")
    settings = f'order = "paxos"\ndata_dir = "{DATA}"\n[paxos]\nacceptors = [3]\n'
    cluster.write_config("other.toml", settings)
    child = cluster["c"].start("other.toml").child
    child.wait_lines(lambda lines: any('"started"' in line for line in lines), START_S,
                     "line that c has started")
    deadline = now_ns() + START_S * 1e9
    wanted = "which does not have this list yet: run peal reload there"
    while wanted not in (found := cluster["c"].status()["list"]).get("waits_for", ""):
        if now_ns() > deadline:
            raise Failure(f"c does not say what its list waits for: {found}")
    cluster.progress(["a", "b"])
    if any("view_installed" in line for line in list(child.lines)):
        raise Failure("c was in a view, with a list that does not count")
    cluster["c"].crash()
    bench.step("the list of all")
    back(cluster, ["c"])
    return f"told apart; {bench.finish(cluster)}"
