// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"

namespace peal::io {

/// The header that every frame of data begins with. Sealed packets of data leave it out, since it
/// follows from what was authenticated anyway: who sent the frame, how long it is, and the packet's
/// mark. Who receives one writes the header anew in front of what was sealed.
class FrameHeader {
 public:
  static constexpr std::uint32_t kBytes = 32;

  /// Writes the kBytes with which a frame of data begins that is `frame_bytes` long, header
  /// included, and was sent by `sender`. Any arguments are legal.
  using Write = void (*)(std::uint64_t cluster, const MemberId& sender, std::uint32_t frame_bytes,
                         ByteSpan out);

  /// With `write` null, nothing is left out.
  FrameHeader(Write write, std::uint64_t cluster) : write_(write), cluster_(cluster) {}
  FrameHeader() : FrameHeader(nullptr, 0) {}

  /// How many bytes sealed packets of data leave out of a frame.
  std::uint32_t left_out() const { return write_ == nullptr ? 0 : kBytes; }
  /// Of all packets that this node sends: what its settings are, which a receiver cannot know.
  std::uint32_t mark() const { return static_cast<std::uint32_t>(cluster_); }

  /// Whether a frame of `sender`, which is this node, begins as restore() would write it.
  bool can_leave_out(const MemberId& sender, ByteView frame) const {
    if (write_ == nullptr) return true;
    if (frame.size() < kBytes) return false;
    std::array<std::byte, kBytes> header;
    write_(cluster_, sender, static_cast<std::uint32_t>(frame.size()), header);
    return std::equal(header.begin(), header.end(), frame.begin());
  }
  /// Writes what was left out to the front of `frame`. Its sender's cluster has the name of ours,
  /// or the packet could not have been opened.
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
