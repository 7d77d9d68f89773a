// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/buffer.h"
#include "order/engine.h"

namespace peal::order::ridge {

/// This node's units that have no place in the merged order yet, numbered from 1 in each view. If
/// an ensemble's view ends before the ensemble has ordered a unit, the unit is handed to an
/// ensemble again.
class OwnUnits {
 public:
  struct Unit {
    BufferRef bytes;  ///< the unit's placing (wire::Placing), then the unit
    Service service = Service::agreed;
    Domain domain = 0;
  };

  /// `max`: maximum number of units without a place.
  explicit OwnUnits(std::size_t max) : max_(max) {}

  /// Begins a view.
  void clear() {
    units_.clear();
    again_.clear();
    first_ = 1;
  }
  bool empty() const { return units_.empty(); }
  bool full() const { return units_.size() >= max_; }
  std::size_t size() const { return units_.size(); }
  /// Number of the first unit without a place.
  std::uint64_t first_number() const { return first_; }
  /// Number of the next unit to be added.
  std::uint64_t next_number() const { return first_ + units_.size(); }
  const Unit& last() const { return units_.back(); }
  const Unit& at(std::uint64_t number) const { return units_[number - first_]; }

  void add(Unit unit) { units_.push_back(std::move(unit)); }
  /// Removes the unit with this number, because it has got its place. False: this unit is not the
  /// first unit without a place.
  bool place(std::uint64_t number) {
    if (units_.empty() || number != first_) return false;
    again_.erase(first_);
    units_.pop_front();
    ++first_;
    return true;
  }

  /// An ensemble's view has ended, and the ensemble did not order the unit with this number. So the
  /// unit must be handed over again. False if the unit has a place, because another ensemble
  /// ordered it.
  bool take_back(std::uint64_t number) {
    if (number < first_ || number >= next_number()) return false;
    again_.insert(number);
    return true;
  }
  /// again(): how many units must be handed over again. first_again(): the number of the first such
  /// unit. handed_again(): the first such unit was handed over.
  std::size_t again() const { return again_.size(); }
  std::uint64_t first_again() const { return *again_.begin(); }
  void handed_again() { again_.erase(again_.begin()); }

  void check_invariants() const {
    PEAL_ASSERT(units_.size() <= max_);
    PEAL_ASSERT(again_.empty() || (*again_.begin() >= first_ && *again_.rbegin() < next_number()));
  }

 private:
  const std::size_t max_;
  std::deque<Unit> units_;
  std::uint64_t first_ = 1;
  std::set<std::uint64_t> again_;
};

}  // namespace peal::order::ridge
