// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/core.h"

// Output for connections: events, not copied, and other records between them.

namespace peal::session {
namespace {

constexpr std::size_t kPieces = 64;
constexpr std::size_t kRepeatBytes = 16 * 1'024;  ///< of refusals, at a time

}  // namespace

/// Repeats the latest refusals on a new connection, a part at a time, as the client reads them.
void Sessions::Core::repeat_refusals(Connection& to) {
  while (to.repeat > 0 && to.control.size() - to.control_offset < kRepeatBytes) {
    const auto& refusals = to.session->account.refusals;
    auto at = std::partition_point(refusals.begin(), refusals.end(),
                                   [&](const auto& each) { return each.last < to.repeat; });
    PEAL_ASSERT(at != refusals.end());
    const std::uint64_t number = std::max(to.repeat, at->first);
    append(to.control, wire::Refused{number, at->code, "said again, as the connection is new"});
    if (number == at->last) ++at;
    to.repeat = at == refusals.end() ? 0 : std::max(number + 1, at->first);
  }
}

void Sessions::Core::tell_acked(Connection& to) {
  if (to.session == nullptr) return;
  // Refusals precede the acknowledgement that covers them.
  std::uint64_t settled = to.session->account.settled;
  if (to.repeat > 0) settled = std::min(settled, to.repeat - 1);
  if (settled <= to.acked_told) return;
  to.acked_told = settled;
  append(to.control, wire::RecordKind::acked, wire::Acked{to.acked_told});
}

std::span<const ByteView> Sessions::Core::output(ConnectionId id) {
  pieces_.clear();
  Connection* to = connection(id);
  if (to == nullptr) return {};
  repeat_refusals(*to);
  tell_acked(*to);
  EventQueue* events = to->session == nullptr ? nullptr : &to->session->events;
  to->planned_event = events == nullptr ? 0 : events->unfinished();
  if (to->tail) {
    pieces_.push_back(to->tail_rest);
    to->planned_event = to->tail_rest.size();
  }
  to->planned_control = to->control.size() - to->control_offset;
  const bool between = events != nullptr && to->planned_control > 0 && to->planned_event > 0;
  if (between) events->gather(pieces_, 1);
  if (to->planned_control > 0) {
    pieces_.push_back(ByteView(to->control).subspan(to->control_offset));
  }
  if (events == nullptr) return pieces_;
  const std::size_t had = pieces_.size();
  events->gather(pieces_, kPieces);
  // gather() has returned the partly written event again.
  if (between) pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(had));
  return pieces_;
}

void Sessions::Core::written(Instant now, ConnectionId id, std::size_t bytes) {
  now_ = now;
  Connection* to = connection(id);
  if (to == nullptr) return;
  Session* session = to->session;
  const std::size_t begun = std::min(bytes, to->planned_event);
  if (to->tail) {
    to->tail_rest = to->tail_rest.subspan(begun);
    if (to->tail_rest.empty()) to->tail = {};
  } else if (begun > 0) {
    session->events.written(begun);
  }
  to->planned_event -= begun;
  bytes -= begun;
  const std::size_t control = std::min(bytes, to->planned_control);
  to->control_offset += control;
  to->planned_control -= control;
  bytes -= control;
  if (to->control_offset > kControlKept) {
    // A client that always leaves a little unread must not make the buffer grow forever.
    to->control.erase(to->control.begin(),
                      to->control.begin() + static_cast<std::ptrdiff_t>(to->control_offset));
    to->control_offset = 0;
  }
  if (to->control_offset == to->control.size()) {
    to->control.clear();
    to->control_offset = 0;
    if (to->control.capacity() > kControlKept) to->control.shrink_to_fit();
    if (to->state == State::closing) {
      wanted_.close.push_back(id);
      forget_connection(*to);
      return;
    }
    if (to->repeat > 0) {
      want_write(*to);
    } else if (to->pause == Pause::output) {
      resume_one(*to);
    }
  }
  if (session == nullptr) return;
  if (bytes > 0) session->events.written(bytes);
  // A client reads an event in shared memory after its place was written, so the event must stay.
  if (session->keep > Duration{} || session->events.shares()) {
    if (session->events.spills() && read_back(*session) && session->events.has_output()) {
      want_write(*to);
    }
    return;
  }
  // The session cannot be resumed, so written events need not be kept.
  const bool known = release_events(*session, session->events.written_events());
  PEAL_ASSERT(known);
}

}  // namespace peal::session
