// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace peal::daemon {

/// A digest of the messages delivered in one view, in their order. Two nodes that delivered the
/// same messages in the same order have equal digests; other nodes have different digests, with an
/// error probability of 2^-64. The value is the whole state, so another process can continue the
/// digest.
struct OrderDigest {
  std::uint64_t value = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  void add(std::string_view sender, std::uint64_t number, ByteView payload) {
    add(sender, number, payload, payload.size());
  }
  /// Adds a message without its content: only its sender, number and length.
  void add(std::string_view sender, std::uint64_t number, std::size_t payload_bytes) {
    add(sender, number, std::uint64_t{payload_bytes}, payload_bytes);
  }
  friend bool operator==(const OrderDigest&, const OrderDigest&) = default;

 private:
  template <class Content>
  void add(std::string_view sender, std::uint64_t number, const Content& content,
           std::size_t payload_bytes) {
    Digest digest;
    digest.add(value);
    digest.add(as_bytes_view(sender));
    digest.add(number);
    digest.add(content);
    value = digest.value();
    ++messages;
    bytes += payload_bytes;
  }
};

}  // namespace peal::daemon
