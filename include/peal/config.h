// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

// The configuration of a member: see member.h.

namespace peal {
/// See types.h.
inline namespace v0 {

/// One node of the cluster.
struct Node {
  std::string name;  ///< 1 to 255 letters, digits, '.', '_' or '-'
  /// An IP address or a host name, and a port: "10.0.0.1:4800", "[fd00::1]:4800" or
  /// "node-1.example:4800"; the UDP port above it is used as well, or, with Data::streams, the TCP
  /// port of that number. A name of another node is looked up again while the node is away: it may
  /// come back with another address. All addresses are of one family: that of the numeric ones, or
  /// IPv4 if there are none and the name of this node has an IPv4 address.
  std::string address;
  /// 1 to 65535. Unique in the cluster, equal on all nodes, and constant while the node is in the
  /// list; 0: its place in the list, from 1.
  std::uint32_t number = 0;
};

/// A subset of the nodes with an order of its own: only they learn the messages sent to the domain,
/// and only their links carry them. Each of them has these messages in one order with those for all
/// nodes and those of its other domains.
struct Domain {
  std::string name;                  ///< 1 to 255 letters, digits, '.', '_' or '-'
  std::vector<std::uint32_t> nodes;  ///< Node::number; nodes that are not in the list (yet) are
                                     ///< allowed
  /// The acceptors, an odd number of `nodes`. Empty: all of up to two that are in the list, three
  /// of up to four, else the five with the lowest numbers. Without a majority of them, or without a
  /// majority of its nodes in the list, its nodes deliver nothing at all.
  std::vector<std::uint32_t> acceptors;
  /// For daemons: process groups whose messages go to the domain, by name, or by a prefix and '*'.
  /// Members do not use it, but it must be the same on all nodes.
  std::vector<std::string> groups;
};

/// How data reach the other nodes as datagrams.
enum class Multicast : std::uint8_t {
  automatic,  ///< by IP multicast to the nodes where probes show that it works, otherwise as `off`
  off,        ///< a copy to each node
};
/// Like Multicast::automatic, to this group.
struct MulticastGroup {
  std::string address;  ///< an IPv4 group and a port: "239.192.7.1:4800"
};

/// How data travel between nodes.
enum class Data : std::uint8_t {
  datagrams,  ///< UDP, by multicast or to each node
  /// Over one TCP connection from each node to each other node, to the port above the other node's
  /// own. There is no multicast then, and packets may be larger than the network's MTU. With Paxos
  /// and Ridge only.
  streams,
};

/// Which view is primary: it may act for the whole cluster.
enum class PrimaryRule : std::uint8_t {
  none,      ///< none
  majority,  ///< one that contains a majority of the nodes: at most one view at a time
};

/// Where acceptors keep their votes.
enum class Storage : std::uint8_t {
  disk,  ///< in `data_dir`: ordered messages survive crashes, even of all nodes at once
  /// In the acceptors' processes only: faster, and without `data_dir`. If a majority of the
  /// acceptors crashes at once, ordered messages are lost, and all nodes must be stopped and
  /// restarted (docs/configuration.md). Not with several ensembles or domains.
  memory,
};

/// How Ridge's values reach all nodes.
enum class Dissemination : std::uint8_t {
  distributors,  ///< along a chain of acceptors, and from one of the other nodes in turn
  ring,          ///< from node to node, for comparison
};

/// How the orders of several ensembles are merged.
enum class Merge : std::uint8_t {
  keys,      ///< by their senders' clocks
  rotation,  ///< one value of each ensemble in turn, for comparison: messages of one ensemble wait
             ///< for the others
};

/// Members order among themselves, on each side of a partition. Nothing is written to disk.
struct Ring {
  PrimaryRule primary = PrimaryRule::none;  ///< equal on all nodes
  /// By the names of [ring] in docs/configuration.md, for example {"token_loss_ms", 500}. The
  /// defaults suit a local network. Times must be equal on all nodes.
  std::map<std::string, double> tunables{};
};

/// A majority of the acceptors orders; every view is primary.
struct Paxos {
  /// Numbers of the acceptors, an odd number of them, equal on all nodes; Member::set_nodes()
  /// changes them. Empty: all of up to two nodes, three of up to four, else the five with the
  /// lowest numbers.
  std::vector<std::uint32_t> acceptors{};
  /// On each node that is an acceptor or may become one, unless votes are in memory: an existing
  /// folder that belongs to this user and that no other user can write to. The node keeps its log
  /// in data_dir/name, and has a thread that writes it.
  std::string data_dir{};
  Storage storage = Storage::disk;  ///< equal on all nodes
};

/// Like Paxos, but nodes forward values from one to the next, which needs no multicast. At most 15
/// acceptors. All options but `data_dir` must be equal on all nodes.
struct Ridge {
  std::vector<std::uint32_t> acceptors{};                     ///< as in Paxos
  std::string data_dir{};                                     ///< as in Paxos
  Storage storage = Storage::disk;                            ///< as in Paxos
  Dissemination dissemination = Dissemination::distributors;  ///< how values reach all nodes
  /// Number of ensembles, 1 to 16: each has a coordinator of its own and orders some of the
  /// messages, and their orders are merged. Several help if all nodes send and one coordinator is
  /// the bottleneck. Each costs heartbeats and views, and a message may wait until the other
  /// ensembles announce that they have nothing before it. The log in `data_dir` is valid only for
  /// this number of ensembles.
  std::uint32_t ensembles = 1;
  Merge merge = Merge::keys;  ///< with several ensembles
  /// With one ensemble, without domains: each message also comes as Early, before it has its place;
  /// it gets its place a little later then. The network carries each message twice.
  bool optimistic = false;
  /// With one ensemble: up to 15 domains. The log in `data_dir` is valid only for these domains.
  std::vector<Domain> domains{};
};

/// The thread that runs the member.
enum class Thread : std::uint8_t {
  own,  ///< the member starts one
  /// The application's thread runs the member while it is inside next() or wait(), so no message
  /// is handed from thread to thread. The application must call next() or wait() all the time.
  /// While it does not, this member sends and receives nothing, and the other members wait; after
  /// some time (with the ring, "token_loss_ms") they exclude it.
  caller,
};

/// The configuration of a member. `cluster`, `name`, `nodes` and `key_file` must be set; `cluster`,
/// `nodes`, `nodes_max`, `message_bytes_max`, `order` and `data` must be equal on all nodes; with
/// Paxos and Ridge, `packet_bytes` too.
struct Config {
  std::string cluster;           ///< name of the cluster, in the form of a node's name; packets of
                                 ///< other clusters are ignored
  std::string name;              ///< name of this node in `nodes`
  std::vector<Node> nodes;       ///< 1 to nodes_max, with the same numbers on all nodes
  std::uint32_t nodes_max = 32;  ///< maximum length of the list in this cluster, up to 128

  /// File with the keys for sealing packets between nodes: packets are encrypted, and refused if
  /// their sender has no key. `peal keygen` creates it; it is the same on all nodes, and only its
  /// owner may be able to read it.
  std::string key_file;
  /// True, and no key_file: packets are neither encrypted nor authenticated. Everyone with access
  /// to the network can then read, change and send messages. Equal on all nodes.
  bool insecure = false;

  /// The ordering protocol: `config.order = peal::Ridge{.ensembles = 3}`.
  std::variant<Ring, Paxos, Ridge> order;

  /// How data reach the other nodes as datagrams.
  std::variant<Multicast, MulticastGroup> multicast = Multicast::automatic;
  Data data = Data::datagrams;  ///< how data travel
  /// Size of the largest packet, without IP and UDP headers, 298 to 65507; from 256 if insecure.
  /// Datagrams above the network's MTU cost speed. 0: 1,472, or 16,384 with streams.
  std::uint32_t packet_bytes = 0;

  std::uint32_t message_bytes_max = 64U << 20;    ///< of one message, 1 byte to 1 GiB
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< of messages that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;     ///< messages that wait to be ordered
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< of messages that wait to be read

  Thread thread = Thread::own;  ///< the thread that runs the member

  std::string trace;      ///< file to which the application's events are appended, as JSON lines
  std::string state_dir;  ///< directory that stores the last epoch; needed only if the clock may
                          ///< step back between two starts
};

}  // namespace v0
}  // namespace peal
