// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/hooks.h"
#include "base/ids.h"
#include "group/message.h"

namespace peal::group {

/// Gives groups their ids. Ids count the changes of all groups in one view. So a group that becomes
/// empty and is created again gets a new id, and ids only grow. A part of a view is the set of
/// members that reach the view together from one old view. Before the view is installed, each part
/// counts in a branch of its own. All indexes of a part are below those of the view itself. Ids of
/// a part name the new view, not the old one. A member may begin a part of one new view, fail to
/// reach that view, and begin a part of another. If ids named the old view, both parts could give
/// the same ids.
class GroupIds {
 public:
  void begin_view(const ViewId& view) { begin(view, kViewBranch); }
  /// Starts a part of view `next`. Different parts must give different ids, so the branch of a
  /// part is the number of its smallest node, `smallest`.
  void begin_part(const ViewId& next, NodeId smallest) {
    begin(next, std::uint64_t{smallest.value} << kBranchShift);
    if (PEAL_MUTANT(gm7_parts_share_ids)) branch_ = 0;
  }
  /// The next id of a group that has the id `last`.
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
