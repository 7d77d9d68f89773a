// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/option.h"
#include "order/setup.h"

// What the rest of the program knows of an engine before the engine runs. Each engine has one
// descriptor, a constant in the engine's folder. order/registry/registry.cc lists all descriptors.

namespace peal::order {

/// What an engine guarantees and supports. No option changes the traits.
struct Traits {
  /// True: a majority of the acceptors (NodeList::acceptors) decides the order, or with `genuine` a
  /// majority of each domain's nodes. Every view is primary. False: each side of a partition
  /// continues by itself.
  bool quorum = false;
  std::uint32_t acceptors_most = std::numeric_limits<std::uint32_t>::max();
  /// True: the engine can send data over streams. False: the engine sends data by datagrams only.
  bool streams = false;
  /// Several ensembles may order in parallel, and subsets of the nodes may form domains.
  bool ensembles = false;
  /// Genuine multicast: any node may send to any domains, and only the sender and the nodes of
  /// these domains take part. Domains have no nodes in common, and each has views of its own. A
  /// unit has one position, the same in all its domains. If its sender does not deliver the unit,
  /// originate() names a view with number 0. False: a unit goes to one domain, which its sender
  /// belongs to, or to all nodes; the views are those of all nodes.
  /// Views return no units: a unit keeps its place in any view. So all messages must fit into one
  /// unit, because a member that joins would lack the beginning of a larger one.
  bool genuine = false;
  /// With `genuine`: maximum number of nodes of a domain. Without domains, all nodes are one.
  std::uint32_t domain_nodes_most = std::numeric_limits<std::uint32_t>::max();
  /// A position of a view means the same only to a company: members that leave the view together,
  /// or end in it. Members that crash or are cut off may deliver its last messages in another
  /// order.
  bool companies = false;
  /// Units with Service::causal have no position: they are delivered as soon as the units that
  /// caused them are. False: the engine gets no such units, and orders causal and fifo messages
  /// with agreed ones.
  bool causal = false;
  /// The engine installs one view only. It orders nothing after a member has failed or was cut off,
  /// so the simulator injects no such faults.
  bool one_view = false;
  /// A node that has ended never belongs to its domain again. The engine goes on while a majority
  /// of the domain's nodes runs, in the one view that all of them formed at the beginning.
  bool crash_stop = false;
  /// The maximum packet size must be equal on all nodes.
  bool equal_packets = false;
  /// The setting that disables the log of acceptors, as error texts quote it. Empty if there is no
  /// such setting.
  std::string_view without_log{};

  /// Subsets of the nodes may form domains.
  constexpr bool has_domains() const { return ensembles || genuine; }
  /// Some nodes are acceptors, which the configuration names or the engine chooses.
  constexpr bool has_acceptors() const { return quorum && !genuine; }
};

/// What an engine with certain options needs from the node that runs it.
struct Needs {
  /// Maximum number of units by which the slowest member is behind the newest position.
  std::uint32_t max_gap = 0;
  /// After a pause longer than this, the node must call on_pause(), so that the engine does not
  /// mistake its own pause for silence of other nodes.
  Duration pause{};
  /// Maximum number of values, decided or replayed from the log, that occupy buffers of the pool
  /// `packets` of make().
  std::uint32_t values = 0;
  /// Maximum number of packets of its own, without units, that the engine keeps in that pool until
  /// all members have them.
  std::uint32_t own_packets = 0;
  bool log = false;     ///< acceptors keep a log
  bool memory = false;  ///< nodes write into each other's memory (Setup::memory)
  /// How writes travel, with `memory`. Automatic: through shared memory between processes of one
  /// machine, by RDMA between machines that have it, else over streams.
  enum class Fabric : std::uint8_t { automatic, shared_memory, streams, rdma };
  Fabric fabric = Fabric::automatic;
  /// How the node's thread waits. Adaptive: it polls for a while before it sleeps, if that pays.
  enum class Polls : std::uint8_t { adaptive, always, never };
  Polls polls = Polls::adaptive;
  bool rdma_in_clear = false;  ///< RDMA may be used though the nodes have keys
  /// With Traits::genuine: bytes of a packet of the largest size that no unit fills.
  std::uint32_t around_unit = 0;
  std::uint32_t ensembles = 1;  ///< number of ensembles that order in parallel and share the log
  /// A new list of nodes may differ from its predecessor by one node at most.
  bool one_node_at_a_time = false;
  bool optimistic = false;  ///< the engine also calls Effects::opt_deliver()

  // What tests may expect of the engine. The simulator uses these limits in its checks.

  /// Maximum number of buffers that a node holds, apart from the buffers of its application.
  std::uint32_t held = 0;
  Duration suspect{};    ///< the silence after which a node is suspected
  Duration forms{};      ///< without faults, running nodes have a view within this time
  Duration remembers{};  ///< how long after a fault a member may still be excluded for that fault
  Duration idle{};       ///< time between two actions of an engine that has no work
  /// Factor by which forming a view takes longer with the chosen options than with the defaults.
  double slower = 1;
};

/// Number of buffers that the pool `packets` of make() must have.
constexpr std::uint32_t packet_buffers(const Needs& needs) {
  constexpr std::uint32_t kInTransit = 128;
  const std::uint32_t values = needs.values == 0 ? 0 : needs.values + needs.values / 2 + 384;
  return values + needs.own_packets + kInTransit;
}

struct Descriptor {
  std::string_view name;     ///< as in the configuration: "ring"
  std::string_view summary;  ///< one sentence for users, without its full stop
  Traits traits;
  /// The kind of packets that carry units, as the engine's inspection names it.
  std::string_view unit_packets;
  /// The events that the engine reports in addition to the common events (vocabulary.h).
  std::span<const EventKind* const> events{};
  /// All options, in the order in which documentation lists them. Engines may share options.
  std::span<const Option> (*options)() = nullptr;
  /// `nodes`: number of configured nodes. Any accepted option values are valid arguments.
  Needs (*needs)(const OptionValues& values, std::size_t nodes) = nullptr;
  /// Checks that the options are compatible with each other and with the domains. The caller has
  /// already checked each value by itself. The error is one line. It begins with a key, and names
  /// the accepted values or the key to leave out.
  Result<void, std::string> (*validate)(const OptionValues& values,
                                        const std::vector<DomainNodes>& domains) = nullptr;
  /// The engine builds its own packets in `packets`. Each unit that the host hands over must have
  /// wire::kUnitHeadroomBytes free bytes in front of it.
  std::unique_ptr<Engine> (*make)(const Setup& setup, BufferPool& packets, Host& host) = nullptr;
  /// Writes to `out` the bytes with which all data packets of `sender` begin, so that sealed
  /// packets can omit these bytes (io/frame_header.h). Null if a sender's data packets begin
  /// differently.
  void (*write_data_header)(std::uint64_t cluster, const MemberId& sender,
                            std::uint32_t frame_bytes, ByteSpan out) = nullptr;
  /// Chooses acceptors among the sorted `nodes` if the configuration names no acceptors. Null for
  /// an engine without acceptors.
  std::vector<NodeId> (*default_acceptors)(const std::vector<NodeId>& nodes) = nullptr;
  /// The nodes and acceptors of `list` that belong to `domain`. Null for an engine without domains.
  NodeList (*part_of)(const DomainNodes& domain, const NodeList& list) = nullptr;
};

}  // namespace peal::order
