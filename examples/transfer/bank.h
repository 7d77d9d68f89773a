// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What the replicas of a bank compute. It is deterministic, and knows nothing of Peal: replicas
// that apply the same messages in the same order have the same state.

namespace bank {

inline const std::vector<std::string> kReplicas = {"east-1", "east-2", "east-3",
                                                   "west-1", "west-2", "west-3"};
inline constexpr int kAccounts = 16;     // those with even numbers are in the shard east
inline constexpr long kOpening = 1'000;  // the balance of each account at the beginning

inline std::string_view shard_of(int account) { return account % 2 == 0 ? "east" : "west"; }
inline std::string_view shard_of(std::string_view replica) { return replica.substr(0, 4); }

/// The accounts of one shard.
class Accounts {
 public:
  explicit Accounts(std::string_view shard) {
    for (int account = 0; account < kAccounts; ++account) {
      if (shard_of(account) == shard) balances_[account] = kOpening;
    }
  }

  /// Does the part of the transfer that is about accounts of this shard. Accounts may be overdrawn:
  /// the other shard, which applies the other part, does not know their balances.
  void transfer(int from, int to, long amount) {
    if (const auto at = balances_.find(from); at != balances_.end()) at->second -= amount;
    if (const auto at = balances_.find(to); at != balances_.end()) at->second += amount;
  }

  std::string balances() const {
    std::string text;
    for (const auto& [account, balance] : balances_) text += " " + std::to_string(balance);
    return text;
  }

 private:
  std::map<int, long> balances_;
};

/// The balances that replicas report, each at the place of an audit in the order.
class Audits {
 public:
  explicit Audits(int of_each_replica) : of_each_replica_(of_each_replica) {}

  /// Takes what `reporter` says about the audit with this number of `auditor`. The result is empty,
  /// or says what is wrong: replicas of one shard differ, or both shards together have more or less
  /// money than there is.
  std::string report(const std::string& auditor, int number, const std::string& reporter,
                     const std::string& balances);
  /// The replica has crashed or was excluded: no more reports of it are expected.
  void lose(const std::string& replica) { lost_.insert(replica); }

  /// True if all audits of the living replicas are there, each with the reports of all of them.
  bool are_complete() const;

 private:
  using Reports = std::map<std::string, std::string>;  // balances by replica

  int of_each_replica_;
  std::map<std::string, std::map<int, Reports>> audits_;  // by auditor and number
  std::set<std::string> lost_;
};

}  // namespace bank
