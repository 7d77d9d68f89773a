// SPDX-License-Identifier: Apache-2.0
#include "oracle/core.h"

namespace peal::oracle {

using trace::Kind;

void Core::add(const Event& event) {
  const bool of_process =
      event.kind == Kind::start || event.kind == Kind::crash || event.kind == Kind::leave;
  if (!of_process && event.layer != options_.layer) return;
  ++report_.figures.events;
  const Index member = history_.member(event.node);
  Process& process = history_.processes[member];
  process.last_at = event.at_ns;
  switch (event.kind) {
    case Kind::start: return start(process, event);
    case Kind::crash:
    case Kind::leave: return end(process, event);
    case Kind::submit: return submit(member, event);
    case Kind::originate: return originate(member, event);
    case Kind::deliver: return deliver(member, event);
    case Kind::early: return tell_early(member, event);
    case Kind::view:
      return event.transitional ? install_transitional(member, event) : install(member, event);
    case Kind::lost: return;  // no trace with one comes here
  }
}

void Core::start(Process& process, const Event& event) {
  const Index member = history_.member(event.node);
  if (process.stage != Stage::named) {
    violate(Property::e1_view_sequence, member, event.at_ns,
            [&] { return name(member) + " starts, but it did something before"; });
  }
  process.stage = Stage::alive;
  process.optimistic = event.optimistic;
}

void Core::end(Process& process, const Event& event) {
  const Index member = history_.member(event.node);
  // Whoever left may well be stopped afterwards.
  if (process.stage == Stage::left && event.kind == Kind::crash) return;
  if (!alive(member, event)) return;
  process.stage = event.kind == Kind::leave ? Stage::left : Stage::crashed;
}

// An incarnation that ended does nothing more. A process need not be seen to start.
bool Core::alive(Index member, const Event& event) {
  Process& process = history_.processes[member];
  if (process.stage == Stage::named) process.stage = Stage::alive;
  if (process.stage == Stage::alive) return true;
  violate(Property::e1_view_sequence, member, event.at_ns, [&] {
    return name(member) + " acts after it " + (process.stage == Stage::left ? "left" : "crashed");
  });
  return false;
}

}  // namespace peal::oracle
