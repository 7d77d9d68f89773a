// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What a member is made from: see member.h.

namespace peal {
/// See types.h.
inline namespace v0 {

/// One node of the cluster.
struct Node {
  std::string name;  ///< 1 to 255 letters, digits, '.', '_' or '-'
  /// An IP address or a host name, and a port: "10.0.0.1:4800", "[fd00::1]:4800" or
  /// "node-1.example:4800"; the UDP port above it is used as well, or the TCP port of that number.
  /// A name of another node is looked up again while the node is away: it may come back with
  /// another address. All addresses are of one family: that of those which are numbers, else IPv4
  /// if the name of this node has an IPv4 address.
  std::string address;
  /// 1 to 65535, different for each node, and the same for this one on all nodes, for as long as it
  /// is in the list; 0: its place in the list, from 1.
  std::uint32_t number = 0;
};

/// Some nodes of a cluster with an order of their own: what is sent to a domain, only they learn,
/// and only their links carry. Each of them has it in one order with what all nodes learn, and with
/// what its other domains learn.
struct Domain {
  std::string name;                  ///< 1 to 255 letters, digits, '.', '_' or '-'
  std::vector<std::uint32_t> nodes;  ///< Node::number; not all of them need be in the list (yet)
  /// Numbers of those that vote, an odd number of `nodes`. Empty: all of up to two that are in the
  /// list, three of up to four, else the five lowest. Without a majority of them, or without
  /// most of its nodes in the list, its nodes stand still in all that they learn.
  std::vector<std::uint32_t> acceptors;
  /// For daemons: process groups whose messages go to the domain, by name, or by the beginning of
  /// names and '*'. Members do not use it; it must be the same on all nodes all the same.
  std::vector<std::string> groups;
};

/// What a member is made from. `cluster`, `name`, `nodes` and `key_file` must be set; `cluster`,
/// `nodes`, `nodes_max`, `message_bytes_max`, `order`, `dissemination`, `ensembles`, `merge`,
/// `domains`, `optimistic`, `acceptors`, `storage`, `primary` and the times in `ring` must be the
/// same on all nodes; with `order` "paxos" and "ridge", `data` and `packet_bytes_max` too.
struct Config {
  std::string cluster;           ///< name of the cluster, as a node's name; others are ignored
  std::string name;              ///< which of `nodes` this one is
  std::vector<Node> nodes;       ///< 1 to nodes_max, with the same numbers everywhere
  std::uint32_t nodes_max = 32;  ///< the longest list that this cluster may have, up to 128

  /// File with the keys that packets between nodes are sealed with: encrypted, and refused unless
  /// somebody with a key made them. `peal keygen` makes it; it is the same on all nodes, and nobody
  /// but its owner may read it.
  std::string key_file;
  /// True, and no key_file: packets are neither encrypted nor authenticated. Whoever reaches the
  /// network can then read, change and send messages. The same on all nodes.
  bool insecure = false;

  /// "auto" finds out for whom multicast works, "off" sends to each by unicast, and a group such as
  /// "239.192.7.1:4800" is "auto" with that group.
  std::string multicast = "auto";
  /// How data travel, the same on all nodes: "datagrams", or, with `order` "paxos" and "ridge",
  /// "streams": over one TCP connection from each node to each other one, to the port above its
  /// own. Then there is no multicast, and packets may be larger than what the network carries in
  /// one piece.
  std::string data = "datagrams";
  /// Largest packet in bytes, without IP and UDP headers, 298 to 65507; from 256 if insecure.
  /// With datagrams, larger than what the network carries in one piece costs speed. 0: 1,472, or
  /// 16,384 with streams.
  std::uint32_t packet_bytes_max = 0;

  std::uint32_t message_bytes_max = 64U << 20;    ///< of one message, 1 byte to 1 GiB
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< of messages that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;     ///< messages that wait to be ordered
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< of messages that wait to be read

  /// Which view may act for the whole cluster: "none" claims nothing; with "majority" at most one
  /// view at a time says so, one that holds more than half of the nodes.
  std::string primary = "none";
  /// Tunables by name, for instance {"token_loss_ms", 500}. The default suits a local network.
  std::map<std::string, double> ring;

  /// The protocol that orders, the same on all nodes. "ring": members order among themselves, on
  /// each side of a partition. "paxos": nothing is ordered but by a majority of `acceptors`, which
  /// keep what they vote for on disk: it outlives crashes, also of all nodes at once. Every view
  /// then says that it is primary; `ring` and `primary` must be left out. "ridge": the same, but
  /// nodes send values on from one to the next, which needs no multicast; at most 15 acceptors.
  std::string order = "ring";
  /// With "ridge", how values reach all nodes, the same on all of them: "distributors", along a
  /// chain of acceptors and from one other node in turn; "ring", from node to node, to compare
  /// with.
  std::string dissemination = "distributors";
  /// With "ridge", how many ensembles order together, 1 to 16, the same on all nodes. Each has a
  /// coordinator of its own and a part of the messages, and their orders become one. It pays where
  /// all nodes send and one coordinator is what is full. It costs heartbeats and views of each, and
  /// a message may wait until the other ensembles say that they have nothing before it. The log in
  /// `data_dir` is one of so many ensembles, and of no other number.
  std::uint32_t ensembles = 1;
  /// With several ensembles, how their orders become one, the same on all nodes: "keys", by their
  /// senders' clocks; "rotation", one value of each in turn, to compare with: where one of them
  /// orders much more than the others, its messages wait for their turns.
  std::string merge = "keys";
  /// With "ridge" and one ensemble: up to 15 domains, the same on all nodes. The log in `data_dir`
  /// is one of these domains, and of no others.
  std::vector<Domain> domains;
  /// With "ridge" and one ensemble, without domains: each message comes as Early, too, before it
  /// has its place, which it has a little later then. The network carries each twice.
  bool optimistic = false;  ///< the same on all nodes
  /// With "paxos" and "ridge": the numbers of the nodes that vote, an odd number of them, the same
  /// on all nodes; Member::set_nodes() changes them. Empty: all of up to two nodes, three of up to
  /// four, else the five lowest.
  std::vector<std::uint32_t> acceptors;
  /// With both, on each node that is an acceptor or may become one: a folder that exists, belongs
  /// to this user and is writable for nobody else. The node keeps its log in data_dir/name, and a
  /// thread that writes it. Who has lost it must not come back with an empty one: it would vote
  /// against what it has promised.
  std::string data_dir;
  /// With both, where acceptors keep their votes, the same on all nodes: "disk", in `data_dir`;
  /// "memory", faster and without `data_dir`: if most acceptors are lost at once, so is what was
  /// ordered, and all nodes have to be stopped and begin anew (docs/configuration.md). Not with
  /// several ensembles or domains.
  std::string storage = "disk";

  /// Whose thread runs the member. "own": it starts one. "caller": the application's, inside next()
  /// and wait(), which saves handing every message from thread to thread; it must call one of them
  /// all the time. While it does not, nothing is sent or received here, and the others wait; after
  /// ring["token_loss_ms"] they go on without this member.
  std::string thread = "own";

  std::string trace;      ///< file to append what the application sees to, as JSON lines
  std::string state_dir;  ///< directory that remembers the last incarnation; needed only where the
                          ///< clock may step back between two starts
};

}  // namespace v0
}  // namespace peal
