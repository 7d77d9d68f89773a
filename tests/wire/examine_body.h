// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "examine.h"

// Shared by the files that implement examine().

namespace peal::wire::test {

/// The buffer in which accepted frames are encoded again. It is static, because it is too large for
/// a stack.
inline ByteSpan scratch() {
  static std::array<std::byte, kPacketBytesMax> bytes;
  return bytes;
}

inline const char* compare(ByteView packet, std::size_t encoded_bytes) {
  if (encoded_bytes == 0) return "accepted but not encodable";
  if (encoded_bytes != packet.size()) return "encodes to another size";
  const ByteView encoded = scratch().first(encoded_bytes);
  return std::equal(packet.begin(), packet.end(), encoded.begin()) ? nullptr
                                                                   : "encodes to other bytes";
}

template <class Frame, class Decode, class Rule, class Encode>
void examine_body(ByteView packet, Frame& frame, Decode decode, Rule rule, Encode encode,
                  Verdict& out) {
  out.body = decode(packet, frame);
  if (out.body != Drop::none) return;
  out.wrong = rule(frame);
  if (out.wrong == nullptr) out.wrong = compare(packet, encode(frame));
}

/// Encodes the first `front_bytes` bytes of the packet again, in front of a copy of its other
/// bytes.
template <class Encode>
std::size_t encode_before(ByteView packet, std::size_t front_bytes, Encode encode) {
  const ByteView rest = packet.subspan(front_bytes);
  std::copy(rest.begin(), rest.end(), scratch().subspan(front_bytes).begin());
  encode(scratch().first(packet.size()));
  return packet.size();
}

/// Examines the body of a frame of paxos.h.
void examine_paxos(ByteView packet, const Header& header, Verdict& out);
/// The body of a frame of toto.h.
void examine_toto(ByteView packet, const Header& header, Verdict& out);
/// The body of a frame of ramcast.h.
void examine_ramcast(ByteView packet, const Header& header, Verdict& out);
/// The body of a COMMIT with ToTo's options and records.
void examine_toto_commit(ByteView packet, const Header& header, Verdict& out);

}  // namespace peal::wire::test
