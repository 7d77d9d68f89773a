// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges optimistic delivery: a member announces a message before the message has its place. The
/// announced place may be wrong, and the delivery says so. An announced message was submitted. It
/// is announced once in a view, in its sender's order, and before its delivery.
class EarlyJudge {
 public:
  explicit EarlyJudge(Verdict& verdict) : v_(verdict) {}

  void tell(Index member, const trace::Event& event);
  /// `message` is delivered.
  void check_delivered(Index member, Index message, const trace::Event& event);
  void finish();

 private:
  bool check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                  bool may_come);

  Verdict& v_;
  /// A message that was announced before it was seen to be submitted.
  struct Unsent {
    Index member;
    Index message;
    std::uint64_t hash;
    std::int64_t at_ns;
  };
  std::vector<Unsent> unsent_;
};

}  // namespace peal::oracle
