// SPDX-License-Identifier: Apache-2.0
#include "base/assert.h"
#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::wire {
namespace {

constexpr std::uint8_t kPostFlag = 1;
constexpr std::uint8_t kRetransmissionFlag = 2;
constexpr std::uint8_t kKnownFlags = kPostFlag | kRetransmissionFlag;

}  // namespace

Drop decode_data(ByteView packet, Data& out) {
  if (packet.size() < kDataHeaderBytes) return Drop::truncated;
  ByteReader in = body_of(packet.first(kDataHeaderBytes));
  out.view = read_formed_view(in);
  out.seq = read_counter(in);
  in.require(out.seq >= 1, Drop::bad_value);
  out.hop = read_counter(in);
  out.origin = read_member(in);
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~kKnownFlags) == 0, Drop::bad_value);
  out.post = (flags & kPostFlag) != 0;
  out.retransmission = (flags & kRetransmissionFlag) != 0;
  const auto service = in.u<std::uint8_t>();
  in.require(service == static_cast<std::uint8_t>(Service::agreed) ||
                 service == static_cast<std::uint8_t>(Service::safe),
             Drop::bad_value);
  if (in.failed()) return in.finish();
  out.service = static_cast<Service>(service);
  return in.finish();
}

void encode_data_in_place(const Header& header, const Data& in, ByteSpan packet) {
  PEAL_ASSERT(packet.size() >= kDataHeaderBytes && packet.size() <= kPacketBytesMax);
  PEAL_ASSERT(in.service == Service::agreed || in.service == Service::safe);
  Writer out(packet.first(kDataHeaderBytes));
  write_header(out, FrameKind::data, header);
  out.view(in.view);
  out.u(in.seq);
  out.u(in.hop);
  out.member(in.origin);
  const int flags = (in.post ? kPostFlag : 0) | (in.retransmission ? kRetransmissionFlag : 0);
  out.u(static_cast<std::uint8_t>(flags));
  out.u(static_cast<std::uint8_t>(in.service));
  PEAL_ASSERT(!out.failed() && out.written() == kDataHeaderBytes);
  complete(packet, header.checksum);
}

void write_data_header(const Header& header, std::uint32_t packet_bytes, ByteSpan out) {
  PEAL_ASSERT(out.size() == kHeaderBytes && header.checksum == Checksum::absent);
  Writer whole(out);
  write_header(whole, FrameKind::data, header);
  Writer length(out.subspan(kLengthOffset, sizeof(std::uint32_t)));
  length.u(packet_bytes);
}

}  // namespace peal::wire
