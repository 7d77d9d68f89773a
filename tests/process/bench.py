# SPDX-License-Identifier: Apache-2.0
"""What a case gets: networks, clusters, the options of the run; and how a case is declared."""

import os

import lib
import network

ALL = {}
LARGE = 1 << 16  # bytes


class Case:
    """One case: what it does, in which sizes of clusters, and the function that runs it."""

    def __init__(self, function, sizes, soak):
        self.about = " ".join(function.__doc__.split())
        self.sizes, self.soak, self.run = sizes, soak, function


def case(*sizes, soak=()):
    """Declares a case under the name of its function, for clusters of these sizes; and with --soak
    for those as well.

    The function gets a Bench, raises lib.Failure, and returns its figure as text.
    """
    def declare(function):
        ALL[function.__name__] = Case(function, sizes, soak)
        return function

    return declare


class Bench:
    """Makes what a case needs, and clears it away."""

    def __init__(self, options, folder, size, subnet):
        self.options, self.folder, self.size = options, folder, size
        self.names = "abcdefgh"[:size]
        self.figures = {}  # for --json
        self.doing = ""
        self._subnet = subnet
        self._networks, self._clusters, self._children = [], [], []
        self._part = None

    @property
    def quick(self):
        """Fewer rounds and shorter stops are asked for."""
        return self.options.quick

    @property
    def soak(self):
        """There is time."""
        return self.options.soak

    def rounds(self, full, quick, soak=None):
        """How often to do it; `soak` times with --soak, if given."""
        if self.options.rounds:
            return self.options.rounds
        return quick if self.quick else soak if self.soak and soak else full

    def part(self, name):
        """The same for one part of the case, in a folder of its own; the part before is closed."""
        if self._part is not None:
            self._part.close()
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        self._part = Bench(self.options, folder, self.size, self._subnet)
        return self._part

    def cluster(self, settings="", sizes=None, key="peal.key"):
        """A network and a cluster on it, nothing started. Without a key it is insecure."""
        joined = network.Network(self.names, subnet=self._subnet)
        self._networks.append(joined)
        cluster = lib.Cluster(self.options.peal, joined, self.folder, settings, sizes, key)
        self._clusters.append(cluster)
        return cluster

    def patient_cluster(self, key="peal.key"):
        """A cluster for cases in which no view may change: its nodes wait two seconds for the
        token, so that a machine whose processors are busy elsewhere for some hundred milliseconds
        does not change what is tested. The default is judged in virtual time."""
        return self.cluster(settings="[ring]\ntoken_loss_ms = 2000\nconsensus_ms = 2000", key=key)

    def step(self, text):
        """What the case does now: part of the message if it fails."""
        self.doing = text

    def child(self, command, label, **options):
        """A process that ends with the case at the latest."""
        child = lib.Child(command, self.folder, label, **options)
        self._children.append(child)
        return child

    def finish(self, cluster):
        """Ends the nodes and has their traces judged; returns a text for the case's line."""
        figures = cluster.finish()
        self.figures["check"] = figures
        return f"{figures['deliveries']:,} deliveries in {figures['views']} views checked"

    def conditions(self):
        """How all nodes are, a line each; after a failure, and before close()."""
        own = [node.condition() for cluster in self._clusters for node in cluster]
        return own + (self._part.conditions() if self._part is not None else [])

    def close(self):
        """Ends all processes and removes the networks, whatever has happened."""
        if self._part is not None:
            self._part.close()
        for child in self._children:
            child.kill()
        for cluster in self._clusters:
            cluster.abort()
        for joined in self._networks:
            joined.close()

    def discard(self):
        """Removes the large files of a case that passed, such as traces and acceptors' logs, which
        take 100 MiB a node; what the nodes said and their configurations stay."""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if not name.endswith(".log") and os.lstat(path).st_size > LARGE:
                    os.remove(path)
