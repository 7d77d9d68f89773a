// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/copy_check.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {

void CopyCheck::begin(std::vector<Record::Start> starts, bool was_put_back) {
  starts_ = std::move(starts);
  put_back_ = was_put_back;
  sure_ = PEAL_MUTANT(px_votes_unasked);
  asks_ = true;
}

bool CopyCheck::holds(const wire::LogHeard& heard) const {
  const auto is_it = [&](const Record::Start& start) { return start.epoch == heard.epoch; };
  const auto last = std::find_if(starts_.rbegin(), starts_.rend(), is_it);
  if (last == starts_.rend()) {
    // The log keeps only the last kStartsMax incarnations.
    const bool full = starts_.size() >= Record::kStartsMax;
    return starts_.empty() || (full && heard.epoch < starts_.front().epoch);
  }
  // The records of this incarnation end where the next incarnation began.
  return last == starts_.rbegin() || heard.position < std::prev(last)->at.value;
}

bool CopyCheck::note(NodeId from, const wire::LogAnswer& answer) {
  if (put_back_) return false;
  const bool holds_all = std::all_of(answer.heard.begin(), answer.heard.end(),
                                     [this](const wire::LogHeard& each) { return holds(each); });
  if (!holds_all && !PEAL_MUTANT(px_copy_votes)) {
    put_back_ = true;
    return true;
  }
  const auto at = std::lower_bound(answered_.begin(), answered_.end(), from);
  if (at == answered_.end() || *at != from) answered_.insert(at, from);
  return false;
}

void CopyCheck::look(const Peers& peers) {
  if (!asks_) return;
  std::size_t others = 0, answers = 0;
  for (const Peer& peer : peers.all()) {
    if (!peer.named || peer.self) continue;
    ++others;
    if (std::binary_search(answered_.begin(), answered_.end(), peer.node)) ++answers;
  }
  sure_ = sure_ || answers + 1 >= peers.majority();
  asks_ = answers < others;
}

wire::LogWord CopyCheck::word() const {
  if (put_back_) return wire::LogWord::put_back;
  return asks_ ? wire::LogWord::asks : wire::LogWord::sure;
}

void CopyCheck::add_to(Digest& digest) const {
  digest.add((sure_ ? 1U : 0U) | (asks_ ? 2U : 0U) | (put_back_ ? 4U : 0U));
  digest.add(answered_.size());
  for (const NodeId node : answered_) digest.add(node.value);
}

}  // namespace peal::order::paxos
