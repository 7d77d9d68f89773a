// SPDX-License-Identifier: Apache-2.0
#include "session/native/input_flow.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session::native {
namespace {

using Pause = Link::Pause;

constexpr std::size_t kInputKept = 64 * 1'024;  ///< capacity that a buffer keeps after a record
/// Every connection may have an unfinished record of this length, whatever other connections use.
constexpr std::size_t kSmallRecordBytes = 16 * 1'024;
/// A record must be complete after kRecordSeconds plus its bytes divided by a rate:
/// kBytesPerSecondBusy while connections wait for memory, otherwise kBytesPerSecondLeast.
constexpr std::int64_t kRecordSeconds = 10;
constexpr std::int64_t kBytesPerSecondLeast = 64 * 1'024;
constexpr std::int64_t kBytesPerSecondBusy = 1'024 * 1'024;

}  // namespace

void InputFlow::set_pause(Connection& of, Pause reason) {
  if (of.pause == Pause::input) --input_waiters_;
  of.pause = reason;
  if (of.pause == Pause::input) ++input_waiters_;
}

void InputFlow::pause(Connection& from, Pause reason) {
  PEAL_ASSERT(reason != Pause::none);
  if (from.pause == Pause::none) paused_.push_back(&from);
  set_pause(from, reason);
  if (reason == Pause::output && from.reserved > 0) {
    // Other connections may wait for the memory that the record of `from` reserves, so the client
    // of `from` must read its replies soon.
    from.record_begun = context_.now;
    context_.due(record_deadline(from));
  }
  // When the first connection begins to wait for memory, the deadlines of all records become
  // earlier: check them now.
  if (reason == Pause::input && input_waiters_ == 1) context_.due(context_.now);
}

/// Lets the daemon read from the connection again.
void InputFlow::resume(Connection& from) {
  set_pause(from, Pause::none);
  from.last_heard = context_.now;
  from.record_begun = context_.now;
  // While the connection was paused, its deadline may not have been checked.
  context_.due(record_deadline(from));
  wanted_.read.push_back(from.id);
}

void InputFlow::resume_one(Connection& from) {
  std::erase(paused_, &from);
  resume(from);
}

void InputFlow::resume_all(Pause reason) {
  if (reason == Pause::node && PEAL_MUTANT(sm5_blocked_forever)) return;
  std::erase_if(paused_, [&](Connection* it) {
    if (it->pause != reason) return false;
    resume(*it);
    return true;
  });
}

bool InputFlow::reserve(Connection& from, std::size_t bytes) {
  const bool small = bytes <= kSmallRecordBytes;
  if (!small && (input_waiters_ > 0 || input_bytes_ + bytes > context_.options.input_bytes_max)) {
    pause(from, Pause::input);
    return false;
  }
  from.record_bytes = bytes;
  from.reserved = small ? 0 : bytes;
  input_bytes_ += from.reserved;
  from.record_begun = context_.now;
  context_.due(record_deadline(from));
  return true;
}

Instant InputFlow::record_deadline(const Connection& of) const {
  // Small records reserve no memory, so both rates must give them the same time.
  static_assert(kSmallRecordBytes < kBytesPerSecondLeast);
  const std::int64_t rate = input_waiters_ > 0 ? kBytesPerSecondBusy : kBytesPerSecondLeast;
  return of.record_begun +
         seconds(kRecordSeconds + static_cast<std::int64_t>(of.record_bytes) / rate);
}

void InputFlow::release(Connection& from) {
  from.input.clear();
  if (from.input.capacity() > kInputKept) from.input.shrink_to_fit();
  const bool others_go_on = from.reserved > 0 || from.pause == Pause::input;
  input_bytes_ -= from.reserved;
  from.record_bytes = from.reserved = 0;
  if (from.state == Connection::State::closing) set_pause(from, Pause::none);
  if (others_go_on) resume_all(Pause::input);
}

void InputFlow::forget(Connection& it) {
  PEAL_ASSERT(it.pause != Pause::input && it.reserved == 0);
  std::erase(paused_, &it);
}

}  // namespace peal::session::native
