// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "wire/client.h"

// Events in memory that a daemon writes and its clients of one person only read. An event lies in a
// block: eight bytes with its generation, then the record. While a block is free or being written
// its generation is 0, and no generation is ever used twice, so that a reader that looks at it
// before and after it copied the record knows that the record was there all the while. Readers in
// other processes see the stores in this order, whatever the compiler and the processor do.

namespace peal::wire {

inline constexpr std::size_t kGenerationBytes = 8;

/// What is to be written as long as it is, with a generation of its own, above 0, for each. `block`
/// begins at a multiple of kSharedAlign and has room for all.
void write_shared(ByteSpan block, std::uint64_t generation, ByteView head, ByteView rest);
/// Nothing that anybody may read is in the block any more.
void clear_shared(ByteSpan block);

/// How reading came out.
enum class SharedRead : std::uint8_t {
  ok,
  gone,  ///< something else is there by now
  bad,   ///< outside of the memory, or no record of that length
};
/// Whether the record at `at` is there at this moment, without reading it: `ok` promises nothing of
/// later. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead look_at_shared(ByteView memory, const Shared& at);
/// Copies the body of the record at `at`, which decode() gave, out of the memory that begins at
/// `memory`, once. What the body says is not looked at. Anything but `ok`: `kind` and `body` are
/// unspecified. Thread: any, also while the daemon writes.
[[nodiscard]] SharedRead read_shared(ByteView memory, const Shared& at, RecordKind& kind,
                                     std::vector<std::byte>& body);

}  // namespace peal::wire
