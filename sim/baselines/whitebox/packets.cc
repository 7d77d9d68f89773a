// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/packets.h"

namespace peal::sim::genuine::whitebox {
namespace {

constexpr std::uint8_t kFit = 1;
constexpr std::uint8_t kLeading = 2;

bool read_flag(wire::ByteReader& in) {
  const auto flag = in.u<std::uint8_t>();
  in.require(flag <= 1, wire::Drop::bad_value);
  return flag != 0;
}

/// Reads a key of the domain.
Key read_stamp(wire::ByteReader& in, DomainId domain) {
  const Key key = wire::read_counter(in);
  in.require(domain_of(key) == domain, wire::Drop::bad_value);
  return key;
}

Key read_key(wire::ByteReader& in, const Head& head) {
  const Key key = wire::read_counter(in);
  in.require(head.to.has(domain_of(key)), wire::Drop::bad_value);
  return key;
}

ByteView rest_of(wire::ByteReader& in) { return in.bytes(in.remaining()); }

bool is_done(const wire::ByteReader& in) { return in.finish() == wire::Drop::none; }

State read_state(wire::ByteReader& in) { return read_flag(in) ? State::base : State::answer; }

}  // namespace

void write(wire::Writer& out, const Beat& in) {
  out.count(in.members.size(), wire::kMembersMax);
  out.members(in.members);
  out.u(in.promised);
  out.u(in.current);
  out.u(static_cast<std::uint8_t>((in.fit ? kFit : 0) | (in.leading ? kLeading : 0)));
  out.u(in.tip);
  out.u(in.applied);
}

bool read(wire::ByteReader in, const Roster& roster, Beat& out) {
  out.members = roster.read(in);
  out.promised = wire::read_counter(in);
  out.current = wire::read_counter(in);
  const auto flags = in.u<std::uint8_t>();
  in.require(flags <= (kFit | kLeading), wire::Drop::bad_value);
  out.fit = (flags & kFit) != 0;
  out.leading = (flags & kLeading) != 0;
  out.tip = wire::read_counter(in);
  out.applied = wire::read_counter(in);
  return is_done(in);
}

void write(wire::Writer& out, const Multicast& in) {
  write_head(out, in.head);
  out.u(static_cast<std::uint8_t>(in.forwarded));
  out.bytes(in.body);
}

bool read(wire::ByteReader in, const Layout& layout, Multicast& out) {
  out.head = read_head(in, layout);
  out.forwarded = read_flag(in);
  out.body = rest_of(in);
  return is_done(in) && !out.body.empty();
}

void write(wire::Writer& out, const Accept& in) {
  write_head(out, in.head);
  out.u(in.proposal.ballot);
  out.u(in.proposal.stamp);
  out.u(static_cast<std::uint8_t>(in.has_body));
  out.bytes(in.body);
}

bool read(wire::ByteReader in, const Layout& layout, Accept& out) {
  out.head = read_head(in, layout);
  out.proposal.ballot = wire::read_counter(in);
  out.proposal.stamp = read_key(in, out.head);
  out.has_body = read_flag(in);
  out.body = rest_of(in);
  return is_done(in) && out.has_body != out.body.empty() && out.proposal.ballot != 0;
}

void write(wire::Writer& out, const Ack& in) {
  write_head(out, in.head);
  for (const DomainId domain : in.head.to) {
    out.u(in.proposals[domain].ballot);
    out.u(in.proposals[domain].stamp);
  }
}

bool read(wire::ByteReader in, const Layout& layout, Ack& out) {
  out.head = read_head(in, layout);
  out.proposals = {};
  for (const DomainId domain : out.head.to) {
    out.proposals[domain].ballot = wire::read_counter(in);
    out.proposals[domain].stamp = read_stamp(in, domain);
  }
  return is_done(in);
}

void write(wire::Writer& out, const Deliver& in) {
  write_head(out, in.head);
  out.u(in.ballot);
  out.u(in.place);
  out.u(in.stamp);
  out.u(in.key);
}

bool read(wire::ByteReader in, const Layout& layout, Deliver& out) {
  out.head = read_head(in, layout);
  out.ballot = wire::read_counter(in);
  out.place = wire::read_counter(in);
  out.stamp = read_key(in, out.head);
  out.key = read_key(in, out.head);
  return is_done(in) && out.place >= 1;
}

void write(wire::Writer& out, const Entry& in) {
  write_head(out, in.head);
  out.u(in.place);
  out.u(in.stamp);
  out.u(in.key);
  out.bytes(in.body);
}

bool read(wire::ByteReader in, const Layout& layout, Entry& out) {
  out.head = read_head(in, layout);
  out.place = wire::read_counter(in);
  out.stamp = read_key(in, out.head);
  out.key = read_key(in, out.head);
  out.body = rest_of(in);
  return is_done(in) && out.place >= 1 && !out.body.empty();
}

bool read_fetch(wire::ByteReader in, std::uint64_t& after) {
  after = wire::read_counter(in);
  return is_done(in);
}

void write(wire::Writer& out, const Reply& in) {
  out.member(in.sender);
  out.u(in.number);
  out.u(in.key);
}

bool read(wire::ByteReader in, Reply& out) {
  out.sender = wire::read_member(in);
  out.number = wire::read_counter(in);
  out.key = wire::read_counter(in);
  return is_done(in);
}

void write(wire::Writer& out, const NewLeader& in) {
  out.u(in.ballot);
  out.u(in.tip);
}

bool read(wire::ByteReader in, NewLeader& out) {
  out.ballot = wire::read_counter(in);
  out.tip = wire::read_counter(in);
  return is_done(in);
}

void write(wire::Writer& out, const Part& in) {
  out.u(in.ballot);
  out.u(static_cast<std::uint8_t>(in.state == State::base));
  out.u(in.total);
  out.u(in.offset);
  out.bytes(in.bytes);
}

bool read(wire::ByteReader in, Part& out) {
  out.ballot = wire::read_counter(in);
  out.state = read_state(in);
  out.total = in.u<std::uint32_t>();
  out.offset = in.u<std::uint32_t>();
  out.bytes = rest_of(in);
  return is_done(in) && out.total <= kStateBytesMax && out.offset <= out.total &&
         out.bytes.size() <= out.total - out.offset;
}

void write(wire::Writer& out, const Get& in) {
  out.u(in.ballot);
  out.u(static_cast<std::uint8_t>(in.state == State::base));
  out.u(in.offset);
}

bool read(wire::ByteReader in, Get& out) {
  out.ballot = wire::read_counter(in);
  out.state = read_state(in);
  out.offset = in.u<std::uint32_t>();
  return is_done(in);
}

}  // namespace peal::sim::genuine::whitebox
