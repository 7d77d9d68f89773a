// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "seal/opener.h"
#include "seal/sealer.h"

// Senders and receivers with keys that are the same in every run.

namespace peal::seal::test {

using Bytes = std::vector<std::byte>;
inline constexpr std::uint64_t kCluster = 0x1122334455667788;

Bytes bytes_of(std::string_view text);
Bytes bytes_of_hex(std::string_view text);

/// Key number `n`: its secret is the bytes n, n + 1, n + 2, …
Key test_key(std::uint8_t n);
/// The test keys with these numbers. The first is the key to send with.
Keys keys_of(std::initializer_list<std::uint8_t> numbers);
/// A salt of the bytes n, n + 1, …
Salt test_salt(std::uint8_t n);
Incarnation incarnation(std::uint32_t node, std::uint64_t epoch, std::uint8_t salt);

Sealer sealer(const Incarnation& self, const Keys& keys = keys_of({0}));
/// The Opener of node 9 in its incarnation 1. It accepts packets of the nodes 1 to 4.
Opener opener(const Keys& keys = keys_of({0}));

/// A packet with the text `plain`, sealed for the node `to`, or for all nodes if `to` is 0.
Bytes sealed(Sealer& sealer, Lane lane, std::string_view plain, std::uint32_t to = 0);
/// The result of open_copy(), which opens a copy of a packet.
struct Answer {
  Refusal reason{};
  MemberId sender{};
  std::uint32_t mark{};
  std::string_view plain;  ///< lies in `storage`
  Bytes storage;
};
Answer open_copy(Opener& opener, const Bytes& packet, Way way = Way::tokens);

}  // namespace peal::seal::test
