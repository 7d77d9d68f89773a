// SPDX-License-Identifier: Apache-2.0
#include "session/native/output.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"

namespace peal::session::native {
namespace {

constexpr std::size_t kPieces = 64;
constexpr std::size_t kRepeatBytes = 16 * 1'024;  ///< bytes of refusals that are repeated at a time
/// How many bytes of written records the buffer may keep.
constexpr std::size_t kControlKept = 64 * 1'024;

}  // namespace

/// Repeats the latest refusals on a new connection: a part of them at a time, as fast as the client
/// reads.
void Output::repeat_refusals(const Account& account) {
  while (repeat_ > 0 && unread_bytes() < kRepeatBytes) {
    const auto& refusals = account.refusals;
    auto at = std::partition_point(refusals.begin(), refusals.end(),
                                   [&](const auto& each) { return each.last < repeat_; });
    PEAL_ASSERT(at != refusals.end());
    const std::uint64_t number = std::max(repeat_, at->first);
    say(wire::Refused{number, at->code, "said again, as the connection is new"});
    if (number == at->last) ++at;
    repeat_ = at == refusals.end() ? 0 : std::max(number + 1, at->first);
  }
}

void Output::tell_acked(const Account& account) {
  // A refusal must be written before the acknowledgement that covers it.
  std::uint64_t settled = account.settled;
  if (repeat_ > 0) settled = std::min(settled, repeat_ - 1);
  if (settled <= acked_told_) return;
  acked_told_ = settled;
  say(wire::RecordKind::acked, wire::Acked{acked_told_});
}

void Output::finish(const Session& session) {
  if (session.events.unfinished() > 0) std::tie(tail_, tail_rest_) = session.events.begun();
  tell_acked(session.account);
  repeat_ = 0;
}

void Output::gather(Session* session, std::vector<ByteView>& out) {
  if (session != nullptr) {
    repeat_refusals(session->account);
    tell_acked(session->account);
  }
  EventQueue* events = session == nullptr ? nullptr : &session->events;
  planned_event_ = events == nullptr ? 0 : events->unfinished();
  if (tail_) {
    out.push_back(tail_rest_);
    planned_event_ = tail_rest_.size();
  }
  planned_control_ = unread_bytes();
  const bool between = events != nullptr && planned_control_ > 0 && planned_event_ > 0;
  if (between) events->gather(out, 1);
  if (planned_control_ > 0) out.push_back(ByteView(control_).subspan(control_offset_));
  if (events == nullptr) return;
  const std::size_t had = out.size();
  events->gather(out, kPieces);
  // events->gather() has returned the partly written event a second time.
  if (between) out.erase(out.begin() + static_cast<std::ptrdiff_t>(had));
}

std::size_t Output::written(Session* session, std::size_t bytes) {
  const std::size_t begun = std::min(bytes, planned_event_);
  if (tail_) {
    tail_rest_ = tail_rest_.subspan(begun);
    if (tail_rest_.empty()) tail_ = {};
  } else if (begun > 0) {
    session->events.written(begun);
  }
  planned_event_ -= begun;
  bytes -= begun;
  const std::size_t control = std::min(bytes, planned_control_);
  control_offset_ += control;
  planned_control_ -= control;
  if (control_offset_ > kControlKept) {
    // If a client always leaves a few bytes unread, the buffer is never empty; it must not grow
    // forever.
    control_.erase(control_.begin(),
                   control_.begin() + static_cast<std::ptrdiff_t>(control_offset_));
    control_offset_ = 0;
  }
  if (empty()) {
    control_.clear();
    control_offset_ = 0;
    if (control_.capacity() > kControlKept) control_.shrink_to_fit();
  }
  return bytes - control;
}

bool Output::is_small() const { return control_.size() < kControlKept; }

void Output::check_invariants() const {
  PEAL_ASSERT(control_offset_ <= control_.size());
  PEAL_ASSERT(control_offset_ <= kControlKept);
}

}  // namespace peal::session::native
