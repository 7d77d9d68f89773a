// SPDX-License-Identifier: Apache-2.0
#include "io/send_batch.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cstring>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace peal::io {

SendBatch::SendBatch(const Options& options, UdpCounters& counters, OwnCopies& own)
    : call_(options.call),
      counters_(counters),
      own_(own),
      segmentation_(options.segmentation),
      messages_(kMessagesMax),
      metas_(kMessagesMax),
      controls_(kMessagesMax),
      packets_(kPacketsMax),
      singles_(kSegmentsMax),
      sealed_(options.seals ? kSealedMax : 0) {}

void SendBatch::begin(int fd) {
  fd_ = fd;
  message_count_ = packet_count_ = sealed_count_ = sent_count_ = 0;
}

void SendBatch::add_message(const Destination& destination, std::size_t first, std::size_t length) {
  const std::size_t index = message_count_++;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length; ++i) bytes += packets_[first + i].iov_len;
  metas_[index] = {destination.lane, destination.multicast, static_cast<std::uint32_t>(bytes)};

  msghdr& header = messages_[index].msg_hdr;
  header = {};
  header.msg_name = const_cast<sockaddr_storage*>(&destination.to);  // only read by the kernel
  header.msg_namelen = destination.bytes;
  header.msg_iov = &packets_[first];
  header.msg_iovlen = length;
  if (length == 1) return;
  Control& control = controls_[index];
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = IPPROTO_UDP;
  item->cmsg_type = UDP_SEGMENT;
  item->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto segment = static_cast<std::uint16_t>(packets_[first].iov_len);
  std::memcpy(CMSG_DATA(item), &segment, sizeof segment);
}

bool SendBatch::submit() {
  while (sent_count_ < message_count_) {
    ++counters_.send_calls;
    mmsghdr* next = &messages_[sent_count_];
    const auto left = static_cast<unsigned>(message_count_ - sent_count_);
    const int sent = call_(fd_, next, left, MSG_DONTWAIT);
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
      return false;
    }
    on_refused(*next, metas_[sent_count_], error);
    ++sent_count_;
  }
  return true;
}

std::uint64_t SendBatch::left_packets() const {
  std::uint64_t packets = 0;
  for (std::size_t i = sent_count_; i < message_count_; ++i) {
    packets += messages_[i].msg_hdr.msg_iovlen;
  }
  return packets;
}

// The kernel refused this message. If the message has several packets, they are sent one by one,
// because some devices cannot segment, and older kernels accept fewer segments.
void SendBatch::on_refused(mmsghdr& message, const Meta& meta, int error) {
  if (message.msg_hdr.msg_iovlen == 1) {
    count_failed(error);
    return;
  }
  ++counters_.segmentation_refused;
  const bool went_well = send_one_by_one(message, meta);
  // If the single packets are refused too, segmentation was not the reason.
  if (went_well) segmentation_ = false;
}

bool SendBatch::send_one_by_one(const mmsghdr& message, const Meta& meta) {
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
    const int sent = call_(fd_, &singles_[done], static_cast<unsigned>(count - done), MSG_DONTWAIT);
    const int error = errno;
    for (int i = 0; i < sent; ++i, ++done) {
      Meta single = meta;
      single.bytes = static_cast<std::uint32_t>(singles_[done].msg_hdr.msg_iov->iov_len);
      count_sent(singles_[done], single);
    }
    if (sent > 0 || error == EINTR) continue;
    count_failed(error);  // also counts a full send buffer, which is rare here
    went_well = false;
    ++done;
  }
  return went_well;
}

void SendBatch::count_sent(const mmsghdr& message, const Meta& meta) {
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

void SendBatch::count_failed(int error) {
  if (error == EMSGSIZE) {
    ++counters_.drop_too_big;
  } else {
    ++counters_.drop_send_error;
  }
}

}  // namespace peal::io
