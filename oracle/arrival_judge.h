// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "oracle/group_verdict.h"

namespace peal::oracle {

/// G10: what a node orders comes to all its clients that are members of one of the message's groups
/// then, or have its private name, unless they leave or are gone before.
class ArrivalJudge {
 public:
  explicit ArrivalJudge(GroupVerdict& verdict) : v_(verdict) {}

  void connected(const ClientId& id);
  void gone(const ClientId& id);
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
               std::span<const std::string> groups);
  void delivered(const ClientId& to, const GroupMessageId& id);
  void left(const ClientId& to, const std::string& group);
  /// No event is pending at the node when the history ends.
  void ended(MemberId node) { ended_.insert(node); }
  void finish();

 private:
  using Due = std::map<Index, std::int64_t>;  ///< messages, and when the node ordered them

  bool concerns(Index client, const std::string& name, Index message) const;

  GroupVerdict& v_;
  std::map<MemberId, std::set<Index>> here_;    ///< the connected clients of each node
  std::map<std::pair<Index, Index>, Due> due_;  ///< by client and name
  std::set<MemberId> ended_;
};

}  // namespace peal::oracle
