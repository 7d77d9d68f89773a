// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Optimistic delivery: what a member is told before it has its place. The place may be wrong, and
/// the delivery says so. What is told was submitted, is told once in a view, in the order of its
/// sender, and before it is delivered.
class EarlyJudge {
 public:
  explicit EarlyJudge(Verdict& verdict) : v_(verdict) {}

  void tell(Index member, const trace::Event& event);
  /// A message is delivered.
  void check_delivered(Index member, Index message, const trace::Event& event);
  void finish();

 private:
  bool check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                  bool may_come);

  Verdict& v_;
  /// Told early, and not seen to be submitted.
  struct Unsent {
    Index member;
    Index message;
    std::uint64_t hash;
    std::int64_t at_ns;
  };
  std::vector<Unsent> unsent_;
};

}  // namespace peal::oracle
