// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "io/fabric/atomic_copy.h"
#include "io/fabric/pages.h"

// How an owner learns that something came from a writer with shm. They share a page with two words,
// each in a cache line of its own. The writer counts its writes in `arrivals`; the owner sets
// `asleep` before it sleeps. Each side stores its own word, passes a full fence, and loads the
// other's: so either the owner sees the write before it sleeps, or the writer sees that the owner
// sleeps, and wakes it up with a message. While the owner is awake, a write costs no system call.
//
// A page belongs to one writer, so a writer that breaks the rules misses its own wake-ups only.

namespace peal::io::fabric {

inline constexpr std::size_t kBellBytes = 4'096;

namespace bell {
inline constexpr std::size_t kArrivals = 0;
inline constexpr std::size_t kAsleep = 64;
}  // namespace bell

/// The owner's side of a bell.
class OwnerBell {
 public:
  explicit OwnerBell(SharedPages shared) : shared_(std::move(shared)) {}
  int fd() const { return shared_.fd.get(); }
  ByteSpan memory() const { return shared_.pages.span(); }

  /// True if the writer has written since the last take(). No system call.
  bool has_arrivals() const { return arrivals().load(std::memory_order_acquire) != seen_; }
  /// As has_arrivals(); takes note of what it saw. All writes that it saw can be loaded.
  bool take() {
    const std::uint64_t now = arrivals().load(std::memory_order_acquire);
    return std::exchange(seen_, now) != now;
  }
  /// From now on, the writer rings. Pass a full fence and look for arrivals before you sleep.
  void arm() { asleep().store(1, std::memory_order_relaxed); }
  void disarm() { asleep().store(0, std::memory_order_relaxed); }

 private:
  std::atomic_ref<std::uint64_t> arrivals() const {
    return shared_word(shared_.pages.span().data() + bell::kArrivals);
  }
  std::atomic_ref<std::uint64_t> asleep() const {
    return shared_word(shared_.pages.span().data() + bell::kAsleep);
  }

  SharedPages shared_;
  std::uint64_t seen_ = 0;
};

/// The writer's side of a bell.
class WriterBell {
 public:
  explicit WriterBell(Mapping pages) : pages_(std::move(pages)) {}

  /// Counts writes whose bytes were stored. Pass a full fence before is_asleep().
  void count() {
    shared_word(pages_.span().data() + bell::kArrivals)
        .store(++written_, std::memory_order_release);
  }
  /// True if the owner sleeps. Pass a full fence after count().
  bool is_asleep() const { return asleep().load(std::memory_order_relaxed) != 0; }
  /// True if the owner sleeps; says so once for each sleep.
  bool must_wake() { return is_asleep() && asleep().exchange(0, std::memory_order_seq_cst) != 0; }

 private:
  std::atomic_ref<std::uint64_t> asleep() const {
    return shared_word(pages_.span().data() + bell::kAsleep);
  }

  Mapping pages_;
  std::uint64_t written_ = 0;
};

}  // namespace peal::io::fabric
