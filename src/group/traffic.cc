// SPDX-License-Identifier: Apache-2.0
#include "group/traffic.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"

namespace peal::group {
namespace {

constexpr std::size_t kTrafficBytes = 1 + 8 + 2;
constexpr std::size_t kViewHeadBytes = 20 + 12 + 1;

std::size_t entries_of(const ViewTraffic& view) { return view.names.size() + view.late.size(); }

std::size_t bytes_of(const ViewTraffic& view) {
  if (view.every_name) return kViewHeadBytes + 8;
  std::size_t bytes = kViewHeadBytes + 2 + 2;
  for (const auto& each : view.names) bytes += 1 + each.name.size() + 8;
  for (const auto& each : view.late) bytes += 12 + 1 + each.name.size();
  return bytes;
}

std::uint64_t chained(std::uint64_t digest, const Place& place) {
  Digest next;
  next.add(digest);
  next.add(place.seq);
  next.add(place.index);
  return std::max<std::uint64_t>(next.value(), 1);
}

std::uint64_t late_digest_of(const ViewTraffic& view) {
  if (view.every_name) return view.late_digest;
  std::uint64_t digest = 0;
  Place last;
  for (const auto& each : view.late) {
    if (each.place != last) digest = chained(digest, each.place);
    last = each.place;
  }
  return digest;
}

/// Equal for both orders of the two.
std::uint64_t joined(std::uint64_t one, std::uint64_t other) {
  if (one == other || other == 0) return one;
  if (one == 0) return other;
  Digest both;
  both.add(std::min(one, other));
  both.add(std::max(one, other));
  return std::max<std::uint64_t>(both.value(), 1);
}

void give_up_names(ViewTraffic& view) {
  view.late_digest = late_digest_of(view);
  view.every_name = true;
  view.names.clear();
  view.late.clear();
}

void forget_oldest(Traffic& traffic) {
  const ViewTraffic& oldest = traffic.views.front();
  Digest digest;
  digest.add(traffic.forgotten);
  digest.add(oldest.view.number);
  digest.add(oldest.view.representative.node.value);
  digest.add(oldest.view.representative.epoch);
  traffic.forgotten = std::max<std::uint64_t>(digest.value(), 1);
  traffic.views.erase(traffic.views.begin());
}

void bound(Traffic& traffic) {
  std::size_t entries = 0;
  for (const ViewTraffic& each : traffic.views) entries += entries_of(each);
  for (ViewTraffic& each : traffic.views) {
    if (entries <= kTrafficNamesMax) break;
    entries -= entries_of(each);
    if (!each.every_name) give_up_names(each);
  }
  while (traffic.views.size() > kTrafficViewsMax) forget_oldest(traffic);
}

void join(ViewTraffic& to, const ViewTraffic& other) {
  if (to.every_name || other.every_name) {
    to.late_digest = joined(late_digest_of(to), late_digest_of(other));
    to.upto = std::max(to.upto, other.upto);
    to.every_name = true;
    to.names.clear();
    to.late.clear();
    return;
  }
  if (other.upto > to.upto) {
    to.upto = other.upto;
    to.names = other.names;
  }
  std::vector<ViewTraffic::Late> late;
  std::set_union(to.late.begin(), to.late.end(), other.late.begin(), other.late.end(),
                 std::back_inserter(late));
  std::erase_if(late, [&to](const ViewTraffic::Late& each) { return each.place <= to.upto; });
  to.late = std::move(late);
}

/// The messages that `all` counts for a name up to its place are those that `own` counts, and those
/// of its late ones that lie there, unless some are missing.
void add_missed_names(const ViewTraffic& all, const ViewTraffic& own, Missed& out) {
  auto known = own.names.begin();
  for (const auto& each : all.names) {
    while (known != own.names.end() && known->name < each.name) ++known;
    std::uint64_t messages =
        known != own.names.end() && known->name == each.name ? known->messages : std::uint64_t{0};
    for (const auto& late : own.late) {
      if (late.place <= all.upto && late.name == each.name) ++messages;
    }
    if (each.messages > messages) out.names.insert(each.name);
  }
}

void add_missed(const ViewTraffic& all, const ViewTraffic& own, Missed& out) {
  const bool same_late = late_digest_of(all) == late_digest_of(own);
  if (all.every_name) {
    if (all.upto > own.upto || !(same_late || all.late_digest == 0)) out.every_name = true;
    return;
  }
  if (all.upto > own.upto) add_missed_names(all, own, out);
  if (same_late) return;
  for (const auto& each : all.late) {
    const bool known =
        each.place <= own.upto || std::binary_search(own.late.begin(), own.late.end(), each);
    if (!known) out.names.insert(each.name);
  }
}

auto place_of(std::vector<ViewTraffic>& views, const ViewId& view) {
  return std::lower_bound(
      views.begin(), views.end(), view,
      [](const ViewTraffic& each, const ViewId& wanted) { return each.view < wanted; });
}

}  // namespace

std::size_t bytes_of(const Traffic& traffic) {
  std::size_t bytes = kTrafficBytes;
  for (const ViewTraffic& each : traffic.views) bytes += bytes_of(each);
  return bytes;
}

void shrink(Traffic& traffic, std::size_t bytes_max) {
  std::size_t bytes = bytes_of(traffic);
  for (ViewTraffic& each : traffic.views) {
    if (bytes <= bytes_max) return;
    bytes -= bytes_of(each);
    if (!each.every_name) give_up_names(each);
    bytes += bytes_of(each);
  }
  while (bytes_of(traffic) > bytes_max && !traffic.views.empty()) forget_oldest(traffic);
}

void join(Traffic& to, const Traffic& other) {
  to.forgotten = joined(to.forgotten, other.forgotten);
  for (const ViewTraffic& each : other.views) {
    const auto at = place_of(to.views, each.view);
    if (at != to.views.end() && at->view == each.view) {
      join(*at, each);
    } else {
      to.views.insert(at, each);
    }
  }
  bound(to);
}

Missed missed(const Traffic& all, const Traffic& own) {
  Missed out;
  out.every_name = all.forgotten != 0 && all.forgotten != own.forgotten;
  const ViewTraffic nothing;
  auto known = own.views.begin();
  for (const ViewTraffic& each : all.views) {
    while (known != own.views.end() && known->view < each.view) ++known;
    const bool here = known != own.views.end() && known->view == each.view;
    add_missed(each, here ? *known : nothing, out);
  }
  return out;
}

// ---- TrafficLog ----

void TrafficLog::begin(const ViewId& view) {
  if (PEAL_MUTANT(gm13_traffic_not_carried)) known_.views.clear();
  if (upto_ != Place{} || late_last_ != Place{}) {
    ViewTraffic ended;
    ended.view = view_;
    ended.upto = upto_;
    ended.every_name = every_name_;
    if (every_name_) ended.late_digest = late_digest_;
    for (const auto& [name, messages] : names_) ended.names.push_back({name, messages});
    ended.late = std::move(late_);
    std::sort(ended.late.begin(), ended.late.end());
    Traffic last;
    last.views.push_back(std::move(ended));
    join(known_, last);
  }
  view_ = view;
  upto_ = {};
  every_name_ = false;
  late_digest_ = 0;
  late_last_ = {};
  names_.clear();
  late_.clear();
  ++generation_;
}

void TrafficLog::count(std::string_view name, TrafficMark* mark) {
  auto at = names_.find(name);
  if (at == names_.end()) {
    if (names_.size() + late_.size() >= kTrafficNamesMax) return give_up_names();
    at = names_.emplace(name, 0).first;
  }
  ++at->second;
  if (mark != nullptr) *mark = {generation_, &at->second, known_.domain};
}

void TrafficLog::note_late(std::string_view name, const Place& place) {
  if (PEAL_MUTANT(gm17_late_not_known)) return;
  if (late_last_ != place) late_digest_ = chained(late_digest_, place);
  late_last_ = place;
  if (!every_name_ && names_.size() + late_.size() >= kTrafficNamesMax) give_up_names();
  if (!every_name_) late_.push_back({place, std::string(name)});
}

void TrafficLog::give_up_names() {
  PEAL_PROBE("group.every_name");
  every_name_ = true;
  names_.clear();
  late_.clear();
  ++generation_;
}

void TrafficLog::keep(const ViewId& one, const ViewId& other) {
  known_.forgotten = 0;
  std::erase_if(known_.views,
                [&](const ViewTraffic& each) { return each.view != one && each.view != other; });
}

}  // namespace peal::group
