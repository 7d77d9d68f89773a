// SPDX-License-Identifier: Apache-2.0
#include "oracle/origin_judge.h"

#include <algorithm>

namespace peal::oracle {

void OriginJudge::submit(Index member, const trace::Event& event) {
  ++v_.report.figures.submitted;
  if (!v_.alive(member, event)) return;
  const Index message = v_.history.message(event);
  MessageRecord& record = v_.history.messages[message];
  if (record.sender != member) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " submits " + v_.message_text(message) + ", which is not its own";
    });
    return;
  }
  if (record.submitted) {
    v_.violate(Property::e3_integrity, member, event.at_ns,
               [&] { return v_.name(member) + " submits " + v_.message_text(message) + " twice"; });
    return;
  }
  record.submitted = true;
  if (record.originated) return;  // too late: the origination has set service and hash
  record.service = event.service;
  record.hash = event.hash;
  record.has_hash = true;
  Process& process = v_.history.processes[member];
  process.last_submitted = std::max(process.last_submitted, record.number);
  if (!v_.options.companies || process.view == kNone) return;
  // A sender originates a message right before it delivers it. Others may have delivered the
  // message long before. So its causes are the messages that the sender had delivered at the
  // submission.
  record.known_in = process.view;
  record.known = v_.history.spans[process.span].regular_count();
}

// E3: the message was submitted, with this service.
void OriginJudge::check_submitted(Index member, Index message, const trace::Event& event) {
  const MessageRecord& record = v_.history.messages[message];
  const bool own_service = !record.submitted || record.service == event.service;
  if (v_.options.layer == trace::Layer::order && !record.submitted) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) +
             ", which was not submitted";
    });
  } else if (!own_service) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) +
             " with another service than it was submitted with";
    });
  }
}

void OriginJudge::originate(Index member, const trace::Event& event) {
  if (!v_.alive(member, event)) return;
  const Index message = v_.history.message(event);
  const Index in = v_.history.view(event.view);
  MessageRecord& record = v_.history.messages[message];
  // An earlier delivery of the unit may have named a wrong sender.
  const bool by_place = record.number == 0 && !v_.history.counts_units;
  if (by_place && !record.originated) record.sender = member;
  if (record.sender != member) {
    const bool same_place = by_place && record.originated;
    v_.violate(same_place ? Property::e7_total_order : Property::e3_integrity, member, event.at_ns,
               [&] {
                 return v_.name(member) + " originates " + v_.message_text(message) +
                        ", which is not its own, in view " + v_.view_text(in);
               });
    return;
  }
  const bool late = v_.options.quorum || v_.options.companies;
  if (record.originated && !record.witnessed && late) {
    return confirm(member, message, event);
  }
  if (record.originated) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) + " in view " +
             v_.view_text(in) + " at " + v_.position(event.seq, event.index) +
             ", and did so before in view " + v_.view_text(record.view) + " at " +
             v_.position(record.seq, record.index);
    });
    return;
  }
  ++v_.report.figures.messages;
  check_submitted(member, message, event);
  check_order(message, event);
  check_own_order(message, event);
  if (!record.submitted) record.service = event.service;
  if (v_.options.layer == trace::Layer::unit && !record.has_hash) {
    record.hash = event.hash;
    record.has_hash = true;
  }
  place(message, v_.history.views[in], event);
  record.view = in;
  check_has_place(member, message, event);

  Process& process = v_.history.processes[member];
  const bool may_originate = !process.transitional || late;
  if (process.view != in || !may_originate) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) + " in view " +
             v_.view_text(in) + " while it is " + v_.where_text(process);
    });
    return;
  }
  if (v_.options.genuine) return;  // AcrossJudge: causes, and E4
  Span& span = v_.history.spans[process.span];
  if (!v_.options.companies) record.known = span.regular_count();
  record.nth = static_cast<std::uint32_t>(span.sent.size());
  record.slot = span.slot;
  span.sent.push_back(message);
  check_barrier(message, in, event);
}

// E6: a member's messages are originated in the order of their numbers, and no submitted message
// is skipped. An origination is the sender's event or a delivery that stands for it.
void OriginJudge::check_order(Index message, const trace::Event& event) {
  // A member that came late may be the first to deliver a message, before the others deliver the
  // messages that it lacks.
  if (v_.options.genuine) return;
  Process& sender = v_.history.processes[v_.history.messages[message].sender];
  check_sequence(message, event, sender.last_originated, Skips::messages_with_delivery);
}

// E6, with Options::companies: as check_order(), but only the sender's own originations count, and
// not the deliveries of others.
void OriginJudge::check_own_order(Index message, const trace::Event& event) {
  if (!v_.options.companies) return;
  Process& sender = v_.history.processes[v_.history.messages[message].sender];
  check_sequence(message, event, sender.last_placed, Skips::no_message);
}

// Compares the message's number with `last`, the highest number so far, and updates `last`.
void OriginJudge::check_sequence(Index message, const trace::Event& event, std::uint64_t& last,
                                 Skips skips) {
  const MessageRecord& record = v_.history.messages[message];
  const std::uint64_t before = last;
  last = std::max(last, record.number);
  if (record.number == 0 || record.number == before + 1) return;
  if (record.number <= before) {
    v_.violate(Property::e6_causality, record.sender, event.at_ns, [&] {
      return v_.name(record.sender) + " originates " + v_.message_text(message) +
             " after its number " + std::to_string(before);
    });
    return;
  }
  // Numbers without a known submission may be skipped.
  const std::vector<Index>& own = v_.history.processes[record.sender].by_number;
  for (auto number = before + 1; number < record.number && number <= own.size(); ++number) {
    const Index skipped = own[number - 1];
    if (skipped == kNone || !v_.history.messages[skipped].submitted) continue;
    // It may be known from a delivery that DeliveryJudge::accept_unwitnessed() accepted.
    const bool known = v_.history.messages[skipped].originated;
    if (known && skips == Skips::messages_with_delivery) continue;
    v_.violate(Property::e6_causality, record.sender, event.at_ns, [&] {
      return v_.name(record.sender) + " originates " + v_.message_text(message) + " before " +
             v_.message_text(skipped) + ", which it submitted earlier";
    });
    return;
  }
}

// Adds `message` to View::order of `view`. E7: a position has one message. With Options::companies:
// only notes the first known place.
void OriginJudge::place(Index message, View& view, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  record.originated = true;
  record.seq = event.seq;
  record.index = event.index;
  if (v_.options.companies) return;  // other companies may give other places: CompanyJudge
  record.ordinal = static_cast<std::uint32_t>(view.order.size());
  if (!view.order.empty() && view.sorted) {
    const Place& last = view.order.back();
    const bool same = last.seq == event.seq && last.index == event.index;
    if (same) {
      v_.violate(Property::e7_total_order, record.sender, event.at_ns, [&] {
        return v_.message_text(message) + " and " + v_.message_text(last.message) +
               " both have position " + v_.position(event.seq, event.index) + " in view " +
               v_.view_text(v_.history.view(event.view));
      });
    } else if (event.seq < last.seq || (event.seq == last.seq && event.index < last.index)) {
      view.sorted = false;
    }
  }
  view.order.push_back({event.seq, event.index, message});
}

// E9: no member originates before all members have installed the view.
void OriginJudge::check_barrier(Index message, Index in, const trace::Event& event) {
  if (v_.options.quorum) return;
  View& view = v_.history.views[in];
  if (view.barrier_message == kNone) view.barrier_message = message;
  if (!v_.options.live_order || view.missing == 0 || view.barrier_reported) return;
  view.barrier_reported = true;
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    if (view.spans[slot] != kNone) continue;
    v_.violate(Property::e9_barrier, v_.history.messages[message].sender, event.at_ns, [&] {
      return v_.message_text(message) + " is originated in view " + v_.view_text(in) + " before " +
             v_.name(view.members[slot]) + " installed that view";
    });
  }
}

// The sender learns the place of a message that other members have delivered before.
void OriginJudge::confirm(Index member, Index message, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  const Process& process = v_.history.processes[member];
  const Index in = v_.history.view(event.view);
  const bool elsewhere = record.view != in;
  const bool same_place = record.seq == event.seq && record.index == event.index;
  if (elsewhere || (!same_place && !v_.options.companies)) {
    v_.violate(elsewhere ? Property::e3_integrity : Property::e7_total_order, member, event.at_ns,
               [&] {
                 return v_.name(member) + " originates " + v_.message_text(message) + " in view " +
                        v_.view_text(in) + " at " + v_.position(event.seq, event.index) +
                        ", but others delivered it in view " + v_.view_text(record.view) + " at " +
                        v_.position(record.seq, record.index);
               });
    return;
  }
  if (process.view != in) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) + " in view " +
             v_.view_text(in) + " while it is " + v_.where_text(process);
    });
    return;
  }
  const bool same_bytes =
      v_.options.layer == trace::Layer::order || !record.has_hash || record.hash == event.hash;
  if (record.service != event.service || !same_bytes) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) +
             " with another service or other bytes than it was delivered with";
    });
  }
  check_own_order(message, event);
  record.witnessed = true;
  --v_.report.figures.unwitnessed;
  ++v_.report.figures.messages;
  Span& span = v_.history.spans[process.span];
  if (v_.options.companies) {
    check_has_place(member, message, event);
    if (!same_place) span.elsewhere[message] = {event.seq, event.index, message};
  } else if (record.slot != kNone) {
    record.known = span.regular_count();
  }
}

// E7, with Options::companies: fifo and causal messages have position 0, and all others have a
// place.
void OriginJudge::check_has_place(Index member, Index message, const trace::Event& event) {
  if (!v_.options.companies) return;
  const bool placed = has_place(v_.history.messages[message].service);
  if (placed == (event.seq != 0)) return;
  v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
    return v_.name(member) + (event.kind == trace::Kind::deliver ? " delivers " : " originates ") +
           v_.message_text(message) + " at " + v_.position(event.seq, event.index) + ", but " +
           (placed ? "positions begin with 1" : "a message of its service has no position");
  });
}

}  // namespace peal::oracle
