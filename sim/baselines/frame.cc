// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/frame.h"

namespace peal::sim::genuine {

void write_head(wire::Writer& out, const Head& head) {
  out.member(head.sender);
  out.u(head.number);
  out.u(head.to.bits());
  out.u(static_cast<std::uint8_t>(head.service));
  out.u(head.floor);
  for (const DomainId domain : head.to) out.u(head.index[domain]);
}

Head read_head(wire::ByteReader& in, const Layout& layout) {
  Head head;
  head.sender = wire::read_member(in);
  head.number = wire::read_counter(in);
  head.to = DomainSet::of_bits(in.u<std::uint16_t>());
  const auto service = in.u<std::uint8_t>();
  in.require(service <= static_cast<std::uint8_t>(Service::safe), wire::Drop::bad_value);
  head.service = static_cast<Service>(service);
  head.floor = wire::read_counter(in);
  in.require(layout.accepts(head.to) && head.number >= 1, wire::Drop::bad_value);
  if (in.failed()) return head;
  for (const DomainId domain : head.to) {
    head.index[domain] = wire::read_counter(in);
    in.require(head.index[domain] >= 1, wire::Drop::bad_value);
  }
  return head;
}

std::optional<Frame> open_frame(ByteView packet, std::uint64_t cluster) {
  if (packet.size() < wire::kHeaderBytes) return std::nullopt;
  wire::ByteReader in(packet);
  Frame frame;
  const bool known =
      in.u<std::uint16_t>() == wire::kMagic && in.u<std::uint8_t>() == wire::kVersion;
  frame.kind = in.u<std::uint8_t>();
  const bool whole = in.u<std::uint32_t>() == packet.size();
  const bool here = in.u<std::uint64_t>() == cluster;
  frame.sender = wire::read_member(in);
  const bool intact = in.u<std::uint32_t>() == wire::packet_checksum(packet);
  if (!known || !whole || !here || !intact || in.failed()) return std::nullopt;
  frame.body = in;
  return frame;
}

void add_unit(ByteView packet, std::vector<order::UnitName>& out) {
  wire::ByteReader in = wire::body_of(packet);
  order::UnitName unit;
  unit.sender = wire::read_member(in);
  unit.number = in.u<std::uint64_t>();
  if (!in.failed()) out.push_back(unit);
}

}  // namespace peal::sim::genuine
