// SPDX-License-Identifier: Apache-2.0
#include "io/sender.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::io {

Sender::Sender(const Options& options, const PeerTable& peers, UdpCounters& counters,
               OwnCopies& own, FaultInjector* faults, seal::Sealer* sealer)
    : options_(options),
      peers_(peers),
      counters_(counters),
      faults_(faults),
      sealer_(sealer),
      queue_(options.queue_packets),
      sorted_(SendBatch::kPacketsMax),
      batch_({options.call, options.segmentation, sealer != nullptr}, counters, own) {
  group_bytes_ = to_sockaddr(options.group, group_);
}

void Sender::push_to(PeerIndex peer, Lane lane, const BufferRef& packet) {
  push({packet, peer, lane});
  // Sends the token at once, so that it travels while this node prepares later packets.
  if (lane == Lane::token && blocked_fd_ < 0) flush();
}

void Sender::push_to_all(Lane lane, const BufferRef& packet) { push({packet, kEveryone, lane}); }

void Sender::push(const Outgoing& outgoing) {
  const bool data = outgoing.lane == Lane::data;
  PEAL_ASSERT(sealer_ == nullptr || !data ||
              options_.header.can_leave_out(sealer_->self(), outgoing.packet.view()));
  if (size_of(outgoing) > kDatagramMax) {
    ++counters_.drop_too_big;
    return;
  }
  if (count_ == queue_.size()) {
    ++counters_.drop_queue_full;
    return;
  }
  at(count_) = outgoing;
  ++count_;
  if (count_ - covered_ >= kFlushAt && blocked_fd_ < 0) flush();
}

void Sender::move_peers(const PeerMap& map) {
  // The batch points to the addresses at the peers' old indexes.
  if (covered_ > 0) counters_.drop_queue_full += batch_.left_packets();
  finish_batch();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    Outgoing outgoing = std::exchange(at(i), {});
    if (outgoing.to != kEveryone) {
      if (!map[outgoing.to]) {
        ++counters_.drop_unknown_peer;
        continue;
      }
      outgoing.to = *map[outgoing.to];
    }
    at(kept++) = std::move(outgoing);
  }
  count_ = kept;
}

void Sender::flush() {
  blocked_fd_ = -1;
  while (count_ > 0) {
    if (covered_ == 0) build_batch();
    if (!batch_.submit()) {
      blocked_fd_ = batch_.fd();
      return;
    }
    finish_batch();
  }
}

/// Number of bytes at the front of a packet that are not sent.
std::size_t Sender::left_out(const Outgoing& outgoing) const {
  return sealer_ != nullptr && outgoing.lane == Lane::data ? options_.header.left_out() : 0;
}

/// Number of bytes of the datagram that carries the packet.
std::size_t Sender::size_of(const Outgoing& outgoing) const {
  const std::size_t sealing = sealer_ == nullptr ? 0 : seal::overhead(outgoing.lane);
  return outgoing.packet.size() - left_out(outgoing) + sealing;
}

// Data packets that alternate between peers would form no runs (run_length()). The order of packets
// for different peers does not matter. So this function sorts data packets by peer, up to the first
// packet that is for all peers or of another lane.
void Sender::gather_by_peer() {
  std::size_t length = 0;
  bool mixed = false;
  for (; length < std::min(count_, sorted_.size()); ++length) {
    const Outgoing& each = at(length);
    if (each.lane != Lane::data || each.to == kEveryone) break;
    mixed = mixed || each.to != at(0).to;
  }
  if (!mixed) return;
  std::size_t done = 0;
  // One pass per peer, because a batch has packets for few peers.
  for (std::size_t from = 0; done < length; ++from) {
    const PeerIndex to = at(from).to;
    if (to == kEveryone) continue;  // this entry's packet was moved already
    for (std::size_t i = from; i < length; ++i) {
      if (at(i).to == to) sorted_[done++] = std::exchange(at(i), {});
    }
  }
  for (std::size_t i = 0; i < length; ++i) at(i) = std::move(sorted_[i]);
}

// Fills the batch from the front of the queue, up to the first run that needs another socket or
// does not fit.
void Sender::build_batch() {
  if (batch_.segmentation()) gather_by_peer();
  batch_.begin(fd_of(at(0).lane));
  while (covered_ < count_ && fd_of(at(covered_).lane) == batch_.fd()) {
    const std::size_t length = run_length(covered_);
    const Outgoing& first = at(covered_);
    // No packet of a run is longer than the run's first packet.
    if (!batch_.has_room(destinations(first), length, length * size_of(first))) break;
    add_run(covered_, length);
    covered_ += length;
  }
  PEAL_ASSERT(covered_ > 0);  // a run for all peers fits an empty batch
}

// The number of packets from `index` on that can form one message. They are data packets for the
// same destination and have the same size. Only the last packet may be shorter.
std::size_t Sender::run_length(std::size_t index) {
  const Outgoing& first = at(index);
  const std::size_t size = size_of(first);
  const bool alone = !batch_.segmentation() || first.lane != Lane::data || size == 0 ||
                     (faults_ != nullptr && faults_->by_packet(Lane::data));
  if (alone) return 1;
  std::size_t length = 1;
  std::size_t bytes = size;
  while (length < SendBatch::kSegmentsMax && index + length < count_) {
    const Outgoing& next = at(index + length);
    if (next.lane != Lane::data || next.to != first.to) break;
    const std::size_t next_size = size_of(next);
    if (next_size == 0 || next_size > size || bytes + next_size > kSegmentedBytesMax) break;
    bytes += next_size;
    ++length;
    if (next_size < size) break;
  }
  return length;
}

std::size_t Sender::destinations(const Outgoing& outgoing) const {
  if (outgoing.to != kEveryone) return 1;
  if (outgoing.lane != Lane::data) return peers_.size();
  return route_.unicast_count + (route_.multicast ? 1U : 0U);
}

// Adds one message per destination. All these messages share the packets.
void Sender::add_run(std::size_t index, std::size_t length) {
  const std::size_t packets = batch_.packets();
  for (std::size_t i = 0; i < length; ++i) {
    const Outgoing& each = at(index + i);
    const BufferRef& packet = each.packet;
    batch_.add_packet(sealer_ != nullptr
                          ? sealed(each)
                          : iovec{packet.size() == 0 ? nullptr : packet.data(), packet.size()});
  }
  const Outgoing& first = at(index);
  if (first.to != kEveryone) {
    add_to(first.to, first.lane, packets, length);
  } else if (first.lane != Lane::data) {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      add_to(static_cast<PeerIndex>(peer), first.lane, packets, length);
    }
  } else {
    if (route_.multicast) {
      const bool lost =
          faults_ != nullptr && (faults_->loses_multicast_out() || faults_->loses_out(Lane::data));
      if (lost) counters_.drop_fault_out += length;
      if (!lost) batch_.add_message({group_, group_bytes_, Lane::data, true}, packets, length);
    }
    for (std::size_t i = 0; i < route_.unicast_count; ++i) {
      add_to(route_.unicast[i], Lane::data, packets, length);
    }
  }
}

// Does not change the packet itself, because another batch may seal and send the packet again.
iovec Sender::sealed(const Outgoing& outgoing) {
  const std::size_t bytes = size_of(outgoing);
  const ByteSpan out = batch_.reserve(bytes);
  // The short header of data names no receiver, because all holders of the key may read data.
  const bool for_one = outgoing.to != kEveryone && seal::introduces(outgoing.lane);
  const NodeId to = for_one ? peers_[outgoing.to].node : NodeId{};
  // seal() fails only after 2^48 packets of one lane, which take years.
  const ByteView plain = outgoing.packet.view().subspan(left_out(outgoing));
  PEAL_ASSERT(sealer_->seal(outgoing.lane, to, plain, out));
  return {out.data(), out.size()};
}

void Sender::add_to(PeerIndex peer, Lane lane, std::size_t packets, std::size_t length) {
  const PeerTable::Entry& entry = peers_[peer];
  if (faults_ != nullptr && (faults_->mutes(entry.node, lane) || faults_->loses_out(lane))) {
    counters_.drop_fault_out += length;
    return;
  }
  if (!entry.known()) {
    counters_.drop_no_address += length;
    return;
  }
  const sockaddr_storage& to = lane == Lane::data ? entry.data : entry.token;
  batch_.add_message({to, peers_.address_bytes(), lane, false}, packets, length);
}

void Sender::finish_batch() {
  for (std::size_t i = 0; i < covered_; ++i) at(i).packet.reset();
  first_ = (first_ + covered_) % queue_.size();
  count_ -= covered_;
  covered_ = 0;
}

}  // namespace peal::io
