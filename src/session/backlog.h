// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "session/context.h"
#include "session/native/event_encoder.h"
#include "session/registry.h"

namespace peal::session {

/// Enforces the limits on events that wait for clients, and the policies for slow clients.
class Backlog {
 public:
  Backlog(Context& context, Registry& registry, ChunkPool& chunks, native::EventEncoder& encoder)
      : context_(context), registry_(registry), chunks_(chunks), encoder_(encoder) {}

  /// Queues an event for a session, subject to the policy of the membership in `slot`. `message`:
  /// the place of the event in the order if the event is a message; otherwise null. `held`: the
  /// message waited for an exchange of tables. Many come at once, and the client is not slow.
  void offer(Session& to, std::uint32_t slot, const ChunkRef& chunk, const wire::Place* message,
             bool held = false);
  /// Releases the events up to `number`, which the client has seen. Returns false, and releases
  /// nothing, if some of these events were not written.
  bool release_events(Session& it, std::uint64_t number);
  /// Call after output was written to the session's connection.
  void on_written(Session& it);
  /// Ends the session if the first unwritten event of a membership has reached the membership's
  /// age limit, except with policy `drop`. Warns the client at half of the limit.
  void check_ages(Session& it);
  /// Subtracts a session that ends, and its events, from the totals.
  void forget(Session& it);

  /// The limits of a membership whose client asked for `asked`.
  wire::SlowLimits limits_of(const wire::SlowLimits& asked) const;
  /// Call when a membership may have changed to or from policy `block`.
  void note_block(Session& it, std::uint32_t slot);
  /// See Sessions::room_bytes().
  std::uint64_t room_bytes() const;

  std::uint64_t memory_bytes() const { return chunks_.bytes_in_use(); }
  std::uint64_t disk_bytes() const { return disk_bytes_; }
  void check_invariants() const;

 private:
  // Limits.
  std::optional<std::uint64_t> share() const;
  bool is_over(const Session& of, const Membership& member, std::uint64_t bytes) const;
  bool is_under_again(const Session& of, const Membership& member) const;
  bool keeps_too_much(const Session& of, const Membership& member, std::uint64_t bytes) const;
  std::uint64_t room_of(const Session& it) const;
  bool make_room(Session& to, std::uint32_t slot, std::uint64_t bytes);
  void too_slow(Session& it, const Membership& member, std::string_view what);
  void warn(Session& to, std::uint32_t slot);

  // Events and gaps.
  void push(Session& to, std::uint32_t slot, const ChunkRef& chunk);
  bool leaves_out(Session& to, std::uint32_t slot, const ChunkRef& chunk, const wire::Place& place);
  void push_gap(Session& to, std::uint32_t slot);
  void push_gaps(Session& to);
  void push_all_gaps(Session& to);
  bool read_back(Session& it);

  Context& context_;
  Registry& registry_;
  ChunkPool& chunks_;
  native::EventEncoder& encoder_;
  std::uint64_t disk_bytes_ = 0;    ///< sum over all sessions
  std::uint64_t waiting_ = 0;       ///< number of sessions with waiting events
  std::vector<Session*> blocking_;  ///< sessions that have slots with policy `block`
};

}  // namespace peal::session
