// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/digest.h"

namespace peal::order::ridge {

/// Gives the units of each member of a view their places in the order in which the member sent
/// them. If two ensembles order two units of one sender, the later unit may come first. Such a unit
/// is kept until all earlier units of its sender have places.
template <class Item>
class SenderOrder {
 public:
  using Kept = typename std::map<std::uint64_t, Item>::node_type;

  /// `ahead_max`: maximum number of units of one sender without a place.
  explicit SenderOrder(std::uint64_t ahead_max) : ahead_max_(ahead_max) {}

  /// Begins a view with this number of members.
  void clear(std::size_t members) {
    placed_.assign(members, 0);
    kept_.assign(members, {});
  }
  std::size_t members() const { return placed_.size(); }
  /// Number of the member's last unit with a place.
  std::uint64_t placed(std::size_t member) const { return placed_[member]; }
  void place(std::size_t member, std::uint64_t number) { placed_[member] = number; }

  /// Keeps a unit. False: the unit has a place, is kept already, or is too far ahead.
  bool keep(std::size_t member, std::uint64_t number, Item item) {
    if (number <= placed_[member] || number - placed_[member] > ahead_max_) return false;
    return kept_[member].emplace(number, std::move(item)).second;
  }
  /// Removes and returns the kept unit whose turn it is, and notes that it has a place. Empty if
  /// there is no such unit.
  Kept take_next(std::size_t member) {
    auto& kept = kept_[member];
    if (kept.empty() || kept.begin()->first != placed_[member] + 1) return {};
    ++placed_[member];
    return kept.extract(kept.begin());
  }

  void add_to(Digest& digest) const {
    for (const std::uint64_t placed : placed_) digest.add(placed);
    for (const auto& kept : kept_) digest.add(kept.size());
  }

 private:
  const std::uint64_t ahead_max_;
  std::vector<std::uint64_t> placed_;                ///< by member: number of its last placed unit
  std::vector<std::map<std::uint64_t, Item>> kept_;  ///< by member and number
};

}  // namespace peal::order::ridge
