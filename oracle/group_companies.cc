// SPDX-License-Identifier: Apache-2.0
#include "oracle/group_companies.h"

namespace peal::oracle {

void GroupCompanies::parted(MemberId node, const ViewId& next) {
  const auto stay = stays_.find(node);
  if (stay != stays_.end()) left_[{node, stay->second}].next = next;
}

void GroupCompanies::ended(MemberId node) {
  const auto stay = stays_.find(node);
  if (stay != stays_.end()) left_[{node, stay->second}].ended = true;
}

ViewId GroupCompanies::view_of(MemberId node) const {
  const auto stay = stays_.find(node);
  return stay == stays_.end() ? ViewId{} : stay->second;
}

CompanyId GroupCompanies::company_of(MemberId node, const ViewId& view) const {
  const auto left = left_.find({node, view});
  if (left == left_.end()) return {view, {}, node};
  if (left->second.next.number != 0) return {view, left->second.next, {}};
  return {view, {}, left->second.ended ? MemberId{} : node};
}

}  // namespace peal::oracle
