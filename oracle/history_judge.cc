// SPDX-License-Identifier: Apache-2.0
#include "oracle/history_judge.h"

namespace peal::oracle {

using trace::Kind;

void HistoryJudge::add(const trace::Event& event) {
  const bool of_process =
      event.kind == Kind::start || event.kind == Kind::crash || event.kind == Kind::leave;
  if (!of_process && event.layer != v_.options.layer) return;
  ++v_.report.figures.events;
  const Index member = v_.history.member(event.node);
  Process& process = v_.history.processes[member];
  process.last_at = event.at_ns;
  switch (event.kind) {
    case Kind::start: return start(process, event);
    case Kind::crash:
    case Kind::leave: return end(process, event);
    case Kind::submit: return origins_.submit(member, event);
    case Kind::originate: origins_.originate(member, event); return v_.history.count_unit(event);
    case Kind::deliver: deliveries_.deliver(member, event); return v_.history.count_unit(event);
    case Kind::early: return early_.tell(member, event);
    case Kind::view:
      return event.transitional ? views_.install_transitional(member, event)
                                : views_.install(member, event);
    case Kind::lost: return;  // the reader rejects traces with such an event
  }
}

void HistoryJudge::start(Process& process, const trace::Event& event) {
  const Index member = v_.history.member(event.node);
  if (process.stage != Stage::named) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns,
               [&] { return v_.name(member) + " starts, but it did something before"; });
  }
  process.stage = Stage::alive;
  process.optimistic = event.optimistic;
}

void HistoryJudge::end(Process& process, const trace::Event& event) {
  const Index member = v_.history.member(event.node);
  // A process that left may be killed afterwards.
  if (process.stage == Stage::left && event.kind == Kind::crash) return;
  if (!v_.alive(member, event)) return;
  process.stage = event.kind == Kind::leave ? Stage::left : Stage::crashed;
}

Report HistoryJudge::finish() {
  end_.finish();
  if (v_.options.companies) companies_.finish();
  told_.finish();
  early_.finish();
  return std::move(v_.report);
}

}  // namespace peal::oracle
