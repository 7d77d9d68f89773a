// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "trace/event.h"

// The words of trace lines, in the order of the enumerations. Writer and reader share these tables.

namespace peal::trace {

inline constexpr std::array<std::string_view, 2> kLayerWords{"unit", "order"};
inline constexpr std::array<std::string_view, 9> kKindWords{
    "start", "crash", "leave", "submit", "originate", "view", "deliver", "early", "lost"};
inline constexpr std::array<std::string_view, 4> kServiceWords{"fifo", "causal", "agreed", "safe"};
inline constexpr std::string_view kRegular = "regular";
inline constexpr std::string_view kTransitional = "transitional";

constexpr std::string_view word_of(Layer layer) {
  return kLayerWords[static_cast<std::size_t>(layer)];
}
constexpr std::string_view word_of(Kind kind) { return kKindWords[static_cast<std::size_t>(kind)]; }
constexpr std::string_view word_of(Service service) {
  return kServiceWords[static_cast<std::size_t>(service)];
}

static_assert(word_of(Layer::order) == "order");
static_assert(word_of(Kind::lost) == "lost");
static_assert(word_of(Service::safe) == "safe");

}  // namespace peal::trace
