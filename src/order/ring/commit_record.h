// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/member_set.h"
#include "wire/frames.h"

// What the ring writes into a commit token: the options of the next view, and what the survivors of
// an old view hold together. docs/wire.md gives every byte.

namespace peal::order::ring {

/// high - base of a record is at most this.
inline constexpr std::uint64_t kSpanMax = 16'384;

/// What the members of a view settle about its packets.
struct ViewOptions {
  std::uint32_t packet_bytes_max{};  ///< least among the members; kDataHeaderBytes + 1 at least
  std::uint32_t request_lag{};       ///< greatest
  std::uint32_t max_gap{};           ///< least; >= 1
  friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// What the survivors of one old view hold.
struct OldViewRecord {
  Seq base{};                       ///< greatest aru among them
  Seq high{};                       ///< greatest position received among them; >= base
  Seq safe{};                       ///< greatest safe line among them; <= base
  std::vector<std::uint64_t> have;  ///< bit i: somebody has base + 1 + i; (high-base+63)/64 words,
                                    ///< bits past high are zero
  MemberSet obligation;
  friend bool operator==(const OldViewRecord&, const OldViewRecord&) = default;

  /// Whether a survivor has the position `first_bit + i`, by bit i of the list.
  bool bit(std::uint64_t i) const {
    return i / 64 < have.size() && ((have[i / 64] >> (i % 64)) & 1) != 0;
  }
  /// Whether a survivor has, or had, the position.
  bool holds(Seq seq) const { return seq <= base || (seq <= high && bit(seq - base - 1)); }
};

extern const wire::CommitFormat kCommitFormat;

/// As they stand in a commit token. Limits are not checked: a token that breaks one has no
/// encoding, or is dropped by whoever gets it.
wire::CommitOptions encode(const ViewOptions& options);
std::vector<std::byte> encode(const OldViewRecord& record);

/// Of bytes that encode() wrote here, or that kCommitFormat has checked.
ViewOptions decode_options(const wire::CommitOptions& options);
OldViewRecord decode_record(ByteView record);

/// The commit tokens of rings, for those who look at packets from outside.
[[nodiscard]] wire::Drop decode_commit(ByteView packet, wire::Commit& out);
[[nodiscard]] std::size_t encode_commit(const wire::Header& header, const wire::Commit& in,
                                        ByteSpan out);

}  // namespace peal::order::ring
