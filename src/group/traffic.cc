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

constexpr std::size_t kTrafficBytes = 1 + 1 + 2;
constexpr std::size_t kForgottenBytes = 20 + 8 + 1;
constexpr std::size_t kViewHeadBytes = 20 + 12 + 1;
constexpr std::size_t kSenderBytes = 12;

std::size_t entries_of(const ViewTraffic& view) { return view.names.size() + view.late.size(); }

std::size_t bytes_of(const ViewTraffic& view) {
  const std::size_t head = kViewHeadBytes + (view.of_one_sender() ? kSenderBytes : 0);
  if (view.every_name) return head + 8;
  std::size_t bytes = head + 2 + 2;
  for (const auto& each : view.names) bytes += 1 + each.name.size() + 8;
  for (const auto& each : view.late) bytes += 12 + 1 + each.name.size();
  return bytes;
}

std::size_t bytes_of(const Forgotten& forgotten) {
  if (forgotten.empty()) return 0;
  if (forgotten.every_name) return kForgottenBytes;
  std::size_t bytes = kForgottenBytes + 2;
  for (const std::string& name : forgotten.names) bytes += 1 + name.size();
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

/// Joins two digests. The order of the arguments does not matter.
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

void give_up_names(Forgotten& forgotten) {
  forgotten.every_name = true;
  forgotten.names.clear();
}

/// Digest of a record. A sum of such digests does not depend on the order of the records.
std::uint64_t digest_of(const ViewTraffic& view) {
  Digest digest;
  digest.add(view.view.number);
  digest.add(view.view.representative.node.value);
  digest.add(view.view.representative.epoch);
  digest.add(view.sender.node.value);
  digest.add(view.sender.epoch);
  digest.add(view.upto.seq);
  digest.add(view.upto.index);
  digest.add(late_digest_of(view));
  return digest.value();
}

void add_names(Forgotten& to, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> both;
  std::set_union(to.names.begin(), to.names.end(), names.begin(), names.end(),
                 std::back_inserter(both));
  to.names = std::move(both);
  if (to.names.size() > kTrafficNamesMax) give_up_names(to);
}

void forget(Forgotten& to, const ViewTraffic& view) {
  to.upto = std::max(to.upto, view.view);
  to.digest += digest_of(view);
  if (view.every_name) give_up_names(to);
  if (to.every_name) return;
  std::vector<std::string> names;
  for (const auto& each : view.names) names.push_back(each.name);
  for (const auto& each : view.late) names.push_back(each.name);
  add_names(to, std::move(names));
}

/// Forgets all records of the oldest view: Forgotten says only up to which view it goes.
void forget_oldest(Traffic& traffic) {
  const ViewId oldest = traffic.views.front().view;
  auto end = traffic.views.begin();
  for (; end != traffic.views.end() && end->view == oldest; ++end) forget(traffic.forgotten, *end);
  traffic.views.erase(traffic.views.begin(), end);
}

void bound(Traffic& traffic) {
  std::size_t entries = traffic.forgotten.names.size();
  for (const ViewTraffic& each : traffic.views) entries += entries_of(each);
  if (entries > kTrafficNamesMax && !traffic.forgotten.empty()) {
    entries -= traffic.forgotten.names.size();
    give_up_names(traffic.forgotten);
  }
  for (ViewTraffic& each : traffic.views) {
    if (entries <= kTrafficNamesMax) break;
    entries -= entries_of(each);
    if (!each.every_name) give_up_names(each);
  }
  while (traffic.views.size() > kTrafficViewsMax) forget_oldest(traffic);
}

/// True if `part` and `forgotten` have the same traffic up to `forgotten.upto`. `part` may have it
/// in its forgotten views, or in views that it still keeps one by one.
bool knows(const Traffic& part, const Forgotten& forgotten) {
  if (part.forgotten.is(forgotten)) return true;
  std::uint64_t digest = part.forgotten.digest;
  for (const ViewTraffic& each : part.views) {
    if (each.view <= forgotten.upto) digest += digest_of(each);
  }
  return part.forgotten.upto <= forgotten.upto && digest == forgotten.digest;
}

/// Daemons forget views at different times. If one daemon remembers exactly the views that another
/// has forgotten, neither daemon missed messages in those views. Then both forget the views.
void align(std::vector<Traffic>& parts) {
  for (Traffic& part : parts) {
    for (const Traffic& other : parts) {
      const Forgotten& forgotten = other.forgotten;
      if (part.forgotten.is(forgotten) || !knows(part, forgotten)) continue;
      PEAL_PROBE("group.forgotten_by_others");
      part.forgotten = forgotten;
      std::erase_if(part.views,
                    [&](const ViewTraffic& each) { return each.view <= forgotten.upto; });
    }
  }
}

void join(Forgotten& to, const Forgotten& other) {
  if (other.empty() || to.is(other)) return;
  if (to.empty()) {
    to = other;
    return;
  }
  to.digest = joined(to.digest, other.digest);
  to.upto = std::max(to.upto, other.upto);
  if (to.every_name || other.every_name) {
    give_up_names(to);
  } else {
    add_names(to, other.names);
  }
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

/// Finds the names to which this daemon missed messages up to `all.upto`. `all` counts all messages
/// up to that place. The daemon has the messages that `own` counts, and the late messages of `own`
/// up to that place. It missed messages to a name if it has fewer than `all` counts.
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
  // Late messages of `all` are behind `all.upto`, and so behind the `upto` of each merged part.
  for (const auto& each : all.late) {
    const bool known = std::binary_search(own.late.begin(), own.late.end(), each);
    if (!known) out.names.insert(each.name);
  }
}

void add_missed(const Forgotten& all, const Forgotten& own, Missed& out) {
  if (all.is(own)) return;
  if (all.every_name) out.every_name = true;
  out.names.insert(all.names.begin(), all.names.end());
}

bool is_same(const ViewTraffic& one, const ViewTraffic& other) {
  return one.view == other.view && one.sender == other.sender;
}

/// Adds the traffic that `other` knows to `to`.
void join(Traffic& to, const Traffic& other) {
  join(to.forgotten, other.forgotten);
  for (const ViewTraffic& each : other.views) {
    const auto at = std::lower_bound(to.views.begin(), to.views.end(), each, comes_before);
    if (at != to.views.end() && is_same(*at, each)) {
      join(*at, each);
    } else {
      to.views.insert(at, each);
    }
  }
}

/// Finds the names to which messages were missed in views that are not forgotten.
void add_missed(const Traffic& all, const Traffic& own, Missed& out) {
  const ViewTraffic nothing;
  auto known = own.views.begin();
  for (const ViewTraffic& each : all.views) {
    while (known != own.views.end() && comes_before(*known, each)) ++known;
    const bool here = known != own.views.end() && is_same(*known, each);
    add_missed(each, here ? *known : nothing, out);
  }
}

}  // namespace

std::size_t bytes_of(const Traffic& traffic) {
  std::size_t bytes = kTrafficBytes + bytes_of(traffic.forgotten);
  for (const ViewTraffic& each : traffic.views) bytes += bytes_of(each);
  return bytes;
}

void shrink(Traffic& traffic, std::size_t bytes_max) {
  std::size_t bytes = bytes_of(traffic);
  if (bytes > bytes_max && !traffic.forgotten.empty()) {
    give_up_names(traffic.forgotten);
    bytes = bytes_of(traffic);
  }
  for (ViewTraffic& each : traffic.views) {
    if (bytes <= bytes_max) return;
    bytes -= bytes_of(each);
    if (!each.every_name) give_up_names(each);
    bytes += bytes_of(each);
  }
  while (bytes_of(traffic) > bytes_max && !traffic.views.empty()) forget_oldest(traffic);
}

Missed meet(std::vector<Traffic> parts, std::size_t own, Traffic& all) {
  align(parts);
  all = {};
  all.domain = parts[own].domain;
  Missed out;
  for (const Traffic& part : parts) {
    join(all, part);
    add_missed(part.forgotten, parts[own].forgotten, out);
  }
  add_missed(all, parts[own], out);
  bound(all);
  return out;
}

// ---- TrafficLog ----

void TrafficLog::begin(const ViewId& view) {
  if (PEAL_MUTANT(gm13_traffic_not_carried)) known_.views.clear();
  Traffic last;
  end({}, all_, last.views);
  for (auto& [sender, record] : of_senders_) end(sender, record, last.views);
  if (!last.views.empty()) {
    join(known_, last);
    bound(known_);
  }
  view_ = view;
  all_ = {};
  of_senders_.clear();
  entries_ = 0;
  ++generation_;
}

/// The view of a record has ended: adds the record to `to`, if it has messages.
void TrafficLog::end(const MemberId& sender, Current& record, std::vector<ViewTraffic>& to) const {
  if (record.upto == Place{} && record.late_last == Place{}) return;
  ViewTraffic ended;
  ended.view = view_;
  ended.sender = sender;
  ended.upto = record.upto;
  ended.every_name = record.every_name;
  if (record.every_name) ended.late_digest = record.late_digest;
  for (const auto& [name, messages] : record.names) ended.names.push_back({name, messages});
  ended.late = std::move(record.late);
  std::sort(ended.late.begin(), ended.late.end());
  to.push_back(std::move(ended));
}

void TrafficLog::count(Current& record, std::string_view name, TrafficMark* mark) {
  auto at = record.names.find(name);
  if (at == record.names.end()) {
    if (!has_room()) return give_up_names(record);
    at = record.names.emplace(name, 0).first;
    ++entries_;
  }
  ++at->second;
  if (mark != nullptr) *mark = {generation_, &at->second, known_.domain};
}

void TrafficLog::note_late(std::string_view name, const Place& place) {
  if (PEAL_MUTANT(gm17_late_not_known)) return;
  if (all_.late_last != place) all_.late_digest = chained(all_.late_digest, place);
  all_.late_last = place;
  if (!all_.every_name && !has_room()) give_up_names(all_);
  if (all_.every_name) return;
  all_.late.push_back({place, std::string(name)});
  ++entries_;
}

void TrafficLog::note_of(const MemberId& sender, std::uint64_t number, std::string_view name) {
  Current& record = of_senders_[sender];
  record.upto = {number, 0};
  if (!record.every_name) count(record, name, nullptr);
}

void TrafficLog::give_up_names(Current& record) {
  PEAL_PROBE("group.every_name");
  entries_ -= record.names.size() + record.late.size();
  record.every_name = true;
  record.names.clear();
  record.late.clear();
  ++generation_;
}

void TrafficLog::keep(const ViewId& one, const ViewId& other) {
  std::erase_if(known_.views, [&](const ViewTraffic& each) {
    if (each.view == one || each.view == other) return false;
    if (!PEAL_MUTANT(gm21_forgotten_not_told)) forget(known_.forgotten, each);
    return true;
  });
  bound(known_);
}

}  // namespace peal::group
