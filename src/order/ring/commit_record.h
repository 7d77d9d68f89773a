// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/member_set.h"
#include "wire/frames.h"

// What the ring writes on a commit token: the options of the next view, and what the survivors of
// an old view hold together. docs/wire.md gives every byte.

namespace peal::order::ring {

/// Maximum of high - base in a record.
inline constexpr std::uint64_t kSpanMax = 16'384;

/// What the members of a view agree on about its packets.
struct ViewOptions {
  std::uint32_t packet_bytes_max{};  ///< minimum of all members; at least kDataHeaderBytes + 1
  std::uint32_t request_lag{};       ///< maximum of all members
  std::uint32_t max_gap{};           ///< minimum of all members; >= 1
  friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// What the survivors of one old view hold.
struct OldViewRecord {
  Seq base{};                       ///< greatest aru of any survivor
  Seq high{};                       ///< greatest position that any survivor received; >= base
  Seq safe{};                       ///< greatest position that a survivor knows to be at all
                                    ///< members; <= base
  std::vector<std::uint64_t> have;  ///< bit i: a survivor has base + 1 + i; (high-base+63)/64
                                    ///< words, bits past high are zero
  MemberSet obligation;             ///< members whose packets the survivors must deliver even
                                    ///< behind a gap
  friend bool operator==(const OldViewRecord&, const OldViewRecord&) = default;

  /// Whether a survivor has the position base + 1 + i: bit i of `have`.
  bool bit(std::uint64_t i) const {
    return i / 64 < have.size() && ((have[i / 64] >> (i % 64)) & 1) != 0;
  }
  /// Whether a survivor has, or once had, the position.
  bool holds(Seq seq) const { return seq <= base || (seq <= high && bit(seq - base - 1)); }
};

extern const wire::CommitFormat kCommitFormat;

/// The bytes for a commit token. Limits are not checked: a token that exceeds a limit has no
/// encoding, or its receivers drop it.
wire::CommitOptions encode(const ViewOptions& options);
std::vector<std::byte> encode(const OldViewRecord& record);

/// For bytes that encode() wrote or that kCommitFormat has checked.
ViewOptions decode_options(const wire::CommitOptions& options);
OldViewRecord decode_record(ByteView record);

/// The commit tokens of rings, for tools and tests that inspect packets.
[[nodiscard]] wire::Drop decode_commit(ByteView packet, wire::Commit& out);
[[nodiscard]] std::size_t encode_commit(const wire::Header& header, const wire::Commit& in,
                                        ByteSpan out);

}  // namespace peal::order::ring
