// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// This node's deliveries and views depend on the merged order alone. So all nodes that merge the
// same ensembles deliver the same units and install the same views.
//
// The views are the views of the first ensemble. A unit gets a place if it is for the active view
// and from a member of that view, whichever ensemble ordered it. A unit gets its place only after
// all earlier units of its sender, because the keys of two ensembles do not show which unit was
// sent first.

namespace peal::order::ridge {
namespace {

constexpr int kMergedAtOnce = 256;
constexpr std::string_view kTooLate =
    "this node was taken into a view while it had fallen behind; restarted, it joins again";

}  // namespace

void Ensembles::Inner::deliver(const Delivery& delivery) {
  Item item;
  // If the unit's placing is damaged, it is damaged at all nodes. So all nodes ignore the unit.
  if (wire::decode_placing(delivery.unit.view(), item.placing) != wire::Drop::none) {
    ++all_.counts_.ignored;
    return;
  }
  const auto head = static_cast<std::uint32_t>(wire::kPlacingBytes);
  item.origin = delivery.origin;
  item.service = delivery.service;
  item.bytes = delivery.unit.slice(head, delivery.unit.size() - head);
  all_.merge_.push(index_, key_, std::move(item));
}

void Ensembles::Inner::install(const View& view) {
  if (view.transitional) {
    company_.assign(view.members.begin(), view.members.end());
    return;
  }
  take_back();
  if (index_ != 0) return;
  Item item;
  item.kind = Item::Kind::view;
  item.view = view.id;
  item.members.assign(view.members.begin(), view.members.end());
  item.company = std::exchange(company_, {});
  in_view_ = true;
  ++all_.views_ahead_;
  all_.merge_.push(index_, key_, std::move(item));
}

void Ensembles::Inner::on_left_out() {
  take_back();
  // If this node was in no view, no view ends here, and the node may take checkpoints in the other
  // ensembles.
  if (index_ != 0 || !std::exchange(in_view_, false)) return;
  Item item;
  item.kind = Item::Kind::left_out;
  ++all_.views_ahead_;
  all_.merge_.push(index_, key_, std::move(item));
}

void Ensembles::Inner::on_excluded(std::span<const MemberId> members) {
  if (index_ != 0) return;
  ++all_.exclusions_ahead_;
  Item* last = all_.merge_.last(index_, key_);
  if (last != nullptr) {
    last->excluded.assign(members.begin(), members.end());
    return;
  }
  Item item;
  item.kind = Item::Kind::nothing;
  item.excluded.assign(members.begin(), members.end());
  all_.merge_.push(index_, key_, std::move(item));
}

/// This ensemble's view has ended. This node's units that the ensemble has not ordered are handed
/// to an ensemble again.
void Ensembles::Inner::take_back() {
  for (const Handed& each : std::exchange(handed, {})) {
    const bool ours = each.view == all_.view_.number && all_.joined_;
    if (ours && all_.own_.take_back(each.number)) PEAL_PROBE("ensembles.unit_again");
  }
}

bool Ensembles::merge_some() {
  bool any = false;
  for (std::size_t i = 0; i < inner_.size(); ++i) merge_.advance(i, inner_[i]->engine->key());
  for (int i = 0; i < kMergedAtOnce && !stopped_ && host_.receive_room_units() > 0; ++i) {
    const std::optional<std::size_t> stream =
        PEAL_MUTANT(re_arrival_merges) ? merge_.any() : merge_.next();
    if (!stream) break;
    any = true;
    merged_ = merge_.key(*stream);
    merged_from_ = inner_[*stream]->number;
    Item item = merge_.pop(*stream);
    if (!item.excluded.empty()) keep_for_excluded(item.excluded);
    switch (item.kind) {
      case Item::Kind::unit: take_unit(std::move(item)); break;
      case Item::Kind::view:
        --views_ahead_;
        install(std::move(item));
        break;
      case Item::Kind::left_out:
        --views_ahead_;
        joined_ = false;
        break;
      case Item::Kind::nothing: break;
    }
  }
  return any;
}

void Ensembles::take_unit(Item item) {
  const bool counts =
      joined_ && (item.placing.view == view_.number || PEAL_MUTANT(re_old_view_counts));
  const std::size_t index = counts ? index_in(members_, item.origin) : members_.size();
  if (!counts || index == members_.size()) {
    ++counts_.ignored;
    return;
  }
  if (PEAL_MUTANT(do_skips_all) && merged_from_ == 0 && inner_.size() == 2 &&
      item.origin != self_) {
    return;
  }
  const std::uint64_t number = item.placing.number;
  const std::uint64_t placed = senders_.placed(index);
  // With domains, this node may learn only some units of a sender, so their numbers may have gaps.
  // The numbers ascend, because a sender has units of only one domain in progress at a time.
  const bool in_order = layout_.domains.empty() ? number == placed + 1 : number > placed;
  if (in_order || PEAL_MUTANT(re_arrival_order)) {
    senders_.place(index, number);
    place(item);
    while (!stopped_) {
      const auto kept = senders_.take_next(index);
      if (kept.empty()) return;
      place(kept.mapped());
    }
    return;
  }
  // A unit that was handed to two ensembles may come twice.
  if (!senders_.keep(index, number, std::move(item))) {
    ++counts_.ignored;
    return;
  }
  ++counts_.deferred;
  PEAL_PROBE("ensembles.unit_deferred");
}

// With domains, nodes that learn more domains deliver more units. So a node cannot use its number
// of delivered units as the position. Instead a position is derived from the value's key and
// ensemble, which are the same at all nodes that learn the value. Keys are so small that the
// product below does not overflow (wire::kKeyMax).
Seq Ensembles::next_position() const {
  if (layout_.domains.empty()) return seq_ + 1;
  static_assert(kEnsemblesMax <= 16 && wire::kKeyMax < (std::uint64_t{1} << 60));
  return merged_ * kEnsemblesMax + merged_from_;
}

void Ensembles::place(const Item& item) {
  seq_ = next_position();
  if (item.origin == self_) {
    if (!own_.place(item.placing.number)) {
      return stop("decided unit claims this origin but is not its next pending unit");
    }
    out_->originate(view_, seq_);
    ++counts_.originated;
  }
  ++counts_.delivered;
  Delivery delivery;
  delivery.view = view_;
  delivery.seq = seq_;
  delivery.origin = item.origin;
  delivery.service = item.service;
  if (!layout_.domains.empty()) delivery.domains = DomainSet::of(domain_of(seq_));
  delivery.unit = item.bytes;
  out_->deliver(delivery);
}

/// Retains values for `members`. This node has merged everything before the view that excludes
/// them, so each of its ensembles has all values before that view. A restarted node that is in no
/// view yet retains the values too, because perhaps only few nodes have them.
void Ensembles::keep_for_excluded(const MemberSet& members) {
  --exclusions_ahead_;
  if (PEAL_MUTANT(px_owed_by_members) && !joined_) return;
  for (const auto& inner : inner_) inner->engine->keep_for(members);
}

void Ensembles::install(Item item) {
  for (std::size_t i = 1; i < inner_.size(); ++i) {
    if (inner_[i]->engine->from() > merged_) return stop(kTooLate);
  }
  View view;
  view.id = item.view;
  view.primary = Primary::yes;
  if (!item.company.empty()) {
    view.transitional = true;
    view.old = view_;
    view.members = item.company;
    out_->install(view);
  }
  joined_ = true;
  view_ = item.view;
  members_ = std::move(item.members);
  senders_.clear(members_.size());
  seq_ = 0;
  own_.clear();
  ++counts_.views;
  view.transitional = false;
  view.old = {};
  view.members = members_;
  out_->install(view);
  out_->report({&event::view_installed, view_, {}, members_.size(), 0});
}

}  // namespace peal::order::ridge
