// SPDX-License-Identifier: Apache-2.0
#include "oracle/early_judge.h"

namespace peal::oracle {

void EarlyJudge::tell(Index member, const trace::Event& event) {
  ++v_.report.figures.told_early;
  if (!v_.alive(member, event)) return;
  const Index message = v_.history.message(event);
  Process& process = v_.history.processes[member];
  const auto wrong = [&](std::string_view what) {
    v_.violate(Property::early, member, event.at_ns, [&] {
      return v_.name(member) + " tells " + v_.message_text(message) + " early" + std::string(what);
    });
  };
  if (!process.optimistic) return wrong(", and did not say at its start that it would");
  if (process.view == kNone || process.view_id != event.view || process.transitional) {
    v_.violate(Property::early, member, event.at_ns, [&] {
      return v_.name(member) + " tells " + v_.message_text(message) + " early in view " +
             v_.view_text(v_.history.view(event.view)) + " while it is " + v_.where_text(process);
    });
    return;
  }
  const EarlyPlace place{event.seq, event.index};
  if (!process.early.try_emplace(message, place).second) return wrong(" twice in one view");
  if (place <= process.early_last) {
    wrong(" for " + v_.position(place.seq, place.index) + ", behind one for " +
          v_.position(process.early_last.seq, process.early_last.index));
  }
  process.early_last = place;
  std::uint64_t& last = process.early_numbers[v_.history.messages[message].sender];
  if (event.message.number <= last) {
    wrong(" after number " + std::to_string(last) + " of the same sender");
  }
  last = event.message.number;
  // Without a common clock, the event of the submission may come later.
  if (!check_sent(member, message, event.hash, event.at_ns, !v_.options.live_order)) {
    unsent_.push_back({member, message, event.hash, event.at_ns});
  }
}

/// Checks that an announced message was submitted with these bytes. `may_come`: the submission may
/// come later, or may be missing at the end of a trace. Returns false if the submission was not
/// seen, but may come.
bool EarlyJudge::check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                            bool may_come) {
  const MessageRecord& record = v_.history.messages[message];
  if (!record.submitted && may_come) return false;
  if (record.submitted && record.hash == hash) return true;
  v_.violate(Property::early, member, at_ns, [&] {
    return v_.name(member) + " tells " + v_.message_text(message) + " early, " +
           (record.submitted ? "with other bytes than were submitted"
                             : "and nobody submitted it before");
  });
  return true;
}

void EarlyJudge::check_delivered(Index member, Index message, const trace::Event& event) {
  if (v_.options.layer != trace::Layer::order) return;
  const Process& process = v_.history.processes[member];
  const auto told = process.early.find(message);
  if (told == process.early.end()) {
    if (!process.optimistic && !event.as_guessed) return;
    v_.violate(Property::early, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + " in view " +
             v_.view_text(process.view) + ", and was not told of it early";
    });
    return;
  }
  const bool right = told->second == EarlyPlace{event.seq, event.index};
  if (right == event.as_guessed) return;
  v_.violate(Property::early, member, event.at_ns, [&] {
    return v_.name(member) + " delivers " + v_.message_text(message) + " at " +
           v_.position(event.seq, event.index) + " and says that the guess " +
           v_.position(told->second.seq, told->second.index) + " was " +
           (event.as_guessed ? "right" : "wrong");
  });
}

void EarlyJudge::finish() {
  for (const Unsent& each : unsent_) {
    const Process& sender = v_.history.processes[v_.history.messages[each.message].sender];
    // The end of the sender's events may be missing.
    const bool may_come = v_.options.truncated_ok && sender.stage != Stage::left;
    check_sent(each.member, each.message, each.hash, each.at_ns, may_come);
  }
}

}  // namespace peal::oracle
