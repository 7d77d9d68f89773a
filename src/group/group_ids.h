// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/hooks.h"
#include "base/ids.h"
#include "group/message.h"

namespace peal::group {

/// Gives groups their ids. Ids count the changes of all groups in one view, above those of its
/// parts before the view. So a group that empties and returns gets a new id, and ids only grow. The
/// old view could not name the parts, since a member that does not reach the next view may be in
/// two of them.
class GroupIds {
 public:
  void begin_view(const ViewId& view) { begin(view, kViewBranch); }
  /// A part of `next` begins. Its parts come from different views and must give their groups
  /// different ids, so each part uses its smallest member.
  void begin_part(const ViewId& next, NodeId smallest) {
    begin(next, std::uint64_t{smallest.value} << kBranchShift);
    if (PEAL_MUTANT(gm7_parts_share_ids)) branch_ = 0;
  }
  /// `last` is the id that the group has.
  GroupId next([[maybe_unused]] const GroupId& last) {
    if (PEAL_MUTANT(gm1_index_per_group)) {
      return {view_, last.view == view_ ? last.index + 1 : branch_ + 1};
    }
    return {view_, branch_ + ++count_};
  }

 private:
  static_assert(std::uint64_t{wire::kNodeMax} << kBranchShift < kViewBranch);
  void begin(const ViewId& view, std::uint64_t branch) {
    view_ = view;
    branch_ = branch;
    count_ = 0;
  }

  ViewId view_{};
  std::uint64_t branch_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace peal::group
