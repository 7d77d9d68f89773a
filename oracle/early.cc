// SPDX-License-Identifier: Apache-2.0
#include "oracle/core.h"

// Optimistic delivery: what a member is told before it has its place. It may be wrong about
// places, and says so; what it tells was sent, comes once in a view, in the order of its sender,
// and before it is delivered.

namespace peal::oracle {

void Core::tell_early(Index member, const Event& event) {
  ++report_.figures.told_early;
  if (!alive(member, event)) return;
  const Index message = history_.message(event);
  Process& process = history_.processes[member];
  const auto wrong = [&](std::string_view what) {
    violate(Property::early, member, event.at_ns, [&] {
      return name(member) + " tells " + message_text(message) + " early" + std::string(what);
    });
  };
  if (!process.optimistic) return wrong(", and did not say at its start that it would");
  if (process.view == kNone || process.view_id != event.view || process.transitional) {
    violate(Property::early, member, event.at_ns, [&] {
      return name(member) + " tells " + message_text(message) + " early in view " +
             view_text(history_.view(event.view)) + " while it is " + where_text(process);
    });
    return;
  }
  const EarlyPlace place{event.seq, event.index};
  if (!process.early.try_emplace(message, place).second) return wrong(" twice in one view");
  if (place <= process.early_last) {
    wrong(" for " + position(place.seq, place.index) + ", behind one for " +
          position(process.early_last.seq, process.early_last.index));
  }
  process.early_last = place;
  std::uint64_t& last = process.early_numbers[history_.messages[message].sender];
  if (event.message.number <= last) {
    wrong(" after number " + std::to_string(last) + " of the same sender");
  }
  last = event.message.number;
  // Without a clock the submission may come later.
  if (!check_sent(member, message, event.hash, event.at_ns, !options_.live_order)) {
    unsent_.push_back({member, message, event.hash, event.at_ns});
  }
}

/// False: nothing can be said yet.
bool Core::check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                      bool may_come) {
  const MessageRecord& record = history_.messages[message];
  if (!record.submitted && may_come) return false;
  if (record.submitted && record.hash == hash) return true;
  violate(Property::early, member, at_ns, [&] {
    return name(member) + " tells " + message_text(message) + " early, " +
           (record.submitted ? "with other bytes than were submitted"
                             : "and nobody submitted it before");
  });
  return true;
}

void Core::check_told_early(Index member, Index message, const Event& event) {
  if (options_.layer != trace::Layer::order) return;
  const Process& process = history_.processes[member];
  const auto told = process.early.find(message);
  if (told == process.early.end()) {
    if (!process.optimistic && !event.as_guessed) return;
    violate(Property::early, member, event.at_ns, [&] {
      return name(member) + " delivers " + message_text(message) + " in view " +
             view_text(process.view) + ", and was not told of it early";
    });
    return;
  }
  const bool right = told->second == EarlyPlace{event.seq, event.index};
  if (right == event.as_guessed) return;
  violate(Property::early, member, event.at_ns, [&] {
    return name(member) + " delivers " + message_text(message) + " at " +
           position(event.seq, event.index) + " and says that the guess " +
           position(told->second.seq, told->second.index) + " was " +
           (event.as_guessed ? "right" : "wrong");
  });
}

void Core::finish_early() {
  for (const Unsent& each : unsent_) {
    const Process& sender = history_.processes[history_.messages[each.message].sender];
    // The end of its sender's events may be missing.
    const bool may_come = options_.truncated_ok && sender.stage != Stage::left;
    check_sent(each.member, each.message, each.hash, each.at_ns, may_come);
  }
}

}  // namespace peal::oracle
