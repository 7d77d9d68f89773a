// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace peal {

/// CRC-32C (Castagnoli) of `bytes`, continuing from `crc` (0 to start). Uses the processor's CRC
/// instructions if the processor has them.
std::uint32_t crc32c(ByteView bytes, std::uint32_t crc = 0);
/// The same checksum, computed without CRC instructions, for processors that have none.
std::uint32_t crc32c_portable(ByteView bytes, std::uint32_t crc = 0);

}  // namespace peal
