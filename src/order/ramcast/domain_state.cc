// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/domain_state.h"

#include <algorithm>

#include "base/assert.h"
#include "order/ramcast/vocabulary.h"

namespace peal::order::ramcast {

std::vector<MemberId> DomainState::members() const {
  std::vector<MemberId> members;
  for (Place place = 0; place < view_.roster.size(); ++place) {
    if (is_member(place)) members.push_back(view_.roster[place]);
  }
  return members;
}

void DomainState::set_delivered(Seq key) {
  PEAL_ASSERT(key > delivered_);
  delivered_ = key;
  recent_.push_back(key);
  if (recent_.size() <= parts_.options.overwritten_max(parts_.layout.nodes())) return;
  recent_since_ = recent_.front();
  recent_.pop_front();
}

void DomainState::install(const wire::DomainView& view, Effects& out) {
  PEAL_ASSERT(view.id.number > view_.id.number);
  view_ = view;
  if (first_view_ == 0) first_view_ = view.id.number;
  std::vector<MemberId> now = members();
  const bool inside = std::find(now.begin(), now.end(), parts_.self) != now.end();
  if (!inside) {
    if (!excluded_ && !announced_members_.empty()) {
      out.report({&event::gather_started, announced_, {}, 0, now.size(), &gather::excluded});
    }
    excluded_ = true;
    return;
  }
  if (excluded_ || announced_members_.empty()) {
    member_since_ = recent_since_ = view.id.number;
    recent_.clear();
  }
  if (!announced_members_.empty()) {
    std::vector<MemberId> both{parts_.self};
    if (!excluded_) {
      // All members of both views have delivered the same up to here.
      both.clear();
      std::set_intersection(now.begin(), now.end(), announced_members_.begin(),
                            announced_members_.end(), std::back_inserter(both));
    }
    View transitional;
    transitional.transitional = true;
    transitional.id = view.id;
    transitional.old = announced_;
    transitional.members = both;
    transitional.primary = Primary::yes;
    out.install(transitional);
  }
  excluded_ = false;
  announced_ = view.id;
  announced_members_ = std::move(now);
  View regular;
  regular.id = view.id;
  regular.members = announced_members_;
  regular.primary = Primary::yes;
  ++parts_.counts.views;
  out.install(regular);
  out.report({&event::view_installed, regular.id, {}, regular.members.size(), 0});
}

}  // namespace peal::order::ramcast
