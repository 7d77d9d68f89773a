// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"

// Engines that order on a quorum (Options::quorum): a message has its place before its sender
// knows; what anybody delivered in a view stays delivered there; views form one chain.

namespace peal::oracle {

// E3: whatever others know, a sender learns the place of its message before it delivers that.
bool Core::check_own(Index member, Index message, const Event& event) {
  const MessageRecord& record = history_.messages[message];
  if (record.sender != member || (record.originated && record.witnessed)) return true;
  violate(Property::e3_integrity, member, event.at_ns, [&] {
    return name(member) + " delivers its own " + message_text(message) +
           " and did not originate it before";
  });
  return false;
}

// A delivery is the origination of a message that its sender handed over, if it was in that view.
bool Core::accept_voted(Index message, const Event& event) {
  MessageRecord& record = history_.messages[message];
  if (options_.layer == trace::Layer::order && !record.submitted) return false;
  const Index in = history_.view(event.view);
  View& view = history_.views[in];
  const Index slot = history_.slot_of(view, record.sender);
  if (slot >= view.members.size()) return false;
  const Index at = view.spans[slot];
  // Without a clock the sender's installation may come later in the events, or be lost.
  if (at == kNone && options_.live_order) return false;
  originate_order(record.sender, record, message, event);
  stand_for_origination(message, event);
  if (at == kNone) return true;
  std::vector<Index>& sent = history_.spans[at].sent;
  record.nth = static_cast<std::uint32_t>(sent.size());
  record.slot = slot;
  sent.push_back(message);
  return true;
}

// The sender learns the place of a message that others have delivered.
void Core::confirm(Index member, Index message, const Event& event) {
  MessageRecord& record = history_.messages[message];
  const Process& process = history_.processes[member];
  const Index in = history_.view(event.view);
  const bool elsewhere = record.view != in;
  if (elsewhere || record.seq != event.seq || record.index != event.index) {
    violate(elsewhere ? Property::e3_integrity : Property::e7_total_order, member, event.at_ns,
            [&] {
              return name(member) + " originates " + message_text(message) + " in view " +
                     view_text(in) + " at " + position(event.seq, event.index) +
                     ", but others delivered it in view " + view_text(record.view) + " at " +
                     position(record.seq, record.index);
            });
    return;
  }
  if (process.view != in) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) + " in view " + view_text(in) +
             " while it is " + where_text(process);
    });
    return;
  }
  const bool same_bytes =
      options_.layer == trace::Layer::order || !record.has_hash || record.hash == event.hash;
  if (record.service != event.service || !same_bytes) {
    violate(Property::e3_integrity, member, event.at_ns, [&] {
      return name(member) + " originates " + message_text(message) +
             " with another service or other bytes than it was delivered with";
    });
  }
  record.witnessed = true;
  --report_.figures.unwitnessed;
  ++report_.figures.messages;
  if (record.slot != kNone) record.known = history_.spans[process.span].regular_count();
}

// chain: no two views with one number.
void Core::check_number(Index member, Index index, const Event& event) {
  if (!options_.quorum) return;
  const auto [first, fresh] = numbers_.try_emplace(event.view.number, index);
  if (fresh) return;
  const Index other = first->second;
  violate(Property::chain, member, event.at_ns, [&] {
    return name(member) + " installs view " + view_text(index) + ", but " +
           name(history_.views[other].first_at) + " installed view " + view_text(other) +
           ", which has the same number";
  });
}

// chain: what members deliver in a view, before the transitional view and in it, is the beginning
// of one sequence.
void Core::finish_chain(const View& view) {
  if (!options_.quorum) return;
  const Span* longest = nullptr;
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = history_.spans[at];
    if (longest == nullptr || history_.delivery_count(span) > history_.delivery_count(*longest)) {
      longest = &span;
    }
  }
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = history_.spans[at];
    const std::uint32_t count = history_.delivery_count(span);
    std::uint32_t k = std::min(span.common, longest->common);
    while (k < count && history_.delivery(span, k) == history_.delivery(*longest, k)) ++k;
    if (k == count) continue;
    violate(Property::chain, span.member, span.installed_at, [&] {
      return name(span.member) + " delivers " + message_text(history_.delivery(span, k)) +
             " as number " + std::to_string(k + 1) + " of view " + view_text(span.view) + ", but " +
             name(longest->member) + " " + message_text(history_.delivery(*longest, k));
    });
  }
}

}  // namespace peal::oracle
