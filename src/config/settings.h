// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "io/endpoint.h"
#include "io/faults.h"
#include "io/frame_header.h"
#include "io/loop.h"
#include "io/resolve.h"
#include "io/udp.h"
#include "node/node.h"
#include "order/registry/registry.h"
#include "order/setup.h"
#include "seal/key.h"
#include "seal/packet.h"
#include "trace/names.h"

namespace peal::config {

struct NodeEntry {
  std::string name;
  io::HostPort address;  ///< for tokens and control packets; data packets use the next higher port
  NodeId number{};       ///< identifies the node; constant while the node is in the list

  friend bool operator==(const NodeEntry&, const NodeEntry&) = default;
};

/// The part of a reload that concerns nodes: the list, and the acceptors.
struct Listing {
  std::vector<NodeEntry> nodes;
  std::vector<NodeId> acceptors;  ///< like Settings::acceptors
  friend bool operator==(const Listing&, const Listing&) = default;
};

/// The node with this number or name; null if there is none.
const NodeEntry* find(const std::vector<NodeEntry>& nodes, NodeId number);
const NodeEntry* find(const std::vector<NodeEntry>& nodes, std::string_view name);

/// A subset of the nodes with an order of its own. Other nodes do not learn the domain's messages.
struct DomainEntry {
  std::string name;
  std::vector<NodeId> nodes;        ///< nodes that are not in the list (yet) are ignored
  std::vector<NodeId> acceptors;    ///< some of `nodes`; empty: the engine chooses
  std::vector<std::string> groups;  ///< groups of clients: names, or prefixes with '*'

  friend bool operator==(const DomainEntry&, const DomainEntry&) = default;
};
inline constexpr std::size_t kDomainsMax = 15;

inline constexpr std::uint32_t kPacketBytesLeast = 256;
inline constexpr std::uint32_t kReceiveBytesLeast = 1U << 20;
/// The minimum of message_bytes_max on a node with clients: clients' messages carry names, too.
inline constexpr std::uint32_t kClientsMessageBytesLeast = 32'768;

/// All settings of a node. keys() has the keys and the ranges of the settings that a file can set.
struct Settings {
  std::string cluster;
  std::string name;              ///< the name of one of `nodes`
  std::vector<NodeEntry> nodes;  ///< each with a number of its own
  std::uint32_t nodes_max = 32;  ///< maximum length of the list while the cluster runs
  io::MulticastMode multicast = io::MulticastMode::automatic;
  io::Endpoint group;              ///< the multicast group, if `multicast` is group
  std::string key_file;            ///< the file from which `keys` are read
  std::optional<seal::Keys> keys;  ///< keys for sealing packets; see load_keys()
  bool insecure = false;  ///< packets between nodes are neither encrypted nor authenticated
  const order::Descriptor* order = &order::default_engine();
  order::OptionValues options;       ///< the engine's, by key; absent options have their defaults
  std::vector<DomainEntry> domains;  ///< the first is domain 1
  std::vector<NodeId> acceptors;     ///< for an engine on quorums; empty: see acceptors_of()
  bool streams = false;              ///< data packets use TCP
  /// The folder for the log of an acceptor, or of a node that may become an acceptor.
  std::string data_dir;
  std::uint32_t packet_bytes = 0;  ///< size of the largest packet; 0: see packet_bytes()
  node::Limits limits;             ///< except reassembly_bytes_max: see node_limits()
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< limit of messages that wait to be read
  bool own_thread = true;                         ///< false: the reader runs the loop
  std::string trace;                              ///< path of the trace; empty: no trace
  std::string state_dir;                          ///< folder for the last epoch; empty: not stored
  /// This node's address, if it is known already; otherwise find_own() determines it, and may
  /// block.
  std::optional<io::Endpoint> own_at;
  io::LookUp::Question question;     ///< resolves names; empty: the system resolves them
  std::optional<io::Faults> faults;  ///< for tests and benchmarks only

  /// This node; 0 if `name` is not one of `nodes`.
  NodeId self() const;
  /// The entry of this node, which must be in `nodes`.
  const NodeEntry& own() const;
};

/// How long find_own() waits for the lookup of this node's name.
inline constexpr Duration kOwnAddressPatience = seconds(5);

/// Chooses this node's address out of `found`, the addresses of the node's name, like
/// io::choose_own(). If a node of the list has a numeric address, the chosen address is of the same
/// family.
Result<io::Endpoint, io::IoError> choose_own(const Settings& settings,
                                             const std::vector<io::Endpoint>& found);

/// The address of this node: `own_at`, or the configured numeric address, or the result of a lookup
/// of the configured name. Errors: invalid_option (no such name, or no address of this machine),
/// would_block (no answer in time), system. Blocks up to kOwnAddressPatience.
Result<io::Endpoint, io::IoError> find_own(const Settings& settings);

/// Reads the keys of `key_file`. The error is one line that names the file and the problem.
Result<seal::Keys, std::string> read_keys(const Settings& settings);
/// Reads the keys of `key_file` into `settings.keys`; does nothing without a `key_file`.
Result<void, std::string> load_keys(Settings& settings);

/// Checks each setting and the rules between settings. The error is one line that begins with the
/// key, and says what is accepted.
Result<void, std::string> validate(const Settings& settings);

/// The acceptors, sorted: the acceptors in the settings, or the engine's choice out of `nodes`.
/// Call it only if the engine orders on quorums.
std::vector<NodeId> acceptors_of(const Settings& settings);
/// True if this node is an acceptor, of all nodes or of a domain. An acceptor needs a data_dir,
/// unless votes are in memory.
bool votes(const Settings& settings);
/// True if this node keeps a log on disk: it is an acceptor, or may become an acceptor.
bool keeps_log(const Settings& settings);
/// True if this node may become an acceptor while it runs.
bool may_vote(const Settings& settings);

/// The size of the largest data packet. The default for streams is larger, because streams do not
/// fragment packets.
std::uint32_t packet_bytes(const Settings& settings);
/// True if data packets use TCP: because of `streams`, or because the engine's packets are larger
/// than datagrams (order::Traits::genuine).
bool uses_streams(const Settings& settings);

/// The resources that the engine needs from its node.
order::Needs needs_of(const Settings& settings);

/// `limits`, with reassembly_bytes_max raised so that each node may have one unfinished message of
/// the largest size.
node::Limits node_limits(const Settings& settings);
/// How the node's loop waits, as the engine's options demand.
io::Waiting waiting_of(const Settings& settings);

/// The file that stores the last epoch; empty: no file.
std::string state_file(const Settings& settings);

/// wire::Header::cluster. High 32 bits: a hash of the cluster's name; low 32 bits: a hash of all
/// settings that must be equal on all nodes while any of them runs. The list of nodes and the
/// acceptors are not in the hash, because both may change: see config/nodes.h.
std::uint64_t cluster_id(const Settings& settings);

/// By how many bytes a sealed data packet is longer than its frame. If the engine can restore the
/// frame's header, sealed packets omit it.
inline std::uint32_t sealed_data_longer(const order::Descriptor& order) {
  const std::size_t left_out = order.write_data_header != nullptr ? io::FrameHeader::kBytes : 0;
  return static_cast<std::uint32_t>(seal::overhead(Lane::data) - left_out);
}

/// The size of a buffer for the largest possible frame, a multiple of 64. With keys, a frame of
/// this size fits into a datagram when it is sealed.
std::uint32_t frame_bytes(const Settings& settings);

/// Size of the largest packet that the engine builds.
std::uint32_t engine_packet_bytes(const Settings& settings);

/// With order::Traits::genuine: size of the largest message, which must fit into one unit.
std::uint32_t unit_message_bytes(const Settings& settings);
/// Size of the largest message: limits.message_bytes_max, or unit_message_bytes() if that is less.
std::uint32_t message_bytes_max(const Settings& settings);
/// The error for a larger message: one line with the limit and the key that sets it.
std::string message_too_large_text(const Settings& settings);

/// The cluster's id for seal::Sealer: derived from the cluster's name alone, so that nodes with
/// different settings can open each other's packets.
std::uint64_t seal_cluster_id(const Settings& settings);

trace::Names names_of(const Settings& settings);

}  // namespace peal::config
