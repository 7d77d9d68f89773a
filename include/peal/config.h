// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
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

/// How data reach the other nodes, if they travel as datagrams.
enum class Multicast : std::uint8_t {
  automatic,  ///< by IP multicast to the nodes for which probes show that it works, else as `off`
  off,        ///< a copy to each node
};
/// As Multicast::automatic, to this group.
struct MulticastGroup {
  std::string address;  ///< an IPv4 group and a port: "239.192.7.1:4800"
};

/// How data travel between nodes.
enum class Data : std::uint8_t {
  datagrams,  ///< UDP, by multicast or to each node
  /// Over one TCP connection from each node to each other one, to the port above its own. There is
  /// no multicast then, and packets may be larger than what the network carries in one piece. With
  /// Paxos and Ridge only.
  streams,
};

/// Which view may act for the whole cluster.
enum class PrimaryRule : std::uint8_t {
  none,      ///< no view claims it
  majority,  ///< one that holds more than half of the nodes: at most one view at a time
};

/// Where acceptors keep their votes.
enum class Storage : std::uint8_t {
  disk,  ///< in `data_dir`: what was ordered outlives crashes, also of all nodes at once
  /// In their processes alone: faster, and without `data_dir`. If a majority of acceptors is lost
  /// at once, so is what was ordered, and all nodes have to be stopped and begin anew
  /// (docs/configuration.md). Not with several ensembles or domains.
  memory,
};

/// How Ridge's values reach all nodes.
enum class Dissemination : std::uint8_t {
  distributors,  ///< along a chain of acceptors, and from one of the other nodes in turn
  ring,          ///< from node to node, to compare with
};

/// How the orders of several ensembles become one.
enum class Merge : std::uint8_t {
  keys,      ///< by their senders' clocks
  rotation,  ///< one value of each in turn, to compare with: messages of one wait for the others
};

/// Members order among themselves, on each side of a partition. Nothing is written to disks.
struct Ring {
  PrimaryRule primary = PrimaryRule::none;  ///< the same on all nodes
  /// By the names of [ring] in docs/configuration.md, for instance {"token_loss_ms", 500}. The
  /// defaults suit a local network. Times must be the same on all nodes.
  std::map<std::string, double> tunables{};
};

/// Nothing is ordered but by a majority of acceptors; every view says that it is primary.
struct Paxos {
  /// Numbers of the nodes that vote, an odd number of them, the same on all nodes;
  /// Member::set_nodes() changes them. Empty: all of up to two nodes, three of up to four, else the
  /// five lowest.
  std::vector<std::uint32_t> acceptors{};
  /// On each node that is an acceptor or may become one, unless votes are in memory: a folder that
  /// exists, belongs to this user and is writable for nobody else. The node keeps its log in
  /// data_dir/name, and has a thread that writes it.
  std::string data_dir{};
  Storage storage = Storage::disk;  ///< the same on all nodes
};

/// As Paxos, but nodes send values on from one to the next, which needs no multicast. At most 15
/// acceptors. All but `data_dir` must be the same on all nodes.
struct Ridge {
  std::vector<std::uint32_t> acceptors{};                     ///< as in Paxos
  std::string data_dir{};                                     ///< as in Paxos
  Storage storage = Storage::disk;                            ///< as in Paxos
  Dissemination dissemination = Dissemination::distributors;  ///< how values reach all nodes
  /// How many ensembles order together, 1 to 16: each has a coordinator of its own and a part of
  /// the messages, and their orders become one. Several pay where all nodes send and one
  /// coordinator is what is full. They cost heartbeats and views of each, and a message may wait
  /// until the other ensembles say that they have nothing before it. The log in `data_dir` is one
  /// of so many ensembles, and of no other number.
  std::uint32_t ensembles = 1;
  Merge merge = Merge::keys;  ///< with several ensembles
  /// With one ensemble, without domains: each message comes as Early, too, before it has its place,
  /// which it has a little later then. The network carries each twice.
  bool optimistic = false;
  /// With one ensemble: up to 15 domains. The log in `data_dir` is one of these domains, and of no
  /// others.
  std::vector<Domain> domains{};
};

/// Whose thread runs the member.
enum class Thread : std::uint8_t {
  own,  ///< the member starts one
  /// The application's, inside next() and wait(), which saves handing every message from thread to
  /// thread; it must call one of them all the time. While it does not, nothing is sent or received
  /// here, and the others wait; after some time (with the ring, "token_loss_ms") they go on without
  /// this member.
  caller,
};

/// What a member is made from. `cluster`, `name`, `nodes` and `key_file` must be set; `cluster`,
/// `nodes`, `nodes_max`, `message_bytes_max`, `order` and `data` must be the same on all nodes;
/// with Paxos and Ridge, `packet_bytes` too.
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

  /// The protocol that orders: `config.order = peal::Ridge{.ensembles = 3}`.
  std::variant<Ring, Paxos, Ridge> order;

  /// How data reach the other nodes, if they travel as datagrams.
  std::variant<Multicast, MulticastGroup> multicast = Multicast::automatic;
  Data data = Data::datagrams;  ///< how they travel
  /// Largest packet, without IP and UDP headers, 298 to 65507; from 256 if insecure. With
  /// datagrams, larger than what the network carries in one piece costs speed. 0: 1,472, or 16,384
  /// with streams.
  std::uint32_t packet_bytes = 0;

  std::uint32_t message_bytes_max = 64U << 20;    ///< of one message, 1 byte to 1 GiB
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< of messages that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;     ///< messages that wait to be ordered
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< of messages that wait to be read

  Thread thread = Thread::own;  ///< whose thread runs the member

  std::string trace;      ///< file to append what the application sees to, as JSON lines
  std::string state_dir;  ///< directory that remembers the last incarnation; needed only where the
                          ///< clock may step back between two starts
};

}  // namespace v0
}  // namespace peal
