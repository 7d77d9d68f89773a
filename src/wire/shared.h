// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/client.h"

// Events in memory that a daemon writes and that the clients of one user map read-only. An event
// lies in a block: eight bytes of generation, then the record. While a block is free or being
// written its generation is 0, and no generation is ever reused. A reader compares the generation
// before and after it copies a record: if the two are equal, the copy is whole. The generation is
// accessed atomically, so this holds for readers in other processes.

namespace peal::wire {

inline constexpr std::size_t kGenerationBytes = 8;

/// Writes `head` and `rest`, which together are one record, and then `generation`, which is above 0
/// and never reused. `block` begins at a multiple of kSharedAlign and is large enough for the
/// generation and the record.
void write_shared(ByteSpan block, std::uint64_t generation, ByteView head, ByteView rest);
/// Marks the block as free: readers find no record in it.
void clear_shared(ByteSpan block);

/// Result of a read.
enum class SharedRead : std::uint8_t {
  ok,
  gone,  ///< the block was freed or reused
  bad,   ///< no record can be at this place, or the record has another length
};
/// Checks whether the record at `at` is in the memory now, without reading the record. Even after
/// the result `ok`, the record may be freed at any time. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead look_at_shared(ByteView memory, const Shared& at);
/// Copies the body of the record at `at` from the shared memory `memory` to `body`, without
/// checking the body. `at` comes from decode(). If the result is not `ok`, `kind` and
/// `body` are unspecified. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead read_shared(ByteView memory, const Shared& at, RecordKind& kind,
                                     std::vector<std::byte>& body);

}  // namespace peal::wire
