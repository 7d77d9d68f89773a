// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "order/registry/registry.h"

// Keys of those engine options for which commands have arguments.

namespace peal::cli {

inline constexpr std::string_view kDissemination = "ridge.dissemination";
inline constexpr std::string_view kEnsembles = "ridge.ensembles";
inline constexpr std::string_view kMerge = "ridge.merge";
inline constexpr std::string_view kOptimistic = "ridge.optimistic";
inline constexpr std::string_view kStorage = "paxos.storage";
inline constexpr std::string_view kFabric = "ramcast.fabric";
inline constexpr std::string_view kPoll = "ramcast.poll";

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

/// The names of the engines for which `is` returns true, joined by "or": "paxos or ridge". Each
/// name follows `before`: with "--order ", the result is "--order paxos or --order ridge".
template <class Is>
std::string engines_that(Is is, std::string_view before = "") {
  std::string text;
  for (const order::Descriptor* engine : order::engines()) {
    if (!is(*engine)) continue;
    text += (text.empty() ? "" : " or ") + std::string(before) + std::string(engine->name);
  }
  return text;
}
inline std::string engines_with(bool order::Traits::*trait, std::string_view before = "") {
  return engines_that([trait](const order::Descriptor& each) { return each.traits.*trait; },
                      before);
}
/// For engines_that().
inline bool has_acceptors(const order::Descriptor& engine) { return engine.traits.has_acceptors(); }
/// The engines that have the option `key`, in the form of engines_that().
inline std::string engines_with(std::string_view key, std::string_view before = "") {
  const auto has = [key](const order::Descriptor& engine) {
    for (const order::Option& option : engine.options()) {
      if (option.key == key) return true;
    }
    return false;
  };
  return engines_that(has, before);
}
/// The end of the error "… does not go with --order …". `orders` names the engines that support the
/// argument.
inline std::string leave_out_or_say(const std::string& orders) {
  return ": leave it out, or say " + orders;
}

}  // namespace peal::cli
