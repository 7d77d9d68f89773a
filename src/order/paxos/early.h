// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/paxos/options.h"
#include "wire/frames.h"

namespace peal::order::paxos {

/// The delay of units. Of the last two thousand units, all but one in five hundred arrived within
/// wait(). The sample is this large because the units of one large message are late together.
class Lateness {
 public:
  void took(Duration late);
  Duration wait() const { return Duration{wait_ns_}; }

 private:
  static constexpr std::size_t kKept = 2'048;
  static constexpr std::size_t kLater = 4;  ///< units in a full sample that took longer than wait()
  static constexpr std::size_t kEvery = 128;

  std::array<std::int64_t, kKept> kept_{};
  std::size_t taken_ = 0;
  std::int64_t wait_ns_ = 0;
};

/// Optimistic delivery: announces units to the application before they have their places, in their
/// probable order.
///
/// Every unit has a timestamp from its sender's clock, and is sent to all nodes. Each node
/// announces units in the order of (timestamp, sender), once all units with lower timestamps should
/// have arrived. The coordinator proposes units in the same order, after the same delay. A node's
/// clock is its engine's time, moved ahead to the largest timestamp seen. No unit's place depends
/// on clocks or network delays: they only influence how often the announced order is right.
///
/// In a view, each unit is announced once, and before the application learns its place. The units
/// of one sender are announced in the order in which they were sent. So one counter for each sender
/// shows which of its units were announced.
class Early {
 public:
  struct Unit {
    std::uint64_t stamp = 0;
    Service service = Service::agreed;
    BufferRef bytes;
  };

  explicit Early(const Options& options)
      : window_(options.member_window),
        waiting_max_(std::max<std::size_t>(options.max_gap / 4, 16)),
        wait_max_(options.early_wait_max) {}

  // Timestamps.

  /// The timestamp for the next unit of this node.
  std::uint64_t stamp(Instant now);
  /// Call it for every unit that arrives, even if the unit is not accepted. Returns the timestamp
  /// to be used instead of `stamp`. So a sender whose clock is far off gains no advantage, and its
  /// units do not wait for long.
  std::uint64_t see(Instant now, std::uint64_t stamp);
  /// The time at which all units with lower timestamps should have arrived.
  Instant due(std::uint64_t stamp) const;

  /// Another view with this number of members is installed: waiting units are void, and so are
  /// announced units without a place. 0 members: this node is not in the view.
  void begin_view(std::size_t members);
  /// Unit `number` of the member with this index arrived, with the timestamp that see() returned.
  /// The result is not `none` if the unit was announced or received before, if it is further ahead
  /// than the sender's window allows, or if too many units wait already.
  wire::Drop take(Instant now, std::size_t index, std::uint64_t number, Unit unit, bool own);
  /// The member whose unit is to be announced now, if any.
  std::optional<std::size_t> next(Instant now) const;
  /// The time at which next() will return a member, unless another unit arrives before.
  std::optional<Instant> next_at() const;
  /// Removes and returns the next unit of this member, which must be announced at once. If the unit
  /// has not arrived, returns a unit whose timestamp is 0.
  Unit take_next(std::size_t index);
  /// Was unit `number` of this member announced?
  bool is_told(std::size_t index, std::uint64_t number) const;
  /// The next unit of this member is announced: returns the unit's expected position. `stamp`: 0 if
  /// the unit did not arrive.
  Seq tell(std::size_t index, std::uint64_t stamp);
  /// The oldest announced unit of this member that had no place has the place `seq` now. Returns
  /// the position that was expected.
  Seq placed(std::size_t index, Seq seq);

  void append_counters(std::vector<Counter>& counters) const;
  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Member {
    std::uint64_t told = 0;    ///< the member's units up to this number were announced
    std::uint64_t newest = 0;  ///< the highest number of a unit that arrived
    std::deque<Seq> guesses;   ///< expected positions of announced units without a place
    std::map<std::uint64_t, Unit> waiting;
  };
  /// The order in which units are announced.
  struct Rank {
    std::uint64_t stamp = 0;
    std::size_t index = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  std::uint64_t clock(Instant now) const;
  std::optional<Rank> first() const;

  std::uint32_t window_;
  std::size_t waiting_max_;  ///< limit of waiting units of all members; leaves buffers for packets
  Duration wait_max_;
  std::int64_t ahead_ns_ = 0;  ///< how far the clock is ahead of this node's time
  std::uint64_t stamped_ = 0;  ///< the last timestamp of this node
  Lateness lateness_;

  std::vector<Member> members_;  ///< the members of the view
  std::size_t waiting_ = 0;      ///< number of units, of all members, that wait to be announced
  Seq told_ = 0;                 ///< number of units announced in the view
  Rank last_;                    ///< the highest rank of an announced unit
  Seq guess_ = 0;                ///< expected position of the unit that was placed last

  struct Counts {
    std::uint64_t told = 0, mistakes = 0, inversions = 0, late = 0, forgotten = 0;
  } counts_;
};

}  // namespace peal::order::paxos
