// SPDX-License-Identifier: Apache-2.0
#include "runtime/view_cause.h"

#include "runtime/text.h"

namespace peal::runtime {

void ViewCause::on_event(const order::Event& event, const trace::Names& names) {
  if (event.kind == &order::event::paused) {
    pause_ = nanoseconds(static_cast<std::int64_t>(event.a));
  }
  // Later gather_started events of a view change follow from the first event.
  if (event.kind == &order::event::gather_started && gather_.empty()) {
    gather_ = gather_text(event, pause_, names);
  }
}

void ViewCause::on_view(const order::View& view, const trace::Names& names) {
  if (view.transitional) {
    passage_ = passage_text(members_, view.members, names);
  } else {
    members_.assign(view.members.begin(), view.members.end());
  }
}

}  // namespace peal::runtime
