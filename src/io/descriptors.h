// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::io {

/// Number of descriptors that clients must leave free for the node's log and peers.
inline constexpr int kDescriptorsReserved = 32;

/// True if the newly opened `fd` is in the reserve. The reserve is the kDescriptorsReserved highest
/// numbers that this process may use, or the highest eighth of all numbers if that is fewer. The
/// system always assigns the lowest free number, so all lower numbers are then in use.
bool is_of_reserve(int fd);

/// If `number` is EMFILE or ENFILE, a text with the reached limit and the remedy; otherwise empty.
std::string descriptor_limit_text(int number);

}  // namespace peal::io
