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
    /// `round` (what is promised, or none), `state`, `kept`, and in `instance` the oldest one below
    /// it whose last record is known to be what was decided.
    checkpoint = 4,
    nodes = 5,  ///< of `state` the list of nodes, the first one: before votes without a checkpoint
    kept = 6,   ///< `instance`, `round` (of a vote, or none: it was decided), `head`, `bytes`
  };
  /// Instances of which a node kept what it knew as it skipped them.
  struct Range {
    wire::Instance first{};
    wire::Instance end{};
    /// All of it stands in records `kept` since the checkpoint before, which need not name it.
    bool again = false;
    friend bool operator==(const Range&, const Range&) = default;
  };
  static constexpr std::size_t kRangesMax = 8;

  Kind kind{};
  wire::Round round{};
  wire::Instance instance{};
  wire::ValueHead head;
  ByteView bytes;  ///< lies in the record
  wire::Checkpoint state;
  std::vector<Range> kept;  ///< of a checkpoint
};

/// Replaces `out` by the record's bytes.
void write_record(const Record& record, std::vector<std::byte>& out);
/// The same without `record.bytes`, which come last.
void write_record_head(const Record& record, std::vector<std::byte>& out);
/// False: these bytes are no record of this release.
[[nodiscard]] bool read_record(ByteView bytes, Record& out);

}  // namespace peal::order::paxos
