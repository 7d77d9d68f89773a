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
  /// "node-1.example:4800". The node also uses the next higher port: of UDP or, with Data::streams,
  /// of TCP. While another node is away, its host name is looked up again: the node may come back
  /// with another address. All addresses are of one family: the family of the numeric ones; without
  /// numeric ones IPv4, if the name of this node has an IPv4 address.
  std::string address;
  /// 1 to 65535. Unique in the cluster, equal on all nodes, and constant while the node is in the
  /// list; 0: the node's place in the list, from 1.
  std::uint32_t number = 0;
};

/// A subset of the nodes with an order of its own: only these nodes learn the messages sent to the
/// domain, and only the links between them carry these messages. Each node of the domain delivers
/// the domain's messages in one order with the messages for all nodes and with those of its other
/// domains.
struct Domain {
  std::string name;                  ///< 1 to 255 letters, digits, '.', '_' or '-'
  std::vector<std::uint32_t> nodes;  ///< numbers of its nodes (Node::number); nodes that are not in
                                     ///< the list (yet) are allowed
  /// The acceptors, an odd number of `nodes`. Empty: chosen from those of `nodes` that are in the
  /// list, as in Paxos::acceptors. Without a majority of the acceptors, or of the domain's nodes in
  /// the list, the domain orders nothing; then its nodes deliver nothing at all, not even messages
  /// for all nodes.
  std::vector<std::uint32_t> acceptors;
  /// For daemons: process groups whose messages go to the domain, by name, or by a prefix and '*'.
  /// Members do not use these groups, but the list must be equal on all nodes.
  std::vector<std::string> groups;
};

/// How datagrams with data reach the other nodes.
enum class Multicast : std::uint8_t {
  automatic,  ///< by IP multicast to the nodes where probes show that it works; to the others as
              ///< `off`
  off,        ///< one copy to each node
};
/// Like Multicast::automatic, but to this multicast group.
struct MulticastGroup {
  std::string address;  ///< an IPv4 group and a port: "239.192.7.1:4800"
};

/// How data travel between nodes.
enum class Data : std::uint8_t {
  datagrams,  ///< UDP, by multicast or to each node
  /// Over one TCP connection from each node to each other node, to the port above that of the other
  /// node's address. There is no multicast then, and packets may be larger than the network's MTU.
  /// With Paxos and Ridge only.
  streams,
};

/// Which view is primary. A primary view may act for the whole cluster.
enum class PrimaryRule : std::uint8_t {
  none,      ///< no rule: View::primary is empty
  majority,  ///< a view with a majority of the nodes: at most one at a time
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
  distributors,  ///< along a chain of acceptors, and from a distributor to all nodes outside the
                 ///< chain; nodes take turns as distributor
  ring,          ///< from node to node, through all nodes; for comparison
};

/// How the orders of several ensembles are merged.
enum class Merge : std::uint8_t {
  keys,      ///< by the clocks of the messages' senders
  rotation,  ///< one value of each ensemble in turn: messages of one ensemble wait for those of the
             ///< others; for comparison
};

/// Members order among themselves, on each side of a partition. Nothing is written to disk.
struct Ring {
  PrimaryRule primary = PrimaryRule::none;  ///< equal on all nodes
  /// Times and limits, by their names in the table [ring] of docs/configuration.md, for example
  /// {"token_loss_ms", 500}. The defaults suit a local network. Times must be equal on all nodes.
  std::map<std::string, double> tunables{};
};

/// A majority of the acceptors orders; every view is primary.
struct Paxos {
  /// Numbers of the acceptors, an odd number of them, equal on all nodes; Member::set_nodes()
  /// changes them. Empty: of one or two nodes all, of three or four nodes the three with the lowest
  /// numbers, of more nodes the five with the lowest numbers.
  std::vector<std::uint32_t> acceptors{};
  /// An existing folder that belongs to this user and that no other user can write to. Needed on
  /// each node that is an acceptor or may become one; empty if votes are in memory. The node keeps
  /// its log in data_dir/name, and has threads that write the log.
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
  Merge merge = Merge::keys;  ///< how the orders of several ensembles are merged
  /// Only with one ensemble and without domains. If true, each message also comes as Early, before
  /// it has its place. Messages get their places a little later than with false, and the network
  /// carries each message twice.
  bool optimistic = false;
  /// Up to 15 domains; only with one ensemble. The log in `data_dir` is valid only for these
  /// domains.
  std::vector<Domain> domains{};
};

/// The thread that runs the member.
enum class Thread : std::uint8_t {
  own,  ///< the member starts one
  /// The application's thread runs the member while the thread is inside next() or wait(), so no
  /// message is handed from thread to thread. The application must call next() or wait() all the
  /// time. While it does not, this member sends and receives nothing, and the other members wait;
  /// after some time (with the ring, "token_loss_ms") they exclude this member.
  caller,
};

/// The configuration of a member. `cluster`, `name`, `nodes`, and `key_file` or `insecure` must be
/// set. `cluster`, `nodes`, `nodes_max`, `message_bytes_max`, `order` and `data` must be equal on
/// all nodes; with Paxos and Ridge, `packet_bytes` too.
struct Config {
  std::string cluster;           ///< name of the cluster, in the form of Node::name; packets of
                                 ///< other clusters are ignored
  std::string name;              ///< name of this node in `nodes`
  std::vector<Node> nodes;       ///< all nodes, 1 to nodes_max, with the same numbers on all nodes
  std::uint32_t nodes_max = 32;  ///< maximum length of the list in this cluster, up to 128

  /// File with the keys for sealing packets between nodes: packets are encrypted, and refused if
  /// their sender has no key. `peal keygen` creates the file. It is the same on all nodes, and
  /// readable by its owner only.
  std::string key_file;
  /// If true, key_file must be empty, and packets are neither encrypted nor authenticated: everyone
  /// with access to the network can read, change and send messages. Equal on all nodes.
  bool insecure = false;

  /// The ordering protocol: `config.order = peal::Ridge{.ensembles = 3}`.
  std::variant<Ring, Paxos, Ridge> order;

  /// How datagrams with data reach the other nodes.
  std::variant<Multicast, MulticastGroup> multicast = Multicast::automatic;
  Data data = Data::datagrams;  ///< how data travel
  /// Size of the largest packet, without IP and UDP headers, 298 to 65507; from 256 if insecure.
  /// Datagrams above the network's MTU cost speed. 0: 1,472, or 16,384 with streams.
  std::uint32_t packet_bytes = 0;

  std::uint32_t message_bytes_max = 64U << 20;    ///< maximum size of one message, 1 byte to 1 GiB
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< limit of bytes of messages that wait to be
                                                  ///< ordered
  std::uint32_t submit_messages_max = 65'536;     ///< limit of messages that wait to be ordered
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< limit of bytes of messages that wait to be
                                                  ///< read

  Thread thread = Thread::own;  ///< the thread that runs the member

  std::string trace;      ///< file to which the application's events are appended, as JSON lines
  std::string state_dir;  ///< directory that stores the last epoch; needed only if the clock may
                          ///< step back between two starts
};

}  // namespace v0
}  // namespace peal
