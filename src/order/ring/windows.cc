// SPDX-License-Identifier: Apache-2.0
#include "order/ring/windows.h"

#include <algorithm>

namespace peal::order::ring {
namespace {

constexpr Duration kEpochMin = milliseconds(2);
constexpr std::uint64_t kForgetLossEpochs = 64;
constexpr std::uint64_t kHeavyLoss = 10'000;  // in millionths, above the tolerated loss rate
constexpr std::uint64_t kLightLoss = 2'000;
constexpr std::uint64_t kRecentPackets = 4'000;
// A verdict on a retreat needs this number of lost packets, or so many packets that the old loss
// rate would have lost this number.
constexpr std::uint64_t kEvidence = 30;
constexpr std::uint32_t kSettling = 1;  // rotations until a new window has reached all members
// Rates in thousandths of the rate with the current window (home). Twice the window is kept if the
// rate reaches kStartGain in the phase `start`, or kUpGain in a trial. Half the window is kept if
// the rate reaches kDownCost in a trial. Otherwise the current window stays.
constexpr std::uint64_t kStartGain = 1'050;
constexpr std::uint64_t kUpGain = 1'030;
constexpr std::uint64_t kDownCost = 990;
// If the rate is this many thousandths from the threshold, kPairsMin pairs of epochs are enough.
constexpr std::uint64_t kClear = 60;
constexpr std::uint32_t kPairsMin = 4, kPairsMax = 16;
constexpr Duration kRestMin = milliseconds(50), kRestMax = seconds(1);
constexpr std::uint32_t kAcceleratedEpochRotations = 32, kAcceleratedEpochRotationsMax = 512;
constexpr std::uint64_t kControlPackets = 200;
constexpr std::uint32_t kShareWithControl = 94;

std::uint64_t root(std::uint64_t of) {
  std::uint64_t root = 0;
  while ((root + 1) * (root + 1) <= of) ++root;
  return root;
}

/// True if the losses exceed the expected number by more than five standard deviations.
bool significant(std::uint64_t losses, std::uint64_t expected) {
  const std::uint64_t excess = losses - std::min(losses, expected);
  return excess * excess > 25 * std::max<std::uint64_t>(expected, 1);
}

}  // namespace

std::uint64_t GlobalWindow::Tally::sure_loss() const {
  return Tally{packets, losses - std::min(losses, 4 * root(losses))}.loss();
}

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
  // A new view starts with at most 16 packets per member, and with less if the last window was
  // smaller.
  set(last == 0 ? 16 * members : std::min(last, 16 * members));
}

std::uint32_t GlobalWindow::allowed(std::uint64_t window) const {
  return static_cast<std::uint32_t>(
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
    settling_ = kSettling;
    epoch_ = {};
    return;
  }
  if (settling_ > 0) {
    --settling_;
    epoch_start_ = now;
    epoch_.losses += losses;
    return;
  }
  ++rotations_;
  if (limited) ++limited_;
  epoch_.add({new_packets, losses});
  const Duration took = now - epoch_start_;
  if (rotations_ < epoch_rotations_ || took < kEpochMin) return;
  epoch_running_ = false;
  if (spoiled_) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  end_epoch(now, took, epoch_);
}

/// True if the window is down to half of its value before the retreat, or to its minimum. If such a
/// small window does not cure the loss, the window is not the cause.
bool GlobalWindow::far() const { return window_ * 2 <= retreat_.window || window_ == least_; }

GlobalWindow::Verdict GlobalWindow::verdict() const {
  if (retreat_.since.packets * retreat_.loss < kEvidence * 1'000'000 &&
      retreat_.since.losses < kEvidence) {
    return Verdict::open;
  }
  const std::uint64_t loss = retreat_.since.loss();
  if (loss * 2 <= retreat_.loss) return Verdict::cured;
  if (!far()) return Verdict::open;
  return loss * 4 >= retreat_.loss * 3 ? Verdict::incurable : Verdict::cured;
}

void GlobalWindow::retreat(Instant now, const Tally& epoch) {
  const bool heavy = epoch.loss() > tolerated_ + kHeavyLoss;
  if (retreat_.window == 0) {
    // The losses of one epoch may be a burst by chance. So the loss rate to be cured is estimated
    // low. It is the larger of two lower bounds: of this epoch's rate, and of the recent rate.
    const std::uint64_t loss = std::max(recent_.sure_loss(), epoch.sure_loss());
    retreat_ = {window_, cap_, phase_ == Phase::start, loss, {}};
  }
  const std::uint64_t window = window_;
  // Until the verdict, keep at least half of the window that was in use before the retreat.
  const std::uint64_t floor = std::max<std::uint64_t>(retreat_.window / 2, least_);
  if (heavy) {
    cap_ = static_cast<std::uint32_t>(std::max(window * 9 / 10, floor));
    skip_ = 2;
  }
  set(std::max(heavy ? window * 7 / 10 : window - std::max<std::uint64_t>(1, window / 16), floor));
  if (window_ != window) retreat_.since = {};  // if the window is unchanged, continue to count
  rest(now, kRestMin);
}

void GlobalWindow::restore(Instant now) {
  tolerated_ = retreat_.since.loss() * 5 / 4;
  cap_ = retreat_.cap;
  set(retreat_.window);
  rest(now, kRestMin);
  if (retreat_.starting) phase_ = Phase::start;
  retreat_ = {};
}

void GlobalWindow::end_epoch(Instant now, Duration took, const Tally& epoch) {
  if (++epochs_ % kForgetLossEpochs == 0) {
    cap_ = std::min(limit_, cap_ + cap_ / 4 + 1);
    tolerated_ = std::min(tolerated_, recent_.loss() * 3 / 2);
  }
  const std::uint64_t usual = recent_.loss();
  recent_.add(epoch);
  if (recent_.packets > kRecentPackets) recent_ = {recent_.packets / 2, recent_.losses / 2};
  if (retreat_.window != 0) {
    retreat_.since.add(epoch);
    const Verdict found = verdict();
    if (found == Verdict::incurable) return restore(now);
    if (found == Verdict::cured) {
      retreat_ = {};
      tolerated_ = 0;  // the window was the cause, perhaps also of the loss that was tolerated
    }
  }
  if (epoch.loss() > tolerated_ + kLightLoss &&
      significant(epoch.losses, epoch.packets * tolerated_ / 1'000'000)) {
    if (phase_ != Phase::trial || trial_.other < trial_.home) return retreat(now, epoch);
    // The larger window caused these losses, even if this epoch used the smaller window, because
    // losses are counted late.
    if (significant(epoch.losses, epoch.packets * usual / 1'000'000)) {
      cap_ = static_cast<std::uint32_t>((trial_.home + trial_.other) / 2);
      skip_ = 2;
      return refuse(now);
    }
  }
  if (retreat_.window != 0) return;  // wait for the verdict
  if (limited_ * 2 < rotations_) {   // senders did not use up the window: ignore this epoch
    if (phase_ == Phase::trial) set(trial_.home);
    reference_window_ = 0;
    if (phase_ != Phase::start) rest(now, kRestMin);
    return;
  }
  step(now, {epoch.packets, static_cast<std::uint64_t>(took.ns)});
}

void GlobalWindow::rest(Instant now, Duration time) {
  phase_ = Phase::rest;
  reference_window_ = 0;
  rest_until_ = now + time;
}

void GlobalWindow::step(Instant now, const Side& epoch) {
  const std::uint64_t window = window_;
  switch (phase_) {
    case Phase::start:
      if (reference_window_ != 0 && window > reference_window_ &&
          epoch.rate() * 1'000 < reference_rate_ * kStartGain) {
        set(reference_window_);
        return rest(now, Duration{});
      }
      reference_window_ = window;
      reference_rate_ = epoch.rate();
      set(window * 2);
      if (window_ == window) rest(now, Duration{});
      return;
    case Phase::rest:
      if (now >= rest_until_) begin_trial(now);
      return;
    case Phase::trial: judge(now, epoch); return;
  }
}

void GlobalWindow::begin_trial(Instant now) {
  trial_ = {};
  trial_.home = window_;
  trial_.other = allowed(up_next_ ? trial_.home * 2 : trial_.home / 2);
  if (trial_.other == trial_.home) return refuse(now);
  phase_ = Phase::trial;  // the first epoch of the trial uses the current window
}

void GlobalWindow::judge(Instant now, const Side& epoch) {
  const bool at_home = window_ == trial_.home;
  (at_home ? trial_.at_home : trial_.at_other).add(epoch);
  set(at_home ? trial_.other : trial_.home);
  if (at_home || ++trial_.pairs < kPairsMin) return;
  const std::uint64_t ratio =
      trial_.at_other.rate() * 1'000 / std::max<std::uint64_t>(trial_.at_home.rate(), 1);
  const std::uint64_t wanted = trial_.other > trial_.home ? kUpGain : kDownCost;
  const std::uint64_t margin = trial_.pairs < kPairsMax ? kClear : 0;
  if (ratio >= wanted + margin) {
    set(trial_.other);
    cap_ = std::min(limit_, std::max(cap_, window_ * 2));
    refusals_ = 0;
    rest(now, Duration{});  // the next trial goes in the same direction
  } else if (ratio + margin < wanted) {
    refuse(now);
  }
}

void GlobalWindow::refuse(Instant now) {
  set(trial_.home);
  up_next_ = !up_next_;
  // If neither direction is better, trials become rare, because each trial costs throughput.
  const std::uint32_t rests = ++refusals_ / 2;
  const Duration time = std::min(kRestMin * (std::int64_t{1} << std::min(rests, 10U)), kRestMax);
  rest(now, refusals_ % 2 == 0 ? time : Duration{});
}

void AcceleratedWindow::on_rotation() {
  if (fixed_ != kAuto || ++epoch_.rotations < kAcceleratedEpochRotations) return;
  if (epoch_.after_lost > 0 && epoch_.before < kControlPackets &&
      epoch_.rotations < kAcceleratedEpochRotationsMax) {
    // The packets sent before the token show the usual loss rate, but there were too few of them.
    // So send more packets before the token, and continue to measure.
    share_ = std::min(share_, kShareWithControl);
    return;
  }
  const Epoch done = epoch_;
  epoch_ = {};
  if (done.before + done.after == 0) return;
  const std::uint64_t usual = done.before_lost + root(done.before_lost) + 1;
  const std::uint64_t tolerated =
      2 * usual * done.after / std::max<std::uint64_t>(done.before, 1) + done.after / 1'000;
  const bool harmful = done.after_lost > tolerated && significant(done.after_lost, tolerated);
  share_ = harmful ? share_ / 2 : std::min(100U, share_ + 12);
}

}  // namespace peal::order::ring
