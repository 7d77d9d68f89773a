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
// descriptor, a constant in its own folder; order/registry/registry.cc lists them.

namespace peal::order {

/// What an engine guarantees and supports. Constants: no option changes them.
struct Traits {
  /// A majority of the acceptors (NodeList::acceptors) decides the order, and every view is
  /// primary. False: each side of a partition continues on its own.
  bool quorum = false;
  std::uint32_t acceptors_most = std::numeric_limits<std::uint32_t>::max();
  /// The engine can send data over streams. False: it needs multicast.
  bool streams = false;
  /// Several ensembles may order side by side, and subsets of the nodes may form domains.
  bool ensembles = false;
  /// The engine installs one view only: it orders nothing once a member has failed or is cut off.
  /// The simulator injects no such faults into this engine.
  bool one_view = false;
  /// The maximum packet size must be equal on all nodes.
  bool equal_packets = false;
  /// The setting that disables the log of acceptors, as error texts name it; empty if there is no
  /// such setting.
  std::string_view without_log{};
};

/// What an engine with certain options needs from the node that runs it.
struct Needs {
  std::uint32_t max_gap = 0;  ///< maximum lead of the newest position over the slowest member, in
                              ///< units
  /// After a pause longer than this, the node must call on_pause(), so that the engine does not
  /// mistake its own pause for silence of other nodes.
  Duration pause{};
  /// Maximum number of values, decided or replayed from the log, that occupy buffers of the pool
  /// `packets` of make().
  std::uint32_t values = 0;
  bool log = false;             ///< acceptors keep a log
  std::uint32_t ensembles = 1;  ///< ensembles that order side by side and share the log
  /// A new list of nodes may differ from its predecessor by one node at most.
  bool one_node_at_a_time = false;
  bool optimistic = false;  ///< also delivers units early, before they have their places

  // What tests may expect of the engine; the simulator checks it.
  std::uint32_t held = 0;  ///< maximum number of buffers that a node holds, besides those of its
                           ///< application
  Duration suspect{};      ///< the silence after which a node is suspected
  Duration forms{};        ///< without faults, running nodes have a view within this time
  Duration remembers{};    ///< how long after a fault a member may still be excluded for that fault
  Duration idle{};         ///< time between two actions of an engine that has no work
  /// Factor by which forming a view takes longer with the chosen options than with the defaults.
  double slower = 1;
};

struct Descriptor {
  std::string_view name;     ///< as in the configuration: "ring"
  std::string_view summary;  ///< one sentence for users, without its full stop
  Traits traits;
  /// The kind of packets that carry units, as the engine's inspection names it.
  std::string_view unit_packets;
  /// The events that the engine reports in addition to the common ones (vocabulary.h).
  std::span<const EventKind* const> events{};
  /// All options, in the order in which documentation lists them. Engines may share options.
  std::span<const Option> (*options)() = nullptr;
  /// `nodes`: number of configured nodes. Any accepted option values are valid arguments.
  Needs (*needs)(const OptionValues& values, std::size_t nodes) = nullptr;
  /// Checks that individually accepted options fit each other and the domains. The error is one
  /// line that begins with a key and says what is accepted, or what to leave out.
  Result<void, std::string> (*validate)(const OptionValues& values,
                                        const std::vector<DomainNodes>& domains) = nullptr;
  /// The engine builds its own packets in `packets`. Each unit that the host hands over must have
  /// wire::kUnitHeadroomBytes free bytes in front of it.
  std::unique_ptr<Engine> (*make)(const Setup& setup, BufferPool& packets, Host& host) = nullptr;
  /// Writes the beginning that all data packets of a sender share, so that sealed packets can omit
  /// it (io/frame_header.h). Null if the engine's data packets do not begin alike.
  void (*write_data_header)(std::uint64_t cluster, const MemberId& sender,
                            std::uint32_t frame_bytes, ByteSpan out) = nullptr;
  /// Chooses acceptors among `nodes`, which are sorted, for a configuration that names none. Null
  /// for an engine without acceptors.
  std::vector<NodeId> (*default_acceptors)(const std::vector<NodeId>& nodes) = nullptr;
  /// The nodes and acceptors of `list` that belong to `domain`. Null for an engine without domains.
  NodeList (*part_of)(const DomainNodes& domain, const NodeList& list) = nullptr;
  /// The domain of a position of the order. Null for an engine without domains.
  Domain (*domain_of)(Seq position) = nullptr;
};

}  // namespace peal::order
