// SPDX-License-Identifier: Apache-2.0
#include "wire/trial.h"

#include <algorithm>

#include "wire/packet.h"

namespace peal::wire {

Drop decode_trial(ByteView packet, Trial& out) {
  ByteReader in = body_of(packet);
  in.require(in.u<std::uint64_t>() == 0, Drop::bad_value);
  const auto step = in.u<std::uint8_t>();
  in.require(step >= 1 && step <= 3, Drop::bad_value);
  out.step = static_cast<Trial::Step>(step);
  out.part = in.u<std::uint8_t>();
  out.index = in.u<std::uint8_t>();
  in.require(out.part < kTrialParts && out.index < kTrialAsksMax, Drop::bad_value);
  in.require(kind_of(out.part) == frame_kind_of(packet), Drop::bad_value);
  out.number = read_counter(in);
  in.require(out.number != 0, Drop::bad_value);
  out.to = read_member(in);
  out.padding = in.u<std::uint16_t>();
  const ByteView padding = in.bytes(out.padding);
  in.require(
      std::all_of(padding.begin(), padding.end(), [](std::byte b) { return b == std::byte{}; }),
      Drop::bad_value);
  return in.finish();
}

bool is_trial_of_data(ByteView packet) {
  if (packet.size() < kHeaderBytes) return false;
  ByteReader in = body_of(packet);
  return in.u<std::uint64_t>() == 0 && !in.failed();
}

std::size_t encode_trial(const Header& header, const Trial& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, kind_of(in.part), header);
  out.u(std::uint64_t{0});
  out.u(static_cast<std::uint8_t>(in.step));
  out.u(in.part);
  out.u(in.index);
  out.u(in.number);
  out.member(in.to);
  out.u(in.padding);
  for (std::uint16_t i = 0; i < in.padding; ++i) out.u(std::uint8_t{0});
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
