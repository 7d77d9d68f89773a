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
  io::HostPort address;  ///< tokens and control; data travel on the port above it
  NodeId number{};       ///< how nodes know it; it keeps it for as long as it is in the list

  friend bool operator==(const NodeEntry&, const NodeEntry&) = default;
};

/// What a reload gives: the list of nodes, and who of them votes.
struct Listing {
  std::vector<NodeEntry> nodes;
  std::vector<NodeId> acceptors;  ///< as in Settings
  friend bool operator==(const Listing&, const Listing&) = default;
};

/// The node with this number or name; null if there is none.
const NodeEntry* find(const std::vector<NodeEntry>& nodes, NodeId number);
const NodeEntry* find(const std::vector<NodeEntry>& nodes, std::string_view name);

/// Some nodes with an order of their own, which no others learn.
struct DomainEntry {
  std::string name;
  std::vector<NodeId> nodes;        ///< those that are not in the list (yet) do not count
  std::vector<NodeId> acceptors;    ///< of these; empty: the engine's choice
  std::vector<std::string> groups;  ///< of daemons: names, or beginnings with '*' behind

  friend bool operator==(const DomainEntry&, const DomainEntry&) = default;
};
inline constexpr std::size_t kDomainsMax = 15;

inline constexpr std::uint32_t kPacketBytesLeast = 256;
inline constexpr std::uint32_t kReceiveBytesLeast = 1U << 20;
/// Of the largest message of a node that clients may connect to: what they send has names, too.
inline constexpr std::uint32_t kClientsMessageBytesLeast = 32'768;

/// All that can be set of a node. keys() says how each member is called, and what it takes.
struct Settings {
  std::string cluster;
  std::string name;              ///< one of `nodes`
  std::vector<NodeEntry> nodes;  ///< each with a number of its own
  std::uint32_t nodes_max = 32;  ///< the list never has more, as long as the cluster runs
  io::MulticastMode multicast = io::MulticastMode::automatic;
  io::Endpoint group;              ///< if `multicast` is group
  std::string key_file;            ///< where `keys` come from
  std::optional<seal::Keys> keys;  ///< that packets are sealed with; see load_keys()
  bool insecure = false;  ///< packets between nodes are neither encrypted nor authenticated
  const order::Descriptor* order = &order::default_engine();
  order::OptionValues options;       ///< of the engine, by their keys; else its defaults
  std::vector<DomainEntry> domains;  ///< domain 1 and so on
  std::vector<NodeId> acceptors;     ///< on quorums; empty: as acceptors_of() chooses
  bool streams = false;              ///< data goes over TCP
  std::string data_dir;  ///< where an acceptor, or a node that may become one, has its log
  std::uint32_t packet_bytes = 0;  ///< the largest; 0: what suits the way of data
  node::Limits limits;             ///< but for reassembly_bytes_max: see node_limits()
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< of messages that wait to be read
  bool own_thread = true;                         ///< false: who reads runs the loop
  std::string trace;                              ///< empty: none
  std::string state_dir;                          ///< remembers the last start; empty: none
  /// Where `name` is, if that has been found out already; else it is looked up, which may block.
  std::optional<io::Endpoint> own_at;
  io::LookUp::Question question;     ///< looks names up; nothing: the operating system
  std::optional<io::Faults> faults;  ///< tests and benchmarks only

  /// This node; 0 if `name` is not one of `nodes`.
  NodeId self() const;
  /// The entry of this node, which must be one of `nodes`.
  const NodeEntry& own() const;
};

/// How long a member waits for its own address.
inline constexpr Duration kOwnAddressPatience = seconds(5);

/// This node's address out of those that its name has, as io::choose_own(): of the family of the
/// nodes whose addresses are numbers, if there are any.
Result<io::Endpoint, io::IoError> choose_own(const Settings& settings,
                                             const std::vector<io::Endpoint>& found);

/// The address of this node: `own_at`, a number, or looked up. Errors: invalid_option (no such
/// name, or no address of this machine), would_block (no answer in time), system. Blocks: up to
/// kOwnAddressPatience.
Result<io::Endpoint, io::IoError> find_own(const Settings& settings);

/// The keys of `key_file`, or one line that names it, and says what is wrong.
Result<seal::Keys, std::string> read_keys(const Settings& settings);
/// Puts them into the settings, if there is a `key_file`.
Result<void, std::string> load_keys(Settings& settings);

/// Whether all settings are accepted, and go together. The error is one line that begins with the
/// key, and says what is accepted.
Result<void, std::string> validate(const Settings& settings);

/// Who votes, sorted: those of the settings, or the engine's choice out of `nodes`. Only of engines
/// on quorums.
std::vector<NodeId> acceptors_of(const Settings& settings);
/// True if this node is one of them: it needs a data_dir, unless votes are in memory.
bool votes(const Settings& settings);
/// It has a log, or may have one.
bool keeps_log(const Settings& settings);
/// It may become an acceptor while it runs.
bool may_vote(const Settings& settings);

/// The largest packet of data. With streams no network cuts packets up, and large ones cost less.
std::uint32_t packet_bytes(const Settings& settings);

/// What the engine takes of the node that runs it.
order::Needs needs_of(const Settings& settings);

/// `limits`, with room for one unfinished message of the largest size of each node.
node::Limits node_limits(const Settings& settings);

/// The file that remembers the last start; empty: none.
std::string state_file(const Settings& settings);

/// wire::Header::cluster. High 32 bits: the cluster's name; low 32: all keys that must be equal on
/// all nodes as long as one of them runs. The list of nodes, and who of them votes, may change: see
/// config/nodes.h.
std::uint64_t cluster_id(const Settings& settings);

/// By how many bytes a packet of data is longer than its frame if it is sealed. If all frames begin
/// alike, packets leave out the frame's header.
inline std::uint32_t sealed_data_longer(const order::Descriptor& order) {
  const std::size_t left_out = order.write_data_header != nullptr ? io::FrameHeader::kBytes : 0;
  return static_cast<std::uint32_t>(seal::overhead(Lane::data) - left_out);
}

/// Bytes of the largest frame: sealed, it still fits a datagram.
std::uint32_t frame_bytes(const Settings& settings);

/// seal::Sealer's number of the cluster: its name alone, so that nodes whose other settings differ
/// can tell each other.
std::uint64_t seal_cluster_id(const Settings& settings);

trace::Names names_of(const Settings& settings);

}  // namespace peal::config
