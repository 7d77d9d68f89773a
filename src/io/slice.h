// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

namespace peal::io {

/// The time slice that ask_for_short_slices() requests: the shortest that Linux grants.
inline constexpr Duration kShortSlice = microseconds(100);

/// Asks the scheduler to give the calling thread short slices. Such a thread runs again sooner
/// after it yielded. The thread's share of the processor, its policy and its priority stay the
/// same. Does nothing where the kernel has no slices per thread (before Linux 6.12), and in threads
/// with a real-time policy. Blocks: never.
void ask_for_short_slices();

/// The time slice of the calling thread; 0 where the kernel has no slices per thread.
Duration current_slice();

}  // namespace peal::io
