# SPDX-License-Identifier: Apache-2.0
"""Nodes that order on a majority are away for long while they live, and come back as they are."""

import time

from bench import case
from cases_paxos import REJOIN_S, paxos_cluster
from lib import Failure

# The others keep 64 MiB of decided values for nodes that are behind: far more is ordered meanwhile.
ORDERED_BYTES = 160 << 20
ORDERED_S = 60


def order_much(cluster, name):
    """Waits until this node has delivered more than any history holds."""
    deadline = time.monotonic() + ORDERED_S
    begin = cluster[name].status()["delivered"]["bytes"]
    while (done := cluster[name].status()["delivered"]["bytes"] - begin) < ORDERED_BYTES:
        if time.monotonic() > deadline:
            raise Failure(f"{name} delivers {done} bytes in {ORDERED_S} s")
        time.sleep(0.1)  # between two looks
    return done


def away(bench, order, ensembles=1):
    """Cuts off a minority, with the coordinator and without it, and heals the network."""
    cluster = paxos_cluster(bench, order, ensembles)
    cluster.start()
    half = bench.size // 2
    ordered = 0
    for minority in (bench.names[-half:], bench.names[:half]):
        bench.step(f"cut of {','.join(minority)}")
        majority = [name for name in bench.names if name not in minority]
        cluster.network.split(minority, majority)
        cluster.wait_view(majority)
        ordered += order_much(cluster, majority[0])
        bench.step(f"return of {','.join(minority)}")
        cluster.network.join()
        cluster.wait_view(bench.names, REJOIN_S)
        cluster.progress(bench.names)
    bench.step("end")
    checked = bench.finish(cluster)
    if len(cluster.traces) != bench.size:
        raise Failure(f"{len(cluster.traces)} incarnations of {bench.size} nodes")
    return f"twice {half} while {ordered >> 20} MiB were ordered; {checked}"


@case(3, soak=(5,))
def away_paxos(bench):
    """A minority is cut off under full load until far more was ordered than the others keep for
    who is behind: its nodes come back, without a restart, and have missed nothing of their view."""
    return away(bench, "paxos")


@case(3, soak=(5,))
def away_ridge(bench):
    """The same with ridge."""
    return away(bench, "ridge")


@case(3)
def away_ensembles(bench):
    """The same with three ensembles of ridge."""
    return away(bench, "ridge", ensembles=3)
