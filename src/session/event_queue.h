// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/ring_queue.h"
#include "base/time.h"
#include "session/chunk.h"
#include "session/spool.h"
#include "wire/client.h"

namespace peal::session {

/// The number of bytes that limits count for a waiting event in addition to the bytes of its chunk.
inline constexpr std::uint64_t kEventCost = 64;

/// The number of bytes that a client may have received without reporting them as seen, in addition
/// to the limit of waiting bytes. This number exceeds the size of a connection's buffers.
inline constexpr std::uint64_t kUnseenBytesMax = 16ULL << 20;

/// One session's membership in a group, and the waiting events of this membership. The membership
/// in slot 0 of EventQueue is for messages to the private name.
struct Membership {
  std::string group;
  wire::SlowLimits limits;
  /// Number of joins minus number of leaves. At 0 the slot stays until its events are seen.
  std::uint32_t joins = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t unwritten_bytes = 0;  ///< part of memory_bytes that is not written
  std::uint64_t disk_bytes = 0;
  /// Bytes that came at once, as they had waited for an exchange (Backlog::offer()): the limit in
  /// memory does not count them until the client has seen the last of them, event `held_last`.
  std::uint64_t held_bytes = 0;
  std::uint64_t held_last = 0;
  std::uint64_t events = 0;     ///< number of waiting events, in memory and on disk
  std::uint64_t unwritten = 0;  ///< number of waiting events that are not written
  Instant oldest{};             ///< when the first unwritten event was queued
  std::uint64_t last = 0;       ///< number of the membership's last event in memory
  wire::GapEvent gap;           ///< dropped messages, for the next gap; `gap.messages` 0: none
  std::uint64_t left_out = 0;

  std::uint64_t waiting_bytes() const { return memory_bytes + disk_bytes; }
  std::uint64_t memory_limit() const { return limits.memory_bytes + held_bytes; }
  /// How long the first unwritten event has waited; std::nullopt if there is none. Written events
  /// do not count: the client's `seen` may be queued behind the client's messages, and the daemon
  /// may not read these messages now.
  std::optional<Duration> age(Instant now) const {
    return unwritten == 0 ? std::nullopt : std::optional<Duration>(now - oldest);
  }
};

/// The events of one session that the client has not seen, in order, numbered from 1. The first
/// events are in memory, and are written from there. If too many events wait, the later events are
/// on disk. Events from the disk are read back before any newer event is written.
class EventQueue {
 public:
  EventQueue(Spool& spool, SpoolId id, ChunkPool& chunks)
      : spool_(spool), id_(id), chunks_(chunks) {}
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Adds a slot for the events of a group. The first slot, 0, is for the private name.
  std::uint32_t add_membership(std::string group, const wire::SlowLimits& limits);
  Membership& membership(std::uint32_t slot) { return *memberships_[slot]; }
  const std::vector<std::unique_ptr<Membership>>& memberships() const { return memberships_; }
  /// Removes the slot if it has no waiting events and the client is not a member. Slot 0 stays.
  void drop_membership(std::uint32_t slot);

  /// Appends an event. Errors: those of Spool, if the event goes to the disk.
  Result<void, Errc> push(Instant now, std::uint32_t slot, const ChunkRef& chunk);
  /// From now on, push() appends events to the disk, until all events on disk were read back.
  /// `memory_bytes`: see refill().
  void begin_spill(std::uint64_t memory_bytes);
  bool spills() const { return spilling_; }

  // Writing.
  /// Sets whether `shared` records may be written to the connection. `false` is allowed only right
  /// after rewind(), or while nothing was written.
  void set_shares(bool shares) { shares_ = shares; }
  bool shares() const { return shares_; }
  /// Appends to `out` the bytes that are to be written next, in up to `pieces` pieces.
  void gather(std::vector<ByteView>& out, std::size_t pieces);
  /// How many bytes of a partly written event are left; 0 if there is none.
  std::size_t unfinished() const;
  /// The partly written event and its unwritten bytes. Requires unfinished() > 0.
  std::pair<ChunkRef, ByteView> begun() const {
    return {memory_[next_].chunk, bytes_of(memory_[next_]).subspan(offset_)};
  }
  /// Appends to `out` the unseen events for which gather() returned a place in shared memory.
  void take_places(std::vector<ChunkRef>& out) const;
  /// Call when the first `bytes` bytes of the last gather() were written.
  void written(std::size_t bytes);
  bool has_output() const { return next_ < memory_.size(); }
  /// Restarts writing with event `seen` + 1. Returns false if the queue no longer has this event,
  /// or if event `seen` was not written.
  bool rewind(std::uint64_t seen);

  /// Releases the events up to `number`, which the client has seen. Returns false, and releases
  /// nothing, if some of these events were not written.
  bool seen(std::uint64_t number);
  /// Reads events back from the disk while memory has room. Memory has room if three conditions
  /// hold: unwritten events in memory take at most half of the `memory_bytes` of begin_spill(), all
  /// events in memory at most half of `memory_bytes_most`, and written but unseen events at most
  /// kUnseenBytesMax. Errors: those of Spool.
  Result<void, Errc> refill(std::uint64_t memory_bytes_most);

  /// Number of events that were appended so far.
  std::uint64_t pushed() const { return pushed_; }
  /// Number of events that the client has seen.
  std::uint64_t released() const { return released_; }
  /// Number of the last event that was written completely.
  std::uint64_t written_events() const { return released_ + next_; }
  std::optional<Instant> oldest() const;
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  std::uint64_t unwritten_bytes() const { return unwritten_bytes_; }
  std::uint64_t disk_bytes() const { return appended_ - discarded_; }
  std::uint64_t read_back_bytes() const { return discarded_; }
  void check_invariants() const;

 private:
  /// How an event is written; chosen before its first byte is written.
  enum class Form : std::uint8_t {
    open,   ///< not chosen yet
    whole,  ///< the record itself
    place,  ///< a `shared` record that gives the place of the record in a region
  };
  struct Event {
    ChunkRef chunk;
    std::uint32_t slot{};
    Form form{};
    bool has_next{};  ///< `next_at` is valid
    Instant at;       ///< when the event was queued
    Instant next_at;  ///< when the membership's next event was queued
  };

  std::uint64_t cost_of(const Event& event) const { return event.chunk.cost() + kEventCost; }
  ByteView bytes_of(const Event& event) const {
    return event.form == Form::place ? event.chunk.place() : event.chunk.view();
  }
  void settle_form(Event& event);
  void push_memory(Instant at, std::uint32_t slot, ChunkRef chunk);
  Result<void, Errc> push_disk(Instant at, std::uint32_t slot, const ChunkRef& chunk);
  void note_successor(const Membership& member, Instant at);
  void pop();
  void pass();
  bool has_room(std::uint64_t memory_bytes_most) const;
  std::size_t take_records(ByteView block);

  Spool& spool_;
  SpoolId id_;
  ChunkPool& chunks_;
  std::vector<std::unique_ptr<Membership>> memberships_;
  RingQueue<Event> memory_;
  std::size_t next_ = 0;    ///< index in memory_ of the next event to write
  std::size_t offset_ = 0;  ///< number of written bytes of the event at next_
  std::size_t formed_ = 0;  ///< index in memory_ of the first event with form `open`
  bool shares_ = false;
  std::uint64_t places_bytes_ = 0;  ///< sizes of the records of events with form `place`
  std::uint64_t pushed_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t unwritten_bytes_ = 0;  ///< part of memory_bytes_

  bool spilling_ = false;
  std::uint64_t spill_memory_bytes_ = 0;
  bool on_disk_ = false;          ///< an append to the spool was attempted
  std::uint64_t appended_ = 0;    ///< bytes appended to the spool so far
  std::uint64_t discarded_ = 0;   ///< bytes read back so far
  std::vector<std::byte> block_;  ///< scratch
};

}  // namespace peal::session
