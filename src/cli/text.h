// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace peal::cli {

/// The name of `known` that a person most likely meant by `typed`; empty if none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);
/// "a,b,c"
std::string comma_separated(const std::vector<std::string>& words);

/// `line` in lines of up to `columns`, broken at spaces where there are any; those after the first
/// stand further in.
std::vector<std::string> folded(std::string_view line, std::size_t columns);

/// `text` as one word of a shell: in quotes, if it needs them.
std::string shell_word(const std::string& text);

/// A number for a person: 8 or 0.5, never 8.000000.
std::string decimal(double value);

/// The name of a view or member without its incarnation: "12@a" of "12@a.210987654321".
std::string_view short_id(std::string_view id);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// "1 file", "1,234 deliveries".
std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace peal::cli
