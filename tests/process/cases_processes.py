# SPDX-License-Identifier: Apache-2.0
"""Processes that die, stand still, and come back."""

import glob
import json
import os
import signal
import time

from bench import case
from lib import Failure, TOKEN_LOSS_S, now_ns, percentiles


def view_after(events, at, node, members):
    """When `node` first installed a view of just `members` after `at`; a Failure if it did not."""
    wanted = tuple(sorted(members))
    for event_at, name, _view, present, _primary in events:
        if event_at >= at and name == node and tuple(sorted(present)) == wanted:
            return event_at
    raise Failure(f"the trace of {node} holds no view of {','.join(wanted)} after {at}")


def times_to_view(cluster, changes):
    """For each (time, members): milliseconds until the last of the members had that view."""
    events = cluster.view_events()
    return [(max(view_after(events, at, name, members) for name in members) - at) / 1e6
            for at, members in changes]


def reasons_of_views(cluster):
    """Why each node has left its views, as its logs tell it, with the time of day."""
    told = []
    for path in sorted(glob.glob(os.path.join(cluster.folder, "*.log"))):
        with open(path, encoding="utf-8") as log:
            entries = [json.loads(line) for line in log if '"view_left"' in line]
        name = os.path.basename(path).partition(".")[0]
        told += [f"{name} left {entry['view']} at {entry['at']}: {entry['reason']}"
                 for entry in entries]
    return "; ".join(told)


def expect_no_view(cluster, began, ended):
    """A Failure if any node has installed a view between these times; it says what the nodes say
    about why they left the one before."""
    for at, name, view, members, _primary in cluster.view_events():
        if began < at < ended:
            raise Failure(f"{name} has changed to view {view} of {','.join(members)} "
                          f"{(at - began) / 1e9:.2f} s after the start; "
                          f"{reasons_of_views(cluster)}")


@case(3, 5)
def sigkill(bench):
    """A node is killed under full load and started again, 20 times: time from the signal until the
    last survivor has the new view, from the traces; with the defaults, 440 ms on an idle machine
    (token_loss_ms and consensus_ms)."""
    return kill_in_turns(bench, bench.cluster(), bench.rounds(20, 5))


def kill_in_turns(bench, cluster, rounds):
    """Kills a node and starts it again, so many times."""
    cluster.start()
    kills, returns = [], []
    for turn in range(rounds):
        victim = cluster[bench.names[turn % bench.size]]
        survivors = [name for name in bench.names if name != victim.name]
        kills.append((victim.crash(), survivors))
        cluster.wait_view(survivors)
        cluster.progress(survivors)
        returns.append((now_ns(), bench.names))
        victim.start()
        cluster.wait_view(bench.names)
        victim.start_load()
        cluster.progress(bench.names)
    checked = bench.finish(cluster)
    took, back = times_to_view(cluster, kills), times_to_view(cluster, returns)
    bench.figures.update(kill_to_view_ms=took, start_to_view_ms=back)
    return (f"SIGKILL to the view of the survivors: {percentiles(took)} of {len(took)}; "
            f"restart to the view of all: {percentiles(back)}; {checked}")


@case(3, soak=(5,))
def sigstop_short(bench):
    """Each node stands still for 150 ms under full load, less than the token timeout: no node sees
    another view."""
    cluster = bench.patient_cluster()
    cluster.start()
    began, stops = now_ns(), bench.rounds(5, 5)
    for turn in range(stops):
        child = cluster[bench.names[turn % bench.size]].child
        child.signal(signal.SIGSTOP)
        time.sleep(0.150)  # this is the fault itself
        child.signal(signal.SIGCONT)
        cluster.progress(bench.names)
    ended = now_ns()
    checked = bench.finish(cluster)
    expect_no_view(cluster, began, ended)
    return f"{stops} stops of 150 ms, no change of view; {checked}"


@case(3, soak=(5,))
def sigstop_long(bench):
    """Each node stands still for three token timeouts under full load: the others go on in a view
    without it, and it comes back after SIGCONT."""
    return stop_in_turns(bench, bench.cluster(), bench.rounds(3, 2))


def stop_in_turns(bench, cluster, rounds):
    """Stops a node until the others have a view without it, so many times."""
    cluster.start()
    stops, returns = [], []
    for turn in range(rounds):
        name = bench.names[turn % bench.size]
        others = [other for other in bench.names if other != name]
        stops.append((now_ns(), others))
        cluster[name].child.signal(signal.SIGSTOP)
        time.sleep(3 * TOKEN_LOSS_S)  # this is the fault itself
        cluster.wait_view(others)
        cluster.progress(others)
        returns.append((now_ns(), bench.names))
        cluster[name].child.signal(signal.SIGCONT)
        cluster.wait_view(bench.names)
        cluster.progress(bench.names)
    checked = bench.finish(cluster)
    gone, back = times_to_view(cluster, stops), times_to_view(cluster, returns)
    bench.figures.update(stop_to_view_ms=gone, continue_to_view_ms=back)
    return (f"left out after {percentiles(gone)}, back after {percentiles(back)}, "
            f"{len(stops)} stops; {checked}")


@case(3, 5)
def restart(bench):
    """All nodes are stopped with SIGTERM and started again one after the other under full load."""
    cluster = bench.cluster()
    cluster.start()
    leaves, returns = [], []
    for name in bench.names:
        others = [other for other in bench.names if other != name]
        leaves.append((cluster[name].leave(), others))
        cluster.wait_view(others)
        cluster.progress(others)
        returns.append((now_ns(), bench.names))
        cluster[name].start()
        cluster.wait_view(bench.names)
        cluster[name].start_load()
        cluster.progress(bench.names)
    checked = bench.finish(cluster)
    gone, back = times_to_view(cluster, leaves), times_to_view(cluster, returns)
    bench.figures.update(leave_to_view_ms=gone, start_to_view_ms=back)
    return (f"SIGTERM to the view of the others: {percentiles(gone)}; start to the view of all: "
            f"{percentiles(back)}; {checked}")
