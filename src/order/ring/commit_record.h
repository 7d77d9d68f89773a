// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/member_set.h"
#include "wire/frames.h"

// The ring's data on a commit token: the options of the next view, and for each old view a record
// of what its survivors hold together. docs/wire.md defines the bytes.

namespace peal::order::ring {

/// Maximum of high - base in a record.
inline constexpr std::uint64_t kSpanMax = 16'384;

/// Limits for the packets of a view, on which the members of the view agree.
struct ViewOptions {
  std::uint32_t packet_bytes_max{};  ///< minimum of all members; at least kDataHeaderBytes + 1
  std::uint32_t request_lag{};       ///< maximum of all members
  std::uint32_t max_gap{};           ///< minimum of all members; >= 1
  friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// What the survivors of one old view hold.
struct OldViewRecord {
  Seq base{};  ///< greatest aru of any survivor
  Seq high{};  ///< greatest position that any survivor received; >= base
  Seq safe{};  ///< all members have all packets up to this position; <= base
  /// Bit i: a survivor has position base + 1 + i. There are (high - base + 63) / 64 words. Bits for
  /// positions above high are 0.
  std::vector<std::uint64_t> have;
  /// Members whose packets the survivors must deliver even behind a gap.
  MemberSet obligation;
  friend bool operator==(const OldViewRecord&, const OldViewRecord&) = default;

  /// True if a survivor has the position base + 1 + i (bit i of `have`).
  bool bit(std::uint64_t i) const {
    return i / 64 < have.size() && ((have[i / 64] >> (i % 64)) & 1) != 0;
  }
  /// True if a survivor has or had the position.
  bool holds(Seq seq) const { return seq <= base || (seq <= high && bit(seq - base - 1)); }
};

extern const wire::CommitFormat kCommitFormat;

/// The bytes for a commit token. encode() does not check limits. A commit token that exceeds a
/// limit cannot be encoded later, or its receivers drop it.
wire::CommitOptions encode(const ViewOptions& options);
std::vector<std::byte> encode(const OldViewRecord& record);

/// The bytes must come from encode(), or kCommitFormat must have checked them.
ViewOptions decode_options(const wire::CommitOptions& options);
OldViewRecord decode_record(ByteView record);

/// Decoder and encoder for commit tokens of rings, for tools and tests that inspect packets.
[[nodiscard]] wire::Drop decode_commit(ByteView packet, wire::Commit& out);
[[nodiscard]] std::size_t encode_commit(const wire::Header& header, const wire::Commit& in,
                                        ByteSpan out);

}  // namespace peal::order::ring
