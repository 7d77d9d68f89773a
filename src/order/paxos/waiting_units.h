// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Units of members that the coordinator has, but has not proposed yet. A member's units are
/// proposed in the order of their numbers. Members send numbers without gaps, so a gap shows
/// missing units, which the coordinator requests from the member.
class WaitingUnits {
 public:
  /// `tip`: the coordinator's state after all its proposals.
  WaitingUnits(const Parts& parts, const OrderState& tip) : p_(parts), tip_(tip) {}

  /// Another view is proposed: units for earlier views are void.
  void begin_view();
  /// Releases the buffers of all units. Call begin_view() before the next take().
  void clear() { units_.clear(); }
  /// Adds a unit. False if the unit is refused: it is for another view, too far ahead, or a
  /// duplicate.
  bool take(const wire::ValueHead& head, const BufferRef& bytes, bool fresh, std::uint64_t stamp);

  /// Call it once per heartbeat: ask_for_gaps() will request again the units that are missing now
  /// and were missing at the last call.
  void look_for_gaps();
  void ask_for_gaps(Effects& out);

  /// The number of members of the view. Units are kept by member index.
  std::size_t members() const { return units_.size(); }
  /// The index of the member whose unit is proposed next.
  std::size_t next_turn() { return turn_++ % units_.size(); }
  /// True if the member's next unit is here.
  bool has_next(std::size_t index) const;
  /// With optimistic delivery: the member whose next unit has the lowest timestamp. stamp_of()
  /// returns the timestamp of a member's first waiting unit.
  std::optional<std::size_t> lowest() const;
  std::uint64_t stamp_of(std::size_t index) const { return units_[index].begin()->second.stamp; }

  struct Next {
    Value value;
    bool fresh = false;  ///< nothing else uses the headroom in front of the bytes
  };
  /// Removes and returns the member's next unit.
  Next remove_next(std::size_t index);

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Waiting {
    BufferRef bytes;
    Service service = Service::agreed;
    bool fresh = false;
    std::uint64_t stamp = 0;
  };
  struct Came {
    std::uint64_t newest = 0;  ///< the highest number of a unit that arrived
    std::uint64_t gap = 0;     ///< the first number that was missing at the last heartbeat; 0: none
  };
  struct Gap {
    std::size_t index;
    std::uint64_t first;
    std::uint64_t end;
  };

  void note_came(std::size_t index, std::uint64_t number);

  Parts p_;
  const OrderState& tip_;
  /// By index of the member in tip_, then by number.
  std::vector<std::map<std::uint64_t, Waiting>> units_;
  std::vector<Came> came_;  ///< by index of the member in tip_
  std::vector<Gap> gaps_;   ///< to be requested; at most kGapsMax
  std::size_t turn_ = 0;
};

}  // namespace peal::order::paxos
