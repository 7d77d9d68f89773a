// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace peal::cli {

/// A digest of the messages delivered in one view, in their order. Equal at two nodes exactly if
/// both delivered the same messages in the same order (but for a chance of 2^-64). It can be handed
/// over and continued elsewhere: its state is its value.
struct OrderDigest {
  std::uint64_t value = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  void add(std::string_view sender, std::uint64_t number, ByteView payload) {
    Digest digest;
    digest.add(value);
    digest.add(as_bytes_view(sender));
    digest.add(number);
    digest.add(payload);
    value = digest.value();
    ++messages;
    bytes += payload.size();
  }
  friend bool operator==(const OrderDigest&, const OrderDigest&) = default;
};

}  // namespace peal::cli
