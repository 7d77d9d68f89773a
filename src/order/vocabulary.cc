// SPDX-License-Identifier: Apache-2.0
#include "order/vocabulary.h"

namespace peal::order::event {

std::span<const EventKind* const> shared() {
  static constexpr const EventKind* kShared[] = {
      &view_installed, &gather_started,  &consensus_reached, &commit_started,   &recovery_started,
      &member_accused, &epoch_corrected, &incompatible_peer, &nodes_adopted,    &nodes_not_given,
      &paused,         &bad_record,      &votes_forgotten,   &acceptor_renewed, &log_put_back,
      &owed_dropped};
  return kShared;
}

}  // namespace peal::order::event
