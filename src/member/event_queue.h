// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "node/node.h"
#include "order/engine.h"

namespace peal::member {

/// A unit with messages, on its way to the application. The unit's view is the view of the last
/// view notice ahead of the unit in the queue.
struct DeliveredUnit {
  /// Fields that few units use.
  struct Rare {
    node::Gathered copy;      ///< if buffers are scarce: the unit's bytes, in place of `unit`
    node::Gathered gathered;  ///< the message that the unit's first chunk completes, if any
  };

  BufferRef unit;
  MemberId sender{};
  Seq seq{};  ///< 0: the unit has no position
  std::unique_ptr<Rare> rare;
  Service service{};  ///< the unit's service: agreed, safe or, with order::Traits::causal, causal
  bool own = false;
  bool early = false;       ///< the unit has no place yet, and `seq` is the expected position
  bool as_guessed = false;  ///< the expected position was right
  DomainSet domains{};      ///< the unit's destinations

  Rare& make_rare() {
    if (rare == nullptr) rare = std::make_unique<Rare>();
    return *rare;
  }
  ByteView bytes() const {
    if (unit || rare == nullptr) return unit.view();
    return {rare->copy.bytes.get(), rare->copy.size};
  }
  ByteView gathered() const {
    return rare == nullptr ? ByteView{} : ByteView{rare->gathered.bytes.get(), rare->gathered.size};
  }
  std::uint64_t bytes_held() const { return bytes().size() + gathered().size(); }
};

/// An event without a message, on its way to the application. Notices are rare.
struct Notice {
  enum class Kind : std::uint8_t { view, warning, closed, names };
  Kind kind{};
  bool on_request = false;  ///< for closed: leave() was called
  /// For a warning: its text; for closed: the reason; for a view: why the previous view ended.
  std::string text;

  // Only for views.
  bool transitional = false;
  ViewId id{};
  ViewId old{};
  std::vector<MemberId> members;
  order::Primary primary = order::Primary::unclaimed;

  /// For names: the nodes that may appear in later events.
  std::vector<std::pair<NodeId, std::string>> names;
};

/// Fills one cache line, because each entry moves between two processors' caches.
struct alignas(64) Entry {
  DeliveredUnit unit;
  std::unique_ptr<Notice> notice;  ///< if set, `unit` is empty
  std::uint64_t bytes_held() const { return notice != nullptr ? 0 : unit.bytes_held(); }
};
static_assert(sizeof(Entry) == 64);

/// Passes entries from the loop's thread to the single reading thread. The queue never drops
/// entries: as the queue fills, room_units() shrinks to zero, which slows the ordering down. Units
/// in progress then fit into a reserve and, if the reserve is full, into memory that grows. Entries
/// that were read stay in place until the loop's thread frees them at the next publish(), because
/// only the loop's thread may change reference counts of buffers.
class EventQueue {
 public:
  /// `units` and `bytes` limit the waiting entries; `reserve_units` is additional space for units
  /// in progress. `unit_bytes` is the maximum size of one unit. Without `signals`, fd() is never
  /// signalled, so no thread may sleep on fd().
  EventQueue(std::uint32_t units, std::uint32_t reserve_units, std::uint64_t bytes,
             std::uint32_t unit_bytes, bool signals = true);
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Thread: the loop's.
  void push(Entry entry);
  /// Makes pushed entries visible, and frees entries that were read.
  void publish();
  /// How many more units the queue accepts. After the result 0, take_room() later reports that
  /// there is space again.
  std::uint32_t room_units();

  /// The next entry, if one is published; valid until pop(). Thread: the reader's.
  Entry* front();
  /// Removes the front entry, which is not needed any more. The loop learns of the removal a few
  /// entries later, or when front() finds no entry.
  void pop();
  /// Returns true once if the loop waits for space and there is space again.
  bool take_room() { return std::exchange(room_again_, false); }
  /// Readable when an entry is published, until front() finds no entry. Thread: any.
  int fd() const { return fd_; }
  /// Bytes that wait to be read, approximately. Thread: any.
  std::uint64_t unread_bytes() const;

 private:
  std::uint32_t room_now() const;
  bool move_in(Entry& entry);
  void free_read();
  void show_read();
  void clear_signal();
  Entry& at(std::uint64_t position) { return ring_[position & mask_]; }

  const std::uint32_t units_max_;
  const std::uint64_t bytes_max_;
  const std::uint32_t unit_bytes_;
  const std::uint32_t show_every_;  ///< head_ is updated after this many entries
  const bool signals_;
  int fd_ = -1;
  std::vector<Entry> ring_;  ///< its size is a power of two
  const std::uint64_t mask_;

  // Written by the loop. Each side keeps a copy of the other side's position (freed_, tail_seen_),
  // because loading that position transfers a cache line.
  alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< number of entries published
  std::uint64_t written_ = 0;   ///< number of entries put into the ring, published or not
  std::uint64_t freed_ = 0;     ///< number of entries whose places in the ring are free again
  std::deque<Entry> overflow_;  ///< entries after the last entry in the ring
  std::atomic<std::uint64_t> bytes_in_{0};

  // Written by the reader.
  alignas(64) std::atomic<std::uint64_t> head_{0};  ///< entries read, as reported to the loop
  std::uint64_t read_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t tail_seen_ = 0;
  bool room_again_ = false;
  std::atomic<std::uint64_t> bytes_out_{0};

  alignas(64) std::atomic<bool> signalled_{false};
  std::atomic<bool> room_wanted_{false};
};

}  // namespace peal::member
