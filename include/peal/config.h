// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

// The configuration of a member: see member.h.

namespace peal {
/// Namespace of this version: see types.h.
inline namespace v0 {

/// One node of the cluster.
struct Node {
  std::string name;  ///< 1 to 255 letters, digits, '.', '_' or '-'
  /// An IP address or a host name, and a port from 1 to 65534: "10.0.0.1:4800", "[fd00::1]:4800" or
  /// "node-1.example:4800". The node also uses the next higher port, with UDP or, with
  /// Data::streams, with TCP. While another node is not in the view, its host name is looked up
  /// again, because its IP address may have changed. All addresses are of one family: the family of
  /// the addresses that are numbers. If all addresses are names, the family is IPv4 if the name of
  /// this node has an IPv4 address, otherwise IPv6.
  std::string address;
  /// The node's number, 1 to 65535: unique in the cluster, equal on all nodes, and constant while
  /// the node is in the list. 0: the number is the node's place in the list, from 1.
  std::uint32_t number = 0;
};

/// A subset of the nodes. Only these nodes and the sender learn the messages that are sent to the
/// domain, and only the links between them carry these messages. A node delivers all its messages
/// in one order, whatever domains they were sent to. With Ridge, a node may be in several domains.
/// With Ramcast, domains have no node in common and up to 15 nodes each.
struct Domain {
  std::string name;  ///< 1 to 255 letters, digits, '.', '_' or '-'
  /// Numbers of the domain's nodes (Node::number). A number need not be in the list of nodes (yet).
  std::vector<std::uint32_t> nodes;
  /// With Ridge: numbers of the domain's acceptors, an odd number of its nodes. Empty: chosen as in
  /// Paxos::acceptors, from the domain's nodes that are in the list. The domain needs a majority of
  /// its acceptors, and a majority of its nodes that are in the list. Without these, the domain
  /// orders nothing, and its nodes deliver nothing at all, not even messages for all nodes.
  /// With Ramcast: empty. All nodes of the domain vote, and the domain needs a majority of them.
  std::vector<std::uint32_t> acceptors{};
  /// For daemons: the process groups whose messages go to the domain, as names, or as prefixes that
  /// end in '*'. Embedded members ignore the groups, but `groups` must be equal on all nodes.
  std::vector<std::string> groups{};
};

/// How datagrams with data are sent to the other nodes.
enum class Multicast : std::uint8_t {
  /// By IP multicast to the nodes for which probes show that multicast works, and one copy to each
  /// of the others.
  automatic,
  off,  ///< one copy to each node
};
/// Like Multicast::automatic, but with this multicast group.
struct MulticastGroup {
  std::string address;  ///< an IPv4 group and a port, such as "239.192.7.1:4800"
};

/// How data travel between nodes.
enum class Data : std::uint8_t {
  datagrams,  ///< by UDP, as Config::multicast says
  /// Each node has one TCP connection to each other node, to the port above the port of that
  /// node's address. Multicast is not used, and packets may be larger than the network's MTU. With
  /// Paxos and Ridge only. Ramcast always uses streams.
  streams,
};

/// Which views are primary. A primary view may act for the whole cluster.
enum class PrimaryRule : std::uint8_t {
  none,      ///< no rule: View::primary is empty
  majority,  ///< a view with a majority of the nodes is primary: at most one at a time
};

/// Where acceptors keep their votes.
enum class Storage : std::uint8_t {
  disk,  ///< in `data_dir`: ordered messages survive crashes, even of all nodes at once
  /// Only in the memory of the acceptors' processes: faster, and without `data_dir`. If a majority
  /// of the acceptors crashes at once, ordered messages are lost, and all nodes must be stopped and
  /// started again (docs/configuration.md). Not with several ensembles or domains.
  memory,
};

/// When ToTo delivers messages.
enum class TotoDelivery : std::uint8_t {
  toto,     ///< once no concurrent message can come before them: a majority of votes is enough
  all_ack,  ///< once every member has acknowledged: simpler, and as slow as the slowest member
};

/// How decided values reach all nodes with Ridge.
enum class Dissemination : std::uint8_t {
  /// Along a chain of acceptors, then from a distributor to all nodes outside the chain. The nodes
  /// take turns as distributor.
  distributors,
  ring,  ///< from each node to the next, through all nodes; only for comparison
};

/// How the orders of several ensembles are merged into one order.
enum class Merge : std::uint8_t {
  keys,  ///< by timestamps from the clocks of the messages' senders
  /// One value of each ensemble in turn, so that messages of one ensemble wait for messages of the
  /// others. Only for comparison, and only with two or more ensembles.
  rotation,
};

/// The members of a view order messages among themselves, on each side of a partition. No message
/// is written to disk.
struct Ring {
  PrimaryRule primary = PrimaryRule::none;  ///< must be equal on all nodes
  /// Times and limits by their names in the table [ring] of docs/configuration.md, for example
  /// {"token_loss_ms", 500}. The defaults suit a local network. Times must be equal on all nodes.
  std::map<std::string, double> tunables{};
};

/// The members of a view order messages by the messages' causes, without a token and without a
/// coordinator: each message, and each acknowledgement, is a vote. Each side of a partition
/// continues. A message has its place in two network delays, whichever member sends it. No message
/// is written to disk. A member that crashes or is cut off may have delivered its last agreed
/// messages in another order than the other members; safe messages have one order
/// (src/order/toto/README.md). Messages with Service::causal or Service::fifo have no place; alone,
/// such a message is delivered after one network delay. All options but `ack_rate` must be equal on
/// all nodes.
struct Toto {
  /// Share of the members whose votes let a message win over concurrent ones, 0.5 to 1; at least a
  /// majority of the view in any case.
  double win = 0.5;
  TotoDelivery delivery = TotoDelivery::toto;  ///< which messages a message waits for
  /// Maximum number of acknowledgements per second that a member without messages sends, 1 to
  /// 1,000,000.
  std::uint32_t ack_rate = 20'000;
  /// A member that sends nothing for this long, or acknowledges nothing, is excluded: 20 ms to 60
  /// s.
  std::chrono::milliseconds fault{300};
  /// Maximum number of packets of one member that are not yet acknowledged by every member, 4 to
  /// 2,048.
  std::uint32_t window = 128;
  PrimaryRule primary = PrimaryRule::none;  ///< which views are primary
};

/// A majority of the acceptors orders the messages; every view is primary.
struct Paxos {
  /// Numbers of the acceptors: an odd number of nodes, equal on all nodes. Member::set_nodes() can
  /// change them. Empty: with one or two nodes, all nodes are acceptors; with three or four nodes,
  /// the three with the lowest numbers; with more nodes, the five with the lowest numbers.
  std::vector<std::uint32_t> acceptors{};
  /// An existing folder that belongs to this user and that no other user can write to. Needed on
  /// each node that is an acceptor or may become one. If votes are in memory, `data_dir` must be
  /// empty. The node keeps its log in the folder data_dir/name, and has threads that write the log.
  std::string data_dir{};
  Storage storage = Storage::disk;  ///< must be equal on all nodes
};

/// Like Paxos, but nodes forward values from one node to the next, which needs no multicast. At
/// most 15 acceptors. All options but `data_dir` must be equal on all nodes.
struct Ridge {
  std::vector<std::uint32_t> acceptors{};                     ///< as Paxos::acceptors
  std::string data_dir{};                                     ///< as Paxos::data_dir
  Storage storage = Storage::disk;                            ///< as Paxos::storage
  Dissemination dissemination = Dissemination::distributors;  ///< how values reach all nodes
  /// Number of ensembles, 1 to 16. Each ensemble has a coordinator of its own and orders some of
  /// the messages; the orders of all ensembles are merged. Several ensembles help if all nodes send
  /// and one coordinator is the bottleneck. Each ensemble costs heartbeats and views, and a message
  /// may wait until the other ensembles announce that they have no earlier message. A log
  /// in `data_dir` is valid only for this number of ensembles.
  std::uint32_t ensembles = 1;
  Merge merge = Merge::keys;  ///< how the orders of several ensembles are merged into one order
  /// Only with one ensemble and without domains. If true, each message also comes as an Early event
  /// before the message has its place. Messages then get their places a little later, and the
  /// network carries each message twice.
  bool optimistic = false;
  /// 0 to 15 domains; only with one ensemble. A log in `data_dir` is valid only for these domains.
  std::vector<Domain> domains{};
};

/// How nodes write into each other's memory with Ramcast.
enum class Fabric : std::uint8_t {
  automatic,  ///< with each node the first of shm, verbs and tcp by which it can be reached
  shm,        ///< shared memory, between processes of one user on one machine
  tcp,        ///< a TCP connection to the port of the node's address
  verbs,      ///< RDMA
};

/// How the thread of a member with Ramcast waits.
enum class Poll : std::uint8_t {
  adaptive,  ///< polls for a while before it sleeps, as long as that saves time
  /// Never sleeps, so that messages take a few microseconds, and keeps one processor busy. There
  /// must be a processor for each such member.
  always,
  never,  ///< sleeps as soon as nothing comes; a node that writes to it wakes it up
};

/// Genuine multicast: a message goes to one or several domains, and touches no other node. Nodes
/// write into each other's memory. Each domain goes on with a majority of its nodes, and has views
/// of its own. A node in no domain only sends: it has no views, and gets no messages. Messages are
/// in memory: if most nodes of a domain restart at the same time, all nodes must be stopped and
/// started again. Each message fits into one packet, and a larger one is too_large
/// (Config::packet_bytes). `domains`, `slots`, `log_bytes`, `inline_bytes`, `lazy` and `suspect`
/// must be equal on all nodes, and so must Config::packet_bytes. Config::nodes cannot change.
struct Ramcast {
  /// 0 to 15 domains that have no node in common. Without domains, all nodes are one domain: up to
  /// 15.
  std::vector<Domain> domains{};
  Fabric fabric = Fabric::automatic;  ///< how nodes write into each other's memory
  /// With Config::key_file, whether RDMA may be used all the same, which neither encrypts nor
  /// authenticates: set it only if nobody else reaches the network of the RDMA devices.
  bool verbs_in_clear = false;
  Poll poll = Poll::adaptive;  ///< how the member's thread waits
  /// Maximum number of messages of one node that not all members of their domains have delivered,
  /// 1 to 1,024. Each node reserves `slots` times Config::packet_bytes for each other node.
  std::uint32_t slots = 64;
  /// Bytes of the memory in which a leader writes its log at each member of its domain, 16,384 to
  /// 2^28.
  std::uint32_t log_bytes = 1U << 18;
  /// Messages to one domain up to this size travel in the leader's log, too, and have their place
  /// one write earlier: 0 to 4,096 bytes.
  std::uint32_t inline_bytes = 1'024;
  /// If true, followers do not acknowledge messages to one domain that travel in the log: fewer
  /// writes, but followers deliver later.
  bool lazy = false;
  /// Time between two signs of life to the nodes of the domain, 50 us to 1 s.
  std::chrono::microseconds beat{1'000};
  /// A node that gives no sign of life for this long is suspected; after twice as long it is
  /// excluded. 2 ms to 60 s, at least four times `beat`.
  std::chrono::milliseconds suspect{30};
};

/// The thread that runs the member.
enum class Thread : std::uint8_t {
  own,  ///< the member starts a thread of its own
  /// The application's thread runs the member while this thread is inside next() or wait(). So no
  /// message is handed from one thread to another. The application must call next() or wait() all
  /// the time. Outside these calls, the member sends and receives nothing, and the other members
  /// wait. After some time (with the ring, "token_loss_ms") they exclude this member.
  caller,
};

/// The configuration of a member. `cluster`, `name`, `nodes`, and either `key_file` or `insecure`
/// must be set. `cluster`, `nodes`, `nodes_max`, `message_bytes_max`, `order` and `data` must be
/// equal on all nodes; with Paxos, Ridge and Ramcast, `packet_bytes` too.
struct Config {
  /// Name of the cluster, in the form of Node::name. Packets of other clusters are ignored.
  std::string cluster;
  std::string name;              ///< name of this node, one of the names in `nodes`
  std::vector<Node> nodes;       ///< all nodes of the cluster: 1 to nodes_max entries
  std::uint32_t nodes_max = 32;  ///< maximum number of nodes of this cluster, 1 to 128

  /// File with the keys for sealing packets between nodes: packets are encrypted, and a packet from
  /// a sender without a key is refused. `peal keygen` creates the file. The file must be equal on
  /// all nodes, and readable by its owner only.
  std::string key_file;
  /// If true, packets are neither encrypted nor authenticated, and key_file must be empty: everyone
  /// with access to the network can read, change and send messages. Equal on all nodes.
  bool insecure = false;

  /// The ordering protocol: `config.order = peal::Ridge{.ensembles = 3}`.
  std::variant<Ring, Paxos, Ridge, Toto, Ramcast> order;

  /// How datagrams with data are sent to the other nodes.
  std::variant<Multicast, MulticastGroup> multicast = Multicast::automatic;
  Data data = Data::datagrams;  ///< how data travel between nodes
  /// Size of the largest packet in bytes, without IP and UDP headers, up to 65507. The minimum is
  /// 257 with the ring and 289 with Paxos, Ridge and ToTo, or 256 if insecure; 2,048 with Ramcast.
  /// Datagrams above the network's MTU cost speed. 0: 1,472, or 16,384 with streams, or 33,792 with
  /// Ramcast.
  std::uint32_t packet_bytes = 0;

  std::uint32_t message_bytes_max = 64U << 20;  ///< maximum size of a message, 1 to 2^30 bytes
  /// Limit of bytes of messages that wait to be ordered, at least message_bytes_max.
  std::uint64_t submit_bytes_max = 128ULL << 20;
  /// Limit of messages that wait to be ordered, 1 to 2^24.
  std::uint32_t submit_messages_max = 65'536;
  /// Limit of bytes of messages that wait to be read by next(), at least 2^20.
  std::uint64_t receive_bytes_max = 64ULL << 20;

  Thread thread = Thread::own;  ///< the thread that runs the member

  std::string trace;  ///< file to which events are appended as JSON lines; empty: no trace
  /// Folder in which the node stores its last epoch. Needed only if the clock may step back between
  /// two starts of the node.
  std::string state_dir;
};

}  // namespace v0
}  // namespace peal
