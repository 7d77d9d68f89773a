// SPDX-License-Identifier: Apache-2.0
#include "base/byte_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/random.h"

namespace peal {
namespace {

struct Piece {
  std::byte* bytes;
  std::uint32_t size;
  std::uint64_t tail;
};

/// Takes and frees pieces, and checks that no two pieces overlap.
class Pieces {
 public:
  explicit Pieces(std::uint64_t size) : ring_(size), size_(size) {}

  bool take(std::uint32_t size) {
    std::byte* bytes = ring_.take(size);
    if (bytes == nullptr) return false;
    if (first_ == nullptr) first_ = bytes;  // the first piece is at the ring's beginning
    EXPECT_GE(bytes, first_);
    EXPECT_LE(place(bytes) + size, size_);
    for (const Piece& each : pieces_) {
      EXPECT_TRUE(bytes + size <= each.bytes || each.bytes + each.size <= bytes);
    }
    pieces_.push_back({bytes, size, ring_.tail()});
    used_ += size;
    most_ = std::max(most_, place(bytes) + size);
    return true;
  }
  void give_back(std::size_t count = 1) {
    for (; count > 0; --count) {
      used_ -= pieces_.front().size;
      ring_.give_back(pieces_.front().tail);
      pieces_.pop_front();
    }
  }
  std::size_t pieces() const { return pieces_.size(); }
  std::uint64_t used() const { return used_; }
  /// The end of the part of the ring that was ever used.
  std::uint64_t most() const { return most_; }

 private:
  std::uint64_t place(const std::byte* bytes) const {
    return static_cast<std::uint64_t>(bytes - first_);
  }

  ByteRing ring_;
  std::uint64_t size_;
  std::byte* first_ = nullptr;
  std::deque<Piece> pieces_;
  std::uint64_t used_ = 0;
  std::uint64_t most_ = 0;
};

TEST(ByteRing, HoldsWhatItHasRoomFor) {
  Pieces ring(100);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(ring.take(10));
  EXPECT_FALSE(ring.take(1));
  ring.give_back();
  EXPECT_TRUE(ring.take(10));
  EXPECT_FALSE(ring.take(1));
  ring.give_back(10);
  EXPECT_TRUE(ring.take(100)) << "nothing else is in use";
  EXPECT_FALSE(ring.take(1));
}

TEST(ByteRing, APieceLiesInOnePart) {
  Pieces ring(100);
  EXPECT_TRUE(ring.take(60));
  EXPECT_TRUE(ring.take(30));
  ring.give_back();
  EXPECT_TRUE(ring.take(20)) << "before the other, not partly behind it";
  EXPECT_FALSE(ring.take(41)) << "only 40 are left before it";
  EXPECT_TRUE(ring.take(40));
}

TEST(ByteRing, PiecesNeverMeet) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const std::uint64_t size = 64 + random.below(2'000);
    const std::uint64_t wanted = 1 + random.below(size);  // pieces are freed when more is used
    const auto largest = static_cast<std::uint64_t>(1 + random.below(size / 4));
    Pieces ring(size);
    for (int step = 0; step < 2'000; ++step) {
      const auto bytes = static_cast<std::uint32_t>(1 + random.below(largest));
      const std::uint64_t used = ring.used();
      const bool fits = used == 0 || used + bytes + size / 8 + ByteRing::kLapsMax * largest <= size;
      const bool taken = ring.take(bytes);
      EXPECT_TRUE(taken || !fits) << bytes << " of " << size << " besides " << used;
      while (ring.pieces() > 0 && (!taken || ring.used() > wanted)) {
        ring.give_back(1 + random.below(ring.pieces()));
        if (random.chance(0.3)) break;
      }
    }
  }
}

TEST(ByteRing, IsFullOfTheNewestWhateverTheirSizes) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    constexpr std::uint64_t kSize = 100'000;
    constexpr std::uint32_t kLargest = 1'600;
    Pieces ring(kSize);
    for (int step = 0; step < 5'000; ++step) {
      const auto bytes =
          random.chance(0.7) ? kLargest : static_cast<std::uint32_t>(1 + random.below(kLargest));
      const bool was_full = ring.used() > kSize - 3 * kLargest;
      // The oldest pieces are freed one by one until there is space.
      while (!ring.take(bytes)) ring.give_back();
      if (was_full) {
        ASSERT_GT(ring.used(), kSize - 3 * kLargest) << "seed " << seed << ", step " << step;
      }
    }
    EXPECT_GT(ring.used(), kSize - 3 * kLargest) << "seed " << seed;
  }
}

TEST(ByteRing, LittleIsUsedAgainAndAgain) {
  constexpr std::uint64_t kSize = 1U << 20;
  for (const std::uint64_t in_use : {1'000U, 10'000U, 100'000U, 200'000U}) {
    Pieces ring(kSize);
    for (int i = 0; i < 20'000; ++i) {
      ASSERT_TRUE(ring.take(1'000));
      if (ring.used() > in_use) ring.give_back();
    }
    EXPECT_LE(ring.most(), std::max(kSize / 8, in_use) + in_use + 3'000) << in_use;
  }
}

}  // namespace
}  // namespace peal
