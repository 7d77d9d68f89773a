// SPDX-License-Identifier: Apache-2.0
// How a member is doing: asked by any thread, answered by the one that runs the loop.

#include <string>
#include <thread>

#include "member/core.h"
#include "trace/json.h"

namespace peal::member {

std::string Core::id() const {
  const std::lock_guard lock(mutex_);
  return id_;
}

runtime::Snapshot Core::status() const {
  std::unique_lock lock(mutex_);
  if (runs_loop() && runner_ == std::this_thread::get_id()) return snapshot();
  const std::uint64_t mine = ++status_asked_;
  loop_->wake();
  answered_.wait(lock, [&] { return ended_ || status_answered_ >= mine; });
  return status_;
}

void Core::answer_status() {
  const std::lock_guard lock(mutex_);
  if (status_asked_ == status_answered_) return;
  if (keys_asked_)
    return;  // a caller that set keys before must see them: they apply in the next
             // turn
  status_ = snapshot();
  status_answered_ = status_asked_;
  answered_.notify_all();
}

void Core::set_id(MemberId id) {
  const std::lock_guard lock(mutex_);
  id_ = trace::text_of(id, runtime_->names());
}

/// Call it with mutex_ held, from the loop's thread.
runtime::Snapshot Core::snapshot() const {
  runtime::Snapshot now = snapshot_of(*runtime_);
  now.id = id_;
  if (!members_.empty()) now.view = trace::text_of(view_, runtime_->names());
  for (const MemberId& each : members_)
    now.members.push_back(trace::text_of(each, runtime_->names()));
  now.queued_messages = stage_.pushed();
  now.queued_messages =
      now.queued_messages > own_delivered_ ? now.queued_messages - own_delivered_ : 0;
  now.unread_bytes = queue_.unread_bytes();
  now.counters.emplace_back("member_copied_units", copied_units_);
  return now;
}

}  // namespace peal::member
