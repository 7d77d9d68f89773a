// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ring/parts.h"

namespace peal::order::ring {

/// What the token carries so that members can reconfigure to another list of nodes within a view.
/// evs/node_lists.cc has the rules.
class ListRun {
 public:
  explicit ListRun(const Parts& parts) : p_(parts) {}

  /// Counts consecutive members that have the same pending list. When the count spans one rotation,
  /// all members have the list; when it spans two, all members know that.
  void on_token(Instant now, Effects& out);
  /// This node was given another pending list, or none.
  void on_set();
  void begin_view(Instant now, Effects& out);
  NodesWait waits() const;
  void check_invariants() const;
  /// True if the last token had a higher count for the pending list than any before in this view.
  bool moves() const { return moves_; }
  /// This member waits for the token, to put the pending list on it.
  bool wanted() const { return wanted_; }

 private:
  Parts p_;
  std::uint16_t best_ = 0;                ///< the highest count for the pending list in this view
  std::uint16_t block_ = wire::kNoIndex;  ///< index of the member that lacks the list
  bool moves_ = false;
  bool wanted_ = false;
};

}  // namespace peal::order::ring
