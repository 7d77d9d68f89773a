# SPDX-License-Identifier: Apache-2.0
"""Network namespaces joined by bridges, and what can be done to their links.

A Network lives in the namespaces that isolation.enter made: it needs no clearing up.
"""

import shutil
import socket
import subprocess
import time

import isolation

ETH_P_ALL = 0x0003
HOSTS = "/etc/hosts"


def ip(*arguments):
    """Runs `ip`; raises with its error text if it fails."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """One namespace for each host, each with one interface e0 at a port of a bridge.

    The bridges, and the bridge's end of each cable, lie in the namespace of the tests: `port(host)`
    sees and can add to all that passes there.
    """

    def __init__(self, hosts, subnet=77):
        self.hosts = list(hosts)
        self.subnet = subnet
        self._moves = {}  # what renumber() has added to the last number of a host's address
        self._sockets = []
        self._bridges = set()
        self._hosts_file = None
        self._bridge("all")
        for number, host in enumerate(self.hosts, 1):
            space, port = self.space(host), self.port(host)
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
            ip("link", "add", port, "type", "veth", "peer", "name", "e0", "netns", space)
            ip("-n", space, "addr", "add", f"{self.address(number)}/24", "dev", "e0")
            ip("-n", space, "link", "set", "e0", "up")
            ip("link", "set", port, "master", self._bridge_name("all"), "up")
        self._wait_forwarding()

    def _wait_forwarding(self):
        """The kernel brings links up in the background."""
        deadline = time.monotonic() + 10
        while (forwarding := ip("-d", "link", "show").count("state forwarding")) < len(self.hosts):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{forwarding} of {len(self.hosts)} bridge ports are forwarding")

    def close(self):
        """Removes what the network is made of."""
        if self._hosts_file is not None:
            isolation.take_off(HOSTS)
        for packet_socket in self._sockets:
            packet_socket.close()
        for host in self.hosts:
            # Gone when the command ends; with its namespace it would go some time later, and the
            # next network could not have its name.
            ip("link", "del", self.port(host))
            ip("netns", "del", self.space(host))
        for name in self._bridges:
            ip("link", "del", self._bridge_name(name))

    def address(self, host):
        """The IPv4 address of a host, by its name or its number from 1."""
        number = host if isinstance(host, int) else self.hosts.index(host) + 1
        return f"10.{self.subnet}.0.{number + self._moves.get(self.hosts[number - 1], 0)}"

    def space(self, host):
        """The name of the host's namespace."""
        return f"n{self.subnet}{host}"

    def path(self, host):
        """The file by which the host's namespace is entered."""
        return f"/run/netns/{self.space(host)}"

    def port(self, host):
        """The name of the bridge's end of the host's cable."""
        return f"p{self.subnet}{host}"

    def command(self, host, arguments):
        """A command line that runs `arguments` as one process in the host's namespace."""
        return ["nsenter", f"--net={self.path(host)}", *arguments]

    def _bridge_name(self, name):
        return f"b{self.subnet}{name}"

    def _bridge(self, name):
        if name not in self._bridges:
            self._bridges.add(name)
            # Without snooping, multicast reaches every port, as it does through a plain switch.
            ip("link", "add", self._bridge_name(name), "type", "bridge", "mcast_snooping", "0",
               "stp_state", "0", "forward_delay", "0")
            ip("link", "set", self._bridge_name(name), "up")

    # Names.

    def publish(self, names, file):
        """What all hosts find for a name from now on: `names` has the host for each name,
        and its address of this moment is published. The names lie in `file`."""
        lines = [f"{self.address(host)} {name}\n" for name, host in names.items()]
        with open(file, "w", encoding="ascii") as out:
            out.write("127.0.0.1 localhost\n" + "".join(lines))
        if self._hosts_file is None:
            self._hosts_file = file
            isolation.lay_over(HOSTS, file)

    def renumber(self, host):
        """The host's interface loses its address and gets another; returns that one."""
        before = self.address(host)
        number = self.hosts.index(host) + 1
        self._moves[host] = self._moves.get(host, 0) + 100
        if number + self._moves[host] > 254:
            self._moves[host] = 0
        ip("-n", self.space(host), "addr", "del", f"{before}/24", "dev", "e0")
        ip("-n", self.space(host), "addr", "add", f"{self.address(host)}/24", "dev", "e0")
        return self.address(host)

    # Faults.

    def link(self, host, up):
        """The host's own interface goes down or up: sending fails there."""
        ip("-n", self.space(host), "link", "set", "e0", "up" if up else "down")

    def cable(self, host, up):
        """The cable is pulled out at the bridge, or put back."""
        ip("link", "set", self.port(host), "up" if up else "down")

    def split(self, *sides):
        """Each side, a list of hosts, gets a bridge of its own."""
        for number, side in enumerate(sides):
            self._bridge(f"s{number}")
            for host in side:
                ip("link", "set", self.port(host), "master", self._bridge_name(f"s{number}"))

    def join(self):
        """All hosts are at one bridge again."""
        for host in self.hosts:
            ip("link", "set", self.port(host), "master", self._bridge_name("all"))

    def one_by_one(self, host):
        """From now on the host's packets travel alone: one that is lost is not a batch of forty."""
        ip("-n", self.space(host), "link", "set", "e0", "gso_max_segs", "1")

    def lose(self, source, target, percent, match=""):
        """So many percent of what `source` (None: any host) sends never arrives at `target`; 0 ends
        it. `match` is an expression of nftables for the packets concerned: "udp dport 1"."""
        rules = "flush ruleset\n"
        if percent > 0:
            chance = "" if percent == 100 else f"numgen random mod 100 < {percent} "
            sender = f"10.{self.subnet}.0.0/24" if source is None else self.address(source)
            rules += (
                "table netdev loss {\n  chain in {\n"
                '    type filter hook ingress device "e0" priority 0; policy accept;\n'
                f"    ip saddr {sender} {match} {chance}counter drop\n  }}\n}}\n")
        done = subprocess.run(self.command(target, ["nft", "-f", "-"]), input=rules, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"nft in {target}: {done.stderr.strip()}")

    def lost(self, target):
        """How many packets the rule of lose() has dropped."""
        text = subprocess.run(self.command(target, ["nft", "list", "ruleset"]), text=True,
                              capture_output=True, check=True).stdout
        words = text.split()
        return int(words[words.index("packets") + 1]) if "packets" in words else 0

    # The tests as a part of the network.

    def tap(self, host):
        """A socket that receives every frame on the host's cable and can send frames to the host.

        What it sends goes to the host alone. recv() has a time limit of one second.
        """
        return self._tap(self.port(host))

    def _tap(self, interface):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        tap.bind((interface, ETH_P_ALL))
        tap.settimeout(1.0)
        self._sockets.append(tap)
        return tap

    def between(self, host):
        """Takes the host off its bridge. Returns two sockets for whoever carries its frames from
        now on: one towards the host, one towards the bridge."""
        near, far = f"x{self.subnet}{host}", f"y{self.subnet}{host}"
        ip("link", "add", near, "type", "veth", "peer", "name", far)
        ip("link", "set", near, "up")
        ip("link", "set", far, "master", self._bridge_name("all"), "up")
        ip("link", "set", self.port(host), "nomaster")
        return self._tap(self.port(host)), self._tap(near)

    def udp(self, host, port):
        """A UDP socket in the host's namespace, bound to the host's address."""
        def make():
            taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            taken.bind((self.address(host), port))
            return taken

        taken = isolation.in_network(self.path(host), make)
        self._sockets.append(taken)
        return taken

    def hardware_address(self, host):
        """The six bytes of the address of the host's interface."""
        words = ip("-n", self.space(host), "link", "show", "e0").split()
        return bytes.fromhex(words[words.index("link/ether") + 1].replace(":", ""))


def missing_tools():
    """The programs that these tests need and this machine does not have."""
    return [tool for tool in ("ip", "nft", "nsenter") if shutil.which(tool) is None]
