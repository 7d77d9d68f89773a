// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// What an acceptor writes down, one record each.
struct Record {
  enum class Kind : std::uint8_t {
    promise = 1,  ///< `round`
    vote = 2,     ///< `round`, `instance`, `head`, `bytes`
    decided = 3,  ///< `instance`, `head`, `bytes`: not what the vote was for, if there was one
    /// `round` (what is promised, or none), `state`, and in `instance` the oldest one below it
    /// whose last record is known to be what was decided.
    checkpoint = 4,
    nodes = 5,  ///< of `state` the list of nodes, the first one: before votes without a checkpoint
  };
  Kind kind{};
  wire::Round round{};
  wire::Instance instance{};
  wire::ValueHead head;
  ByteView bytes;  ///< lies in the record
  wire::Checkpoint state;
};

/// Replaces `out` by the record's bytes.
void write_record(const Record& record, std::vector<std::byte>& out);
/// The same without `record.bytes`, which come last.
void write_record_head(const Record& record, std::vector<std::byte>& out);
/// False: these bytes are no record of this release.
[[nodiscard]] bool read_record(ByteView bytes, Record& out);

}  // namespace peal::order::paxos
