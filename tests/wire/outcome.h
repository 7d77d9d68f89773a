// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "samples.h"
#include "wire/packet.h"

// Values at limits, and functions that return a decoder's result. The tests of the rules share
// them.

namespace peal::wire::test {

inline constexpr std::uint64_t kTop = kCounterMax;
inline constexpr MemberId kNobody{{0}, 1};
inline constexpr MemberId kNodeTooLarge{{kNodeMax + 1}, 1};
inline constexpr MemberId kLastNode{{kNodeMax}, ~0ULL};

/// Encodes `frame`, and decodes the packet. Returns the result of the decoder.
template <class Frame, class Encode, class Decode>
std::string outcome(const Frame& frame, FrameKind kind, Encode encode, Decode decode) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode(header_of(kind), frame, ByteSpan(packet)));
  packet.shrink_to_fit();
  if (packet.empty()) return "not encodable";
  Header header;
  const Drop drop = decode_header(packet, header);
  if (drop != Drop::none) return "header: " + std::string(drop_name(drop));
  Frame decoded;
  return std::string(drop_name(decode(packet, decoded)));
}

/// Overwrites the 16-bit count at `offset` behind the header, and decodes.
template <class Frame, class Encode, class Decode>
std::string with_count(const Frame& frame, FrameKind kind, Encode encode, Decode decode,
                       std::size_t offset, std::uint16_t count) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode(header_of(kind), frame, ByteSpan(packet)));
  Writer out(ByteSpan(packet).subspan(kHeaderBytes + offset, 2));
  out.u(count);
  Frame decoded;
  return std::string(drop_name(decode(packet, decoded)));
}

}  // namespace peal::wire::test
