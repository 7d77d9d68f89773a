// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {

// A program that calls one of these functions gets an operator new that counts. Thread: any.

/// Calls of operator new.
std::uint64_t allocations();
/// Bytes that all calls of operator new asked for.
std::uint64_t allocated_bytes();
/// Allocations by operator new that are not freed yet.
std::int64_t live_allocations();

}  // namespace peal
