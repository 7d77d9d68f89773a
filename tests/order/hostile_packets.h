// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::order::test {

/// Changes a few bytes of a packet, often to extreme values, and then corrects the checksum.
inline void mutate(std::vector<std::byte>& packet, Random& random) {
  if (random.chance(0.1)) packet.resize(wire::kHeaderBytes + random.below(packet.size()));
  if (random.chance(0.1)) packet.resize(packet.size() + random.below(64));
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = wire::kSenderOffset + random.below(packet.size() - wire::kSenderOffset);
    switch (random.below(5)) {
      case 0: packet[at] = std::byte{0}; break;
      case 1: packet[at] = std::byte{0xff}; break;
      case 2: packet[at] ^= static_cast<std::byte>(1U << random.below(8)); break;
      case 3: packet[at] = static_cast<std::byte>(std::to_integer<unsigned>(packet[at]) + 1); break;
      default: packet[at] = static_cast<std::byte>(random.below(256)); break;
    }
  }
  wire::complete(packet);
}

}  // namespace peal::order::test
