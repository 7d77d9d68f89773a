// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"
#include "order/paxos/link_rhythm.h"
#include "order/paxos/options.h"

namespace peal::order::paxos {

/// Which of the last 64 numbered packets of a node have arrived.
class Arrivals {
 public:
  /// `silence_max`: limit to the number of consecutive losses that count. So a link that was cut
  /// and works again does not count as lossy.
  explicit Arrivals(unsigned silence_max) : silence_max_(silence_max) {}

  void note(std::uint32_t number);
  /// How many of the last `window` numbers, at most 64, did not arrive.
  unsigned lost(unsigned window) const;

 private:
  unsigned silence_max_;
  std::uint64_t seen_ = 0;  ///< bit i: the packet with number `newest_` - i arrived
  std::uint32_t newest_ = 0;
  unsigned count_ = 0;  ///< numbers that `seen_` covers, at most 64
};

/// How well the packets of one node arrive here: its heartbeats on the control lane, and its
/// packets on the data lane, which include link checks of two sizes. A link does not work if it
/// fails for long or loses many packets. It works again once it has been good for a while; that
/// time grows with each relapse.
class Reception {
 public:
  /// Nothing is known yet: the link counts as working until there is evidence against it.
  void begin(Instant now);
  /// This process was suspended: packets that it did not read show nothing about the link.
  void forgive(Instant now);
  /// The heartbeat with this number arrived.
  void beat(Instant now, std::uint32_t number) {
    beats_.note(number);
    beat_at_ = now;
  }
  /// A link check arrived on the data lane. `rounds`: the number of large checks sent so far,
  /// including this check if it is `large`.
  void check(std::uint32_t number, std::uint32_t rounds, bool large);
  /// Any packet arrived on the data lane.
  void data(Instant now) { data_at_ = now; }
  /// Judges the link; call it once per heartbeat. `silent`: no packet of the node arrives at all.
  void look(Instant now, bool silent, const Options& options,
            const LinkRhythm& rhythm = kRhythmOfOne);

  bool works() const { return works_; }
  /// True if the link does not work, and showed no sign of recovery at the last look.
  bool failing() const { return !works_ && fails_; }
  /// True if the node's heartbeats arrive. Then its last STATE is recent, even if packets on the
  /// data lane are lost.
  bool tells() const { return works_ || !(lacks_beats_ || beats_lost_); }
  /// True if, at the last look, the data lane was silent or lost large link checks.
  bool lacks_data() const { return lacks_data_; }

 private:
  bool loses();
  bool loses_large() const { return rounds_ - last_round_ >= kLargeLost; }

  static constexpr unsigned kBeats = 64;
  static constexpr unsigned kChecks = 24;
  /// A link fails once this many large link checks in a row are lost, while small ones arrive.
  static constexpr std::uint32_t kLargeLost = 4;

  Arrivals beats_{8};
  Arrivals checks_{3};
  Instant beat_at_{};             ///< when the last heartbeat arrived on the control lane
  Instant data_at_{};             ///< when the last packet arrived on the data lane
  std::uint32_t rounds_ = 0;      ///< number of large checks sent, as far as is known; 0: none yet
  std::uint32_t last_round_ = 0;  ///< the number of the last large check that arrived
  bool beats_lost_ = false;       ///< too many heartbeats are lost
  bool checks_lost_ = false;      ///< too many link checks are lost
  bool lacks_data_ = false;
  bool lacks_beats_ = false;  ///< at the last look, no heartbeat had arrived for too long
  bool works_ = true;
  bool fails_ = false;         ///< the link failed at the last look
  Instant changed_at_{};       ///< when the link began to fail, or to be good
  Instant worked_again_at_{};  ///< when the link was last found to work again
  unsigned relapses_ = 0;
};

}  // namespace peal::order::paxos
