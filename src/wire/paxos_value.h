// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/packet.h"
#include "wire/paxos.h"
#include "wire/reader.h"
#include "wire/writer.h"

// What the codecs of packets on quorums share among themselves.

namespace peal::wire {

/// As write_header().
inline void write_paxos_header(Writer& out, PaxosKind kind, const Header& header) {
  write_header(out, static_cast<FrameKind>(kind), header);
}
/// At least 1.
Instance read_instance(Reader& in);
/// So many lives, none of them 0.
void read_lives(Reader& in, std::size_t count, std::vector<std::uint64_t>& out);
/// The bytes of a value of this kind; none of them is kept. What nobody can read must not be voted
/// for: it would be the value of its instance for good.
void require_value(Reader& in, ValueKind kind, ByteView bytes);

}  // namespace peal::wire
