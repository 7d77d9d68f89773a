// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace peal::order::ridge {

/// How values reach all nodes. This option is equal on all nodes.
enum class Dissemination : std::uint8_t {
  distributors,  ///< along a chain of acceptors, then from a distributor to all other nodes
  ring,          ///< in a ring of all nodes, from each node to the next; for comparison
};

/// How the orders of several ensembles are merged. This option is equal on all nodes.
enum class Merging : std::uint8_t {
  keys,      ///< by keys, which are derived from senders' clocks
  rotation,  ///< one value or skip of each ensemble in turn, for comparison
};

/// The maximum number of ensembles.
inline constexpr std::uint32_t kEnsemblesMax = 16;

inline std::string_view dissemination_name(Dissemination dissemination) {
  return dissemination == Dissemination::ring ? "ring" : "distributors";
}

inline std::optional<Dissemination> dissemination_of_name(std::string_view name) {
  for (const Dissemination each : {Dissemination::distributors, Dissemination::ring}) {
    if (dissemination_name(each) == name) return each;
  }
  return std::nullopt;
}

inline std::string_view merging_name(Merging merging) {
  return merging == Merging::rotation ? "rotation" : "keys";
}

inline std::optional<Merging> merging_of_name(std::string_view name) {
  for (const Merging each : {Merging::keys, Merging::rotation}) {
    if (merging_name(each) == name) return each;
  }
  return std::nullopt;
}

}  // namespace peal::order::ridge
