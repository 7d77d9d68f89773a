// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <utility>

#include "base/ids.h"

namespace peal::oracle {

/// Names a company of a view: the nodes that left the view through one transitional view, or that
/// are in the view when the history ends. A node that crashed in the view is alone.
struct CompanyId {
  ViewId view{};
  ViewId next{};     ///< the view after the transitional view; zero: the company did not leave
  MemberId alone{};  ///< the node, if it crashed in the view
  friend constexpr auto operator<=>(const CompanyId&, const CompanyId&) = default;
};

/// Records the views of each node. Once the history has ended, it gives the company in which each
/// node left each view.
class GroupCompanies {
 public:
  void entered(MemberId node, const ViewId& view) {
    stays_[node] = view;
    left_.try_emplace({node, view});
  }
  /// The node installed the transitional view between its view and `next`.
  void parted(MemberId node, const ViewId& next);
  /// The history ends while the node is in its view.
  void ended(MemberId node);

  /// The regular view that the node installed last; zero if it installed none.
  ViewId view_of(MemberId node) const;
  /// The company of the node in the view. Call it once the history has ended. A node that never was
  /// in the view is alone.
  CompanyId company_of(MemberId node, const ViewId& view) const;

 private:
  struct Leaving {
    ViewId next{};
    bool ended = false;
  };
  std::map<MemberId, ViewId> stays_;
  std::map<std::pair<MemberId, ViewId>, Leaving> left_;
};

}  // namespace peal::oracle
