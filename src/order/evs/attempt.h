// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/digest.h"
#include "order/evs/protocol.h"
#include "wire/frames.h"

namespace peal::order::evs {

/// The attempt at a view, from the commit token to the installation. Also the view numbers, which
/// keep views distinct: this member enters Commit only for a view with a higher number than all
/// views for which it entered Commit before.
class Attempt {
 public:
  explicit Attempt(std::uint64_t first_count) : view_number_max_(first_count) {}

  const Agreement& agreement() const { return agreement_; }
  /// The highest view for which this member has entered Commit.
  const ViewId& committed() const { return committed_; }
  std::uint64_t view_number_max() const { return view_number_max_; }
  /// Call when another member knows view numbers up to `number`: new views must have higher
  /// numbers.
  void note_number(std::uint64_t number);
  /// Call when this member has a new epoch: it has entered Commit for no view with this epoch.
  void restart() { committed_ = {}; }

  /// A commit token for a new view of `members`. No member has added its record yet.
  wire::Commit create(const MemberId& self, const MemberSet& members, std::uint64_t list);
  bool is_newer(const ViewId& view) const { return view.number > committed_.number; }
  bool is_at(const ViewId& view) const { return view == agreement_.view; }
  /// This member, whose index in the new view is `index`, enters Commit.
  void enter(const wire::Commit& commit, std::uint32_t index);
  /// The commit token has returned with all records. `record`: the record of this member's old
  /// view.
  void learn(const wire::Commit& commit, wire::OldView record);
  /// Notes that all members are in recovery. True at the first call in an attempt.
  bool lead();
  /// Only for a mutant of the simulator: forgets all views after `view`.
  void forget_committed(const ViewId& view);

  void add_to(Digest& digest) const;
  void check_invariants(const ViewId& view) const;

 private:
  ViewId committed_{};  // only restart() lowers its number
  std::uint64_t view_number_max_;
  Agreement agreement_;
  bool led_ = false;  ///< the protocol was notified that all members are in recovery
};

}  // namespace peal::order::evs
