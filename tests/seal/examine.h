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
/// Packets of each lane and of several lengths, which node 3 sends to node 9 or to all nodes.
const std::vector<Sample>& samples();

struct Verdict {
  Refusal reason{};             ///< the result for the examined packet
  const char* wrong = nullptr;  ///< the violated rule; null if there is none
};

/// Opens the packet that `input` describes. If the first byte is even, the other bytes are the
/// packet. If it is odd, they change a sample: the number of the sample (a byte), how many bytes to
/// append or cut off (a signed byte), and then, for each change, an offset (2 bytes) and a value to
/// XOR (a byte). A packet that is no sample must be refused. A sample must be opened, but only
/// once.
Verdict examine(ByteView input);

}  // namespace peal::seal::test
