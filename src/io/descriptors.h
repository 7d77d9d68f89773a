// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::io {

/// Number of descriptors that clients must leave to the node's log and peers.
inline constexpr int kDescriptorsReserved = 32;

/// True if `fd`, which was just opened, is one of the kDescriptorsReserved highest numbers that
/// this process may have, or of the highest eighth of them if that is fewer. The system always
/// assigns the lowest free number, so all lower numbers are in use then.
bool is_of_reserve(int fd);

/// If `number` is EMFILE or ENFILE: which limit was reached, and the remedy. Else empty.
std::string descriptor_limit_text(int number);

}  // namespace peal::io
