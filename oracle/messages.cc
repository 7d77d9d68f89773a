// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"

// Submissions and originations: their share of E3, E6 and E7, and E9.

namespace peal::oracle {

void Core::submit(Index member, const Event& event) {
  ++report_.figures.submitted;
  if (!alive(member, event)) return;
  const Index message = history_.message(event);
  MessageRecord& record = history_.messages[message];
  if (record.sender != member) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " submits " + message_text(message) + ", which is not its own";
    });
    return;
  }
  if (record.submitted) {
    violate(Property::e3_integrity, member, event.at_ns,
            [&] { return name(member) + " submits " + message_text(message) + " twice"; });
    return;
  }
  record.submitted = true;
  if (record.originated) return;  // too late, and reported: others go by the origination
  record.service = event.service;
  record.hash = event.hash;
  record.has_hash = true;
  Process& process = history_.processes[member];
  process.last_submitted = std::max(process.last_submitted, record.number);
}

void Core::originate(Index member, const Event& event) {
  if (!alive(member, event)) return;
  const Index message = history_.message(event);
  const Index in = history_.view(event.view);
  MessageRecord& record = history_.messages[message];
  // A delivery may have named the unit first, and the wrong sender with it.
  if (record.number == 0 && !record.originated) record.sender = member;
  if (record.sender != member) {
    const bool same_place = record.number == 0 && record.originated;
    violate(same_place ? Property::e7_total_order : Property::e3_integrity, member, event.at_ns,
            [&] {
              return name(member) + " originates " + message_text(message) +
                     ", which is not its own, in view " + view_text(in);
            });
    return;
  }
  if (record.originated && !record.witnessed && options_.quorum) {
    return confirm(member, message, event);
  }
  if (record.originated) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + " in view " + view_text(in) +
             " at " + position(event.seq, event.index) + ", and did so before in view " +
             view_text(record.view) + " at " + position(record.seq, record.index);
    });
    return;
  }
  ++report_.figures.messages;
  const bool own_service = !record.submitted || record.service == event.service;
  if (options_.layer == trace::Layer::order && !record.submitted) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + ", which was not submitted";
    });
  } else if (!own_service) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) +
             " with another service than it was submitted with";
    });
  }
  originate_order(member, record, message, event);
  if (!record.submitted) record.service = event.service;
  if (options_.layer == trace::Layer::unit && !record.has_hash) {
    record.hash = event.hash;
    record.has_hash = true;
  }
  place(message, history_.views[in], event);
  record.view = in;

  Process& process = history_.processes[member];
  const bool may_originate = !process.transitional || options_.quorum;
  if (process.view != in || !may_originate) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + " in view " + view_text(in) +
             " while it is " + where_text(process);
    });
    return;
  }
  Span& span = history_.spans[process.span];
  record.known = span.regular_count();
  record.nth = static_cast<std::uint32_t>(span.sent.size());
  record.slot = span.slot;
  span.sent.push_back(message);
  check_barrier(message, in, event);
}

// A member's messages are originated in the order of their numbers, and none is left out.
bool Core::originate_order(Index member, const MessageRecord& record, Index message,
                           const Event& event) {
  Process& process = history_.processes[member];
  const std::uint64_t last = process.last_originated;
  process.last_originated = std::max(last, record.number);
  if (record.number == 0 || record.number == last + 1) return true;
  if (record.number <= last) {
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + " after its number " +
             std::to_string(last);
    });
    return false;
  }
  // Numbers between that were never submitted do not matter: they may be in nobody's hands.
  const std::vector<Index>& own = process.by_number;
  for (std::uint64_t number = last + 1; number < record.number && number <= own.size(); ++number) {
    const Index skipped = own[number - 1];
    if (skipped == kNone || !history_.messages[skipped].submitted) continue;
    violate(Property::e6_causality, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + " before " +
             message_text(skipped) + ", which it submitted earlier";
    });
    return false;
  }
  return true;
}

// Puts a message into its view's order.
void Core::place(Index message, View& view, const Event& event) {
  MessageRecord& record = history_.messages[message];
  record.originated = true;
  record.seq = event.seq;
  record.index = event.index;
  record.ordinal = static_cast<std::uint32_t>(view.order.size());
  if (!view.order.empty() && view.sorted) {
    const Place& last = view.order.back();
    const bool same = last.seq == event.seq && last.index == event.index;
    if (same) {
      violate(Property::e7_total_order, record.sender, event.at_ns, [&] {
        return message_text(message) + " and " + message_text(last.message) +
               " both have position " + position(event.seq, event.index) + " in view " +
               view_text(history_.view(event.view));
      });
    } else if (event.seq < last.seq || (event.seq == last.seq && event.index < last.index)) {
      view.sorted = false;
    }
  }
  view.order.push_back({event.seq, event.index, message});
}

// E9: nobody originates before everybody installed.
void Core::check_barrier(Index message, Index in, const Event& event) {
  if (options_.quorum) return;
  View& view = history_.views[in];
  if (view.barrier_message == kNone) view.barrier_message = message;
  if (!options_.live_order || view.missing == 0 || view.barrier_reported) return;
  view.barrier_reported = true;
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    if (view.spans[slot] != kNone) continue;
    violate(Property::e9_barrier, history_.messages[message].sender, event.at_ns, [&] {
      return message_text(message) + " is originated in view " + view_text(in) + " before " +
             name(view.members[slot]) + " installed that view";
    });
  }
}

}  // namespace peal::oracle
