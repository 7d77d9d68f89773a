// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "wire/frames.h"

// What ToTo writes on a commit token: the options of the next view, and what the survivors of an
// old view hold together. docs/wire.md gives every byte.

namespace peal::order::toto {

/// What the members of a view agree on about its packets.
struct ViewOptions {
  std::uint32_t packet_bytes_max{};  ///< minimum of all members
  friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// For each member of the old view, the highest of its nodes that joined the graph of a survivor.
/// The graphs are causally closed, so their union is closed too, and this record describes it.
using OldViewRecord = FixedVector<Seq, wire::kMembersMax>;

extern const wire::CommitFormat kCommitFormat;

wire::CommitOptions encode(const ViewOptions& options);
std::vector<std::byte> encode(const OldViewRecord& record);

/// For bytes that encode() wrote or that kCommitFormat has checked.
ViewOptions decode_options(const wire::CommitOptions& options);
OldViewRecord decode_record(ByteView record);

/// The commit tokens of ToTo, for tools and tests that inspect packets.
[[nodiscard]] wire::Drop decode_commit(ByteView packet, wire::Commit& out);
[[nodiscard]] std::size_t encode_commit(const wire::Header& header, const wire::Commit& in,
                                        ByteSpan out);

}  // namespace peal::order::toto
