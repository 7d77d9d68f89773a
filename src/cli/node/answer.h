// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/text.h"

// Reads the fields of a node's answer to `status`. A node of another release may lack fields, or
// have others under their names.

namespace peal::cli {

using Parsed = nlohmann::json;

template <class T>
T field(const Parsed& object, const char* key, T otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<T>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<T>() : otherwise;
  } else {
    return found->is_number() ? found->template get<T>() : otherwise;
  }
}

/// The texts in the list `key` of `object`, separated by commas.
inline std::string names_in(const Parsed& object, const char* key) {
  std::vector<std::string> all;
  const Parsed found = object.is_object() ? object.value(key, Parsed::array()) : Parsed();
  for (const Parsed& name : found) {
    if (name.is_string()) all.push_back(name.get<std::string>());
  }
  return comma_separated(all);
}

inline std::string number_field(const Parsed& object, const char* key) {
  return std::to_string(field<std::uint64_t>(object, key, 0));
}

}  // namespace peal::cli
