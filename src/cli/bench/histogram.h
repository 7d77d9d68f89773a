// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace peal::cli {

/// Counts values in buckets whose width is at most 1/64 of the value. So percentiles of latencies
/// are exact to 1.6 %. Values above the range count as the largest value of the range.
class Histogram {
 public:
  static constexpr std::uint32_t kSubBits = 6;  ///< 64 buckets for each power of two
  static constexpr std::uint32_t kBuckets = (45 - kSubBits) << kSubBits;  ///< up to 4.8 h in ns

  Histogram() : counts_(kBuckets) {}

  void add(std::uint64_t value, std::uint64_t times = 1) {
    counts_[bucket_of(value)] += times;
    total_ += times;
  }
  void add_bucket(std::uint32_t bucket, std::uint64_t times) {
    if (bucket >= kBuckets) return;
    counts_[bucket] += times;
    total_ += times;
  }
  std::uint64_t total() const { return total_; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  /// Finds the lowest bucket that, together with all lower buckets, has at least `share` (0 to 1)
  /// of all values. Returns the upper end of this bucket; 0 without values.
  std::uint64_t percentile(double share) const {
    if (total_ == 0) return 0;
    const double wanted = share * static_cast<double>(total_);
    std::uint64_t seen = 0;
    for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && static_cast<double>(seen) >= wanted) return upper_end(bucket);
    }
    return upper_end(kBuckets - 1);
  }

 private:
  static std::uint32_t bucket_of(std::uint64_t value) {
    constexpr std::uint64_t kSub = 1U << kSubBits;
    if (value < kSub) return static_cast<std::uint32_t>(value);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(value)) - kSubBits - 1;
    const std::uint64_t bucket = ((shift + 1ULL) << kSubBits) + ((value >> shift) - kSub);
    return bucket < kBuckets ? static_cast<std::uint32_t>(bucket) : kBuckets - 1;
  }
  static std::uint64_t upper_end(std::uint32_t bucket) {
    constexpr std::uint32_t kSub = 1U << kSubBits;
    if (bucket < 2 * kSub) return bucket;
    const std::uint32_t shift = (bucket >> kSubBits) - 1;
    return ((std::uint64_t{kSub} + (bucket & (kSub - 1)) + 1) << shift) - 1;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace peal::cli
