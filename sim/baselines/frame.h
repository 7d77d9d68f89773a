// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "order/engine.h"
#include "order/inspection/inspection.h"
#include "sim/baselines/layout.h"
#include "wire/byte_reader.h"
#include "wire/packet.h"
#include "wire/writer.h"

// Packets of the engines that only the simulator has. They have the common header (wire/frames.h),
// and kinds that no other engine uses.

namespace peal::sim::genuine {

/// The bytes of a unit.
using Body = std::shared_ptr<const std::vector<std::byte>>;

/// What every packet with a message says of it.
struct Head {
  MemberId sender{};
  std::uint64_t number = 0;  ///< counts the sender's units, from 1
  DomainSet to{};            ///< not empty
  Service service = Service::agreed;
  Key floor = 0;  ///< the highest key that the sender had delivered or was told
  /// By domain: counts the sender's units to this domain, from 1.
  std::array<std::uint64_t, kDomainMax + 1> index{};
};
/// Most bytes of a Head with so many domains.
constexpr std::uint32_t head_bytes(std::size_t domains) {
  return 12 + 8 + 2 + 1 + 8 + 8 * static_cast<std::uint32_t>(domains);
}
void write_head(wire::Writer& out, const Head& head);
Head read_head(wire::ByteReader& in, const Layout& layout);

/// A packet whose header is right.
struct Frame {
  std::uint8_t kind = 0;
  MemberId sender{};
  wire::ByteReader body{ByteView{}};
};
/// Checks the header of a packet of this cluster.
std::optional<Frame> open_frame(ByteView packet, std::uint64_t cluster);

/// Adds the unit that a packet with a message speaks of: its body begins with the message's sender
/// and number.
void add_unit(ByteView packet, std::vector<order::UnitName>& out);

/// Builds packets and sends them. A packet to this node itself waits in `own()`.
class Post {
 public:
  Post(const order::Setup& setup, BufferPool& packets)
      : self_(setup.self),
        cluster_(setup.cluster),
        bytes_max_(setup.packet_bytes_max),
        packets_(packets) {}

  MemberId self() const { return self_; }
  std::uint64_t cluster() const { return cluster_; }
  std::uint32_t bytes_max() const { return bytes_max_; }
  BufferPool& packets() { return packets_; }
  /// A copy of a unit, for its delivery. None if no buffer is free, or if the unit is too large.
  BufferRef copy(const Body& body) {
    const auto size = static_cast<std::uint32_t>(body->size());
    BufferRef unit = size <= packets_.slab_bytes() ? packets_.take(0, size) : BufferRef{};
    if (unit) std::copy(body->begin(), body->end(), unit.data());
    return unit;
  }
  /// Packets of this node to itself, oldest first.
  std::deque<std::vector<std::byte>>& own() { return own_; }

  /// `write` writes the body. Without a free buffer, or if the body does not fit, nothing is sent:
  /// timers repeat everything.
  template <class Write>
  void send(order::Effects& out, NodeId to, std::uint8_t kind, Lane lane, Write write) {
    if (to == self_.node) {
      std::vector<std::byte> bytes(bytes_max_);
      const std::size_t size = build(bytes, kind, write);
      bytes.resize(size);
      if (size != 0) own_.push_back(std::move(bytes));
      return;
    }
    BufferRef packet = packets_.take(0, bytes_max_);
    if (!packet) return;
    const std::size_t size = build({packet.data(), packet.size()}, kind, write);
    if (size == 0) return;
    packet.truncate(static_cast<std::uint32_t>(size));
    out.send(to, lane, packet);
  }

 private:
  template <class Write>
  std::size_t build(ByteSpan packet, std::uint8_t kind, Write write) const {
    wire::Writer in(packet);
    const wire::Header header{{}, cluster_, self_, wire::Checksum::present};
    wire::write_header(in, static_cast<wire::FrameKind>(kind), header);
    write(in);
    return wire::finish(in, packet, wire::Checksum::present);
  }

  MemberId self_;
  std::uint64_t cluster_;
  std::uint32_t bytes_max_;
  BufferPool& packets_;
  std::deque<std::vector<std::byte>> own_;
};

}  // namespace peal::sim::genuine
