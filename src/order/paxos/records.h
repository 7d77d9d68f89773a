// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// The records of an acceptor's log.
struct Record {
  enum class Kind : std::uint8_t {
    promise = 1,  ///< `round`
    vote = 2,     ///< `round`, `instance`, `head`, `bytes`
    decided = 3,  ///< `instance`, `head`, `bytes`: a decided value that this node did not vote for
    /// `round` (the promise, or no round), `state`, `kept`, `starts`, and `instance`. For each
    /// instance from `instance` up to `state.next` - 1, the last record of that instance holds the
    /// decided value.
    checkpoint = 4,
    taken = 5,     ///< `lives`, `heard`: the acceptors that this node names for the bootstrap
    kept = 6,      ///< `instance`, `round` (of the vote; no round: it was decided), `head`, `bytes`
    started = 7,   ///< `epoch`: an incarnation of the node begins to write
    put_back = 8,  ///< this log is an older copy: nothing in it may be used
  };
  /// Where in the log an incarnation began.
  struct Start {
    std::uint64_t epoch{};
    LogPosition at{};
    friend bool operator==(const Start&, const Start&) = default;
  };
  static constexpr std::size_t kStartsMax = 16;
  /// A range of skipped instances whose votes were kept (KeptWords).
  struct Range {
    wire::Instance first{};
    wire::Instance end{};
    /// True: `kept` records between the previous checkpoint and this one hold the whole range.
    /// False: the previous checkpoint names the range too.
    bool again = false;
    friend bool operator==(const Range&, const Range&) = default;
  };
  static constexpr std::size_t kRangesMax = 8;

  Kind kind{};
  wire::Round round{};
  wire::Instance instance{};
  wire::ValueHead head;
  ByteView bytes;  ///< the bytes of a value; read_record() makes them point into the record
  wire::Checkpoint state;
  std::vector<Range> kept;    ///< of a checkpoint: the kept ranges
  std::vector<Start> starts;  ///< of a checkpoint: the last starts before it, in order
  std::uint64_t epoch{};
  wire::Lives lives;
  /// The process incarnations in which the acceptors of `lives` were heard.
  std::vector<MemberId> heard;
};

/// Replaces `out` with the record's bytes.
void write_record(const Record& record, std::vector<std::byte>& out);
/// As write_record(), but without `record.bytes`, which come last.
void write_record_head(const Record& record, std::vector<std::byte>& out);
/// False: these bytes are no record of this release.
[[nodiscard]] bool read_record(ByteView bytes, Record& out);

}  // namespace peal::order::paxos
