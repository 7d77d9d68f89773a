// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace peal::cli {

/// Splits `line` into lines of up to `columns`, at spaces where possible; lines after the first are
/// indented.
std::vector<std::string> folded(std::string_view line, std::size_t columns);

/// `text` as one word for a shell, quoted if necessary.
std::string shell_word(const std::string& text);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// "1 file", "1,234 deliveries".
std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace peal::cli
