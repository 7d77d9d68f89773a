// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace peal::order::ridge {

/// How values reach all nodes; equal on all of them.
enum class Dissemination : std::uint8_t {
  distributors,  ///< along a chain of a majority of the acceptors, and from one other node to all
  ring,          ///< from node to node, to compare with
};

/// How many ensembles may order together.
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

}  // namespace peal::order::ridge
