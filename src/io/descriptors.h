// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::io {

/// Descriptors that clients must leave to the node's log and peers.
inline constexpr int kDescriptorsReserved = 32;

/// True if `fd` is one of the last numbers that this process may open. The system always assigns
/// the lowest free number, so few others are left.
bool is_of_reserve(int fd);

/// If `number` is EMFILE or ENFILE: which limit was reached, and the remedy. Else empty.
std::string descriptor_limit_text(int number);

}  // namespace peal::io
