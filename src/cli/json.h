// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace peal::cli {

/// True for well-formed UTF-8, without surrogates and overlong forms.
bool is_utf8(std::string_view text);

/// Two hexadecimal digits for each byte.
std::string hex_bytes(ByteView bytes);

}  // namespace peal::cli
