// SPDX-License-Identifier: Apache-2.0
#include "wire/byte_reader.h"

#include "wire/packet.h"

namespace peal::wire {
namespace {

ViewId read_view(ByteReader& in) {
  ViewId view{};
  view.number = read_counter(in);
  view.representative.node.value = in.u<std::uint32_t>();
  view.representative.epoch = in.u<std::uint64_t>();
  return view;
}

bool names_a_node(const MemberId& member) {
  return member.node.value >= 1 && member.node.value <= kNodeMax;
}

}  // namespace

std::uint64_t read_counter(ByteReader& in) {
  const auto value = in.u<std::uint64_t>();
  in.require(value <= kCounterMax, Drop::bad_value);
  return value;
}

MemberId read_member(ByteReader& in) {
  MemberId member{};
  member.node.value = in.u<std::uint32_t>();
  member.epoch = in.u<std::uint64_t>();
  in.require(names_a_node(member), Drop::bad_value);
  return member;
}

ViewId read_formed_view(ByteReader& in) {
  const ViewId view = read_view(in);
  in.require(view.number >= 1 && names_a_node(view.representative), Drop::bad_value);
  return view;
}

ViewId read_any_view(ByteReader& in) {
  const ViewId view = read_view(in);
  in.require(view == ViewId{} || names_a_node(view.representative), Drop::bad_value);
  return view;
}

void read_members(ByteReader& in, std::uint64_t count, std::size_t count_max,
                  std::vector<MemberId>& out) {
  out.clear();
  in.require(count <= count_max, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kMemberBytes)) return;
  out.reserve(count);
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const MemberId member = read_member(in);
    in.require(out.empty() || out.back() < member, Drop::not_sorted);
    out.push_back(member);
  }
}

void check_members(ByteReader& in, std::uint64_t count, std::size_t count_max) {
  in.require(count <= count_max, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kMemberBytes)) return;
  MemberId before{};
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const MemberId member = read_member(in);
    in.require(i == 0 || before < member, Drop::not_sorted);
    before = member;
  }
}

}  // namespace peal::wire
