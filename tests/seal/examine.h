// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "seal/packet.h"
#include "stations.h"

namespace peal::seal::test {

struct Sample {
  std::string name;
  std::string plain;
  Bytes packet;
};
/// A packet of each lane and of several lengths, as node 3 sends them to node 9 or to everyone.
const std::vector<Sample>& samples();

struct Verdict {
  Refusal reason{};             ///< of the last packet that was tried
  const char* wrong = nullptr;  ///< the violated rule; null if there is none
};

/// The first byte determines the meaning of the others. Even: a packet, for a receiver with the
/// key. Odd: changes of a real packet: which one (a byte), how much to cut off or append (a signed
/// byte), and then for each change its offset (2 bytes) and a value that is XORed (a byte). Bytes
/// that differ from the samples must be refused, and samples must be opened once.
Verdict examine(ByteView input);

}  // namespace peal::seal::test
