// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/assert.h"

namespace peal {

/// Memory for pieces of any size. Pieces are given back in the order in which they were taken. The
/// constructor allocates all memory and does not initialise it, because untouched pages cost
/// nothing. At a steady load, the ring uses only a part of the memory: about twice the bytes in
/// use, plus an eighth of the whole. This part stays in the processor's caches. One thread at a
/// time.
class ByteRing {
 public:
  explicit ByteRing(std::uint64_t bytes) : size_(bytes), bytes_(new std::byte[bytes]) {}

  /// Takes `size` contiguous bytes. Returns null if no free range is long enough; more pieces must
  /// then be given back first. take() may leave free bytes unused: up to an eighth of the memory,
  /// and the rest of a free range that was too short for a piece.
  std::byte* take(std::uint32_t size) {
    while (laps_count_ > 1 && laps_[1].from <= head_) drop_oldest_lap();
    if (head_ == tail_) laps_[0] = {tail_, 0};
    if (laps_count_ == 1) {
      // Continues at the start of the memory if many bytes are free in front of the oldest piece.
      const std::uint64_t before = begin_of(0);
      if (before >= size_ / kWarmPart && before >= tail_ - head_ + size) begin_lap(0);
    }
    std::uint64_t place = end_of(laps_count_ - 1);
    if (room_at(place) < size) {
      const std::optional<std::uint64_t> elsewhere = roomiest_place();
      if (!elsewhere || laps_count_ == kLapsMax || room_at(*elsewhere) < size) return nullptr;
      place = *elsewhere;
      begin_lap(place);
    }
    tail_ += size;
    return bytes_.get() + place;
  }
  /// The end of the newest piece, as a count of bytes. Pass this count to give_back() to give the
  /// newest piece back.
  std::uint64_t tail() const { return tail_; }
  /// Gives back the piece that ended at `tail`, and all pieces before it.
  void give_back(std::uint64_t tail) {
    PEAL_ASSERT(head_ <= tail && tail <= tail_);
    head_ = tail;
  }
  std::uint64_t size() const { return size_; }

  static constexpr std::size_t kLapsMax = 6;

 private:
  static constexpr std::uint64_t kWarmPart = 8;
  /// A run of adjacent pieces.
  struct Lap {
    std::uint64_t from = 0;   ///< number of bytes taken before the lap's first byte
    std::uint64_t place = 0;  ///< offset of the lap's first byte in the memory
  };

  // begin_of() and end_of() are the offsets at which the used part of a lap begins and ends.
  std::uint64_t begin_of(std::size_t lap) const {
    return laps_[lap].place + std::max(head_, laps_[lap].from) - laps_[lap].from;
  }
  std::uint64_t end_of(std::size_t lap) const {
    const std::uint64_t end = lap + 1 < laps_count_ ? laps_[lap + 1].from : tail_;
    return laps_[lap].place + end - laps_[lap].from;
  }
  /// Free bytes from `place` on, where `place` is 0 or the end of a lap.
  std::uint64_t room_at(std::uint64_t place) const {
    std::uint64_t end = size_;
    for (std::size_t lap = 0; lap < laps_count_; ++lap) {
      const bool empty = begin_of(lap) == end_of(lap);
      if (!empty && begin_of(lap) >= place) end = std::min(end, begin_of(lap));
    }
    return end - place;
  }
  /// Limits where a lap may begin, so that there are few laps. If a lap began in every gap between
  /// other laps, there would soon be kLapsMax laps. take() would then fail until the whole oldest
  /// lap was given back. So a lap begins only in a large free range, or in the free range in front
  /// of the oldest piece, which grows.
  bool may_begin_at(std::uint64_t place) const {
    const std::uint64_t room = room_at(place);
    return room >= size_ / kWarmPart || place + room == begin_of(0);
  }
  std::optional<std::uint64_t> roomiest_place() const {
    std::optional<std::uint64_t> best;
    const auto consider = [&](std::uint64_t place) {
      if (may_begin_at(place) && (!best || room_at(place) > room_at(*best))) best = place;
    };
    consider(0);
    for (std::size_t lap = 0; lap < laps_count_; ++lap) consider(end_of(lap));
    return best;
  }
  void begin_lap(std::uint64_t place) { laps_[laps_count_++] = {tail_, place}; }
  void drop_oldest_lap() {
    std::copy(laps_.begin() + 1, laps_.end(), laps_.begin());
    --laps_count_;
  }

  std::uint64_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  std::uint64_t head_ = 0;  ///< number of bytes given back: the oldest piece in use begins there
  std::uint64_t tail_ = 0;  ///< number of bytes taken: the newest piece ends there
  std::array<Lap, kLapsMax> laps_{};
  std::size_t laps_count_ = 1;
};

}  // namespace peal
