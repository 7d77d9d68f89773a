// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/arrivals.h"

#include <cmath>

namespace peal::sim {

DueTimes::DueTimes(Arrivals kind, double interval_ns, std::uint64_t burst)
    : kind_(kind), interval_ns_(interval_ns), burst_(burst) {}

Duration DueTimes::next(Random& random) {
  const auto width = static_cast<double>(burst_);
  double place = static_cast<double>(messages_);
  switch (kind_) {
    // A random time, so that nodes are not in phase with the token.
    case Arrivals::even: place += random.unit() * width; break;
    case Arrivals::periodic:
      if (messages_ == 0) phase_ = random.unit() * width;
      place += phase_;
      break;
    case Arrivals::poisson:
      last_ += -std::log1p(-random.unit()) * width;
      place = last_;
      break;
  }
  messages_ += burst_;
  return Duration{static_cast<std::int64_t>(place * interval_ns_)};
}

}  // namespace peal::sim
