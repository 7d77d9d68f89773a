// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/recall.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::order::paxos {

void Recall::note(NodeId from, Instance instance, const Round& round, const Value& value) {
  Words& words = words_[instance];
  if (std::find(words.from.begin(), words.from.end(), from) == words.from.end()) {
    words.from.push_back(from);
  }
  const bool better = PEAL_MUTANT(px_lowest_word_counts)
                          ? words.round.count == 0 || round < words.round
                          : round > words.round;
  if (round.count == 0 || !better) return;
  words.round = round;
  words.value = value;
}

std::optional<Value> Recall::decided(Instance instance, std::size_t majority) const {
  const auto found = words_.find(instance);
  if (found == words_.end() || found->second.round.count == 0) return std::nullopt;
  const std::size_t enough =
      PEAL_MUTANT(px_few_words_count) ? std::size_t{1} : std::max<std::size_t>(majority, 1);
  if (found->second.from.size() < enough) return std::nullopt;
  return found->second.value;
}

void Recall::add_to(Digest& digest) const {
  for (const auto& [instance, words] : words_) {
    digest.add(instance);
    digest.add(words.from.size());
    paxos::add_to(digest, words.round);
  }
}

}  // namespace peal::order::paxos
