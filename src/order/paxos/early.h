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

/// How late units are when they come, of the last two thousand: all but one in five hundred were
/// no later than wait(). So many, since those of one large message are late together.
class Lateness {
 public:
  void took(Duration late);
  Duration wait() const { return Duration{wait_ns_}; }

 private:
  static constexpr std::size_t kKept = 2'048;
  static constexpr std::size_t kLater = 4;  ///< of those kept, so many took longer
  static constexpr std::size_t kEvery = 128;

  std::array<std::int64_t, kKept> kept_{};
  std::size_t taken_ = 0;
  std::int64_t wait_ns_ = 0;
};

/// Optimistic delivery: units are told to the application before they have their places, in the
/// order that these will probably have.
///
/// Every unit has a stamp, which is its sender's clock, and comes to all. Each node tells units in
/// the order of (stamp, sender) once those with lower stamps should have come, and the coordinator
/// proposes them in that order, as late. Clocks are the engines' times, moved ahead to the largest
/// stamp seen. Whatever clocks and networks do, no place depends on any of this: only how often the
/// guess is right.
///
/// The units of one sender are told in its order, each once in a view, and before its place is
/// known to the application; so it is enough to count them.
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

  // Stamps.
  /// For the next unit of this node.
  std::uint64_t stamp(Instant now);
  /// A unit came with this stamp, whatever becomes of it. Returns the one to go by: whose clock is
  /// far from this node's has no advantage of it, and does not wait for long.
  std::uint64_t see(Instant now, std::uint64_t stamp);
  /// When units with lower stamps should have come.
  Instant due(std::uint64_t stamp) const;

  /// Another view counts, with so many members: what waits is void, and so is what was told and
  /// has no place. 0: this node is not in it.
  void begin_view(std::size_t members);
  /// Unit `number` of the member with this index came, with what see() made of its stamp. Else than
  /// `none`: it was told before, or came before; or it is too far ahead to be anything that its
  /// sender may have under way, or too much waits.
  wire::Drop take(Instant now, std::size_t index, std::uint64_t number, Unit unit, bool own);
  /// The member whose unit is to be told now, if there is one.
  std::optional<std::size_t> next(Instant now) const;
  /// When next() will have one, if nothing comes before.
  std::optional<Instant> next_at() const;
  /// The next unit of this member, which is to be told at once; with stamp 0 if it did not come.
  Unit take_next(std::size_t index);
  /// Was unit `number` of this member told?
  bool is_told(std::size_t index, std::uint64_t number) const;
  /// The next unit of this member is told: returns the place that it should have. `stamp`: 0 if it
  /// did not come.
  Seq tell(std::size_t index, std::uint64_t stamp);
  /// The next unit of this member has its place, and was told: returns the guess.
  Seq placed(std::size_t index, Seq seq);

  void append_counters(std::vector<Counter>& counters) const;
  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Member {
    std::uint64_t told = 0;    ///< its units up to this number were
    std::uint64_t newest = 0;  ///< the highest number that came
    std::deque<Seq> guesses;   ///< of those that were told and have no place
    std::map<std::uint64_t, Unit> waiting;
  };
  /// By which units are told.
  struct Rank {
    std::uint64_t stamp = 0;
    std::size_t index = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  std::uint64_t clock(Instant now) const;
  std::optional<Rank> first() const;

  std::uint32_t window_;
  std::size_t waiting_max_;  ///< units of all members: their buffers are those that packets need
  Duration wait_max_;
  std::int64_t ahead_ns_ = 0;  ///< the clock, ahead of this node's time
  std::uint64_t stamped_ = 0;  ///< the last stamp of this node
  Lateness lateness_;

  std::vector<Member> members_;  ///< of the view
  std::size_t waiting_ = 0;      ///< units of all of them that wait to be told
  Seq told_ = 0;                 ///< units told in it
  Rank last_;                    ///< of the last one
  Seq guess_ = 0;                ///< of the unit that had its place last

  struct Counts {
    std::uint64_t told = 0, mistakes = 0, inversions = 0, late = 0, forgotten = 0;
  } counts_;
};

}  // namespace peal::order::paxos
