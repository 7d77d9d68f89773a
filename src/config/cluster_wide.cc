// SPDX-License-Identifier: Apache-2.0
#include "config/cluster_wide.h"

#include <cstdint>

#include "base/digest.h"
#include "config/domains.h"
#include "config/schema.h"

namespace peal::config {
namespace {

std::vector<ClusterWide> agreed_keys(const Settings& settings) {
  std::vector<ClusterWide> agreed;
  for (const Key<Settings>& key : keys()) {
    if (!key.cluster_wide || key.changes != Changes::never || key.path() == "cluster") continue;
    if (!is_of(key, settings.order)) continue;
    const std::string text = key.get(settings);
    agreed.push_back({key.path(), text.empty() ? key.normal : text, key.normal});
  }
  return agreed;
}

}  // namespace

std::vector<ClusterWide> cluster_wide_settings(const Settings& settings) {
  std::vector<ClusterWide> agreed = agreed_keys(settings);
  if (settings.order->traits.equal_packets) {
    agreed.push_back({"network.packet_bytes", std::to_string(packet_bytes(settings)), {}});
  }
  if (!settings.domains.empty()) {
    agreed.push_back({std::string(kDomainsKey), domains_text(settings), {}});
  }
  return agreed;
}

std::uint64_t cluster_id(const Settings& settings) {
  Digest rules;
  for (const ClusterWide& each : agreed_keys(settings)) {
    rules.add(as_bytes_view(each.key));
    rules.add(as_bytes_view(each.value));
  }
  if (settings.order->traits.equal_packets) rules.add(packet_bytes(settings));
  add_domains(settings, rules);
  const std::uint64_t name = digest_of(as_bytes_view(settings.cluster));
  return (name << 32U) | (rules.value() & 0xffff'ffffU);
}

}  // namespace peal::config
