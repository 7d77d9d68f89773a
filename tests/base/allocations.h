// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {

// A program that calls one of these gets an operator new that counts. Thread: any.

/// Calls of operator new.
std::uint64_t allocations();
/// Bytes that these asked for.
std::uint64_t allocated_bytes();
/// Allocations so counted and not freed yet.
std::int64_t live_allocations();

}  // namespace peal
