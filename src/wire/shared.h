// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/client.h"

// Events in memory that a daemon writes and that the clients of one user map read-only. An event
// lies in a block: eight bytes of generation, then the record. While a block is free or being
// written its generation is 0, and no generation is ever reused. So a reader that finds the same
// generation before and after it copied a record knows that the copy is whole. Atomic accesses to
// the generation ensure this for readers in other processes.

namespace peal::wire {

inline constexpr std::size_t kGenerationBytes = 8;

/// Writes `head` and `rest`, which together are one record, and then `generation`, which is above 0
/// and never reused. `block` begins at a multiple of kSharedAlign and has room for all.
void write_shared(ByteSpan block, std::uint64_t generation, ByteView head, ByteView rest);
/// Marks the block as free: readers find no record in it.
void clear_shared(ByteSpan block);

/// Result of a read.
enum class SharedRead : std::uint8_t {
  ok,
  gone,  ///< the block was freed or reused
  bad,   ///< no record can lie there in the memory, or the record has another length
};
/// Whether the record at `at` is there at this moment. Does not read the record, which may be gone
/// right after the result `ok`. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead look_at_shared(ByteView memory, const Shared& at);
/// Copies the body of the record at `at` from the shared memory `memory` to `body`, without
/// checking the body. `at` comes from decode(). If the result is not `ok`, `kind` and
/// `body` are unspecified. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead read_shared(ByteView memory, const Shared& at, RecordKind& kind,
                                     std::vector<std::byte>& body);

}  // namespace peal::wire
