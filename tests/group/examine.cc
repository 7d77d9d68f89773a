// SPDX-License-Identifier: Apache-2.0
#include "examine.h"

#include <algorithm>
#include <vector>

#include "group/message.h"

namespace peal::group::test {
namespace {

using wire::Drop;

template <class Message>
Verdict examine_as(ByteView bytes) {
  Message message;
  const Drop drop = decode(bytes, message);
  if (drop != Drop::none) return {drop, nullptr};
  std::vector<std::byte> again;
  encode(message, again);
  const bool same = std::equal(bytes.begin(), bytes.end(), again.begin(), again.end());
  return {drop, same ? nullptr : "accepted, but not the one encoding"};
}

}  // namespace

Verdict examine(ByteView bytes) {
  Leave leave;
  Disconnect disconnect;
  const bool is_leave = kind_of(bytes) == static_cast<std::uint8_t>(Kind::leave);
  const Drop other = is_leave ? decode(bytes, disconnect) : decode(bytes, leave);
  if (other == Drop::none) return {other, "accepted as a message of another kind"};
  switch (static_cast<Kind>(kind_of(bytes))) {
    case Kind::join: return examine_as<Join>(bytes);
    case Kind::leave: return examine_as<Leave>(bytes);
    case Kind::disconnect: return examine_as<Disconnect>(bytes);
    case Kind::data: return examine_as<Data>(bytes);
    case Kind::tables: return examine_as<Tables>(bytes);
    case Kind::marker: return examine_as<Marker>(bytes);
    case Kind::domain_traffic: return examine_as<DomainTraffic>(bytes);
  }
  return {other, nullptr};
}

}  // namespace peal::group::test
