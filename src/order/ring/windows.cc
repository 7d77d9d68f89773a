// SPDX-License-Identifier: Apache-2.0
#include "order/ring/windows.h"

#include <algorithm>

namespace peal::order::ring {
namespace {

constexpr Duration kEpochMin = milliseconds(2);
// So few packets say nothing about loss: one in a hundred of them is chance.
constexpr std::uint64_t kEpochPackets = 200;
constexpr Duration kEpochMax = milliseconds(200);
constexpr std::uint64_t kForgetLossEpochs = 64;
constexpr std::uint64_t kHeavyLoss = 10'000;  // millionths above what is tolerated
constexpr std::uint64_t kLightLoss = 2'000;
constexpr std::uint64_t kRecentPackets = 4'000;
constexpr std::uint64_t kEvidence = 10;  // lost packets to be expected before a retreat is judged
constexpr std::uint32_t kAcceleratedEpochRotations = 32;

/// (new/old - 1) in thousandths.
std::int64_t growth(std::uint64_t now, std::uint64_t before) {
  return static_cast<std::int64_t>(now * 1000 / std::max<std::uint64_t>(before, 1)) - 1000;
}

/// True if so many are more than chance makes of the expected ones: four standard deviations.
bool significant(std::uint64_t losses, std::uint64_t expected) {
  const std::uint64_t excess = losses - std::min(losses, expected);
  return excess * excess > 16 * std::max<std::uint64_t>(expected, 1);
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
    epoch_ = {};
    return;
  }
  ++rotations_;
  if (limited) ++limited_;
  epoch_.add({new_packets, losses});
  const Duration took = now - epoch_start_;
  if (rotations_ < epoch_rotations_ || took < kEpochMin) return;
  const bool few = epoch_.packets < kEpochPackets;
  if (few && epoch_.losses > 0 && took < kEpochMax) return;  // until loss can be told from chance
  epoch_running_ = false;
  if (few) epoch_.losses = 0;
  if (spoiled_) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  end_epoch(epoch_.packets * 1'000'000'000ULL / static_cast<std::uint64_t>(took.ns), epoch_);
}

/// Half of the window is gone: if that does not help, the window is not the cause.
bool GlobalWindow::far() const { return window_ * 2 <= retreat_.window || window_ == least_; }

GlobalWindow::Verdict GlobalWindow::verdict() const {
  if (retreat_.since.packets * retreat_.loss < kEvidence * 1'000'000) return Verdict::open;
  const std::uint64_t loss = retreat_.since.loss();
  if (loss * 2 <= retreat_.loss) return Verdict::cured;
  if (!far()) return Verdict::open;
  return loss * 4 >= retreat_.loss * 3 ? Verdict::incurable : Verdict::cured;
}

void GlobalWindow::retreat(bool heavy) {
  if (retreat_.window == 0) {
    // What led to the retreat was a bad moment; the usual loss is what a cure is measured by.
    retreat_ = {window_, cap_, phase_ == Phase::start, recent_.loss(), {}};
  }
  const std::uint64_t window = window_;
  if (heavy) {
    cap_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(window * 9 / 10, least_));
    skip_ = 2;
  }
  set(std::max<std::uint64_t>(
      heavy ? window * 7 / 10 : window - std::max<std::uint64_t>(1, window / 16),
      retreat_.window / 2));
  phase_ = Phase::cruise;
  reference_window_ = 0;
}

void GlobalWindow::restore() {
  tolerated_ = std::max(retreat_.loss, retreat_.since.loss()) * 3 / 2;
  cap_ = retreat_.cap;
  set(retreat_.window);
  phase_ = retreat_.starting ? Phase::start : Phase::cruise;
  reference_window_ = 0;
  retreat_ = {};
}

void GlobalWindow::end_epoch(std::uint64_t rate, const Tally& epoch) {
  if (++epochs_ % kForgetLossEpochs == 0) {
    cap_ = std::min(limit_, cap_ + cap_ / 4 + 1);
    tolerated_ = std::min(tolerated_, recent_.loss() * 3 / 2);
  }
  recent_.add(epoch);
  if (recent_.packets > kRecentPackets) recent_ = {recent_.packets / 2, recent_.losses / 2};
  if (retreat_.window != 0) {
    retreat_.since.add(epoch);
    const Verdict found = verdict();
    if (found == Verdict::incurable) return restore();
    if (found == Verdict::cured) retreat_ = {};
  }
  const std::uint64_t expected = epoch.packets * tolerated_ / 1'000'000;
  if (epoch.loss() > tolerated_ + kLightLoss && significant(epoch.losses, expected)) {
    return retreat(epoch.loss() > tolerated_ + kHeavyLoss);
  }
  if (retreat_.window != 0) return;  // wait for the verdict
  if (limited_ * 2 < rotations_) {   // the senders had no more: nothing was learnt
    reference_window_ = 0;
    if (phase_ != Phase::start) phase_ = Phase::cruise;
    return;
  }
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
