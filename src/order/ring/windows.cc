// SPDX-License-Identifier: Apache-2.0
#include "order/ring/windows.h"

#include <algorithm>

namespace peal::order::ring {
namespace {

constexpr Duration kEpochMin = milliseconds(2);
constexpr std::uint64_t kForgetLossEpochs = 64;
constexpr std::uint32_t kAcceleratedEpochRotations = 32;

/// (new/old - 1) in thousandths.
std::int64_t growth(std::uint64_t now, std::uint64_t before) {
  return static_cast<std::int64_t>(now * 1000 / std::max<std::uint64_t>(before, 1)) - 1000;
}

}  // namespace

void GlobalWindow::reset(std::uint32_t members, std::uint32_t request_lag, std::uint32_t limit,
                         std::uint32_t fixed) {
  const std::uint32_t last = window_;
  *this = GlobalWindow{};
  fixed_ = fixed;
  limit_ = std::max(limit, 1U);
  least_ = std::min(std::max(8U, members), limit_);
  cap_ = limit_;
  epoch_rotations_ = 4 + 2 * request_lag;
  if (fixed_ != 0) {
    window_ = std::min(fixed_, limit_);
    return;
  }
  // What the last view found out is a hint; a new one starts small.
  set(last == 0 ? 16 * members : std::min(last, 16 * members));
}

void GlobalWindow::set(std::uint64_t window) {
  window_ = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(window, least_, std::min(limit_, std::max(cap_, least_))));
}

void GlobalWindow::on_rotation(Instant now, std::uint64_t new_packets, std::uint64_t losses,
                               bool limited) {
  if (fixed_ != 0) return;
  if (!epoch_running_) {
    epoch_running_ = true;
    epoch_start_ = now;
    spoiled_ = false;
    rotations_ = limited_ = 0;
    packets_ = losses_ = 0;
    return;
  }
  ++rotations_;
  if (limited) ++limited_;
  packets_ += new_packets;
  losses_ += losses;
  const Duration took = now - epoch_start_;
  if (rotations_ < epoch_rotations_ || took < kEpochMin) return;
  epoch_running_ = false;
  if (spoiled_) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  const auto rate = packets_ * 1'000'000'000ULL / static_cast<std::uint64_t>(took.ns);
  end_epoch(rate, packets_, losses_);
}

void GlobalWindow::end_epoch(std::uint64_t rate, std::uint64_t packets, std::uint64_t losses) {
  const std::uint64_t window = window_;
  if (losses * 100 > packets) {  // over 1 %
    cap_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(window * 9 / 10, least_));
    set(window * 7 / 10);
    phase_ = Phase::cruise;
    reference_window_ = 0;
    skip_ = 2;
    return;
  }
  if (losses * 500 > packets) {  // over 0.2 %
    set(window - std::max<std::uint64_t>(1, window / 16));
    reference_window_ = 0;
    return;
  }
  if (limited_ * 2 < rotations_) {  // the senders had no more: nothing was learnt
    reference_window_ = 0;
    if (phase_ != Phase::start) phase_ = Phase::cruise;
    return;
  }
  if (++epochs_ % kForgetLossEpochs == 0) cap_ = std::min(limit_, cap_ + cap_ / 4 + 1);
  step(rate);
}

void GlobalWindow::step(std::uint64_t rate) {
  const std::uint64_t window = window_;
  switch (phase_) {
    case Phase::start:
      if (reference_window_ != 0 && window > reference_window_) {
        const std::int64_t elasticity =
            growth(rate, reference_rate_) * 1000 /
            std::max<std::int64_t>(growth(window, reference_window_), 1);
        if (elasticity < 150) {
          set(reference_window_);
          phase_ = Phase::cruise;
          return;
        }
      }
      reference_window_ = window;
      reference_rate_ = rate;
      set(window * 2);
      if (window_ == window) phase_ = Phase::cruise;
      return;
    case Phase::cruise:
      reference_window_ = window;
      reference_rate_ = rate;
      set(up_next_ ? window + std::max<std::uint64_t>(1, window / 4) : window * 4 / 5);
      phase_ = up_next_ ? Phase::probe_up : Phase::probe_down;
      up_next_ = !up_next_;
      return;
    case Phase::probe_up: {
      const std::int64_t elasticity = growth(rate, reference_rate_) * 1000 /
                                      std::max<std::int64_t>(growth(window, reference_window_), 1);
      if (elasticity < 250) set(reference_window_);
      phase_ = Phase::cruise;
      return;
    }
    case Phase::probe_down:
      if (rate * 100 < reference_rate_ * 96) set(reference_window_);
      phase_ = Phase::cruise;
      return;
  }
}

void AcceleratedWindow::on_rotation(Duration rotation) {
  if (fixed_ != kAuto) return;
  ++epoch_.rotations;
  epoch_.nanoseconds += rotation.ns;
  if (epoch_.rotations < kAcceleratedEpochRotations) return;
  const Epoch done = epoch_;
  epoch_ = {};
  if (done.before + done.after == 0) return;
  // Loss in thousandths of what was sent in each half.
  const std::uint64_t before = done.before_lost * 1000 / std::max<std::uint64_t>(done.before, 1);
  const std::uint64_t after = done.after_lost * 1000 / std::max<std::uint64_t>(done.after, 1);
  const std::int64_t mean = done.nanoseconds / done.rotations;
  if (after > 2 * before + 1) {
    share_ /= 2;
  } else if (last_rotation_ns_ == 0 || mean <= last_rotation_ns_ + last_rotation_ns_ / 16) {
    share_ = std::min(100U, share_ + 12);
  } else {
    share_ = share_ > 12 ? share_ - 12 : 0;
  }
  last_rotation_ns_ = mean;
}

}  // namespace peal::order::ring
