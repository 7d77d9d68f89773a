// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace peal {

/// CRC-32C (Castagnoli) of `bytes`, continuing from `crc` (0 to start). Uses the processor's
/// instructions for CRCs if it has any.
std::uint32_t crc32c(ByteView bytes, std::uint32_t crc = 0);
/// The same checksum without those instructions, for other processors.
std::uint32_t crc32c_portable(ByteView bytes, std::uint32_t crc = 0);

}  // namespace peal
