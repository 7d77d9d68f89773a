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

/// What a waiting event takes besides its bytes.
inline constexpr std::uint64_t kEventCost = 64;

/// That a client may have taken and not said that it has seen, beyond what may wait for it: more
/// than the buffers of a connection hold.
inline constexpr std::uint64_t kUnseenBytesMax = 16ULL << 20;

/// What waits for one session in one group, or, the first of them, for its private name.
struct Membership {
  std::string group;
  wire::SlowLimits limits;
  std::uint32_t joins = 0;  ///< asked for and not left; 0: waits only for its events to be seen
  std::uint64_t memory_bytes = 0;
  std::uint64_t unwritten_bytes = 0;  ///< of memory_bytes, what its connection did not take yet
  std::uint64_t disk_bytes = 0;
  std::uint64_t events = 0;     ///< that wait, in memory and on disk
  std::uint64_t unwritten = 0;  ///< of these, those that its connection did not take yet
  Instant oldest{};             ///< since when the first of those waits
  std::uint64_t last = 0;       ///< number of the last event that is in memory
  wire::GapEvent gap;           ///< messages left out since the last event; `messages` 0: none
  std::uint64_t left_out = 0;

  std::uint64_t waiting_bytes() const { return memory_bytes + disk_bytes; }
  /// How long the connection has not taken the first event that it is to take. What it took does
  /// not count: that the client has seen it may stand behind messages of its own, which wait.
  std::optional<Duration> age(Instant now) const {
    return unwritten == 0 ? std::nullopt : std::optional<Duration>(now - oldest);
  }
};

/// The events of one session that the client does not have yet, in their order, numbered from 1.
/// Those at the front are in memory, where they are written from; if there are too many for that,
/// the rest is on disk. What goes to the disk comes back before anything that is newer is written.
class EventQueue {
 public:
  EventQueue(Spool& spool, SpoolId id, ChunkPool& chunks)
      : spool_(spool), id_(id), chunks_(chunks) {}
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// A place for what waits in a group; the first is that of the private name.
  std::uint32_t add_membership(std::string group, const wire::SlowLimits& limits);
  Membership& membership(std::uint32_t slot) { return *memberships_[slot]; }
  const std::vector<std::unique_ptr<Membership>>& memberships() const { return memberships_; }
  /// Forgets it, if nothing waits there and nobody is a member.
  void drop_membership(std::uint32_t slot);

  /// Appends an event. Errors: those of Spool, if it goes to the disk.
  Result<void> push(Instant now, std::uint32_t slot, const ChunkRef& chunk);
  /// From now on, events go to the disk, until all that is there has come back.
  void begin_spill(std::uint64_t memory_bytes);
  bool spills() const { return spilling_; }

  // Writing.
  /// From now on the connection is one to which `shared` may be written, or not: the latter only
  /// right after rewind(), or while nothing was written.
  void set_shares(bool shares) { shares_ = shares; }
  bool shares() const { return shares_; }
  /// Up to `pieces` more pieces of bytes that are to be written, from where writing stands.
  void gather(std::vector<ByteView>& out, std::size_t pieces);
  /// What is left of an event that was written in part; 0 if none was.
  std::size_t unfinished() const;
  /// That event, and these bytes of it; only if there is one.
  std::pair<ChunkRef, ByteView> begun() const {
    return {memory_[next_].chunk, bytes_of(memory_[next_]).subspan(offset_)};
  }
  /// What lies in shared memory, was written, and is not seen yet.
  void take_places(std::vector<ChunkRef>& out) const;
  /// So many bytes of what gather() gave were written.
  void written(std::size_t bytes);
  bool has_output() const { return next_ < memory_.size(); }
  /// Writing begins again after event `seen`; false if it is not known which came next.
  bool rewind(std::uint64_t seen);

  /// The client has all events up to this one. False if those were not written yet.
  bool seen(std::uint64_t number);
  /// Reads back what went to the disk, as far as there is room for it: what is not written has less
  /// than begin_spill() said, and all that waits has less than `memory_bytes_most`. Errors: those
  /// of Spool.
  Result<void> refill(std::uint64_t memory_bytes_most);

  std::uint64_t pushed() const { return pushed_; }      ///< events, ever
  std::uint64_t released() const { return released_; }  ///< of these, those that the client has
  /// Number of the last event that was written as a whole.
  std::uint64_t written_events() const { return released_ + next_; }
  std::optional<Instant> oldest() const;
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  std::uint64_t unwritten_bytes() const { return unwritten_bytes_; }
  std::uint64_t disk_bytes() const { return appended_ - discarded_; }
  std::uint64_t read_back_bytes() const { return discarded_; }
  void check_invariants() const;

 private:
  /// How an event is written: that is settled before its first byte is.
  enum class Form : std::uint8_t {
    open,
    whole,  ///< as it is
    place,  ///< by `shared`
  };
  struct Event {
    ChunkRef chunk;
    std::uint32_t slot{};
    Form form{};
    bool has_next{};  ///< `next_at` is when the next one of the same membership came
    Instant at;
    Instant next_at;
  };

  std::uint64_t cost_of(const Event& event) const { return event.chunk.cost() + kEventCost; }
  ByteView bytes_of(const Event& event) const {
    return event.form == Form::place ? event.chunk.place() : event.chunk.view();
  }
  void settle_form(Event& event);
  void push_memory(Instant at, std::uint32_t slot, ChunkRef chunk);
  Result<void> push_disk(Instant at, std::uint32_t slot, const ChunkRef& chunk);
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
  std::size_t next_ = 0;    ///< of memory_: is written next
  std::size_t offset_ = 0;  ///< of its bytes
  std::size_t formed_ = 0;  ///< of memory_: the first whose form is open
  bool shares_ = false;
  std::uint64_t places_bytes_ = 0;  ///< of records whose form is `place`
  std::uint64_t pushed_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t unwritten_bytes_ = 0;  ///< of these

  bool spilling_ = false;
  std::uint64_t spill_memory_bytes_ = 0;
  bool on_disk_ = false;          ///< something was to be appended, at least
  std::uint64_t appended_ = 0;    ///< bytes, ever
  std::uint64_t discarded_ = 0;   ///< of these, those that were read back
  std::vector<std::byte> block_;  ///< scratch
};

}  // namespace peal::session
