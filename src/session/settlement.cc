// SPDX-License-Identifier: Apache-2.0
#include "session/settlement.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session {

void Account::note_refusal(std::uint64_t number, wire::ClientCode code) {
  // A client that sends `number` knows the result of every message that is more than `window`
  // numbers earlier.
  while (!refusals.empty() && refusals.front().last + window < number) refusals.pop_front();
  if (!refusals.empty() && refusals.back().last + 1 == number && refusals.back().code == code) {
    refusals.back().last = number;
  } else {
    refusals.push_back({number, number, code});
  }
}

std::uint64_t Settlement::add(const Entry& entry) {
  entries_.push_back(entry);
  if (entry.safe) ++safe_under_way_;
  return ++added_;
}

void Settlement::extend(std::uint64_t place, std::uint64_t up_to) {
  PEAL_ASSERT(place > settled_ && place <= added_);
  Entry& entry = entries_[static_cast<std::size_t>(place - settled_ - 1)];
  entry.up_to = std::max(entry.up_to, up_to);
}

bool Settlement::came_back(std::uint64_t number) {
  if (back_ == added_) return false;
  const Entry& entry = entries_[static_cast<std::size_t>(back_ - settled_)];
  // Joins, leaves and goodbyes have numbers, but no entries.
  if (entry.number != number) return false;
  ++back_;
  if (entry.safe) --safe_under_way_;
  return entry.safe || PEAL_MUTANT(sm1_settled_early);
}

}  // namespace peal::session
