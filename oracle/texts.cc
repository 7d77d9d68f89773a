// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"
#include "trace/json.h"

// How violations speak of members, views and messages: as the trace does.

namespace peal::oracle {
namespace {

const trace::Names& names_of(const Options& options) {
  static const trace::Names nobody;
  return options.names == nullptr ? nobody : *options.names;
}

}  // namespace

std::string Core::name(Index member) const {
  return trace::text_of(history_.processes[member].id, names_of(options_));
}

std::string Core::view_text(Index view) const {
  return trace::text_of(history_.views[view].id, names_of(options_));
}

std::string Core::message_text(Index message) const {
  const MessageRecord& record = history_.messages[message];
  if (record.number != 0) return name(record.sender) + ":" + std::to_string(record.number);
  return "the unit of " + name(record.sender) + " at " + position(record.seq, record.index);
}

std::string Core::position(Seq seq, std::uint32_t index) const {
  std::string text = std::to_string(seq);
  if (index != 0) text += "+" + std::to_string(index);
  return text;
}

std::string Core::transition_text(const Transition& transition) const {
  return "the transitional view " + view_text(transition.old) + ">" + view_text(transition.next);
}

std::string Core::members_text(const std::vector<Index>& members) const {
  std::string text = "{";
  for (const Index member : members) {
    if (text.size() > 1) text += ", ";
    text += name(member);
  }
  return text + "}";
}

std::string Core::where_text(const Process& process) const {
  if (process.view == kNone) return "in no view";
  if (!process.transitional) return "in view " + view_text(process.view);
  return "in the transitional view after " + view_text(process.view);
}

// The first place where two spans differ.
std::string Core::difference(const Span& a, const Span& b, bool tails) const {
  const std::uint32_t count_a =
      tails ? static_cast<std::uint32_t>(a.tail.size()) : a.regular_count();
  const std::uint32_t count_b =
      tails ? static_cast<std::uint32_t>(b.tail.size()) : b.regular_count();
  const auto item = [&](const Span& span, std::uint32_t k) {
    return tails ? span.tail[k] : history_.regular(span, k);
  };
  std::uint32_t k = 0;
  while (k < count_a && k < count_b && item(a, k) == item(b, k)) ++k;
  const auto side = [&](const Span& span, std::uint32_t count) {
    if (k >= count) return name(span.member) + " nothing more";
    const MessageRecord& record = history_.messages[item(span, k)];
    return name(span.member) + " " + message_text(item(span, k)) + " at " +
           position(record.seq, record.index);
  };
  return "after the first " + std::to_string(k) + ", " + side(a, count_a) + " and " +
         side(b, count_b);
}

}  // namespace peal::oracle
