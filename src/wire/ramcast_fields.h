// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/byte_reader.h"
#include "wire/ramcast_memory.h"

// Fields that RamCast's records and frames share. Each function notes an error in the reader.

namespace peal::wire {

/// A counter from 1 on.
std::uint64_t read_from_one(ByteReader& in);
/// A round, or no round (all fields zero).
Round read_optional_round(ByteReader& in);
/// A set of at least one domain.
DomainBits read_domains(ByteReader& in);
/// Agreed or safe.
Service read_ordered_service(ByteReader& in);
/// Replaces `head.indexes` with one index for each domain of `head.to`.
void read_indexes(ByteReader& in, MessageHead& head);

}  // namespace peal::wire
