// SPDX-License-Identifier: Apache-2.0
#include "daemon/drops.h"

#include <algorithm>
#include <array>

#include "seal/packet.h"
#include "wire/frames.h"

namespace peal::daemon {
namespace {

/// Reasons for refusing sealed packets. These reasons do not occur in a healthy cluster. The other
/// reasons occur after a restart, or if the network delays packets.
constexpr std::array kSuspicious{
    seal::Refusal::too_short,   seal::Refusal::unknown_version, seal::Refusal::unknown_sender,
    seal::Refusal::unknown_key, seal::Refusal::bad_badge,       seal::Refusal::bad_tag,
};

std::vector<std::string> all_counters() {
  std::vector<std::string> names;
  // Drops for the reasons from `stale` on occur in a healthy cluster.
  for (std::size_t i = 1; i < static_cast<std::size_t>(wire::Drop::stale); ++i) {
    names.emplace_back(wire::drop_name(static_cast<wire::Drop>(i)));
  }
  names.insert(names.end(), {"udp_drop_unknown_source", "udp_drop_truncated", "udp_probe_bad"});
  names.insert(names.end(), {std::string(kTraceLines), std::string(kLogLines)});
  for (const seal::Refusal reason : kSuspicious) {
    names.push_back("seal_" + std::string(seal::refusal_name(reason)));
  }
  return names;
}

}  // namespace

const std::vector<std::string>& drop_counters() {
  static const std::vector<std::string> names = all_counters();
  return names;
}

std::string_view drop_remedy(std::string_view counter) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kRemedies{{
      {"other_cluster", "of nodes of another cluster"},
      {"other_settings", "of nodes whose settings differ: see the log"},
      {"other_list",
       "of nodes with another list of nodes: bring the older list up to date, and run peal reload "
       "there"},
      {"bad_version", "of nodes of another version of Peal"},
      {"udp_drop_unknown_source", "from addresses that are not in [[nodes]]"},
      {"udp_probe_bad", "probes of multicast, as of another cluster"},
      {"seal_unknown_key", "sealed with a key that is not in the key file here"},
      {"seal_unknown_version", "not sealed, or of another version of Peal"},
  }};
  for (const auto& [name, remedy] : kRemedies) {
    if (name == counter) return remedy;
  }
  return {};
}

void DropTimes::look(Instant now, std::span<const std::pair<std::string, std::uint64_t>> counters) {
  for (const auto& [name, count] : counters) {
    const auto& wanted = drop_counters();
    if (count == 0 || std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    Seen& seen = seen_[name];
    if (count != seen.count) seen = {count, now};
  }
}

std::optional<Instant> DropTimes::grew(std::string_view counter) const {
  const auto seen = seen_.find(counter);
  if (seen == seen_.end()) return std::nullopt;
  return seen->second.grew;
}

}  // namespace peal::daemon
