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

// What the rest of the program knows of an engine before it runs. Each engine has one descriptor, a
// constant in its folder; order/registry/registry.cc lists them.

namespace peal::order {

/// What an engine promises and takes. Constants: no option changes them.
struct Traits {
  /// A majority of acceptors orders, which are some of the nodes: see NodeList::acceptors. Every
  /// view is the primary one. False: each side of a partition goes on by itself.
  bool quorum = false;
  std::uint32_t acceptors_most = std::numeric_limits<std::uint32_t>::max();
  /// Data may go over streams. False: the engine needs multicast.
  bool streams = false;
  /// Several ensembles may order side by side, and nodes may have domains of their own.
  bool ensembles = false;
  /// The largest packet must be equal on all nodes.
  bool equal_packets = false;
};

/// What an engine with certain options takes of the node that runs it.
struct Needs {
  std::uint32_t max_gap = 0;  ///< units between the slowest member and what is ordered, at most
  /// A loop that did not run for longer has to say so, before the silence of others is taken for
  /// theirs.
  Duration pause{};
  /// Values, decided or replayed, that take buffers of the pool for packets.
  std::uint32_t values = 0;
  bool log = false;             ///< acceptors keep a log
  std::uint32_t ensembles = 1;  ///< that order side by side, and share the log
  /// A list of nodes may differ from the one before it by one node at most.
  bool one_node_at_a_time = false;
  bool optimistic = false;  ///< units are told before they have their places, too
};

struct Descriptor {
  std::string_view name;     ///< as in the configuration: "ring"
  std::string_view summary;  ///< one sentence for users, without its full stop
  Traits traits;
  /// The kind (wire/names.h) of the packets that carry units.
  std::string_view unit_packets;
  /// The events that it reports besides those of all engines (vocabulary.h).
  std::span<const EventKind* const> events{};
  /// All that can be chosen, in the order in which a person reads it. Engines may share options.
  std::span<const Option> (*options)() = nullptr;
  /// `nodes`: how many there are. Takes any values that the options accept.
  Needs (*needs)(const OptionValues& values, std::size_t nodes) = nullptr;
  /// Whether options, each of which is accepted, go together, and with the domains. The error is
  /// one line that begins with the key and says what is accepted.
  Result<void, std::string> (*validate)(const OptionValues& values,
                                        const std::vector<DomainNodes>& domains) = nullptr;
  /// `packets` is where the engine builds its own packets. Slabs must hold Host::headroom bytes in
  /// front of each unit that the host hands over.
  std::unique_ptr<Engine> (*make)(const Setup& setup, BufferPool& packets, Host& host) = nullptr;
  /// Of an engine whose packets on the lane of data all begin alike: writes that beginning, so that
  /// sealed packets can leave it out (io/frame_header.h); else null.
  void (*write_data_header)(std::uint64_t cluster, const MemberId& sender,
                            std::uint32_t frame_bytes, ByteSpan out) = nullptr;
  /// Who votes if nobody says otherwise, out of sorted nodes; null without acceptors.
  std::vector<NodeId> (*default_acceptors)(const std::vector<NodeId>& nodes) = nullptr;
  /// The nodes and acceptors of a list that a domain has; null without domains.
  NodeList (*part_of)(const DomainNodes& domain, const NodeList& list) = nullptr;
  /// The domain in which a position of the order is; null without domains.
  Domain (*domain_of)(Seq position) = nullptr;
};

}  // namespace peal::order
