// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "group/traffic.h"
#include "wire/packet.h"

// Parts of several group messages: names, flags and traffic. message.h has their layout.

namespace peal::group {

/// Reads a name that `is_legal` must accept. Returns an empty name if the reader failed.
template <class Rule>
std::string_view read_name(wire::ByteReader& in, Rule is_legal) {
  const std::string_view name = as_text(in.bytes(in.u<std::uint8_t>()));
  in.require(is_legal(name), wire::Drop::bad_value);
  return in.failed() ? std::string_view{} : name;
}
/// Reads a byte that is 0 or 1.
bool read_flag(wire::ByteReader& in);
/// Reads the traffic of several domains, in their order.
void read_traffic(wire::ByteReader& in, std::vector<Traffic>& out);

std::size_t bytes_of(const std::vector<Traffic>& traffic);
void write_name(wire::Writer& out, std::string_view name);
void write_flag(wire::Writer& out, bool flag);
void write_traffic(wire::Writer& out, const std::vector<Traffic>& traffic);

}  // namespace peal::group
