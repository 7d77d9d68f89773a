// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "order/registry/registry.h"

// Keys of the engines' options that commands have arguments for.

namespace peal::cli {

inline constexpr std::string_view kDissemination = "ridge.dissemination";
inline constexpr std::string_view kEnsembles = "ridge.ensembles";
inline constexpr std::string_view kMerge = "ridge.merge";
inline constexpr std::string_view kOptimistic = "ridge.optimistic";
inline constexpr std::string_view kStorage = "paxos.storage";

inline std::int64_t ensembles_of(const order::OptionValues& options) {
  return order::chosen(options, kEnsembles);
}
inline bool is_optimistic(const order::OptionValues& options) {
  return order::chosen(options, kOptimistic) != 0;
}
inline bool is_in_memory(const order::OptionValues& options) {
  return order::chosen_word(options, kStorage) == "memory";
}
inline bool is_rotation(const order::OptionValues& options) {
  return order::chosen_word(options, kMerge) == "rotation";
}

}  // namespace peal::cli
