// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "order/option.h"

// Options that several engines have, each in the engine's own options struct (field.h).

namespace peal::order {

/// Which views are primary, with an engine whose views have no quorum.
enum class PrimaryRule : std::uint8_t { none, majority };

inline constexpr std::string_view kPrimaryRules[] = {"none", "majority"};

/// The option for a PrimaryRule.
constexpr Option primary_option() {
  return {.key = "primary",
          .words = kPrimaryRules,
          .cluster_wide = true,
          .help =
              "with \"majority\", each view says whether it may act for the whole cluster: at most "
              "one view at a time holds more than half of the nodes",
          .refused_elsewhere = "as every view is primary"};
}

/// The option for the size of the largest packet. The node derives its value from
/// network.packet_bytes and the seal (Setup::packet_bytes_max); only the simulator draws it.
constexpr Option packet_bytes_option(std::int64_t least, std::int64_t most) {
  return {.key = "packet_bytes_max",
          .least = least,
          .most = most,
          .drawn_least = least,
          .drawn_most = 4'000,
          .internal = true,
          .help = "largest packet in bytes, without IP and UDP headers"};
}

}  // namespace peal::order
