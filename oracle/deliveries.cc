// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"

// Deliveries: E3, E6 and E7, as far as they show at once.

namespace peal::oracle {

void Core::deliver(Index member, const Event& event) {
  Figures& figures = report_.figures;
  ++figures.deliveries;
  if (event.transitional) ++figures.transitional_deliveries;
  if (is_safe(event.service)) ++figures.safe_deliveries;
  if (!alive(member, event)) return;
  const Index message = history_.message(event);
  if (!delivery_belongs(member, message, event)) return;
  Process& process = history_.processes[member];
  Span& span = history_.spans[process.span];
  check_same_message(member, message, event);
  check_told_early(member, message, event);
  check_position(member, span, message, event);
  check_fifo(member, span, message, event);
  check_causality(member, span, message, event);
  append(span, message, event);
  process.set_delivered(message);
}

// E3: the message exists, in the view that this member is in, and was not delivered here before.
bool Core::delivery_belongs(Index member, Index message, const Event& event) {
  const Process& process = history_.processes[member];
  if (process.view == kNone || process.view_id != event.view ||
      process.transitional != event.transitional) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in " +
             (event.transitional ? "the transitional view after " : "view ") +
             view_text(history_.view(event.view)) + " while it is " + where_text(process);
    });
    return false;
  }
  if (options_.quorum && !check_own(member, message, event)) return false;
  if (!history_.messages[message].originated && !accept_unwitnessed(message, event) &&
      !(options_.quorum && accept_voted(message, event))) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(process.view) + ", and nobody originated it before";
    });
    return false;
  }
  const MessageRecord& record = history_.messages[message];
  if (record.view != process.view) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(process.view) + ", but it was originated in view " + view_text(record.view);
    });
    return false;
  }
  if (process.has_delivered(message)) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " twice in view " +
             view_text(process.view);
    });
    return false;
  }
  return true;
}

// The end of its sender's events is missing: what others deliver shows that it was originated.
bool Core::accept_unwitnessed(Index message, const Event& event) {
  MessageRecord& record = history_.messages[message];
  const Process& sender = history_.processes[record.sender];
  if (!unwitnessed_ok_ || sender.stage == Stage::left) return false;
  if (record.number != 0 && record.number <= sender.last_originated) return false;
  const Index in = history_.view(event.view);
  const View& view = history_.views[in];
  if (history_.slot_of(view, record.sender) >= view.members.size()) return false;
  stand_for_origination(message, event);
  return true;
}

void Core::stand_for_origination(Index message, const Event& event) {
  MessageRecord& record = history_.messages[message];
  const Index in = history_.view(event.view);
  ++report_.figures.unwitnessed;
  record.witnessed = false;
  if (!record.submitted) record.service = event.service;
  if (!record.has_hash) {
    record.hash = event.hash;
    record.has_hash = true;
  }
  record.view = in;
  place(message, history_.views[in], event);
}

void Core::check_same_message(Index member, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  if (record.service != event.service) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) +
             " with another service than its sender asked for";
    });
  }
  if (record.has_hash && record.hash != event.hash) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) +
             " with other bytes than its sender gave";
    });
  }
  if (history_.processes[record.sender].id != event.message.sender) {
    violate(Property::e7_total_order, member, event.at_ns, [&] {
      return name(member) + " delivers another unit at " + position(event.seq, event.index) +
             " of view " + view_text(record.view) + " than " + message_text(message);
    });
  }
  if (record.seq != event.seq || record.index != event.index) {
    violate(Property::e7_total_order, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " at " +
             position(event.seq, event.index) + " of view " + view_text(record.view) +
             ", but it was originated at " + position(record.seq, record.index);
    });
  }
}

// E7: positions grow, and before a transitional view there is no hole.
void Core::check_position(Index member, Span& span, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  if (record.seq < span.last_seq ||
      (record.seq == span.last_seq && record.index <= span.last_index &&
       history_.delivery_count(span) != 0)) {
    violate(Property::e7_total_order, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " at " +
             position(record.seq, record.index) + " of view " + view_text(span.view) +
             " after position " + position(span.last_seq, span.last_index);
    });
    span.hole_reported = true;
    return;
  }
  span.last_seq = record.seq;
  span.last_index = record.index;
  if (event.transitional || span.hole_reported) return;
  const View& view = history_.views[span.view];
  const std::uint32_t count = span.regular_count();
  const bool counted = options_.layer == trace::Layer::unit && !options_.sparse;
  const bool unit_hole = counted && record.seq != Seq{count} + 1;
  if (!unit_hole && (record.ordinal == count || !view.sorted)) return;
  span.hole_reported = true;
  violate(Property::e7_total_order, member, event.at_ns, [&] {
    const bool known = view.sorted && record.ordinal > count;
    return name(member) + " delivers " + message_text(message) + " at " +
           position(record.seq, record.index) + " of view " + view_text(span.view) + " without " +
           (known ? message_text(view.order[count].message) + " at " +
                        position(view.order[count].seq, view.order[count].index)
                  : "position " + std::to_string(count + 1)) +
           ", which comes before";
  });
}

// E6, first half: all earlier messages of the same sender in this view are here.
void Core::check_fifo(Index member, Span& span, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  Process& process = history_.processes[member];
  if (record.sender >= process.last_number.size()) {
    process.last_number.resize(history_.processes.size(), 0);
  }
  std::uint64_t& last = process.last_number[record.sender];
  if (record.number != 0 && record.number <= last) {
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " after number " +
             std::to_string(last) + " of the same sender";
    });
  }
  last = std::max(last, record.number);

  if (record.slot == kNone) return;
  if (record.slot >= span.heard.size()) span.heard.resize(record.slot + 1, 0);
  std::uint32_t& heard = span.heard[record.slot];
  if (record.nth > heard) {
    const Index sender_span = history_.views[span.view].spans[record.slot];
    const Index skipped = history_.spans[sender_span].sent[heard];
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(span.view) + " without " + message_text(skipped) +
             ", which the same sender originated before";
    });
  }
  heard = std::max(heard, record.nth + 1);
}

// E6, second half: all that the sender had delivered in this view before it originated is here. As
// a rule sender and receiver follow the same log, and comparing two lengths is enough.
void Core::check_causality(Index member, Span& span, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  if (record.known == 0 || record.sender == member || record.slot == kNone) return;
  const View& view = history_.views[span.view];
  const Span& sender = history_.spans[view.spans[record.slot]];
  if (record.known <= span.common && sender.apart.empty()) return;
  const std::uint32_t known = std::min(record.known, sender.common);
  const Process& process = history_.processes[member];
  span.verified = std::max(span.verified, span.common);
  while (span.verified < known) {
    const Index before = view.log[span.verified++];
    if (process.has_delivered(before) || before == message) continue;
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(span.view) + " without " + message_text(before) + ", which " +
             name(record.sender) + " had delivered before it originated the message";
    });
    span.verified = known;
  }
  if (record.known > known) check_causality_apart(member, span, message, event);
}

void Core::check_causality_apart(Index member, Span& span, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  const Index sender_span = history_.views[span.view].spans[record.slot];
  const Span& sender = history_.spans[sender_span];
  auto mark = std::find_if(span.verified_apart.begin(), span.verified_apart.end(),
                           [&](const auto& entry) { return entry.first == sender_span; });
  if (mark == span.verified_apart.end()) {
    mark = span.verified_apart.insert(mark, {sender_span, 0});
  }
  const Process& process = history_.processes[member];
  const std::uint32_t known = record.known - sender.common;
  while (mark->second < known) {
    const Index before = sender.apart[mark->second++];
    if (process.has_delivered(before) || before == message) continue;
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(span.view) + " without " + message_text(before) + ", which " +
             name(record.sender) + " had delivered before it originated the message";
    });
    mark->second = known;
  }
}

// E8, first half: whatever is delivered as safe before a transitional view was stable at all
// members, so they all installed the view.
void Core::check_installed(const Span& span, Index message, const Event& event) {
  View& view = history_.views[span.view];
  if (!options_.live_order || view.stable_reported) return;
  view.stable_reported = true;
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    if (view.spans[slot] != kNone) continue;
    violate(Property::e8_safe, span.member, event.at_ns, [&] {
      return name(span.member) + " delivers " + message_text(message) + " as safe in view " +
             view_text(span.view) + " before " + name(view.members[slot]) + " installed that view";
    });
  }
}

void Core::append(Span& span, Index message, const Event& event) {
  if (event.transitional) {
    span.tail.push_back(message);
    return;
  }
  View& view = history_.views[span.view];
  if (is_safe(history_.messages[message].service)) {
    if (view.stable_message == kNone) view.stable_message = message;
    if (view.missing != 0 && !options_.quorum) check_installed(span, message, event);
  }
  if (span.apart.empty()) {
    if (span.common == view.log.size()) view.log.push_back(message);
    if (view.log[span.common] == message) {
      ++span.common;
      return;
    }
  }
  span.apart.push_back(message);
}

}  // namespace peal::oracle
