// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "wire/client.h"

namespace peal::config {

/// The policies for a client that does not read its events, by the names that users write.
inline constexpr std::array<std::pair<std::string_view, wire::SlowPolicy>, 4> kPolicies{{
    {"block", wire::SlowPolicy::block},
    {"spill", wire::SlowPolicy::spill},
    {"drop", wire::SlowPolicy::drop},
    {"evict", wire::SlowPolicy::evict},
}};
inline constexpr const char* kAcceptedPolicy = "\"block\", \"spill\", \"drop\" or \"evict\"";

inline std::optional<wire::SlowPolicy> parse_policy(std::string_view text) {
  for (const auto& [name, policy] : kPolicies) {
    if (name == text) return policy;
  }
  return std::nullopt;
}

/// The name of the policy; "normal" stands for the configured policy.
inline std::string_view policy_name(wire::SlowPolicy policy) {
  for (const auto& [name, each] : kPolicies) {
    if (each == policy) return name;
  }
  return "normal";
}

}  // namespace peal::config
