// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/key.h"
#include "config/settings.h"

// The keys of a node's settings, one row each. Further keys of a configuration file, for example
// those about clients, are in config/file/keys.h.

namespace peal::config {

inline constexpr std::string_view kAcceptedName = "1 to 32 characters of a-z, 0-9 and -";
inline constexpr std::size_t kNodesMax = 128;
inline constexpr std::uint32_t kNodeNumberMax = 65'535;

/// True for 1 to 32 characters of a-z, 0-9 and -.
bool is_name(std::string_view text);

/// All keys except those of [[nodes]] and [[domain]], in the order in which people read them. The
/// keys of engines come from the registry of engines.
std::span<const Key<Settings>> keys();
/// The key with this path, such as "ring.max_gap"; null if there is none.
const Key<Settings>* find_key(std::string_view path);

/// The paths of the keys of this name, in any table.
std::vector<std::string> paths_of(std::string_view name);

/// Stores the value of one key. The error is one line: the key is unknown, or the value is not
/// accepted.
Result<void, std::string> set(Settings& settings, std::string_view path, const Value& value);

/// Texts for a message: the keys that must be equal on all nodes and never change while a node
/// runs, except `cluster`, and "[[domain]]". If a table has many times, one text stands for these
/// times: "times in [ring]".
std::vector<std::string> cluster_wide_texts();

/// True if `engine` has the key.
template <class T>
bool is_of(const Key<T>& key, const order::Descriptor* engine) {
  if (key.engines.empty()) return true;
  for (const order::Descriptor* each : key.engines) {
    if (each == engine) return true;
  }
  return false;
}

/// The key of `Settings::acceptors`; empty if no engine has acceptors.
std::string_view acceptors_key();

/// Converts a text of Key::get() for a message: text in quotes is escaped and cut, as by quote().
std::string for_message(const std::string& text);

/// Refuses keys that only other engines have, because such keys would have no effect. The error is
/// one line, "KEY = VALUE does not go with order = …". Defaults that change nothing are accepted.
Result<void, std::string> validate_engines(const Settings& settings);
/// The error for "[[domain]]" and other features that only `engines` have: "WHAT does not go with
/// order = …".
std::string clash(const std::string& what, const order::Descriptor& order,
                  std::span<const order::Descriptor* const> engines, std::string_view reason = {});

/// The engines that have the trait.
std::vector<const order::Descriptor*> engines_with(bool order::Traits::*trait);
std::vector<const order::Descriptor*> engines_with(bool (order::Traits::*test)() const);

}  // namespace peal::config
