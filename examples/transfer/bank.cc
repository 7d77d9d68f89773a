// SPDX-License-Identifier: Apache-2.0
#include "bank.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>

namespace bank {

std::string Audits::report(const std::string& auditor, int number, const std::string& reporter,
                           const std::string& balances) {
  Reports& reports = audits_[auditor][number];
  reports[reporter] = balances;
  const std::string audit = "audit " + std::to_string(number) + " of " + auditor + ": ";
  std::map<std::string_view, std::string> shards;
  for (const auto& [replica, told] : reports) {
    const auto [first, fresh] = shards.emplace(shard_of(replica), told);
    if (first->second != told) return audit + "the replicas of " + replica + "'s shard differ";
  }
  if (shards.size() < 2) return {};
  std::istringstream all(shards["east"] + shards["west"]);
  const long sum = std::accumulate(std::istream_iterator<long>(all), {}, 0L);
  if (sum == kAccounts * kOpening) return {};
  return audit + "the accounts have " + std::to_string(sum);
}

bool Audits::are_complete() const {
  const auto living = [this](const std::string& replica) { return !lost_.contains(replica); };
  return std::all_of(kReplicas.begin(), kReplicas.end(), [&](const std::string& auditor) {
    if (!living(auditor)) return true;
    const auto audits = audits_.find(auditor);
    if (audits == audits_.end()) return false;
    const auto& [name, by_number] = *audits;
    if (by_number.size() < static_cast<std::size_t>(of_each_replica_)) return false;
    for (const auto& [number, reports] : by_number) {
      for (const std::string& reporter : kReplicas) {
        if (living(reporter) && !reports.contains(reporter)) return false;
      }
    }
    return true;
  });
}

}  // namespace bank
