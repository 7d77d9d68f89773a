// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace peal::order::paxos {

/// The pipeline limit: as many items may be in progress as the path to the acceptors can take. That
/// number is unknown, and changes with links, disks and the load of other nodes. So the window
/// grows while it is used up, and losses show when to stop. A loss means full queues if answers
/// take much longer than the fastest ones; then the window shrinks to what keeps the path busy.
/// Otherwise loss has another cause, and a smaller window would not help.
class Window {
 public:
  Window(std::uint32_t first, std::uint32_t most)
      : most_(most), size_(std::min(first, most)), least_(std::min(kLeast, most)) {}

  std::uint32_t size() const { return size_; }

  /// True if one more item may be sent. Call it only if there is such an item, because a call at a
  /// full window lets the window grow later.
  bool allows(Instant now, std::uint64_t under_way) {
    if (under_way < size_) return true;
    full_at_ = now;
    return false;
  }

  /// An item that was transmitted only once was answered after this time.
  void took(Instant now, Duration time) {
    if (now - best_since_ >= kBestFor) {
      best_before_ = best_now_;
      best_now_ = time;
      best_since_ = now;
    }
    best_now_ = std::min(best_now_, time);
    lately_ = lately_ == Duration{} ? time : lately_ + (time - lately_) / 16;
    const bool used_up = now - full_at_ <= time;
    if (!used_up || size_ >= most_ || ++answers_ < (found_ ? kSlowly : 1)) return;
    answers_ = 0;
    ++size_;
  }

  /// A packet had to be retransmitted. Calls shortly after the window shrank are ignored.
  void lost(Instant now) {
    if (now - shrunk_at_ < lately_) return;
    const Duration enough = std::min(best_now_, best_before_) * kQueued;
    if (lately_ <= enough) return;
    found_ = true;
    shrunk_at_ = now;
    const auto busy = static_cast<std::uint32_t>(std::int64_t{size_} * enough.ns / lately_.ns);
    size_ = std::max({least_, busy, size_ - size_ / 4});
  }

 private:
  static constexpr std::uint32_t kLeast = 16;
  /// Once the limit of the path is known, the window grows by one after this number of answers.
  static constexpr std::uint32_t kSlowly = 16;
  /// An answer that takes this many times as long as the fastest answers has waited in queues.
  static constexpr std::int64_t kQueued = 4;
  static constexpr Duration kBestFor = seconds(5);
  static constexpr Duration kNever = seconds(3'600);

  std::uint32_t most_;
  std::uint32_t size_;
  std::uint32_t least_;
  std::uint32_t answers_ = 0;
  bool found_ = false;
  Instant full_at_{};
  Instant shrunk_at_{};
  Instant best_since_{};
  Duration best_now_ = kNever;
  Duration best_before_ = kNever;
  Duration lately_{};
};

}  // namespace peal::order::paxos
