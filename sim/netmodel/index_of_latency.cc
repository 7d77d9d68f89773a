// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/index_of_latency.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim {

void IndexOfLatency::add(std::uint32_t index, std::uint32_t concurrent) {
  PEAL_ASSERT(index >= 1 && index <= members_ && concurrent >= 1);
  ++counts_[std::size_t{index} * (members_ + 1) + std::min(concurrent, index)];
  ++messages_;
}

template <class Value>
double IndexOfLatency::mean(Value value) const {
  if (messages_ == 0) return 0;
  double sum = 0;
  for (std::uint32_t index = 1; index <= members_; ++index) {
    for (std::uint32_t concurrent = 1; concurrent <= index; ++concurrent) {
      const auto times = static_cast<double>(count(index, concurrent));
      if (times > 0) sum += times * value(index, concurrent);
    }
  }
  return sum / static_cast<double>(messages_);
}

double IndexOfLatency::mean_index() const {
  return mean([](std::uint32_t index, std::uint32_t) { return static_cast<double>(index); });
}

double IndexOfLatency::mean_concurrent() const {
  return mean(
      [](std::uint32_t, std::uint32_t concurrent) { return static_cast<double>(concurrent); });
}

double IndexOfLatency::share(std::uint32_t index) const {
  return mean([index](std::uint32_t each, std::uint32_t) { return each == index ? 1.0 : 0.0; });
}

Duration IndexOfLatency::expected_wait(Arrivals arrivals, Duration interval) const {
  const double n = members_;
  const double intervals = mean([&](std::uint32_t i, std::uint32_t j) {
    double sum = 0;
    if (arrivals == Arrivals::periodic) sum = (i - j) / (n - j + 1);
    if (arrivals == Arrivals::poisson) {
      // After j, …, i - 1 members, any of the others may be the next one.
      for (std::uint32_t k = j; k < i; ++k) sum += 1 / (n - k);
    }
    return sum;
  });
  return Duration{static_cast<std::int64_t>(intervals * static_cast<double>(interval.ns))};
}

}  // namespace peal::sim
