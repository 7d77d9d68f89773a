// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace peal::config {

/// The key under which cluster_wide_settings() lists the domains.
inline constexpr std::string_view kDomainsKey = "[[domain]]";

/// A setting that must be equal on all nodes, because cluster_id() hashes the setting.
struct ClusterWide {
  std::string key;     ///< such as "ring.hold_ms"
  std::string value;   ///< as in a file; for domains, a text for people
  std::string normal;  ///< the default; empty if there is none
};

/// The settings whose hash is the lower half of cluster_id(). First come the keys that the engine
/// has and that must be equal on all nodes, in the order of keys(). "network.packet_bytes" follows
/// if the engine requires equal packet sizes, and kDomainsKey if there are domains.
std::vector<ClusterWide> cluster_wide_settings(const Settings& settings);

}  // namespace peal::config
