// SPDX-License-Identifier: Apache-2.0
// Names in a configuration file.
#include <algorithm>

#include "cli/config.h"

namespace peal::cli {

std::string_view ordering_name(Ordering order) {
  switch (order) {
    case Ordering::ring: return "ring";
    case Ordering::paxos: return "paxos";
    case Ordering::ridge: return "ridge";
  }
  return "";
}

std::optional<Ordering> ordering_of_name(std::string_view name) {
  for (const Ordering order : {Ordering::ring, Ordering::paxos, Ordering::ridge}) {
    if (ordering_name(order) == name) return order;
  }
  return std::nullopt;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace peal::cli
