// SPDX-License-Identifier: Apache-2.0
#include "oracle/told_judge.h"

#include <algorithm>

namespace peal::oracle {

void ToldJudge::finish() {
  for (const Span& span : v_.history.spans) {
    if (span.transition == kNone || span.went_to == kNone) continue;
    const Transition& way = v_.history.transitions[span.transition];
    const bool straight =
        way.next == span.went_to && way.members == v_.history.views[span.went_to].members;
    if (straight) judge(span);
  }
}

void ToldJudge::judge(const Span& span) {
  const View& view = v_.history.views[span.went_to];
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index at = view.spans[slot];
    if (at == kNone || v_.history.spans[at].member == span.member) continue;
    const Span& other = v_.history.spans[at];
    const Index missed = missed_since(span.member, other, span.view);
    if (missed == kNone) continue;
    v_.violate(Property::told, span.member, other.installed_at, [&] {
      return v_.name(span.member) + " goes straight from view " + v_.view_text(span.view) +
             " to view " + v_.view_text(span.went_to) + ", but " + v_.name(other.member) +
             " comes there with " + v_.message_text(missed) + ", which it does not deliver";
    });
    return;
  }
}

// Finds a message that `member` does not deliver. The member of `other` has delivered it in view
// `since` or in a later view, before the view of `other`. Returns kNone if there is no such
// message.
Index ToldJudge::missed_since(Index member, const Span& other, Index since) const {
  const Process& self = v_.history.processes[member];
  const std::vector<Index>& spans = v_.history.processes[other.member].spans;
  auto at = std::find_if(spans.rbegin(), spans.rend(),
                         [&](Index index) { return v_.history.spans[index].view == other.view; });
  while (at != spans.rend() && ++at != spans.rend()) {
    const Span& before = v_.history.spans[*at];
    if (before.view == since) {
      // Usually both members delivered the same messages.
      const Index own = v_.history.span_in(since, member);
      const Span& same = v_.history.spans[own];
      if (same.common == before.common && same.apart == before.apart && same.tail == before.tail) {
        return kNone;
      }
    }
    for (std::uint32_t k = 0; k < v_.history.delivery_count(before); ++k) {
      const Index message = v_.history.delivery(before, k);
      if (!self.has_delivered(message)) return message;
    }
    if (before.view == since) return kNone;
  }
  return kNone;
}

}  // namespace peal::oracle
