// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "order/member_set.h"
#include "order/paxos/peers.h"
#include "order/paxos/store.h"

namespace peal::order::paxos {

/// What members that were left out of a view may still lack of it: the decided values up to the
/// view without them. They owe their applications these, however long they are away, and need
/// nothing behind them; so they are kept apart from the history, which others overrun soon.
class LeftOut {
 public:
  /// `bytes_max`: of what is kept for all. What comes on top takes the place of the oldest, and
  /// what is more than that alone is not kept.
  explicit LeftOut(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// For `members`: what the store holds from `first` up.
  void keep(MemberSet members, Instance first, const Store& store);
  /// Forgets what nobody needs any more: who has it all, has restarted, or said goodbye.
  void look(const Peers& peers);
  std::optional<Store::Decided> decided(Instance instance) const;

  void add_to(Digest& digest) const;

 private:
  struct Kept {
    wire::ValueHead head;
    std::size_t at = 0;  ///< in the range's bytes
    std::size_t size = 0;
  };
  struct Range {
    MemberSet members;
    Instance first = 0;
    std::vector<Kept> values;
    std::vector<std::byte> bytes;

    Instance end() const { return first + values.size(); }
    std::uint64_t memory() const { return bytes.size() + values.size() * sizeof(Kept); }
  };

  static void add(Range& range, const Store& store, std::size_t bytes);

  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::deque<Range> ranges_;  ///< the oldest first
};

}  // namespace peal::order::paxos
