// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/domain_set.h"
#include "oracle/group_verdict.h"

namespace peal::oracle {

/// G9, with GroupDomains: a message to groups of several domains is ordered in all of these
/// domains, and in no other.
class ReachJudge {
 public:
  explicit ReachJudge(GroupVerdict& verdict) : v_(verdict) {}

  void set_domains(GroupDomains domains) { domains_ = std::move(domains); }
  void entered(MemberId node);
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
               std::span<const std::string> groups);
  /// The node still runs when the history ends.
  void ended(MemberId node) { ended_.insert(node); }
  void finish();

 private:
  struct Message {
    Index targets = kNone;    ///< kNone: no node has ordered the message
    std::uint64_t first = 0;  ///< when a node ordered it first, as `events_`
    std::int64_t at = 0;
    DomainSet in;  ///< domains with a node that ordered it
  };

  DomainSet domains_of(Index targets) const;
  bool could_order(DomainId domain, const Message& message) const;

  GroupVerdict& v_;
  GroupDomains domains_;
  std::uint64_t events_ = 0;
  std::map<MemberId, std::uint64_t> since_;  ///< by node: its first view, as `events_`
  std::set<MemberId> ended_;
  std::vector<Message> messages_;  ///< by message
};

}  // namespace peal::oracle
