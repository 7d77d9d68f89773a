// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "order/descriptor.h"

namespace peal::order {

/// All engines of this program; the default engine is first. A test may link its own list instead
/// of registry.cc.
std::span<const Descriptor* const> engines();

/// The engine with this name; null if there is none.
const Descriptor* find_engine(std::string_view name);
/// Sets `target` to the engine with this name. If there is none, returns false and leaves `target`
/// unchanged.
bool take_engine(std::string_view name, const Descriptor*& target);
/// The option with this key, such as "ridge.merge", of any engine; null if no engine has it.
const Option* find_option(std::string_view key);
/// The chosen value or the default, as it is written in a file ("\"rotation\"", "3"). An option
/// with this key must exist.
std::string chosen_text(const OptionValues& values, std::string_view key);
/// The chosen value or the default, as a number.
std::int64_t chosen(const OptionValues& values, std::string_view key);
/// The chosen word or the default word, without quotes. The option with this key must be of
/// Kind::word.
std::string_view chosen_word(const OptionValues& values, std::string_view key);

/// The engine that is used if the configuration names no engine.
const Descriptor& default_engine();
/// The engines' names as a text that completes "accepted is …": "ring", "paxos", "ridge" or "toto".
std::string engine_names();
std::string engine_names(std::span<const Descriptor* const> engines);

}  // namespace peal::order
