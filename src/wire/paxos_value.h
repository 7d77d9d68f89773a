// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/byte_reader.h"
#include "wire/packet.h"
#include "wire/paxos.h"
#include "wire/writer.h"

// Helpers shared by the codecs of engines with acceptors.

namespace peal::wire {

/// As write_header().
inline void write_paxos_header(Writer& out, PaxosKind kind, const Header& header) {
  write_header(out, static_cast<FrameKind>(kind), header);
}
/// Reads an instance of at least 1.
Instance read_instance(ByteReader& in);
/// Reads `count` acceptor incarnations into `out`; notes an error if one of them is 0.
void read_lives(ByteReader& in, std::size_t count, std::vector<std::uint64_t>& out);
/// Checks the bytes of a value of `kind` without storing them, and notes an error in `in`. An
/// acceptor must not vote for a value whose bytes are invalid: the value could then be decided,
/// although no node could ever decode it.
void require_value(ByteReader& in, ValueKind kind, ByteView bytes);

}  // namespace peal::wire
