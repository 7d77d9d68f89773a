// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

namespace peal::io {

/// The time slice that ask_for_short_slices() asks for: the shortest that Linux grants.
inline constexpr Duration kShortSlice = microseconds(100);

/// Asks the scheduler to let the calling thread run in short slices, and therefore soon. Its share
/// of the processor stays the same, and so do its policy and its priority. Nothing happens where
/// the kernel knows no slices of single threads (before Linux 6.12), and in threads with a
/// real-time policy. Blocks: never.
void ask_for_short_slices();

/// The time slice of the calling thread; 0 where the kernel knows none of single threads.
Duration current_slice();

}  // namespace peal::io
