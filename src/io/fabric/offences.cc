// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/offences.h"

#include <algorithm>
#include <utility>

namespace peal::io::fabric {

void Offences::note(Offence offence) {
  if (waiting_.size() >= kWaitingMax) return;
  Noted& noted = noted_[offence.peer.node];
  if (offence.peer.epoch > noted.epoch) noted = {offence.peer.epoch, {}};
  std::vector<std::string>& reasons = noted.reasons;
  if (reasons.size() >= kReasonsMax) return;
  if (std::find(reasons.begin(), reasons.end(), offence.what) != reasons.end()) return;
  reasons.push_back(offence.what);
  waiting_.push_back(std::move(offence));
}

std::optional<Offence> Offences::take() {
  if (waiting_.empty()) return std::nullopt;
  Offence first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

}  // namespace peal::io::fabric
