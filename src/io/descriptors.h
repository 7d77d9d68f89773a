// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::io {

/// Descriptors that clients must leave to the node itself, for its log and its peers.
inline constexpr int kDescriptorsReserved = 32;

/// Whether `fd` is one of the last that this process may open. The system gives the lowest number
/// that is free.
bool is_of_reserve(int fd);

/// Which limit was met, and what to do about it, if `number` is EMFILE or ENFILE; else empty.
std::string descriptor_limit_text(int number);

}  // namespace peal::io
