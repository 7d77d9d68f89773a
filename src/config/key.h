// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "config/value.h"
#include "order/descriptor.h"

// The kinds of keys of a configuration. Each key is declared once, as a row. Reading, range checks,
// error messages, --print-config, docs/configuration.md, the cluster-wide hash and the rules of a
// reload are derived from this row.

namespace peal::config {

/// When a changed value takes effect.
enum class Changes : std::uint8_t {
  at_start,  ///< at the next start; a reload ignores it
  never,     ///< a reload with another value is refused
  at_reload,
};

/// One key, whose value is stored in a `T`.
template <class T>
struct Key {
  std::string table{};  ///< empty for the top level
  std::string name{};
  std::string help{};         ///< sentences; the last sentence has no full stop
  std::string accepted{};     ///< completes "accepted is …"
  std::string normal{};       ///< the default as TOML; empty if there is none
  std::string example{};      ///< the value to show if there is no default
  std::string absent{};       ///< the behaviour without the key, if there is no default
  bool cluster_wide = false;  ///< must be equal on all nodes
  Changes changes = Changes::at_start;
  bool needed = false;  ///< every configuration must have the key
  /// The engines that have the key; empty: all engines.
  std::vector<const order::Descriptor*> engines{};
  std::string refused_elsewhere{};  ///< like order::Option::refused_elsewhere
  /// Stores the value. Returns false, and changes nothing, if the value is not accepted.
  std::function<bool(const Value&, T&)> set{};
  /// Why a plausible value is not accepted, as text before "accepted is"; usually empty.
  std::function<std::string(const Value&)> why{};
  /// The whole stored value, as in a file; empty if no value is stored. Texts may hold any bytes.
  std::function<std::string(const T&)> get{};

  std::string path() const { return table.empty() ? name : table + "." + name; }
  /// The error for a refused value: "ring.max_gap = 3: accepted is …".
  std::string refusal(const Value& value) const {
    return path() + " = " + shown(value) + ": " + (why ? why(value) : std::string()) +
           "accepted is " + accepted;
  }
};

template <class T>
const Key<T>* find_key(std::span<const Key<T>> keys, std::string_view table,
                       std::string_view name) {
  for (const Key<T>& key : keys) {
    if (key.table == table && key.name == name) return &key;
  }
  return nullptr;
}

template <class T>
std::vector<std::string> names_in(std::span<const Key<T>> keys, std::string_view table) {
  std::vector<std::string> names;
  for (const Key<T>& key : keys) {
    if (key.table == table) names.push_back(key.name);
  }
  return names;
}

/// The error "unknown key ring.speed = 1: did you mean …? accepted keys are …". `prefix` is "ring."
/// or empty; `name` may hold any bytes. `known` are the keys of the table; `elsewhere` are the
/// paths of keys with this name in other tables.
std::string unknown_key(const std::string& prefix, std::string_view name, const Value& value,
                        const std::vector<std::string>& known,
                        const std::vector<std::string>& elsewhere = {});

/// True for a plausible path: 1 to `bytes_max` bytes, none of them 0.
bool is_path(std::string_view text, std::size_t bytes_max);

/// The texts that every key has.
struct KeyText {
  std::string table;
  std::string name;
  std::string help;
};

// Factories for keys of common kinds. `field` is a function that returns the member of a `T` that
// stores the value; the default is the value of this member in a new `T`.

template <class T, class Field>
Key<T> number_key(KeyText text, std::int64_t least, std::int64_t most, Field field) {
  Key<T> key{std::move(text.table), std::move(text.name), std::move(text.help)};
  key.accepted = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  T normal{};
  key.normal = std::to_string(field(normal));
  key.set = [=](const Value& value, T& to) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < least || *number > most) return false;
    auto& target = field(to);
    target = static_cast<std::remove_reference_t<decltype(target)>>(*number);
    return true;
  };
  key.get = [field](const T& from) { return std::to_string(field(from)); };
  return key;
}

template <class T, class Field>
Key<T> flag_key(KeyText text, Field field) {
  Key<T> key{std::move(text.table), std::move(text.name), std::move(text.help)};
  key.accepted = "true or false";
  key.get = [field](const T& from) { return std::string(field(from) ? "true" : "false"); };
  key.normal = key.get(T{});
  key.set = [field](const Value& value, T& to) {
    const auto* truth = std::get_if<bool>(&value);
    if (truth != nullptr) field(to) = *truth;
    return truth != nullptr;
  };
  return key;
}

/// A key whose value is a text that `good` accepts. If the text is empty in a new `T`, the key has
/// no default.
template <class T, class Field>
Key<T> text_key(KeyText text, std::string accepted, std::string example,
                std::function<bool(const std::string&)> good, Field field) {
  Key<T> key{std::move(text.table), std::move(text.name), std::move(text.help)};
  key.accepted = std::move(accepted);
  key.get = [field](const T& from) {
    return field(from).empty() ? std::string() : '"' + std::string(field(from)) + '"';
  };
  key.normal = key.get(T{});
  if (key.normal.empty()) key.example = quote(example);
  key.set = [good = std::move(good), field](const Value& value, T& to) {
    const auto* typed = std::get_if<std::string>(&value);
    if (typed == nullptr || !good(*typed)) return false;
    field(to) = *typed;
    return true;
  };
  return key;
}

template <class T, class Field>
Key<T> path_key(KeyText text, std::size_t bytes_max, std::string example, Field field) {
  return text_key<T>(
      std::move(text), "a path of 1 to " + std::to_string(bytes_max) + " bytes", std::move(example),
      [bytes_max](const std::string& typed) { return is_path(typed, bytes_max); }, field);
}

/// A key whose value is one of `words`. The words stand for the values of an enumeration from 0 up,
/// or for false and true.
template <class T, class Field>
Key<T> word_key(KeyText text, std::span<const std::string_view> words, Field field) {
  Key<T> key{std::move(text.table), std::move(text.name), std::move(text.help)};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) key.accepted += i + 1 == words.size() ? " or " : ", ";
    key.accepted += quote(words[i]);
  }
  key.get = [=](const T& from) { return quote(words[static_cast<std::size_t>(field(from))]); };
  key.normal = key.get(T{});
  key.set = [=](const Value& value, T& to) {
    const auto* typed = std::get_if<std::string>(&value);
    if (typed == nullptr) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != *typed) continue;
      auto& target = field(to);
      target = static_cast<std::remove_reference_t<decltype(target)>>(i);
      return true;
    }
    return false;
  };
  return key;
}

/// Turns the key `from` of a `From` into a key of a `T` that contains a `From`.
template <class T, class From, class Field>
Key<T> key_of(const Key<From>& from, Field field) {
  Key<T> key;
  key.table = from.table;
  key.name = from.name;
  key.accepted = from.accepted;
  key.normal = from.normal;
  key.example = from.example;
  key.absent = from.absent;
  key.help = from.help;
  key.cluster_wide = from.cluster_wide;
  key.changes = from.changes;
  key.needed = from.needed;
  key.engines = from.engines;
  key.refused_elsewhere = from.refused_elsewhere;
  key.why = from.why;
  key.set = [set = from.set, field](const Value& value, T& to) { return set(value, field(to)); };
  key.get = [get = from.get, field](const T& all) { return get(field(all)); };
  return key;
}

}  // namespace peal::config
