// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"

namespace peal::io {

/// The header at the start of every data frame. Sealed data packets omit the header, because its
/// content follows from three values that the seal authenticates: the sender, the frame's length
/// and the configuration hash (`mark`). The receiver writes the header in front of the opened
/// bytes.
class FrameHeader {
 public:
  static constexpr std::uint32_t kBytes = 32;

  /// Writes the first kBytes of a data frame of `sender`. `frame_bytes` is the length of the frame,
  /// including its header. All arguments are legal.
  using Write = void (*)(std::uint64_t cluster, const MemberId& sender, std::uint32_t frame_bytes,
                         ByteSpan out);

  /// If `write` is null, packets keep their headers.
  FrameHeader(Write write, std::uint64_t cluster) : write_(write), cluster_(cluster) {}
  FrameHeader() : FrameHeader(nullptr, 0) {}

  /// Number of bytes at the front of a frame that sealed data packets omit.
  std::uint32_t left_out() const { return write_ == nullptr ? 0 : kBytes; }
  /// The configuration hash of this node, the same in all its packets; a receiver cannot compute
  /// the hash.
  std::uint32_t mark() const { return static_cast<std::uint32_t>(cluster_); }

  /// True if `frame`, which this node (`sender`) made, begins as restore() would write it, or if
  /// packets keep their headers.
  bool can_leave_out(const MemberId& sender, ByteView frame) const {
    if (write_ == nullptr) return true;
    if (frame.size() < kBytes) return false;
    std::array<std::byte, kBytes> header;
    write_(cluster_, sender, static_cast<std::uint32_t>(frame.size()), header);
    return std::equal(header.begin(), header.end(), frame.begin());
  }
  /// Writes the header to the front of `frame`, with this node's cluster and the `mark` of
  /// `sender`. The sender has the same cluster; otherwise the packet could not have been
  /// opened.
  void restore(const MemberId& sender, std::uint32_t mark, ByteSpan frame) const {
    if (write_ == nullptr) return;
    const std::uint64_t cluster = (cluster_ & ~std::uint64_t{0xffff'ffff}) | mark;
    write_(cluster, sender, static_cast<std::uint32_t>(frame.size()), frame.first(kBytes));
  }

 private:
  Write write_;
  std::uint64_t cluster_;
};

}  // namespace peal::io
