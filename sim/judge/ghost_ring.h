// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "order/engine.h"
#include "order/ring/commit_record.h"
#include "sim/judge/ghost_order.h"
#include "wire/frames.h"

namespace peal::sim {

/// What the members of a ring said and hold: numbers that must not go back, what the commit token
/// settled, and which packets have reached whom.
///
/// Memory: the last kViewsMax views that anybody tried to form, and of each a bit for each member
/// and packet.
class GhostRing {
 public:
  static constexpr std::size_t kViewsMax = 4'096;
  /// Positions of a view that are looked at.
  static constexpr Seq kPositionsMax = 1U << 22;

  /// Positions begin after `first_count`.
  GhostRing(Seq first_count, GhostReport report)
      : first_count_(first_count), report_(std::move(report)) {}

  void said_join(MemberId from, const wire::Join& join);
  void said_commit(MemberId from, const wire::Commit& commit);
  void said_token(MemberId from, const wire::Token& token);
  /// This packet is at the member: received, or its own.
  void holds(MemberId who, const ViewId& view, Seq seq);
  void delivered(MemberId who, const order::Delivery& delivery);
  void installed(MemberId who, const order::View& view);

 private:
  /// Of one incarnation.
  struct Said {
    ViewId committed{};  ///< the last view that it committed to
    std::uint64_t join = 0;
    std::uint64_t number_max = 0;
    ViewId token_view{};
    std::uint64_t hop = 0;
    ViewId view{};                   ///< installed
    std::optional<ViewId> recovers;  ///< the transitional view that leads to it
  };
  struct Held {
    MemberId who{};
    std::vector<std::uint64_t> bits;  ///< by position
    Seq delivered = 0;                ///< before the transitional view
  };
  struct OldView {
    ViewId view{};
    std::vector<MemberId> survivors;
    order::ring::OldViewRecord record;
  };
  struct View {
    ViewId id{};
    std::vector<MemberId> members;        ///< as agreed; empty: not known yet
    std::optional<wire::Commit> settled;  ///< after the first rotation of its commit token
    std::vector<OldView> old_views;       ///< of `settled`
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
  View* last_ = nullptr;  ///< that was asked for
};

}  // namespace peal::sim
