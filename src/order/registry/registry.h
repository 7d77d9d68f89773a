// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "order/descriptor.h"

namespace peal::order {

/// All engines of this program, the default first. A test may link a list of its own in the place
/// of registry.cc.
std::span<const Descriptor* const> engines();

/// The engine with this name; null if there is none.
const Descriptor* find_engine(std::string_view name);
/// Sets the target to that engine; false, and it stays as it was, if there is none.
bool take_engine(std::string_view name, const Descriptor*& target);
/// The option of any engine with this key, "ridge.merge"; null if there is none.
const Option* find_option(std::string_view key);
/// What was chosen, as a file has it ("\"rotation\"", "3"), or the default; the option is there.
std::string chosen_text(const OptionValues& values, std::string_view key);
/// The same as a number.
std::int64_t chosen(const OptionValues& values, std::string_view key);
/// The word of an option that has words, without quotes.
std::string_view chosen_word(const OptionValues& values, std::string_view key);

/// The one that orders unless the configuration names another.
const Descriptor& default_engine();
/// Their names, to complete "accepted is …": "ring", "paxos" or "ridge".
std::string engine_names();
std::string engine_names(std::span<const Descriptor* const> engines);

}  // namespace peal::order
