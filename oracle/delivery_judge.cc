// SPDX-License-Identifier: Apache-2.0
#include "oracle/delivery_judge.h"

#include <algorithm>

namespace peal::oracle {

void DeliveryJudge::deliver(Index member, const trace::Event& event) {
  Figures& figures = v_.report.figures;
  ++figures.deliveries;
  if (event.transitional) ++figures.transitional_deliveries;
  if (is_safe(event.service)) ++figures.safe_deliveries;
  if (!v_.alive(member, event)) return;
  const Index message = v_.history.message(event);
  if (!delivery_belongs(member, message, event)) return;
  Process& process = v_.history.processes[member];
  Span& span = v_.history.spans[process.span];
  check_same_message(member, message, event);
  early_.check_delivered(member, message, event);
  if (v_.options.companies) {
    check_place_in_company(member, span, message, event);
  } else {
    check_position(member, span, message, event);
  }
  check_fifo(member, span, message, event);
  check_causality(member, span, message, event);
  append(span, message, event);
  process.set_delivered(message);
}

// E3: the message was originated in this member's view, and this member has not delivered it
// before. Returns false after a violation.
bool DeliveryJudge::delivery_belongs(Index member, Index message, const trace::Event& event) {
  const Process& process = v_.history.processes[member];
  if (process.view == kNone || process.view_id != event.view ||
      process.transitional != event.transitional) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " in " +
             (event.transitional ? "the transitional view after " : "view ") +
             v_.view_text(v_.history.view(event.view)) + " while it is " + v_.where_text(process);
    });
    return false;
  }
  const bool late = v_.options.quorum || v_.options.companies;
  if (late && !check_own(member, message, event)) return false;
  if (!v_.history.messages[message].originated && !accept_unwitnessed(message, event) &&
      !(late && accept_voted(message, event))) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " in view " +
             v_.view_text(process.view) + ", and nobody originated it before";
    });
    return false;
  }
  const MessageRecord& record = v_.history.messages[message];
  if (record.view != process.view) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " in view " +
             v_.view_text(process.view) + ", but it was originated in view " +
             v_.view_text(record.view);
    });
    return false;
  }
  if (process.has_delivered(message)) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " twice in view " +
             v_.view_text(process.view);
    });
    return false;
  }
  return true;
}

// If the sender's last events may be missing, a delivery counts as the message's origination.
// Returns false if the origination cannot be among the missing events.
bool DeliveryJudge::accept_unwitnessed(Index message, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  const Process& sender = v_.history.processes[record.sender];
  if (!unwitnessed_ok_ || sender.stage == Stage::left) return false;
  if (record.number != 0 && record.number <= sender.last_originated) return false;
  const Index in = v_.history.view(event.view);
  const View& view = v_.history.views[in];
  const bool in_view = v_.history.slot_of(view, record.sender) < view.members.size();
  if (!in_view && !v_.options.genuine) return false;
  stand_for_origination(message, event);
  return true;
}

void DeliveryJudge::stand_for_origination(Index message, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  const Index in = v_.history.view(event.view);
  ++v_.report.figures.unwitnessed;
  record.witnessed = false;
  if (!record.submitted) record.service = event.service;
  if (!record.has_hash) {
    record.hash = event.hash;
    record.has_hash = true;
  }
  record.view = in;
  origins_.place(message, v_.history.views[in], event);
}

void DeliveryJudge::check_same_message(Index member, Index message, const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  if (record.service != event.service) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) +
             " with another service than its sender asked for";
    });
  }
  if (record.has_hash && record.hash != event.hash) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) +
             " with other bytes than its sender gave";
    });
  }
  if (v_.history.processes[record.sender].id != event.message.sender) {
    v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
      return v_.name(member) + " delivers another unit at " + v_.position(event.seq, event.index) +
             " of view " + v_.view_text(record.view) + " than " + v_.message_text(message);
    });
  }
  const bool same_place = record.seq == event.seq && record.index == event.index;
  if (!same_place && !v_.options.companies) {
    v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " at " +
             v_.position(event.seq, event.index) + " of view " + v_.view_text(record.view) +
             ", but it was originated at " + v_.position(record.seq, record.index);
    });
  }
}

// E7: positions grow, and there is no hole before the transitional view.
void DeliveryJudge::check_position(Index member, Span& span, Index message,
                                   const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  if (record.seq < span.last_seq ||
      (record.seq == span.last_seq && record.index <= span.last_index &&
       v_.history.delivery_count(span) != 0)) {
    report_descent(member, span, {record.seq, record.index, message}, event);
    span.hole_reported = true;
    return;
  }
  span.last_seq = record.seq;
  span.last_index = record.index;
  if (event.transitional || span.hole_reported) return;
  const View& view = v_.history.views[span.view];
  const std::uint32_t count = span.regular_count();
  const bool counted = v_.options.layer == trace::Layer::unit && !v_.options.sparse;
  const bool unit_hole = counted && record.seq != Seq{count} + 1;
  if (!unit_hole && (record.ordinal == count || !view.sorted)) return;
  span.hole_reported = true;
  v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
    const bool known = view.sorted && record.ordinal > count;
    return v_.name(member) + " delivers " + v_.message_text(message) + " at " +
           v_.position(record.seq, record.index) + " of view " + v_.view_text(span.view) +
           " without " +
           (known ? v_.message_text(view.order[count].message) + " at " +
                        v_.position(view.order[count].seq, view.order[count].index)
                  : "position " + std::to_string(count + 1)) +
           ", which comes before";
  });
}

// E7, with Options::companies: positions ascend at each member, from 1 on, and a sender delivers
// its message where it originated the message. Positions count units, so units skip no position.
// CompanyJudge compares the members of a company.
void DeliveryJudge::check_place_in_company(Index member, Span& span, Index message,
                                           const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  const Place place{event.seq, event.index, message};
  const Place known = v_.history.place_in(span, message);
  if (record.sender == member && place != known) {
    v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
      return v_.name(member) + " delivers its own " + v_.message_text(message) + " at " +
             v_.position(place.seq, place.index) + ", but originated it at " +
             v_.position(known.seq, known.index);
    });
  }
  if (place != known) span.elsewhere[message] = place;
  origins_.check_has_place(member, message, event);
  if (!has_place(record.service)) return;
  if (place.seq < span.last_seq || (place.seq == span.last_seq && place.index <= span.last_index)) {
    return report_descent(member, span, place, event);
  }
  const bool counted = v_.options.layer == trace::Layer::unit && !v_.options.sparse;
  if (counted && place.seq != span.last_seq + 1) {
    v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " at " +
             v_.position(place.seq, place.index) + " of view " + v_.view_text(span.view) +
             " directly after position " + std::to_string(span.last_seq);
    });
  }
  span.last_seq = place.seq;
  span.last_index = place.index;
  note_set(member, span, event);
}

// activation: the numbers of sets ascend. CompanyJudge compares the sets.
void DeliveryJudge::note_set(Index member, Span& span, const trace::Event& event) {
  if (event.set == 0) return;  // the history does not name sets
  if (!span.sets.empty() && span.sets.back().number == event.set) {
    ++span.sets.back().messages;
    return;
  }
  if (!span.sets.empty() && span.sets.back().number > event.set) {
    v_.violate(Property::activation, member, event.at_ns, [&] {
      return v_.name(member) + " delivers a message of set " + std::to_string(event.set) +
             " of view " + v_.view_text(span.view) + " after one of set " +
             std::to_string(span.sets.back().number);
    });
  }
  span.sets.push_back({event.set, 1});
}

void DeliveryJudge::report_descent(Index member, const Span& span, const Place& place,
                                   const trace::Event& event) {
  v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
    return v_.name(member) + " delivers " + v_.message_text(place.message) + " at " +
           v_.position(place.seq, place.index) + " of view " + v_.view_text(span.view) +
           " after position " + v_.position(span.last_seq, span.last_index);
  });
}

// E6, first half: this member has delivered all earlier messages of the sender in this view.
void DeliveryJudge::check_fifo(Index member, Span& span, Index message, const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  Process& process = v_.history.processes[member];
  if (record.sender >= process.last_number.size()) {
    process.last_number.resize(v_.history.processes.size(), 0);
  }
  std::uint64_t& last = process.last_number[record.sender];
  if (record.number != 0 && record.number <= last) {
    v_.violate(Property::e6_causality, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " after number " +
             std::to_string(last) + " of the same sender";
    });
  }
  last = std::max(last, record.number);

  if (record.slot == kNone) return;
  if (record.slot >= span.heard.size()) span.heard.resize(record.slot + 1, 0);
  std::uint32_t& heard = span.heard[record.slot];
  if (record.nth > heard) {
    const Index sender_span = v_.history.views[span.view].spans[record.slot];
    const Index skipped = v_.history.spans[sender_span].sent[heard];
    v_.violate(Property::e6_causality, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " in view " +
             v_.view_text(span.view) + " without " + v_.message_text(skipped) +
             ", which the same sender originated before";
    });
  }
  heard = std::max(heard, record.nth + 1);
}

// E6, second half: this member has delivered every message that the sender had delivered in this
// view before the origination (with Options::companies: before the submission, if that was in this
// view). Usually both members delivered prefixes of View::log, and comparing the two lengths is
// enough.
void DeliveryJudge::check_causality(Index member, Span& span, Index message,
                                    const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  if (record.known == 0 || record.sender == member || record.slot == kNone) return;
  if (v_.options.companies && record.known_in != record.view) return;
  const View& view = v_.history.views[span.view];
  const Span& sender = v_.history.spans[view.spans[record.slot]];
  if (record.known <= span.common && sender.apart.empty()) return;
  const std::uint32_t known = std::min(record.known, sender.common);
  const Process& process = v_.history.processes[member];
  span.verified = std::max(span.verified, span.common);
  while (span.verified < known) {
    const Index before = view.log[span.verified++];
    if (process.has_delivered(before) || before == message) continue;
    report_missing_cause(member, message, before, event);
    span.verified = known;
  }
  if (record.known > known) check_causality_apart(member, span, message, event);
}

void DeliveryJudge::check_causality_apart(Index member, Span& span, Index message,
                                          const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  const Index sender_span = v_.history.views[span.view].spans[record.slot];
  const Span& sender = v_.history.spans[sender_span];
  auto mark = std::find_if(span.verified_apart.begin(), span.verified_apart.end(),
                           [&](const auto& entry) { return entry.first == sender_span; });
  if (mark == span.verified_apart.end()) {
    mark = span.verified_apart.insert(mark, {sender_span, 0});
  }
  const Process& process = v_.history.processes[member];
  const std::uint32_t known = record.known - sender.common;
  while (mark->second < known) {
    const Index before = sender.apart[mark->second++];
    if (process.has_delivered(before) || before == message) continue;
    report_missing_cause(member, message, before, event);
    mark->second = known;
  }
}

void DeliveryJudge::report_missing_cause(Index member, Index message, Index cause,
                                         const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  v_.violate(Property::e6_causality, member, event.at_ns, [&] {
    return v_.name(member) + " delivers " + v_.message_text(message) + " in view " +
           v_.view_text(record.view) + " without " + v_.message_text(cause) + ", which " +
           v_.name(record.sender) + " had delivered before it " +
           (v_.options.companies ? "submitted" : "originated") + " the message";
  });
}

// E8, first half: if a message is delivered as safe before the transitional view, all members of
// the view have installed the view.
void DeliveryJudge::check_installed(const Span& span, Index message, const trace::Event& event) {
  View& view = v_.history.views[span.view];
  if (!v_.options.live_order || view.stable_reported) return;
  view.stable_reported = true;
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    if (view.spans[slot] != kNone) continue;
    v_.violate(Property::e8_safe, span.member, event.at_ns, [&] {
      return v_.name(span.member) + " delivers " + v_.message_text(message) + " as safe in view " +
             v_.view_text(span.view) + " before " + v_.name(view.members[slot]) +
             " installed that view";
    });
  }
}

void DeliveryJudge::append(Span& span, Index message, const trace::Event& event) {
  if (event.transitional) {
    span.tail.push_back(message);
    return;
  }
  View& view = v_.history.views[span.view];
  if (is_safe(v_.history.messages[message].service)) {
    if (view.stable_message == kNone) view.stable_message = message;
    if (view.missing != 0 && !v_.options.quorum) check_installed(span, message, event);
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

// E3: a sender originates its own message before it delivers the message, even if other members
// delivered the message before. Returns false after a violation.
bool DeliveryJudge::check_own(Index member, Index message, const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  if (record.sender != member || (record.originated && record.witnessed)) return true;
  v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
    return v_.name(member) + " delivers its own " + v_.message_text(message) +
           " and did not originate it before";
  });
  return false;
}

// With Options::quorum or Options::companies, a delivery counts as the origination of a submitted
// message (or of any unit) if the sender is a member of the view and has installed it. With
// Options::genuine, the sender may be anywhere. Returns false if the delivery does not count.
bool DeliveryJudge::accept_voted(Index message, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  if (v_.options.layer == trace::Layer::order && !record.submitted) return false;
  if (v_.options.genuine) return stand_for_origination(message, event), true;
  const Index in = v_.history.view(event.view);
  View& view = v_.history.views[in];
  const Index slot = v_.history.slot_of(view, record.sender);
  if (slot >= view.members.size()) return false;
  const Index at = view.spans[slot];
  // Without a common clock, the sender's view event may come later, or be missing.
  if (at == kNone && v_.options.live_order) return false;
  origins_.check_order(message, event);
  stand_for_origination(message, event);
  origins_.check_barrier(message, in, event);
  if (at == kNone) return true;
  std::vector<Index>& sent = v_.history.spans[at].sent;
  record.nth = static_cast<std::uint32_t>(sent.size());
  record.slot = slot;
  sent.push_back(message);
  return true;
}

}  // namespace peal::oracle
