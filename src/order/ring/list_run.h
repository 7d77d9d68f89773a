// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/parts.h"

namespace peal::order::ring {

/// Counts, on the token, the members that have the same pending list. With this count the members
/// reconfigure to another list of nodes within a view. evs/node_lists.cc has the rules.
class ListRun {
 public:
  explicit ListRun(const Parts& parts) : p_(parts) {}

  /// Counts consecutive members that have the same pending list. When the count spans one rotation,
  /// all members have the list. When it spans two rotations, all members know this fact.
  void on_token(Instant now, Effects& out);
  /// This node's pending list was replaced or withdrawn.
  void on_set();
  void begin_view(Instant now, Effects& out);
  NodesWait waits() const;
  void check_invariants() const;
  /// True if the count for the pending list on the last token was higher than all earlier counts in
  /// this view.
  bool moves() const { return moves_; }
  /// True: this member waits for the token, because it has to write its pending list on the token.
  bool wanted() const { return wanted_; }

 private:
  Parts p_;
  std::uint16_t best_ = 0;                ///< the highest count for the pending list in this view
  std::uint16_t block_ = wire::kNoIndex;  ///< index of a member that lacks the pending list
  bool moves_ = false;
  bool wanted_ = false;
};

}  // namespace peal::order::ring
