// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/model.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim {
namespace {

constexpr std::uint32_t kIpHeaderBytes = 20;
constexpr std::uint32_t kUdpHeaderBytes = 8;
/// Bytes beside a frame's payload: preamble 8, addresses and type 14, checksum 4, gap 12.
constexpr std::uint32_t kEthernetBytes = 38;
/// Bytes of the shortest frame, including preamble and gap.
constexpr std::uint32_t kFrameBytesMin = 84;
/// RDMA over Ethernet: payload of a frame, and bytes beside it (Ethernet; IP 20, UDP 8, transport
/// 12, address and key 16, checksum 4).
constexpr std::uint32_t kWriteFrameBytes = 4'096;
constexpr std::uint32_t kWriteHeaderBytes = kEthernetBytes + 60;

}  // namespace

NetModel::NetModel(const NetModelOptions& options, std::uint32_t nodes, std::uint64_t seed)
    : options_(options),
      card_free_at_(nodes + 1),
      card_busy_(nodes + 1),
      ports_(nodes + 1),
      random_(seed) {
  PEAL_ASSERT(options.megabits > 0 && options.mtu >= 576);
}

Frames NetModel::frames_of(std::size_t datagram_bytes) const {
  // IP fragments carry multiples of eight bytes.
  const std::uint32_t piece = (options_.mtu - kIpHeaderBytes) / 8 * 8;
  const auto bytes = static_cast<std::uint32_t>(datagram_bytes) + kUdpHeaderBytes;
  Frames frames;
  if (bytes + kIpHeaderBytes > options_.mtu) frames.count = (bytes + piece - 1) / piece;
  const std::uint32_t last = bytes - (frames.count - 1) * piece;
  frames.full_bytes = piece + kIpHeaderBytes + kEthernetBytes;
  frames.last_bytes = std::max(last + kIpHeaderBytes + kEthernetBytes, kFrameBytesMin);
  return frames;
}

Duration NetModel::on_wire(std::uint32_t bytes) const {
  const std::uint64_t rounded = std::uint64_t{bytes} * 8'000 + options_.megabits / 2;
  return Duration{static_cast<std::int64_t>(rounded / options_.megabits)};
}

Instant NetModel::depart(NodeId from, Instant ready, const Frames& frames) {
  Instant& free_at = card_free_at_[from.value];
  const Instant start = std::max(ready, free_at);
  const Instant first = start + on_wire(frames.bytes_of(0));
  free_at = first;
  for (std::uint32_t frame = 1; frame < frames.count; ++frame) {
    free_at = free_at + on_wire(frames.bytes_of(frame));
  }
  card_busy_[from.value] = card_busy_[from.value] + (free_at - start);
  return first;
}

std::optional<Instant> NetModel::forward(NodeId to, Instant now, std::uint32_t frame_bytes) {
  Port& port = ports_[to.value];
  const Instant start = std::max(now, port.free_at);
  const std::uint64_t queued =
      static_cast<std::uint64_t>((start - now).ns) * options_.megabits / 8'000 + frame_bytes;
  if (queued > options_.port_buffer_bytes) {
    ++dropped_frames_;
    return std::nullopt;
  }
  queue_bytes_most_ = std::max(queue_bytes_most_, queued);
  const Duration wire = on_wire(frame_bytes);
  port.free_at = start + wire;
  port.busy = port.busy + wire;
  return port.free_at;
}

Frames NetModel::frames_of_write(std::size_t bytes) const {
  const auto whole = static_cast<std::uint32_t>(bytes);
  Frames frames;
  frames.count = (whole + kWriteFrameBytes - 1) / kWriteFrameBytes;
  frames.full_bytes = kWriteFrameBytes + kWriteHeaderBytes;
  frames.last_bytes = whole - (frames.count - 1) * kWriteFrameBytes + kWriteHeaderBytes;
  return frames;
}

Instant NetModel::forward_write(NodeId to, Instant now, const Frames& frames) {
  Port& port = ports_[to.value];
  const Duration wire =
      on_wire(frames.last_bytes) + on_wire(frames.full_bytes) * (frames.count - 1);
  port.free_at = std::max(now, port.free_at) + wire;
  port.busy = port.busy + wire;
  return port.free_at + options_.write;
}

Instant NetModel::carry(Instant ready, const Frames& frames, bool carries_messages) {
  const std::uint32_t bytes = (frames.count - 1) * frames.full_bytes + frames.last_bytes;
  const Duration time = carries_messages ? options_.bus_message : on_wire(bytes);
  bus_.free_at = std::max(ready, bus_.free_at) + time;
  bus_.busy = bus_.busy + time;
  return bus_.free_at;
}

Instant NetModel::arrive(NodeId to, Instant left) {
  Instant& interrupt_at = ports_[to.value].interrupt_at;
  if (left > interrupt_at) interrupt_at = left + options_.coalesce;
  const Instant usual = interrupt_at + options_.latency;
  const std::int64_t jitter_ns = std::min(options_.jitter.ns, options_.latency.ns);
  return jitter_ns == 0 ? usual : usual + Duration{random_.between(-jitter_ns, jitter_ns)};
}

std::uint32_t NetModel::keep(const Flight& flight) {
  if (free_flights_.empty()) {
    flights_.push_back(flight);
    return static_cast<std::uint32_t>(flights_.size() - 1);
  }
  const std::uint32_t slot = free_flights_.back();
  free_flights_.pop_back();
  flights_[slot] = flight;
  return slot;
}

Duration NetModel::port_busy_most() const {
  Duration most = bus_.busy;
  for (const Port& port : ports_) most = std::max(most, port.busy);
  return most;
}

}  // namespace peal::sim
