// SPDX-License-Identifier: Apache-2.0
#include "order/ring/inspection/ghost_ring.h"

#include <algorithm>
#include <string>

namespace peal::order::ring {
namespace {

/// Maximum number of incarnations whose state is kept.
constexpr std::size_t kSaidMax = 4'096;

std::string name(MemberId who) {
  return "n" + std::to_string(who.node.value) + "." + std::to_string(who.epoch);
}

std::string text(const ViewId& view) {
  return "view " + std::to_string(view.number) + " of " + name(view.representative);
}

}  // namespace

GhostRing::View* GhostRing::find(const ViewId& id) {
  if (last_ != nullptr && last_->id == id) return last_;
  const auto at =
      std::find_if(views_.rbegin(), views_.rend(), [&](const View& each) { return each.id == id; });
  return at == views_.rend() ? nullptr : last_ = &*at;
}

GhostRing::View& GhostRing::view(const ViewId& id) {
  if (View* known = find(id)) return *known;
  if (views_.size() == kViewsMax) {
    views_.pop_front();
    last_ = nullptr;
  }
  last_ = &views_.emplace_back();
  last_->id = id;
  return *last_;
}

GhostRing::Held& GhostRing::held_of(View& view, MemberId who) {
  for (Held& each : view.held) {
    if (each.who == who) return each;
  }
  view.held.push_back({who, {}, 0});
  return view.held.back();
}

bool GhostRing::has(const View& view, MemberId who, Seq seq) const {
  for (const Held& each : view.held) {
    if (each.who != who) continue;
    const Seq at = seq - first_count_;
    return at >= kPositionsMax ||
           (at / 64 < each.bits.size() && (each.bits[at / 64] >> (at % 64) & 1) != 0);
  }
  return false;
}

void GhostRing::holds(MemberId who, const ViewId& id, Seq seq) {
  const Seq at = seq - first_count_;
  if (at >= kPositionsMax) return;
  View* of = find(id);  // null if a damaged packet names a view that had no commit token
  if (of == nullptr) return;
  std::vector<std::uint64_t>& bits = held_of(*of, who).bits;
  if (at / 64 >= bits.size()) bits.resize(at / 64 + 1);
  bits[at / 64] |= std::uint64_t{1} << (at % 64);
}

// ---- numbers that must not decrease ----

void GhostRing::said_join(MemberId from, const wire::Join& join) {
  if (said_.size() == kSaidMax) said_.clear();
  Said& said = said_[from];
  if (join.number <= said.join) {
    report_("membership", name(from) + " says a JOIN with a number that it has used");
  }
  if (join.committed.number < said.committed.number) {
    report_("membership", name(from) + " says that it committed to " + text(join.committed) +
                              ", and has to " + text(said.committed));
  }
  if (join.view_number_max < said.number_max) {
    report_("membership", name(from) + " knows of lower view numbers than before");
  }
  said.join = join.number;
  said.number_max = join.view_number_max;
  if (join.committed.number > said.committed.number) said.committed = join.committed;
}

void GhostRing::said_token(MemberId from, const wire::Token& token) {
  if (said_.size() == kSaidMax) said_.clear();
  Said& said = said_[from];
  if (token.view.number < said.committed.number) {
    report_("membership", name(from) + " passes a token of " + text(token.view) +
                              " on, and has committed to " + text(said.committed));
  }
  if (token.view == said.token_view && token.hop < said.hop) {
    report_("membership",
            name(from) + " passes a token of " + text(token.view) + " on that has been there");
  }
  said.token_view = token.view;
  said.hop = token.hop;
}

void GhostRing::said_commit(MemberId from, const wire::Commit& commit) {
  if (said_.size() == kSaidMax) said_.clear();
  Said& said = said_[from];
  if (commit.view != said.committed && commit.view.number <= said.committed.number) {
    report_("membership", name(from) + " commits to " + text(commit.view) +
                              ", and has committed to " + text(said.committed));
  }
  said.committed = commit.view;
  View& of = view(commit.view);
  if (of.members.empty()) of.members = commit.members;
  if (of.members != commit.members) {
    report_("membership", "two commit tokens of " + text(commit.view) + " name other members");
  }
  if (commit.hops < commit.members.size()) return;
  if (!of.settled) {
    of.settled = commit;
    for (const wire::OldView& old : commit.old_views) {
      of.old_views.push_back({old.view, old.survivors, decode_record(old.record)});
    }
    check_union(of.old_views);
    return;
  }
  wire::Commit same = commit;
  same.hops = of.settled->hops;
  if (same == *of.settled) return;
  report_("membership", name(from) + " passes on another commit token of " + text(commit.view) +
                            " than was settled");
}

// ---- what survivors hold together ----

/// Checks that the survivors together hold everything that any of them has delivered.
void GhostRing::check_union(const std::vector<OldView>& old_views) {
  for (const OldView& old : old_views) {
    View* of = find(old.view);
    if (of == nullptr) continue;
    for (const MemberId& survivor : old.survivors) {
      const Seq last = held_of(*of, survivor).delivered;
      for (Seq seq = old.record.base + 1; seq <= last; ++seq) {
        if (old.record.holds(seq)) continue;
        report_("recovery", name(survivor) + " has delivered position " + std::to_string(seq) +
                                " of " + text(old.view) + ", and the survivors do not know it");
        return;
      }
    }
  }
}

const GhostRing::OldView* GhostRing::record_of(const ViewId& next, const ViewId& old) {
  const View* of = find(next);
  if (of == nullptr) return nullptr;
  for (const OldView& each : of->old_views) {
    if (each.view == old) return &each;
  }
  return nullptr;
}

void GhostRing::delivered(MemberId who, const Delivery& delivery) {
  View* of = find(delivery.view);
  if (of == nullptr) return;
  if (!delivery.transitional) {
    held_of(*of, who).delivered = delivery.seq;
    if (!is_safe(delivery.service)) return;
    for (const MemberId& member : of->members) {
      if (member == who || has(*of, member, delivery.seq)) continue;
      report_("recovery", name(who) + " delivers position " + std::to_string(delivery.seq) +
                              " of " + text(delivery.view) + " as safe, and " + name(member) +
                              " never had it");
      return;
    }
    return;
  }
  const auto said = said_.find(who);
  if (said == said_.end() || !said->second.recovers) return;
  const OldView* old = record_of(*said->second.recovers, delivery.view);
  if (old == nullptr) return;
  if (!old->record.holds(delivery.seq)) {
    report_("recovery", name(who) + " delivers position " + std::to_string(delivery.seq) + " of " +
                            text(delivery.view) + ", which other survivors do not know");
  }
  if (!is_safe(delivery.service)) return;
  for (const MemberId& member : old->survivors) {
    if (member == who || has(*of, member, delivery.seq)) continue;
    report_("recovery", name(who) + " delivers position " + std::to_string(delivery.seq) + " of " +
                            text(delivery.view) + " as safe, and the survivor " + name(member) +
                            " never had it");
    return;
  }
}

void GhostRing::installed(MemberId who, const order::View& installed) {
  if (said_.size() == kSaidMax) said_.clear();
  Said& said = said_[who];
  if (!installed.transitional) {
    View& of = view(installed.id);
    const std::vector<MemberId> members(installed.members.begin(), installed.members.end());
    if (of.members.empty()) of.members = members;
    if (of.members != members) {
      report_("membership", name(who) + " installs " + text(installed.id) +
                                " with other members than its commit token named");
    }
    said.view = installed.id;
    said.recovers.reset();
    return;
  }
  said.recovers = installed.id;
  const OldView* old = record_of(installed.id, installed.old);
  if (old == nullptr) return;
  if (!std::equal(installed.members.begin(), installed.members.end(), old->survivors.begin(),
                  old->survivors.end())) {
    report_("membership", name(who) + " takes others for survivors of " + text(installed.old) +
                              " than the commit token named");
  }
  View* of = find(installed.old);
  if (of == nullptr) return;
  const Seq last = held_of(*of, who).delivered;
  for (Seq seq = old->record.base + 1; seq <= last; ++seq) {
    if (old->record.holds(seq)) continue;
    report_("recovery", name(who) + " has delivered position " + std::to_string(seq) + " of " +
                            text(installed.old) + ", which other survivors do not know");
    return;
  }
}

}  // namespace peal::order::ring
