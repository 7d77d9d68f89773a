// SPDX-License-Identifier: Apache-2.0
#include "oracle/reach_judge.h"

#include <algorithm>

namespace peal::oracle {

void ReachJudge::entered(MemberId node) { since_.try_emplace(node, ++events_); }

void ReachJudge::ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
                         std::span<const std::string> groups) {
  if (!domains_) return;
  const Index message = v_.history.message(id);
  if (message >= messages_.size()) messages_.resize(message + 1);
  Message& record = messages_[message];
  if (record.targets == kNone) {
    record.targets = v_.history.targets_of(groups);
    record.first = ++events_;
    record.at = at;
  }
  const DomainId domain = domains_.of_node(node.node);
  record.in.add(domain);
  if (domains_of(record.targets).has(domain)) return;
  v_.violate(GroupProperty::g9_all_domains, at, [&] {
    return v_.name(node) + " orders " + v_.message_text(message) +
           ", and none of its groups is in the node's domain " + std::to_string(domain);
  });
}

DomainSet ReachJudge::domains_of(Index targets) const {
  DomainSet all;
  for (const std::string& name : v_.history.targets[targets].names) all.add(domains_.of_name(name));
  return all;
}

// A domain whose nodes have all restarted since then does not know the message.
bool ReachJudge::could_order(DomainId domain, const Message& message) const {
  return std::any_of(ended_.begin(), ended_.end(), [&](const MemberId& node) {
    const auto since = since_.find(node);
    return domains_.of_node(node.node) == domain && since != since_.end() &&
           since->second < message.first;
  });
}

void ReachJudge::finish() {
  for (Index index = 0; index < messages_.size(); ++index) {
    const Message& message = messages_[index];
    if (message.targets == kNone) continue;
    for (const DomainId domain : domains_of(message.targets)) {
      if (message.in.has(domain) || !could_order(domain, message)) continue;
      v_.violate(GroupProperty::g9_all_domains, message.at, [&] {
        return v_.message_text(index) + " is ordered in a domain, and not in domain " +
               std::to_string(domain) + ", which has one of its groups, too";
      });
    }
  }
}

}  // namespace peal::oracle
