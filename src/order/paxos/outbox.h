// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/buffer.h"
#include "order/engine.h"
#include "order/paxos/options.h"
#include "order/paxos/order_state.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// The content behind the header of a packet: nothing, or the bytes of a value.
inline BufferRef bytes_behind(const BufferRef& packet, std::size_t header_bytes) {
  const auto head = static_cast<std::uint32_t>(header_bytes);
  return packet.size() > head ? packet.slice(head, packet.size() - head) : BufferRef{};
}

/// Builds packets. If no buffer is free, no packet is sent, and no_buffer() counts the case.
/// Senders of important packets retransmit them.
class Outbox {
 public:
  Outbox(const Config& config, BufferPool& pool) : pool_(pool), limit_(config.options) {
    header_.cluster = config.cluster;
    header_.sender = config.self;
    header_.checksum = config.checksum;
  }

  const wire::Header& header() const { return header_; }
  std::uint64_t no_buffer() const { return no_buffer_; }

  /// A packet written by `encode(header, bytes)`; empty if no buffer is free or the packet does not
  /// fit.
  template <class Encode>
  BufferRef build(Encode encode) {
    BufferRef packet = pool_.take();
    if (packet) {
      const std::size_t size = encode(header_, ByteSpan{packet.data(), packet.size()});
      if (size != 0) {
        packet.truncate(static_cast<std::uint32_t>(size));
        return packet;
      }
    }
    ++no_buffer_;
    return {};
  }
  template <class Encode>
  void send(NodeId to, Lane lane, Effects& out, Encode encode) {
    if (const BufferRef packet = build(encode)) out.send(to, lane, packet);
  }
  template <class Encode>
  void multicast(Lane lane, Effects& out, Encode encode) {
    if (const BufferRef packet = build(encode)) out.multicast(lane, packet);
  }

  BufferRef state_packet(const wire::State& said) {
    return build([&said](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_state(header, said, bytes);
    });
  }

  /// A packet with a value. The bytes of the value are copied.
  BufferRef value_packet(wire::PaxosKind kind, const wire::ValueFrame& frame, ByteView bytes) {
    BufferRef packet = with_room(wire::kDataHeaderBytes, bytes);
    if (packet) {
      wire::encode_value_in_place(header_, kind, frame, ByteSpan{packet.data(), packet.size()});
    }
    return packet;
  }
  /// As value_packet(), without a copy: writes into the headroom in front of `bytes`, which nothing
  /// else uses.
  BufferRef wrap(wire::PaxosKind kind, const wire::ValueFrame& frame, BufferRef bytes) {
    if (!bytes) return value_packet(kind, frame, {});
    bytes.grow_front(wire::kDataHeaderBytes);
    wire::encode_value_in_place(header_, kind, frame, ByteSpan{bytes.data(), bytes.size()});
    return bytes;
  }
  /// Calls wrap() if `fresh`, else value_packet(). `fresh`: nothing else uses the headroom in front
  /// of the bytes.
  BufferRef value(wire::PaxosKind kind, const wire::ValueFrame& frame, const BufferRef& bytes,
                  bool fresh) {
    return fresh ? wrap(kind, frame, bytes) : value_packet(kind, frame, bytes.view());
  }
  /// As value_packet(), wrap() and value(), for packets that are passed along a chain.
  BufferRef relay_packet(wire::PaxosKind kind, const wire::Relay& frame, ByteView bytes) {
    BufferRef packet = with_room(wire::kRelayHeaderBytes, bytes);
    if (packet) {
      wire::encode_relay_in_place(header_, kind, frame, ByteSpan{packet.data(), packet.size()});
    }
    return packet;
  }
  BufferRef wrap_relay(wire::PaxosKind kind, const wire::Relay& frame, BufferRef bytes) {
    if (!bytes) return relay_packet(kind, frame, {});
    bytes.grow_front(wire::kRelayHeaderBytes);
    wire::encode_relay_in_place(header_, kind, frame, ByteSpan{bytes.data(), bytes.size()});
    return bytes;
  }
  BufferRef relay(wire::PaxosKind kind, const wire::Relay& frame, const BufferRef& bytes,
                  bool fresh) {
    return fresh ? wrap_relay(kind, frame, bytes) : relay_packet(kind, frame, bytes.view());
  }
  BufferRef fetched_packet(const wire::Fetched& frame, ByteView bytes) {
    BufferRef packet = with_room(wire::kFetchedHeaderBytes, bytes);
    if (packet) {
      wire::encode_fetched_in_place(header_, frame, ByteSpan{packet.data(), packet.size()});
    }
    return packet;
  }
  BufferRef word_packet(const wire::Word& word, ByteView bytes) {
    if (word.round.count == 0) {
      return build([&word](const wire::Header& header, ByteSpan room) {
        return wire::encode_no_vote(header, word, room);
      });
    }
    BufferRef packet = with_room(wire::kWordHeaderBytes, bytes);
    if (packet) {
      wire::encode_word_in_place(header_, word, ByteSpan{packet.data(), packet.size()});
    }
    return packet;
  }
  /// The lane for a packet of this size: packets larger than one datagram take the control lane.
  Lane lane_for(const BufferRef& packet) const {
    return packet.size() > limit_.packet_bytes_max ? Lane::control : Lane::data;
  }

 private:
  BufferRef with_room(std::size_t header_bytes, ByteView bytes) {
    const std::size_t size = header_bytes + bytes.size();
    const std::size_t most = std::min<std::size_t>(pool_.slab_bytes(), wire::kPacketBytesMax);
    BufferRef packet = size <= most ? pool_.take() : BufferRef{};
    if (!packet) {
      ++no_buffer_;
      return packet;
    }
    packet.truncate(static_cast<std::uint32_t>(size));
    if (!bytes.empty()) std::memcpy(packet.data() + header_bytes, bytes.data(), bytes.size());
    return packet;
  }

  BufferPool& pool_;
  Options limit_;
  wire::Header header_;
  std::uint64_t no_buffer_ = 0;
};

}  // namespace peal::order::paxos
