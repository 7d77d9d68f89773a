// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace peal::order::ring {

/// The number of packets that all members together may send in one rotation. Only the
/// representative of a view tunes this window. It measures throughput and loss in epochs of several
/// rotations. First it doubles the window while each doubling clearly raises throughput. Later it
/// sometimes makes a trial: epochs with the current window alternate with epochs with twice or half
/// the window. It keeps the larger window only if throughput rises, and the smaller window if
/// throughput does not fall. On loss it reduces the window. If half the window does not cure the
/// loss, the window is not the cause. Then the representative restores the window, and tolerates
/// this loss rate from then on. All numbers are integers, so that a simulation can be repeated
/// exactly.
class GlobalWindow {
 public:
  /// `fixed` > 0 disables tuning. `limit` is the largest window that the view allows.
  void reset(std::uint32_t members, std::uint32_t request_lag, std::uint32_t limit,
             std::uint32_t fixed);
  std::uint32_t value() const { return window_; }

  /// Called once per rotation, with the sums of the last rotation. `limited`: a member used up its
  /// allowance, and has more units to order.
  void on_rotation(Instant now, std::uint64_t new_packets, std::uint64_t losses, bool limited);
  /// Discards the running epoch, because the token rested or this process paused.
  void spoil() { spoiled_ = true; }

 private:
  enum class Phase : std::uint8_t { start, rest, trial };
  /// The number of packets, and how many of them were lost.
  struct Tally {
    std::uint64_t packets = 0, losses = 0;
    /// Loss rate in millionths.
    std::uint64_t loss() const { return losses * 1'000'000 / (packets == 0 ? 1 : packets); }
    /// Lower bound of the loss rate: the measured rate minus four standard deviations.
    std::uint64_t sure_loss() const;
    void add(const Tally& more) { packets += more.packets, losses += more.losses; }
  };
  /// A reduction of the window because of loss. It lasts from the first such loss until the verdict
  /// that the smaller window has cured the loss, or cannot cure it.
  struct Retreat {
    /// Values of window_ and cap_ before the retreat. There is no retreat while `window` is 0.
    std::uint32_t window = 0, cap = 0;
    bool starting = false;   ///< the phase before the retreat was `start`
    std::uint64_t loss = 0;  ///< loss rate to be cured, in millionths
    Tally since;
  };
  enum class Verdict : std::uint8_t { open, cured, incurable };
  /// Packets ordered in a period, and the length of the period.
  struct Side {
    std::uint64_t packets = 0, ns = 0;
    std::uint64_t rate() const { return packets * 1'000'000'000 / (ns == 0 ? 1 : ns); }
    void add(const Side& more) { packets += more.packets, ns += more.ns; }
  };
  /// Two windows in alternating epochs, so that both run under the same conditions.
  struct Trial {
    std::uint64_t home = 0, other = 0;
    Side at_home, at_other;
    std::uint32_t pairs = 0;
  };
  void end_epoch(Instant now, Duration took, const Tally& epoch);
  Verdict verdict() const;
  bool far() const;
  void retreat(Instant now, const Tally& epoch);
  void restore(Instant now);
  void rest(Instant now, Duration time);
  void step(Instant now, const Side& epoch);
  void begin_trial(Instant now);
  void judge(Instant now, const Side& epoch);
  void refuse(Instant now);
  /// Clamps `window` to the permitted range.
  std::uint32_t allowed(std::uint64_t window) const;
  void set(std::uint64_t window) { window_ = allowed(window); }

  std::uint32_t window_ = 0, fixed_ = 0, limit_ = 0, least_ = 0, cap_ = 0;
  std::uint32_t epoch_rotations_ = 0;
  Phase phase_ = Phase::start;
  bool up_next_ = true;
  std::uint64_t reference_window_ = 0, reference_rate_ = 0;  // unset if reference_window_ is 0
  Trial trial_;
  std::uint32_t refusals_ = 0;  // consecutive trials that kept the current window
  Instant rest_until_{};
  std::uint64_t tolerated_ = 0;  // loss in millionths
  Retreat retreat_;

  Instant epoch_start_{};
  bool epoch_running_ = false, spoiled_ = false;
  std::uint32_t rotations_ = 0, limited_ = 0, skip_ = 0, settling_ = 0;
  Tally epoch_, recent_;
  std::uint64_t epochs_ = 0;
};

/// The share of a visit's packets that the member sends after the token. Each member tunes its own
/// share. Packets sent after the token overlap with the packets of the next member. This does harm
/// only if buffers overflow. Then packets sent after the token are lost more often than packets
/// sent before it.
class AcceleratedWindow {
 public:
  static constexpr std::uint32_t kAuto = 0xffff'ffff;
  void reset(std::uint32_t fixed) {
    fixed_ = fixed;
    share_ = 50;
    epoch_ = {};
  }
  /// Number of packets to send after the token, in a visit with `count` packets. A fixed number may
  /// exceed `count`.
  std::uint32_t after_token(std::uint32_t count) const {
    if (fixed_ != kAuto) return fixed_;
    return static_cast<std::uint32_t>((std::uint64_t{count} * share_ + 99) / 100);
  }
  void on_sent(std::uint32_t before, std::uint32_t after) {
    epoch_.before += before;
    epoch_.after += after;
  }
  void on_retransmitted(bool was_after) { was_after ? ++epoch_.after_lost : ++epoch_.before_lost; }
  void on_rotation();
  std::uint32_t share_percent() const { return share_; }

 private:
  struct Epoch {
    std::uint64_t before = 0, after = 0, before_lost = 0, after_lost = 0;
    std::uint32_t rotations = 0;
  };

  std::uint32_t fixed_ = kAuto;
  std::uint32_t share_ = 50;  // percent of a visit's packets
  Epoch epoch_;
};

}  // namespace peal::order::ring
