// SPDX-License-Identifier: Apache-2.0
#include "oracle/verdict.h"

#include <algorithm>

#include "trace/json.h"

namespace peal::oracle {
namespace {

const trace::Names& names_of(const Options& options) {
  static const trace::Names nobody;
  return options.names == nullptr ? nobody : *options.names;
}

}  // namespace

// E1: an incarnation that crashed or left has no further events. A start event is optional.
bool Verdict::alive(Index member, const trace::Event& event) {
  Process& process = history.processes[member];
  if (process.stage == Stage::named) process.stage = Stage::alive;
  if (process.stage == Stage::alive) return true;
  violate(Property::e1_view_sequence, member, event.at_ns, [&] {
    return name(member) + " acts after it " + (process.stage == Stage::left ? "left" : "crashed");
  });
  return false;
}

std::string Verdict::name(Index member) const {
  return trace::text_of(history.processes[member].id, names_of(options));
}

std::string Verdict::view_text(Index view) const {
  return trace::text_of(history.views[view].id, names_of(options));
}

std::string Verdict::message_text(Index message) const {
  const MessageRecord& record = history.messages[message];
  if (record.number != 0) return name(record.sender) + ":" + std::to_string(record.number);
  if (history.counts_units) {
    return "unit " + std::to_string(record.nth + 1) + " of " + name(record.sender);
  }
  return "the unit of " + name(record.sender) + " at " + position(record.seq, record.index);
}

std::string Verdict::position(Seq seq, std::uint32_t index) const {
  std::string text = std::to_string(seq);
  if (index != 0) text += "+" + std::to_string(index);
  return text;
}

std::string Verdict::transition_text(const Transition& transition) const {
  return "the transitional view " + view_text(transition.old) + ">" + view_text(transition.next);
}

std::string Verdict::members_text(const std::vector<Index>& members) const {
  std::string text = "{";
  for (const Index member : members) {
    if (text.size() > 1) text += ", ";
    text += name(member);
  }
  return text + "}";
}

std::string Verdict::where_text(const Process& process) const {
  if (process.view == kNone) return "in no view";
  if (!process.transitional) return "in view " + view_text(process.view);
  return "in the transitional view after " + view_text(process.view);
}

std::string Verdict::cycle_text(const std::vector<Step>& cycle) const {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
    text += message_text(cycle[i].message) + " before (at " + name(cycle[i].member) + ") ";
  }
  return text + (cycle.size() > kShown ? "…" : message_text(cycle.front().message));
}

// The first difference between the regular deliveries of two spans. With `tails`: between the
// transitional deliveries.
std::string Verdict::difference(const Span& a, const Span& b, bool tails) const {
  const std::uint32_t count_a =
      tails ? static_cast<std::uint32_t>(a.tail.size()) : a.regular_count();
  const std::uint32_t count_b =
      tails ? static_cast<std::uint32_t>(b.tail.size()) : b.regular_count();
  const auto item = [&](const Span& span, std::uint32_t k) {
    return tails ? span.tail[k] : history.regular(span, k);
  };
  std::uint32_t k = 0;
  while (k < count_a && k < count_b && item(a, k) == item(b, k)) ++k;
  const auto side = [&](const Span& span, std::uint32_t count) {
    if (k >= count) return name(span.member) + " nothing more";
    const MessageRecord& record = history.messages[item(span, k)];
    return name(span.member) + " " + message_text(item(span, k)) + " at " +
           position(record.seq, record.index);
  };
  return "after the first " + std::to_string(k) + ", " + side(a, count_a) + " and " +
         side(b, count_b);
}

void add_violations(Report& to, const Report& from, std::uint32_t most, const std::string& where) {
  to.violations_total += from.violations_total;
  for (std::size_t i = 0; i < kPropertyCount; ++i) to.violations_of[i] += from.violations_of[i];
  for (Violation violation : from.violations) {
    if (to.violations.size() >= most) break;
    violation.text = where + violation.text;
    to.violations.push_back(std::move(violation));
  }
}

}  // namespace peal::oracle
