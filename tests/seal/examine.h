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
  const char* wrong = nullptr;  ///< what no bytes may do; null if all is well
};

/// The first byte says what the others are. Even: a packet, given to somebody who has the key. Odd:
/// what to do to a real packet: which one (a byte), how much to cut off or append (a signed byte),
/// and then for each change its offset (2 bytes) and what it is combined with (a byte, exclusive
/// or). What is not exactly one of the samples must be refused, and what is must be opened once.
Verdict examine(ByteView input);

}  // namespace peal::seal::test
