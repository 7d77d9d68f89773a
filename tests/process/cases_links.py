# SPDX-License-Identifier: Apache-2.0
"""Links that break, in both directions or in one, and come back."""

import time

from bench import case
from cases_processes import times_to_view
from lib import Failure, now_ns, percentiles

# The longest that a healed network may stay in parts: the cap of damping, and some timeouts.
HEAL_S = 20
FLAPS_MAX = 30  # views per node while one node cannot hear another; damping makes them rarer


@case(3, soak=(5,))
def link_down_up(bench):
    """A node's own link, then another's cable at the switch, goes down and up under full load: both
    sides go on, and then merge."""
    cluster = bench.cluster()
    cluster.start()
    cuts, heals = [], []
    faults = [(bench.names[-1], cluster.network.link), (bench.names[0], cluster.network.cable)]
    for name, fault in faults:
        others = [other for other in bench.names if other != name]
        cuts += [(now_ns(), others), (now_ns(), [name])]
        fault(name, False)
        cluster.wait_view(others)
        cluster.wait_view([name])
        cluster.progress(bench.names)
        heals.append((now_ns(), bench.names))
        fault(name, True)
        cluster.wait_view(bench.names, HEAL_S)
        cluster.progress(bench.names)
    checked = bench.finish(cluster)
    apart, merged = times_to_view(cluster, cuts), times_to_view(cluster, heals)
    bench.figures.update(cut_to_view_ms=apart, heal_to_view_ms=merged)
    return (f"both sides have their view after {percentiles(apart)}, merged after "
            f"{percentiles(merged)}; {checked}")


@case(3, 5)
def partition(bench):
    """The network splits into a majority and a minority under full load, with the rule "majority":
    both sides go on, exactly one of them is the primary one, and then they merge."""
    return split_in_turns(bench, bench.cluster(settings='primary = "majority"'), 2)


def split_in_turns(bench, cluster, rounds):
    """Splits the network and joins it, so many times; the cluster has the rule "majority"."""
    cluster.start()
    half = bench.size // 2
    heals, cuts = [], []
    splits = [(bench.names[:half], bench.names[half:]), (bench.names[-half:], bench.names[:-half])]
    for turn in range(rounds):
        minority, majority = splits[turn % 2]
        cuts += [(now_ns(), minority), (now_ns(), majority)]
        cluster.network.split(minority, majority)
        cluster.wait_view(majority)
        cluster.wait_view(minority)
        cluster.progress(bench.names)
        heals.append((now_ns(), bench.names))
        cluster.network.join()
        cluster.wait_view(bench.names, HEAL_S)
        cluster.progress(bench.names)
    checked = bench.finish(cluster)
    claims = 0
    for _at, name, view, members, primary in cluster.view_events():
        if primary != (len(members) * 2 > bench.size):
            raise Failure(f"view {view} of {','.join(members)} at {name}: primary is {primary}")
        claims += 1
    merged = times_to_view(cluster, heals)
    bench.figures.update(heal_to_view_ms=merged, cut_to_view_ms=times_to_view(cluster, cuts))
    return (f"{half} and {bench.size - half} nodes, {claims} views installed, primary exactly "
            f"where the majority is; merged after {percentiles(merged)}; {checked}")


@case(3, soak=(5,))
def one_way_loss(bench):
    """Under full load, 30% of what one node sends is lost on its way to another one, and then all
    of it: everybody goes on delivering, views do not flap, and all are together again
    afterwards."""
    cluster = bench.cluster()
    source, target = bench.names[:2]
    cluster.network.one_by_one(source)
    cluster.start()
    some = _lossy(cluster, source, target, 30, 2 if bench.quick else 4)
    lost = cluster.network.lost(target)
    if lost == 0:
        raise Failure("the rule has dropped nothing")
    every = _lossy(cluster, source, target, 100, 3 if bench.quick else 6)
    if every["views"] > FLAPS_MAX:
        raise Failure(f"each node has installed {every['views']:.1f} views while {target} did not "
                      f"hear {source}; at most {FLAPS_MAX} are expected")
    healed = now_ns()
    cluster.network.lose(source, target, 0)
    cluster.wait_view(bench.names, HEAL_S)
    cluster.progress(bench.names)
    checked = bench.finish(cluster)
    merged = times_to_view(cluster, [(healed, bench.names)])
    if not any(source not in members for _at, name, _view, members, _primary
               in cluster.view_events() if name == target):
        raise Failure(f"{target} has never seen a view without {source}, which it did not hear")
    bench.figures.update(lost_packets=lost, some_lost=some, all_lost=every, heal_to_view_ms=merged)
    return (f"30% lost: {lost:,} packets, {some['rate']:,.0f} messages/s, "
            f"{some['views']:.1f} views "
            f"per node; all lost: {every['rate']:,.0f} messages/s, {every['views']:.1f} views per "
            f"node, merged after {merged[0]:.0f} ms; {checked}")


def _lossy(cluster, source, target, percent, seconds):
    """For so long packets are lost. Every node must deliver messages meanwhile."""
    counts = {node.name: node.delivered() for node in cluster}
    views = sum(len(node.views()) for node in cluster)
    cluster.network.lose(source, target, percent)
    time.sleep(seconds)  # this is the fault itself
    delivered = {node.name: node.delivered() - counts[node.name] for node in cluster}
    for name, count in delivered.items():
        if count < 10:
            raise Failure(f"with {percent}% lost, {name} delivers {count} messages in {seconds} s")
    views = sum(len(node.views()) for node in cluster) - views
    return {"rate": min(delivered.values()) / seconds, "views": views / len(counts)}
