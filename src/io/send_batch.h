// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "io/udp.h"

namespace peal::io {

/// sendmmsg(2), or a test's replacement.
using SendCall = int (*)(int fd, mmsghdr* messages, unsigned count, int flags);

/// The copies of this node's multicasts that come back to this node. The filter of the group socket
/// drops them, and the socket counts them as losses.
struct OwnCopies {
  bool filtered = false;
  bool whole = false;  ///< a multicast that the kernel segments comes back as one copy
  std::uint64_t count = 0;
};

/// A batch of messages for one socket, which the kernel takes with few system calls. A message has
/// one packet, or several packets that the kernel segments (UDP_SEGMENT). Messages to different
/// destinations can share the same packets. Allocates nothing after construction.
class SendBatch {
 public:
  static constexpr std::size_t kMessagesMax = 256;
  static constexpr std::size_t kPacketsMax = 512;
  /// Packets per message; every kernel accepts this many.
  static constexpr std::size_t kSegmentsMax = 64;

  struct Options {
    SendCall call = &::sendmmsg;
    bool segmentation = false;
    bool seals = false;  ///< packets are sealed into memory from reserve()
  };
  struct Destination {
    const sockaddr_storage& to;  ///< the address must stay in place until submit() sent the message
    socklen_t bytes{};
    Lane lane = Lane::data;
    bool multicast = false;
  };
  /// Counts sent packets in `counters`, and multicasts in `own` too.
  SendBatch(const Options& options, UdpCounters& counters, OwnCopies& own);

  /// Empties the batch. Its next messages are for the socket `fd`.
  void begin(int fd);
  /// True if the batch can take this many more messages, packets and sealed bytes.
  bool has_room(std::size_t messages, std::size_t packets, std::size_t sealed_bytes) const {
    return message_count_ + messages <= kMessagesMax && packet_count_ + packets <= kPacketsMax &&
           (sealed_.empty() || sealed_count_ + sealed_bytes <= kSealedMax);
  }
  /// Memory for a sealed packet; valid until begin().
  ByteSpan reserve(std::size_t bytes) {
    sealed_count_ += bytes;
    return ByteSpan(sealed_).subspan(sealed_count_ - bytes, bytes);
  }
  std::size_t packets() const { return packet_count_; }
  void add_packet(const iovec& packet) { packets_[packet_count_++] = packet; }
  /// Adds a message of `length` packets; `first` is the index of the first packet.
  void add_message(const Destination& destination, std::size_t first, std::size_t length);

  /// Hands the messages to the kernel. True if each message was sent or failed; false if the
  /// socket's buffer is full.
  bool submit();
  int fd() const { return fd_; }
  /// Number of packets in the messages that submit() has not handed to the kernel.
  std::uint64_t left_packets() const;
  /// True if the kernel segments messages; becomes false if the kernel cannot segment.
  bool segmentation() const { return segmentation_; }

 private:
  static constexpr std::size_t kSealedMax = 256U << 10;  // bytes

  struct Control {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
  };
  struct Meta {
    Lane lane = Lane::data;
    bool multicast = false;
    std::uint32_t bytes = 0;
  };

  void on_refused(mmsghdr& message, const Meta& meta, int error);
  bool send_one_by_one(const mmsghdr& message, const Meta& meta);
  void count_sent(const mmsghdr& message, const Meta& meta);
  void count_failed(int error);

  const SendCall call_;
  UdpCounters& counters_;
  OwnCopies& own_;
  bool segmentation_;
  int fd_ = -1;
  std::vector<mmsghdr> messages_;
  std::vector<Meta> metas_;
  std::vector<Control> controls_;
  std::vector<iovec> packets_;
  std::vector<mmsghdr> singles_;   ///< used by send_one_by_one()
  std::vector<std::byte> sealed_;  ///< empty if packets are not sealed
  std::size_t message_count_ = 0;
  std::size_t packet_count_ = 0;
  std::size_t sealed_count_ = 0;  ///< bytes of sealed packets
  std::size_t sent_count_ = 0;    ///< messages that were sent or failed
};

}  // namespace peal::io
