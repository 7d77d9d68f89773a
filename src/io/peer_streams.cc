// SPDX-License-Identifier: Apache-2.0
#include "io/peer_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace peal::io {
namespace {

/// Number of slabs for all queues, plus two slabs that are being filled. With many peers, all
/// queues together get only kSlabsMax slabs, fewer than the sum of their limits.
std::uint32_t frame_slabs(const OutgoingLimits& limits, std::size_t peers) {
  constexpr std::size_t kPeersLeast = 4;  // the list of nodes may grow
  constexpr std::size_t kSlabsMax = 2'048;
  const std::size_t slabs = std::max(peers, kPeersLeast) * limits.queue_slabs_max;
  return static_cast<std::uint32_t>(std::min(slabs, kSlabsMax)) + 2;
}

/// True for refusals that do not prove that the sender lacks the key. The sender's keys,
/// incarnation or list of nodes may be newer or older than this node knows, or the packet may be a
/// replay.
bool says_nothing(seal::Refusal reason) {
  switch (reason) {
    case seal::Refusal::unknown_key:
    case seal::Refusal::unknown_incarnation:
    case seal::Refusal::old_incarnation:
    case seal::Refusal::unknown_sender:
    case seal::Refusal::replayed:
    case seal::Refusal::too_old: return true;
    default: return false;
  }
}

}  // namespace

Result<std::unique_ptr<PeerStreams>, IoError> PeerStreams::open(
    const Options& options, const PeerTable& peers, BufferPool& pool, seal::Sealer* sealer,
    seal::Opener* opener, FaultInjector* faults) {
  auto listener = StreamListener::tcp(options.own, make_plain_stream);
  if (!listener) return unexpected(listener.error());
  return std::unique_ptr<PeerStreams>(
      new PeerStreams(options, std::move(*listener), peers, pool, sealer, opener, faults));
}

PeerStreams::PeerStreams(const Options& options, std::unique_ptr<StreamListener> listener,
                         const PeerTable& peers, BufferPool& pool, seal::Sealer* sealer,
                         seal::Opener* opener, FaultInjector* faults)
    : options_(options),
      peers_(peers),
      sealer_(sealer),
      opener_(opener),
      faults_(faults),
      frames_(kFrameSlabBytes, frame_slabs(options.limits, peers.size())),
      incoming_(std::move(listener), peers, pool, counters_) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    outgoing_.push_back(make_outgoing(static_cast<PeerIndex>(i)));
  }
}

PeerStreams::~PeerStreams() = default;

std::unique_ptr<OutgoingStream> PeerStreams::make_outgoing(PeerIndex peer) {
  auto made = std::make_unique<OutgoingStream>(options_.limits, counters_, options_.own,
                                               from_sockaddr(peers_[peer].data));
  if (loop_ != nullptr) made->attach(*loop_);
  return made;
}

Result<void, IoError> PeerStreams::attach(Loop& loop) {
  loop_ = &loop;
  for (const auto& each : outgoing_) each->attach(loop);
  return incoming_.attach(loop);
}

bool PeerStreams::push(PeerIndex peer, Lane lane, const BufferRef& packet) {
  OutgoingStream& to = *outgoing_[peer];
  if (!to.is_open()) return false;
  const NodeId node = peers_[peer].node;
  if (faults_ != nullptr && (faults_->mutes(node, lane) || faults_->loses_out(lane))) {
    ++counters_.drop_fault;
    return true;
  }
  const BufferRef frame = frame_of(lane, node, packet);
  if (!frame) return true;  // the packet is counted as dropped
  if (to.push(frame) && to.queued_bytes() >= kWriteAt) to.write(now_);
  return true;
}

/// Makes a frame: the length of the sealed packet, then the sealed packet.
BufferRef PeerStreams::frame_of(Lane lane, NodeId to, const BufferRef& packet) {
  const bool data = lane == Lane::data;
  const bool again = data && last_plain_ && last_plain_.shares_slab_with(packet) &&
                     last_plain_.data() == packet.data() && last_plain_.size() == packet.size();
  if (again) return last_frame_;
  const Lane sealed_as = data ? Lane::data : Lane::token;
  const std::size_t sealing = sealer_ == nullptr ? 0 : seal::overhead(sealed_as);
  if (packet.size() == 0 || packet.size() + sealing > kStreamPacketMax) {
    ++counters_.drop_too_big;
    return {};
  }
  const auto length = static_cast<std::uint32_t>(packet.size() + sealing);
  const ByteSpan out = frame_room(kLengthBytes + length);
  if (out.empty()) {
    ++counters_.drop_no_room;
    return {};
  }
  write_length(length, out);
  if (sealer_ == nullptr) {
    std::memcpy(out.data() + kLengthBytes, packet.data(), length);
  } else {
    // seal() fails only after 2^48 packets of one lane, which take years.
    PEAL_ASSERT(
        sealer_->seal(sealed_as, data ? NodeId{} : to, packet.view(), out.subspan(kLengthBytes)));
  }
  ++counters_.sealed;
  BufferRef frame = slab_.slice(used_, kLengthBytes + length);
  used_ += kLengthBytes + length;
  if (data) {
    last_plain_ = packet;
    last_frame_ = frame;
  }
  return frame;
}

ByteSpan PeerStreams::frame_room(std::uint32_t bytes) {
  if (slab_.unique()) used_ = 0;
  if (!slab_ || slab_.size() - used_ < bytes) {
    slab_ = frames_.take();
    used_ = 0;
    if (!slab_) return {};
  }
  return {slab_.data() + used_, bytes};
}

void PeerStreams::flush(Instant now) {
  now_ = now;
  // The bytes of a packet may change after this turn, so its frame must not be used again.
  last_plain_.reset();
  last_frame_.reset();
  for (const auto& each : outgoing_) each->write(now);
}

bool PeerStreams::receive(Instant now, PacketSink& sink) {
  now_ = now;
  sink_ = &sink;
  const bool more = incoming_.receive(now, *this);
  sink_ = nullptr;
  for (const Endpoint& machine : incoming_.take_arrivals()) {
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      if (peers_[static_cast<PeerIndex>(i)].at.ip == machine.ip) outgoing_[i]->hint(now);
    }
  }
  return more;
}

FrameTaker::Outcome PeerStreams::on_frame(Instant now, NodeId likely, const BufferRef& packet) {
  if (faults_ != nullptr && faults_->loses_in(likely, Lane::data, false)) {
    ++counters_.drop_fault;
    return {Verdict::dropped, {}};
  }
  if (opener_ == nullptr) {
    ++counters_.packets_in;
    sink_->on_packet(now, likely, Lane::data, packet);
    return {Verdict::taken, {}};
  }
  // Decrypts in place: these bytes of the slab have no other reader yet.
  const seal::Opened opened = opener_->open({packet.data(), packet.size()});
  if (opened.reason != seal::Refusal::none) {
    sink_->on_refused(now, likely, opened);
    if (!says_nothing(opened.reason)) return {Verdict::forged, {}};
    ++counters_.drop_refused;
    return {Verdict::dropped, {}};
  }
  const NodeId from = opened.sender.node;
  if (opened.lane == Lane::control) {
    ++counters_.drop_wrong_lane;
    return {Verdict::dropped, {}};
  }
  ++counters_.packets_in;
  const auto front = static_cast<std::uint32_t>(opened.plain.data() - packet.data());
  sink_->on_packet(now, from, opened.lane,
                   packet.slice(front, static_cast<std::uint32_t>(opened.plain.size())));
  return {Verdict::of_node, from};
}

std::optional<Instant> PeerStreams::next_deadline() const {
  std::optional<Instant> next = incoming_.next_deadline();
  for (const auto& each : outgoing_) {
    const auto due = each->next_deadline();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

void PeerStreams::on_timer(Instant now) {
  now_ = now;
  for (const auto& each : outgoing_) each->on_timer(now);
}

void PeerStreams::move_peers(Instant now, const PeerMap& map) {
  std::vector<std::unique_ptr<OutgoingStream>> before = std::exchange(outgoing_, {});
  outgoing_.resize(peers_.size());
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i]) outgoing_[*map[i]] = std::move(before[i]);
  }
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    if (outgoing_[i] == nullptr) outgoing_[i] = make_outgoing(static_cast<PeerIndex>(i));
  }
  update_addresses(now);
}

void PeerStreams::update_addresses(Instant now) {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    outgoing_[i]->set_address(now, from_sockaddr(peers_[static_cast<PeerIndex>(i)].data));
  }
  incoming_.check_sources();
}

}  // namespace peal::io
