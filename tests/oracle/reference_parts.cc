// SPDX-License-Identifier: Apache-2.0
#include "reference_parts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace peal::oracle::test {

using trace::MessageId;

bool in_a_circle(const std::vector<Sequence>& orders) {
  std::map<MessageId, std::set<MessageId>> after;
  for (const Sequence& order : orders) {
    for (std::size_t i = 1; i < order.size(); ++i) after[order[i - 1]].insert(order[i]);
  }
  std::map<MessageId, int> state;  // 1: being visited, 2: done
  const std::function<bool(const MessageId&)> visit = [&](const MessageId& id) {
    if (state[id] != 0) return state[id] == 1;
    state[id] = 1;
    for (const MessageId& next : after[id]) {
      if (visit(next)) return true;
    }
    state[id] = 2;
    return false;
  };
  Sequence all;
  for (const auto& [id, next] : after) all.push_back(id);
  return std::any_of(all.begin(), all.end(), visit);
}

Sequence delivered_in(const Stay& stay) {
  Sequence all = stay.regular;
  all.insert(all.end(), stay.tail.begin(), stay.tail.end());
  return all;
}

bool beginnings_of_one(const std::vector<Sequence>& sequences) {
  for (const Sequence& a : sequences) {
    for (const Sequence& b : sequences) {
      for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (a[i] != b[i]) return false;
      }
    }
  }
  return true;
}

}  // namespace peal::oracle::test
