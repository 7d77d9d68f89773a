// SPDX-License-Identifier: Apache-2.0
#include "oracle/history.h"

#include <algorithm>

#include "base/digest.h"

namespace peal::oracle {
namespace {

constexpr std::uint32_t kNodeMax = 65'535;
// Message numbers ascend, so they index a vector. A number that would leave a hole of this size in
// the vector is kept in a map.
constexpr std::uint64_t kHoleMax = 1'024;

std::uint64_t transition_key(Index old, Index next) { return (std::uint64_t{old} << 32U) | next; }

}  // namespace

std::size_t History::HashId::operator()(const MemberId& id) const {
  Digest digest;
  digest.add(id.node.value);
  digest.add(id.epoch);
  return digest.value();
}

std::size_t History::HashId::operator()(const ViewId& id) const {
  Digest digest;
  digest.add(id.number);
  digest.add(id.representative.node.value);
  digest.add(id.representative.epoch);
  return digest.value();
}

Index History::member(const MemberId& id) {
  const std::uint32_t node = id.node.value;
  if (node < newest_.size() && newest_[node].index != kNone && newest_[node].epoch == id.epoch) {
    return newest_[node].index;
  }
  const auto [known, fresh] = members_.try_emplace(id, static_cast<Index>(processes.size()));
  if (fresh) {
    processes.emplace_back();
    processes.back().id = id;
  }
  if (node <= kNodeMax) {
    if (node >= newest_.size()) newest_.resize(node + 1);
    newest_[node] = {id.epoch, known->second};
  }
  return known->second;
}

Index History::view(const ViewId& id) {
  const auto [known, fresh] = views_.try_emplace(id, static_cast<Index>(views.size()));
  if (fresh) {
    views.emplace_back();
    views.back().id = id;
  }
  return known->second;
}

Index History::find_transition(Index old, Index next) const {
  const auto known = transitions_.find(transition_key(old, next));
  return known == transitions_.end() ? kNone : known->second;
}

Index History::add_transition(Index old, Index next) {
  const auto index = static_cast<Index>(transitions.size());
  transitions_.emplace(transition_key(old, next), index);
  transitions.emplace_back();
  transitions.back().old = old;
  transitions.back().next = next;
  return index;
}

Index History::add_message(Index sender, std::uint64_t number) {
  const auto index = static_cast<Index>(messages.size());
  messages.emplace_back();
  messages.back().sender = sender;
  messages.back().number = number;
  return index;
}

Index History::message(const trace::Event& event) {
  const Index sender = member(event.message.sender);
  if (counts_units) return counted_unit(sender, event);
  const std::uint64_t number = event.message.number;
  if (number == 0) {
    // A unit without a number is identified by its position.
    const Index in = view(event.view);
    const auto [known, fresh] =
        views[in].unnumbered.try_emplace(event.seq, static_cast<Index>(messages.size()));
    return fresh ? add_message(sender, 0) : known->second;
  }
  Process& process = processes[sender];
  std::vector<Index>& dense = process.by_number;
  const std::uint64_t place = number - 1;
  if (place < dense.size() && dense[place] != kNone) return dense[place];
  if (!process.far_numbers.empty()) {
    const auto known = process.far_numbers.find(number);
    if (known != process.far_numbers.end()) return known->second;
  }
  const Index index = add_message(sender, number);
  if (place < dense.size() + kHoleMax) {
    if (place >= dense.size()) dense.resize(place + 1, kNone);
    dense[place] = index;
  } else {
    process.far_numbers.emplace(number, index);
  }
  return index;
}

Index History::counted_unit(Index sender, const trace::Event& event) {
  const Index at = member(event.node);
  const Index in = view(event.view);
  const Process& process = processes[at];
  std::uint32_t nth = 0;
  if (process.view == in) {
    const Span& span = spans[process.span];
    const auto taken = span.units_taken.find(sender);
    if (event.kind == trace::Kind::originate) {
      nth = span.units_placed;
    } else if (taken != span.units_taken.end()) {
      nth = taken->second;
    }
  }
  const std::uint64_t key = (std::uint64_t{sender} << 32U) | nth;
  const auto [known, fresh] =
      views[in].counted.try_emplace(key, static_cast<Index>(messages.size()));
  if (fresh) messages[add_message(sender, 0)].nth = nth;
  return known->second;
}

void History::count_unit(const trace::Event& event) {
  if (!counts_units) return;
  const Process& process = processes[member(event.node)];
  if (process.span == kNone || process.view_id != event.view) return;
  Span& span = spans[process.span];
  if (event.kind == trace::Kind::originate) {
    ++span.units_placed;
  } else {
    ++span.units_taken[member(event.message.sender)];
  }
}

Place History::place_in(const Span& span, Index message) const {
  const auto differs = span.elsewhere.find(message);
  if (differs != span.elsewhere.end()) return differs->second;
  return {messages[message].seq, messages[message].index, message};
}

Index History::slot_of(const View& view, Index member) const {
  const auto& members = view.members;
  const auto found = std::find(members.begin(), members.end(), member);
  if (found != members.end()) return static_cast<Index>(found - members.begin());
  const auto& others = view.strangers;
  const auto stranger = std::find(others.begin(), others.end(), member);
  if (stranger == others.end()) return kNone;
  return static_cast<Index>(members.size()) + static_cast<Index>(stranger - others.begin());
}

Index History::span_in(Index view, Index member) const {
  const Index slot = slot_of(views[view], member);
  return slot == kNone ? kNone : views[view].spans[slot];
}

void History::sort_order(View& view) {
  if (view.sorted) return;
  std::stable_sort(view.order.begin(), view.order.end(), [](const Place& a, const Place& b) {
    return a.seq != b.seq ? a.seq < b.seq : a.index < b.index;
  });
  for (std::uint32_t i = 0; i < view.order.size(); ++i) messages[view.order[i].message].ordinal = i;
}

}  // namespace peal::oracle
