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

/// A unit with messages in it, on its way to the application. Its view is the one that the newest
/// notice of a view in the queue has announced.
struct DeliveredUnit {
  /// What few units have.
  struct Rare {
    node::Gathered copy;      ///< in the place of the buffer, where buffers are short
    node::Gathered gathered;  ///< the message that the unit's first chunk ends, if it has one
  };

  BufferRef unit;
  MemberId sender{};
  Seq seq{};
  std::unique_ptr<Rare> rare;
  Service service{};  ///< of the unit: agreed or safe
  bool own = false;
  bool early = false;       ///< it has no place yet, and `seq` is a guess
  bool as_guessed = false;  ///< the guess was right

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

/// Everything else on its way to the application: rare.
struct Notice {
  enum class Kind : std::uint8_t { view, warning, closed, names };
  Kind kind{};
  bool on_request = false;  ///< closed
  std::string text;         ///< warning, closed, view: why the one before ended

  // view
  bool transitional = false;
  ViewId id{};
  ViewId old{};
  std::vector<MemberId> members;
  order::Primary primary = order::Primary::unclaimed;

  std::vector<std::pair<NodeId, std::string>> names;  ///< names: of nodes that may come now
};

/// One cache line: each crosses from one processor to another and back.
struct alignas(64) Entry {
  DeliveredUnit unit;
  std::unique_ptr<Notice> notice;  ///< if set, `unit` is empty
  std::uint64_t bytes_held() const { return notice != nullptr ? 0 : unit.bytes_held(); }
};
static_assert(sizeof(Entry) == 64);

/// From the loop's thread to the one thread that reads. Nothing is ever dropped: as the queue
/// fills, its room shrinks to nothing, which slows the ring down; what is still under way then fits
/// into a reserve, and if that should not suffice, into memory that grows.
/// What was read stays in its place until the loop's thread takes it back with the next publish():
/// it alone counts references to buffers.
class EventQueue {
 public:
  /// `units` and `bytes` bound what waits; `reserve_units` come on top. `unit_bytes` is what one
  /// unit takes at most. Without `signals`, nobody sleeps until there is an entry.
  EventQueue(std::uint32_t units, std::uint32_t reserve_units, std::uint64_t bytes,
             std::uint32_t unit_bytes, bool signals = true);
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Thread: the loop's.
  void push(Entry entry);
  /// Makes visible what was pushed, and frees what was read.
  void publish();
  /// Units that may still come. If it says 0, take_room() later says that there is room again.
  std::uint32_t room_units();

  /// The next entry, if one is published, until pop(). Thread: the reader's.
  Entry* front();
  /// Takes the front entry off: it is not needed any more. The loop hears of it a few entries
  /// later, or when front() finds nothing.
  void pop();
  /// The loop waits to hear that there is room again; true once.
  bool take_room() { return std::exchange(room_again_, false); }
  /// Readable when an entry is published, until front() found nothing. Thread: any.
  int fd() const { return fd_; }
  /// Bytes that wait to be read, about. Thread: any.
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
  const std::uint32_t show_every_;  ///< entries read
  const bool signals_;
  int fd_ = -1;
  std::vector<Entry> ring_;  ///< a power of two of them
  const std::uint64_t mask_;

  // Written by the loop. What the other side wrote is remembered: asking costs a cache line.
  alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< published
  std::uint64_t written_ = 0;                       ///< in the ring, published or not
  std::uint64_t freed_ = 0;                         ///< read, and free to be written again
  std::deque<Entry> overflow_;                      ///< behind them
  std::atomic<std::uint64_t> bytes_in_{0};

  // Written by the reader.
  alignas(64) std::atomic<std::uint64_t> head_{0};  ///< read, as the loop knows
  std::uint64_t read_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t tail_seen_ = 0;
  bool room_again_ = false;
  std::atomic<std::uint64_t> bytes_out_{0};

  alignas(64) std::atomic<bool> signalled_{false};
  std::atomic<bool> room_wanted_{false};
};

}  // namespace peal::member
