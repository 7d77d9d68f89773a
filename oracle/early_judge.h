// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges optimistic delivery: a member announces a message before the message is ordered. The
/// announced place may be wrong; the delivery says whether the announced place was right. The
/// rules: an announced message was submitted. A member announces a message once in a view, before
/// the delivery. The announced places ascend, and so do the numbers of each sender's messages.
class EarlyJudge {
 public:
  explicit EarlyJudge(Verdict& verdict) : v_(verdict) {}

  void tell(Index member, const trace::Event& event);
  /// `member` delivers `message`.
  void check_delivered(Index member, Index message, const trace::Event& event);
  void finish();

 private:
  bool check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                  bool may_come);

  Verdict& v_;
  /// An announced message whose submission was not seen before the announcement.
  struct Unsent {
    Index member;
    Index message;
    std::uint64_t hash;
    std::int64_t at_ns;
  };
  std::vector<Unsent> unsent_;
};

}  // namespace peal::oracle
