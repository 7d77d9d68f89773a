// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "order/engine.h"
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
  /// Values that are decided or replayed take buffers of the pool for packets, too.
  bool values_in_packets = false;
};

struct Descriptor {
  std::string_view name;     ///< as in the configuration: "ring"
  std::string_view summary;  ///< one sentence for users, without its full stop
  Traits traits;
  /// The kind (wire/names.h) of the packets that carry units.
  std::string_view unit_packets;
  /// The events that it reports besides those of all engines (vocabulary.h).
  std::span<const EventKind* const> events{};
  /// `packets` is where the engine builds its own packets. Slabs must hold Host::headroom bytes in
  /// front of each unit that the host hands over.
  std::unique_ptr<Engine> (*make)(const Setup& setup, BufferPool& packets, Host& host) = nullptr;
  /// Of an engine whose packets on the lane of data all begin alike: writes that beginning, so that
  /// sealed packets can leave it out (io/frame_header.h); else null.
  void (*write_data_header)(std::uint64_t cluster, const MemberId& sender,
                            std::uint32_t frame_bytes, ByteSpan out) = nullptr;
};

}  // namespace peal::order
