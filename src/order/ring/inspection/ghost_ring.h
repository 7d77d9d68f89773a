// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "order/engine.h"
#include "order/inspection/inspection.h"
#include "order/ring/commit_record.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// Checks the packets and deliveries of the members of a ring: numbers that must not decrease, the
/// agreement on the commit token, and which packets have reached which member.
///
/// Memory: the last kViewsMax views that any member tried to form. Each view takes one bit per
/// member and packet.
class GhostRing {
 public:
  static constexpr std::size_t kViewsMax = 4'096;
  /// Number of positions of a view that are observed.
  static constexpr Seq kPositionsMax = 1U << 22;

  /// Positions begin after `first_count`.
  GhostRing(Seq first_count, GhostReport report)
      : first_count_(first_count), report_(std::move(report)) {}

  void said_join(MemberId from, const wire::Join& join);
  void said_commit(MemberId from, const wire::Commit& commit);
  void said_token(MemberId from, const wire::Token& token);
  /// The member `who` has received or sent the packet at `seq`.
  void holds(MemberId who, const ViewId& view, Seq seq);
  void delivered(MemberId who, const Delivery& delivery);
  void installed(MemberId who, const order::View& view);

 private:
  /// State of one incarnation.
  struct Said {
    ViewId committed{};  ///< the last view to which the incarnation committed
    std::uint64_t join = 0;
    std::uint64_t number_max = 0;
    ViewId token_view{};
    std::uint64_t hop = 0;
    ViewId view{};                   ///< the installed view
    std::optional<ViewId> recovers;  ///< in a transitional view: the next regular view
  };
  struct Held {
    MemberId who{};
    std::vector<std::uint64_t> bits;  ///< bit i: `who` has the position first_count + i
    Seq delivered = 0;                ///< last position delivered before the transitional view
  };
  struct OldView {
    ViewId view{};
    std::vector<MemberId> survivors;
    OldViewRecord record;
  };
  struct View {
    ViewId id{};
    std::vector<MemberId> members;        ///< the agreed members; empty while unknown
    std::optional<wire::Commit> settled;  ///< the commit token after its first rotation
    std::vector<OldView> old_views;       ///< decoded from `settled`
    std::vector<Held> held;
  };

  View& view(const ViewId& id);
  View* find(const ViewId& id);
  static Held& held_of(View& view, MemberId who);
  bool has(const View& view, MemberId who, Seq seq) const;
  void check_union(const std::vector<OldView>& old_views);
  const OldView* record_of(const ViewId& next, const ViewId& old);

  const Seq first_count_;
  GhostReport report_;
  std::map<MemberId, Said> said_;
  std::deque<View> views_;
  View* last_ = nullptr;  ///< cache of find()
};

}  // namespace peal::order::ring
