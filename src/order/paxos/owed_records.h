// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "order/member_set.h"
#include "order/paxos/owed_ranges.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// The records of the log of retained values (owed_log.h).
struct OwedRecord {
  enum class Kind : std::uint8_t {
    /// `id`, `part`, `instance` (the first), `members`: begins a range, or a newer copy of a range.
    head = 1,
    value = 2,       ///< `id`, `instance`, `head`, `bytes`: the next value of a range
    checkpoint = 3,  ///< `ids`: the remaining ranges; all others are removed
  };

  Kind kind{};
  std::uint64_t id{};
  OwedPart part;
  wire::Instance instance{};
  MemberSet members;
  wire::ValueHead head;
  ByteView bytes;  ///< of a value; read_owed() makes it point into the record
  std::vector<std::uint64_t> ids;
};

/// Replaces `out` with the record's bytes, without `record.bytes`, which come last.
void write_owed_head(const OwedRecord& record, std::vector<std::byte>& out);
/// False: these bytes are no record of this release.
[[nodiscard]] bool read_owed(ByteView bytes, OwedRecord& out);

}  // namespace peal::order::paxos
