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
  if (known_since_ == 0) known_since_ = std::max<Seq>(view.follows, 1);
  std::vector<MemberId> now = members();
  const bool inside = std::find(now.begin(), now.end(), parts_.self) != now.end();
  if (!inside) {
    if (!excluded_ && announced_.number != 0) {
      out.report({&event::gather_started, announced_, {}, 0, now.size(), &gather::excluded});
    }
    excluded_ = true;
    return;
  }
  if (excluded_ || announced_.number == 0) {
    member_since_ = recent_since_ = view.id.number;
    recent_.clear();
  }
  if (announced_.number != 0) {
    // Those that were in the same last view have delivered the same. Either they stay, or the view
    // behind that one has excluded all of them.
    std::vector<MemberId> both;
    for (Place place = 0; place < view_.roster.size(); ++place) {
      const bool together = view_.last_in[place] == announced_.number;
      if (is_member(place) && (together || place == parts_.place)) {
        both.push_back(view_.roster[place]);
      }
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
  View regular;
  regular.id = view.id;
  regular.members = std::move(now);
  regular.primary = Primary::yes;
  ++parts_.counts.views;
  out.install(regular);
  out.report({&event::view_installed, regular.id, {}, regular.members.size(), 0});
}

}  // namespace peal::order::ramcast
