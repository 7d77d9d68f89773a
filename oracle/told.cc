// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"

// told: a member sees in its views whether it may have missed messages. A step from one view to the
// next is straight if all members of the next are in the transitional view between them. After a
// straight step nobody in the view has delivered anything since the view before that this member
// has not.

namespace peal::oracle {

void Core::finish_told() {
  for (const Span& span : history_.spans) {
    if (span.transition == kNone || span.went_to == kNone) continue;
    const Transition& way = history_.transitions[span.transition];
    const bool straight =
        way.next == span.went_to && way.members == history_.views[span.went_to].members;
    if (straight) finish_told(span);
  }
}

void Core::finish_told(const Span& span) {
  const View& view = history_.views[span.went_to];
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index at = view.spans[slot];
    if (at == kNone || history_.spans[at].member == span.member) continue;
    const Span& other = history_.spans[at];
    const Index missed = missed_since(span.member, other, span.view);
    if (missed == kNone) continue;
    violate(Property::told, span.member, other.installed_at, [&] {
      return name(span.member) + " goes straight from view " + view_text(span.view) + " to view " +
             view_text(span.went_to) + ", but " + name(other.member) + " comes there with " +
             message_text(missed) + ", which it does not deliver";
    });
    return;
  }
}

// A message that the other member delivered in this view or a later one, before it came to the view
// of `other`, and that this member does not deliver; kNone if there is none.
Index Core::missed_since(Index member, const Span& other, Index since) const {
  const Process& self = history_.processes[member];
  const std::vector<Index>& spans = history_.processes[other.member].spans;
  auto at = std::find_if(spans.rbegin(), spans.rend(),
                         [&](Index index) { return history_.spans[index].view == other.view; });
  while (at != spans.rend() && ++at != spans.rend()) {
    const Span& before = history_.spans[*at];
    if (before.view == since) {
      // As a rule both delivered the same.
      const Index own = history_.span_in(since, member);
      const Span& same = history_.spans[own];
      if (same.common == before.common && same.apart == before.apart && same.tail == before.tail) {
        return kNone;
      }
    }
    for (std::uint32_t k = 0; k < history_.delivery_count(before); ++k) {
      const Index message = history_.delivery(before, k);
      if (!self.has_delivered(message)) return message;
    }
    if (before.view == since) return kNone;
  }
  return kNone;
}

}  // namespace peal::oracle
