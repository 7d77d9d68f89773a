// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/kept_words.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {

KeptWords::Word word_of(const Store& store, Instance instance) {
  KeptWords::Word word;
  if (const auto decided = store.decided(instance)) {
    word.decided = true;
    word.head = decided->head;
    word.bytes = decided->bytes;
    return word;
  }
  const Slot* slot = store.find(instance);
  if (slot == nullptr) return word;
  word.round = slot->vote_round;
  word.head = slot->vote.head;
  word.bytes = slot->vote.bytes.view();
  return word;
}

KeptWords::Word KeptWords::Range::word(Instance instance) const {
  if (instance - first >= words.size()) return {};
  const Kept& kept = words[instance - first];
  return {kept.round, kept.decided, kept.head, ByteView(bytes).subspan(kept.at, kept.size)};
}

void KeptWords::Range::add(Instance instance, const Word& word) {
  if (word.says_nothing()) return;
  words.resize(instance - first);
  words.push_back({word.round, word.decided, word.head, bytes.size(), word.bytes.size()});
  bytes.insert(bytes.end(), word.bytes.begin(), word.bytes.end());
}

void KeptWords::keep(Instance first, Instance end, const Store& store) {
  first = std::max(first, store.oldest());
  if (first >= end) return;
  Range range;
  range.first = first;
  range.end = end;
  for (Instance k = first; k < std::min(end, store.end()); ++k) {
    Word word = word_of(store, k);
    if (!word.decided && PEAL_MUTANT(px_skip_forgets)) word = {};
    const std::uint64_t words = (k - first + 1) * sizeof(Kept);
    if (range.bytes.size() + word.bytes.size() + words > bytes_max_) {
      range.end = k;
      break;
    }
    range.add(k, word);
  }
  PEAL_PROBE("paxos.words_kept");
  keep(std::move(range));
}

void KeptWords::keep(Range range) {
  std::uint64_t bytes = range.memory();
  if (bytes > bytes_max_ || range.first >= range.end) return;
  for (const Range& each : ranges_) bytes += each.memory();
  while (!ranges_.empty() && (bytes > bytes_max_ || ranges_.size() >= kRangesMax)) {
    bytes -= ranges_.front().memory();
    ranges_.pop_front();
  }
  ranges_.push_back(std::move(range));
}

void KeptWords::look(const Peers& peers) {
  const auto needed = [&peers](const Range& range) {
    return std::any_of(peers.all().begin(), peers.all().end(), [&](const Peer& peer) {
      if (!peer.listed || peer.self || peer.state.leaving) return false;
      return !peer.has_state || (peer.state.next != 0 && peer.state.next < range.end);
    });
  };
  ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(),
                               [&](const Range& range) { return !needed(range); }),
                ranges_.end());
}

std::optional<KeptWords::Word> KeptWords::find(Instance instance) const {
  for (const Range& range : ranges_) {
    if (instance >= range.first && instance < range.end) return range.word(instance);
  }
  return std::nullopt;
}

void KeptWords::add_to(Digest& digest) const {
  for (const Range& range : ranges_) {
    digest.add(range.first);
    for (const Kept& kept : range.words) {
      paxos::add_to(digest, kept.round);
      digest.add(kept.decided ? 1 : 0);
    }
  }
}

}  // namespace peal::order::paxos
