// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "group/events.h"
#include "group/table.h"
#include "order/member_set.h"

namespace peal::group {

/// Messages of clients that were ordered during an exchange of tables (Domains::Kind::disjoint).
/// They take effect when the exchange is complete, in their order: the members of the view get them
/// at the same places, and complete the exchange at the same place. If the view ends before that,
/// they still belong to that view: other daemons of the next view may lack them.
class HeldMessages {
 public:
  struct Held {
    Ordered from;
    std::vector<std::byte> bytes;
    bool late = false;  ///< ordered in the transitional view
  };
  using List = std::vector<Held>;

  void add(const Ordered& from, ByteView message, bool late) {
    held_.push_back({from, {message.begin(), message.end()}, late});
    data_bytes_ += data_cost_of(message);
  }
  /// A change of this node that was ordered while the node was outside the view, and so behind all
  /// messages of its last view. `ended`: that is the current one; the next one is not there yet.
  void add_missed(const Ordered& from, std::vector<std::byte> change, bool ended) {
    const std::size_t at = ended ? held_.size() : earlier_++;
    held_.insert(held_.begin() + static_cast<std::ptrdiff_t>(at), {from, std::move(change), false});
  }
  /// Forgets all messages that change no membership. Returns their number.
  std::uint64_t drop_data();
  /// The view has ended, and its exchange is not complete.
  void end_view() { earlier_ = held_.size(); }
  /// Takes the messages of earlier views.
  List take_earlier();
  /// Takes the messages of the current view; all messages of earlier views have been taken.
  List take();

  bool has_earlier() const { return earlier_ > 0; }
  bool empty() const { return held_.empty(); }
  /// Memory that clients' messages take, without changes of memberships.
  std::uint64_t data_bytes() const { return data_bytes_; }
  /// What the message adds to that.
  static std::uint64_t data_cost_of(ByteView message) {
    const bool is_data = static_cast<Kind>(kind_of(message)) == Kind::data;
    return is_data ? sizeof(Held) + message.size() : 0;
  }

  /// Applies the memberships that the messages of earlier views change to `table`, and marks the
  /// groups as changed. Only the daemons of `set`, which came together, are in their tables. New
  /// groups have an id of `view` until the tables are merged.
  void apply_earlier(const order::MemberSet& set, const ViewId& view, Table& table) const;

 private:
  List held_;
  std::size_t earlier_ = 0;  ///< number of messages of views that have ended
  std::uint64_t data_bytes_ = 0;
};

}  // namespace peal::group
