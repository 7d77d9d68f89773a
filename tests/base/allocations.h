// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {

// A program that asks for one of these has an operator new that counts. Thread: any.

/// Calls of operator new.
std::uint64_t allocations();
/// Bytes that these asked for.
std::uint64_t allocated_bytes();
/// What was allocated so, and not given back.
std::int64_t live_allocations();

}  // namespace peal
