// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "order/toto/parts.h"

namespace peal::order::toto {

/// Sends this member's STATUS, and watches the others: which are silent, which acknowledge nothing,
/// whose application takes nothing, and which have the next list of nodes.
class Watch {
 public:
  explicit Watch(const Parts& parts) : p_(parts) {}

  /// The view is open: all members are in it, and may send.
  void begin(Instant now, bool full, Effects& out);
  /// This process did not run: what the others did meanwhile is not known.
  void on_pause(Instant now);
  /// A packet of this view came from `member`.
  void note_heard(Instant now, Index member) { seen_[member].heard = now; }
  /// A node of `origin` was stored. `repaired`: it had to be requested.
  void note_node(Index origin, bool repaired) {
    ++seen_[origin].nodes;
    if (repaired) ++seen_[origin].repaired;
  }
  /// False if the STATUS contradicts the view or this member's nodes.
  bool on_status(Instant now, Index member, const wire::TotoStatus& status, Effects& out);
  void on_timer(Instant now, bool full, Effects& out);
  /// Sends this member's STATUS now. `full`: see wire::TotoStatus.
  void send_status(bool full, Effects& out);
  /// The pending list of nodes has changed, or was adopted.
  void on_list(Instant now, Effects& out);
  NodesWait list_waits() const;
  /// A member whose application takes nothing, if any.
  std::optional<Index> full_member() const;
  /// Members that have not acknowledged this member's oldest unstable node.
  MemberSet behind() const;

 private:
  struct Seen {
    Instant heard{};
    Seq acknowledged{};     ///< the last of this member's nodes that it has
    Instant followed_at{};  ///< last time that it acknowledged, or had nothing to acknowledge
    std::uint32_t nodes = 0, repaired = 0;  ///< since the link was last judged by these
    bool full = false;
    std::uint64_t list = 0;
    bool all_have = false;
  };
  void look(Instant now, Effects& out);
  bool loses_many(Seen& seen) const;
  std::uint64_t own_list() const;
  bool all_have_list() const;

  Parts p_;
  std::vector<Seen> seen_;  // by member
  bool full_ = false;       ///< as the last STATUS said
  bool all_have_ = false;   ///< every member's STATUS names this member's pending list
};

}  // namespace peal::order::toto
