// SPDX-License-Identifier: Apache-2.0
#include "io/sender.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace peal::io {

Sender::Sender(const Options& options, const PeerTable& peers, UdpCounters& counters,
               OwnCopies& own, FaultInjector* faults, seal::Sealer* sealer)
    : options_(options),
      peers_(peers),
      counters_(counters),
      own_(own),
      faults_(faults),
      sealer_(sealer),
      segmentation_(options.segmentation),
      queue_(options.queue_packets),
      messages_(kMessagesMax),
      metas_(kMessagesMax),
      controls_(kMessagesMax),
      vectors_(kVectorsMax),
      singles_(kSegmentsMax),
      sorted_(kVectorsMax),
      sealed_(sealer == nullptr ? 0 : kSealedMax) {
  group_bytes_ = to_sockaddr(options.group, group_);
}

void Sender::push_to(PeerIndex peer, Lane lane, const BufferRef& packet) {
  push({packet, peer, lane});
  // The token already travels while the packets behind it are prepared.
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
  // A batch points to the addresses at their old places.
  for (; covered_ > 0 && sent_count_ < message_count_; ++sent_count_) {
    counters_.drop_queue_full += messages_[sent_count_].msg_hdr.msg_iovlen;
  }
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
    if (!submit_batch()) return;
    finish_batch();
  }
}

/// Bytes at the front of a packet that are not sent.
std::size_t Sender::left_out(const Outgoing& outgoing) const {
  return sealer_ != nullptr && outgoing.lane == Lane::data ? options_.header.left_out() : 0;
}

/// Bytes of the datagram.
std::size_t Sender::size_of(const Outgoing& outgoing) const {
  const std::size_t sealing = sealer_ == nullptr ? 0 : seal::overhead(outgoing.lane);
  return outgoing.packet.size() - left_out(outgoing) + sealing;
}

// Data for several peers in turn would form no runs. The order between peers does not matter, so
// this sorts data by peer, up to the first packet that is for everyone or of another lane.
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
  // A few passes, one per peer: a batch has few peers.
  for (std::size_t from = 0; done < length; ++from) {
    const PeerIndex to = at(from).to;
    if (to == kEveryone) continue;  // moved already
    for (std::size_t i = from; i < length; ++i) {
      if (at(i).to == to) sorted_[done++] = std::exchange(at(i), {});
    }
  }
  for (std::size_t i = 0; i < length; ++i) at(i) = std::move(sorted_[i]);
}

// Fills the batch from the front of the queue, as long as the socket is the same.
void Sender::build_batch() {
  if (segmentation_) gather_by_peer();
  message_count_ = vector_count_ = sent_count_ = sealed_count_ = 0;
  batch_fd_ = fd_of(at(0).lane);
  while (covered_ < count_ && fd_of(at(covered_).lane) == batch_fd_) {
    const std::size_t length = run_length(covered_);
    if (!has_room(covered_, length)) break;
    add_run(covered_, length);
    covered_ += length;
  }
  PEAL_ASSERT(covered_ > 0);  // one run to every peer fits
}

bool Sender::has_room(std::size_t index, std::size_t length) const {
  const Outgoing& first = queue_[(first_ + index) % queue_.size()];
  return message_count_ + destinations(first) <= kMessagesMax &&
         vector_count_ + length <= kVectorsMax &&
         // No packet of a run is longer than its first.
         (sealer_ == nullptr || sealed_count_ + length * size_of(first) <= kSealedMax);
}

// The number of packets from `index` on that can form one message: data to the same destination,
// all of one size except the last, which may be shorter.
std::size_t Sender::run_length(std::size_t index) {
  const Outgoing& first = at(index);
  const std::size_t size = size_of(first);
  const bool alone = !segmentation_ || first.lane != Lane::data || size == 0 ||
                     (faults_ != nullptr && faults_->by_packet(Lane::data));
  if (alone) return 1;
  std::size_t length = 1;
  std::size_t bytes = size;
  while (length < kSegmentsMax && index + length < count_) {
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

// Adds one message per destination; all of them share the vectors.
void Sender::add_run(std::size_t index, std::size_t length) {
  const std::size_t vector = vector_count_;
  for (std::size_t i = 0; i < length; ++i) {
    const Outgoing& each = at(index + i);
    const BufferRef& packet = each.packet;
    vectors_[vector_count_++] =
        sealer_ != nullptr ? sealed(each)
                           : iovec{packet.size() == 0 ? nullptr : packet.data(), packet.size()};
  }
  const Outgoing& first = at(index);
  if (first.to != kEveryone) {
    add_to(first.to, first, vector, length);
  } else if (first.lane != Lane::data) {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      add_to(static_cast<PeerIndex>(peer), first, vector, length);
    }
  } else {
    if (route_.multicast) {
      const bool lost =
          faults_ != nullptr && (faults_->loses_multicast_out() || faults_->loses_out(Lane::data));
      if (lost) counters_.drop_fault_out += length;
      if (!lost) add_message(group_, group_bytes_, {Lane::data, true, 0}, vector, length);
    }
    for (std::size_t i = 0; i < route_.unicast_count; ++i) {
      add_to(route_.unicast[i], first, vector, length);
    }
  }
}

// The packet itself does not change: it may be sent again, in another batch and sealed anew.
iovec Sender::sealed(const Outgoing& outgoing) {
  const std::size_t bytes = size_of(outgoing);
  const ByteSpan out = ByteSpan(sealed_).subspan(sealed_count_, bytes);
  // A short header has no receiver: all holders of the key may read data.
  const bool for_one = outgoing.to != kEveryone && seal::introduces(outgoing.lane);
  const NodeId to = for_one ? peers_[outgoing.to].node : NodeId{};
  // It fails only after 2^48 packets of one lane, which take years.
  const ByteView plain = outgoing.packet.view().subspan(left_out(outgoing));
  PEAL_ASSERT(sealer_->seal(outgoing.lane, to, plain, out));
  sealed_count_ += bytes;
  return {out.data(), out.size()};
}

void Sender::add_to(PeerIndex peer, const Outgoing& first, std::size_t vector, std::size_t length) {
  const PeerTable::Entry& entry = peers_[peer];
  if (faults_ != nullptr &&
      (faults_->mutes(entry.node, first.lane) || faults_->loses_out(first.lane))) {
    counters_.drop_fault_out += length;
    return;
  }
  if (!entry.known()) {
    counters_.drop_no_address += length;
    return;
  }
  const sockaddr_storage& to = first.lane == Lane::data ? entry.data : entry.token;
  add_message(to, peers_.address_bytes(), {first.lane, false, 0}, vector, length);
}

void Sender::add_message(const sockaddr_storage& to, socklen_t to_bytes, const Meta& meta,
                         std::size_t vector, std::size_t length) {
  const std::size_t index = message_count_++;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length; ++i) bytes += vectors_[vector + i].iov_len;
  metas_[index] = meta;
  metas_[index].bytes = static_cast<std::uint32_t>(bytes);

  msghdr& header = messages_[index].msg_hdr;
  header = {};
  header.msg_name = const_cast<sockaddr_storage*>(&to);  // the kernel only reads it
  header.msg_namelen = to_bytes;
  header.msg_iov = &vectors_[vector];
  header.msg_iovlen = length;
  if (length == 1) return;
  Control& control = controls_[index];
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = IPPROTO_UDP;
  item->cmsg_type = UDP_SEGMENT;
  item->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto segment = static_cast<std::uint16_t>(vectors_[vector].iov_len);
  std::memcpy(CMSG_DATA(item), &segment, sizeof segment);
}

// True if the whole batch left or failed for good; false if the kernel has no room.
bool Sender::submit_batch() {
  while (sent_count_ < message_count_) {
    ++counters_.send_calls;
    mmsghdr* next = &messages_[sent_count_];
    const auto left = static_cast<unsigned>(message_count_ - sent_count_);
    const int sent = options_.call(batch_fd_, next, left, MSG_DONTWAIT);
    const int error = errno;
    if (sent > 0) {
      for (int i = 0; i < sent; ++i, ++sent_count_) {
        count_sent(messages_[sent_count_], metas_[sent_count_]);
      }
      continue;
    }
    if (error == EINTR) continue;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      ++counters_.send_blocked;
      blocked_fd_ = batch_fd_;
      return false;
    }
    on_refused(*next, metas_[sent_count_], error);
    ++sent_count_;
  }
  return true;
}

void Sender::finish_batch() {
  for (std::size_t i = 0; i < covered_; ++i) at(i).packet.reset();
  first_ = (first_ + covered_) % queue_.size();
  count_ -= covered_;
  covered_ = 0;
}

// The kernel refuses this message. If it had to segment it, the packets are sent one by one: some
// devices cannot segment, and older kernels segment less.
void Sender::on_refused(mmsghdr& message, const Meta& meta, int error) {
  if (message.msg_hdr.msg_iovlen == 1) {
    count_failed(error);
    return;
  }
  ++counters_.segmentation_refused;
  const bool went_well = send_one_by_one(message, meta);
  // If the single packets are refused too, segmentation was not the reason.
  if (went_well) segmentation_ = false;
}

bool Sender::send_one_by_one(const mmsghdr& message, const Meta& meta) {
  const std::size_t count = message.msg_hdr.msg_iovlen;
  for (std::size_t i = 0; i < count; ++i) {
    msghdr& header = singles_[i].msg_hdr;
    header = message.msg_hdr;
    header.msg_iov = message.msg_hdr.msg_iov + i;
    header.msg_iovlen = 1;
    header.msg_control = nullptr;
    header.msg_controllen = 0;
  }
  bool went_well = true;
  std::size_t done = 0;
  while (done < count) {
    ++counters_.send_calls;
    const int sent = options_.call(batch_fd_, &singles_[done], static_cast<unsigned>(count - done),
                                   MSG_DONTWAIT);
    const int error = errno;
    for (int i = 0; i < sent; ++i, ++done) {
      Meta single = meta;
      single.bytes = static_cast<std::uint32_t>(singles_[done].msg_hdr.msg_iov->iov_len);
      count_sent(singles_[done], single);
    }
    if (sent > 0 || error == EINTR) continue;
    count_failed(error);  // no room counts as refused here, which happens rarely
    went_well = false;
    ++done;
  }
  return went_well;
}

void Sender::count_sent(const mmsghdr& message, const Meta& meta) {
  const std::uint64_t packets = message.msg_hdr.msg_iovlen;
  ++counters_.send_messages;
  if (packets > 1) {
    ++counters_.segmented_messages;
    counters_.segmented_packets += packets;
  }
  switch (meta.lane) {
    case Lane::token:
      counters_.token_packets_out += packets;
      counters_.token_bytes_out += meta.bytes;
      break;
    case Lane::control:
      counters_.control_packets_out += packets;
      counters_.control_bytes_out += meta.bytes;
      break;
    case Lane::data:
      counters_.data_packets_out += packets;
      counters_.data_bytes_out += meta.bytes;
      if (!meta.multicast) break;
      counters_.data_multicast_out += packets;
      own_.count += own_.whole ? 1 : packets;
      break;
  }
}

void Sender::count_failed(int error) {
  if (error == EMSGSIZE) {
    ++counters_.drop_too_big;
  } else {
    ++counters_.drop_send_error;
  }
}

}  // namespace peal::io
