// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"
#include "order/paxos/link_rhythm.h"
#include "order/paxos/options.h"

namespace peal::order::paxos {

/// Which of the packets that a node numbered have arrived, of the last 64.
class Arrivals {
 public:
  /// `silence_max`: so many lost ones in a row count at most. A link that was cut and works again
  /// is no lossy one.
  explicit Arrivals(unsigned silence_max) : silence_max_(silence_max) {}

  void note(std::uint32_t number);
  /// Of the last `window` numbers, at most 64, those that did not arrive.
  unsigned lost(unsigned window) const;

 private:
  unsigned silence_max_;
  std::uint64_t seen_ = 0;  ///< bit i: `newest_` - i arrived
  std::uint32_t newest_ = 0;
  unsigned count_ = 0;  ///< numbers that `seen_` speaks of, at most 64
};

/// How well the packets of one node arrive here: its signs of life on the control lane, and its
/// what comes on the data lane, link checks of two sizes among it. A link that fails for long, or
/// loses much, does not work; it works again once it has been good for a while, which is longer
/// each time that it fails soon afterwards.
class Reception {
 public:
  /// Nothing is known yet: the link works until something says otherwise.
  void begin(Instant now);
  /// This process did not run: what was not read meanwhile says nothing of the link.
  void forgive(Instant now);
  /// A sign of life with its number.
  void beat(Instant now, std::uint32_t number) {
    beats_.note(number);
    beat_at_ = now;
  }
  /// A link check, which came on the data lane. `rounds`: so many large ones were sent up to it,
  /// itself included if it is `large`.
  void check(std::uint32_t number, std::uint32_t rounds, bool large);
  /// Anything on the data lane.
  void data(Instant now) { data_at_ = now; }
  /// Judges; once in each heartbeat. `silent`: nothing at all is heard of the node.
  void look(Instant now, bool silent, const Options& options,
            const LinkRhythm& rhythm = kRhythmOfOne);

  bool works() const { return works_; }
  /// It does not work, and at the moment nothing says that it may again.
  bool failing() const { return !works_ && fails_; }
  /// What it says of itself arrives, and is not old, whatever gets lost on the data lane.
  bool tells() const { return works_ || !(lacks_beats_ || beats_lost_); }
  /// At the last look nothing came on the data lane, or nothing large.
  bool lacks_data() const { return lacks_data_; }

 private:
  bool loses();
  bool loses_large() const { return rounds_ - last_round_ >= kLargeLost; }

  static constexpr unsigned kBeats = 64;
  static constexpr unsigned kChecks = 24;
  /// Large link checks in a row, while small ones arrive.
  static constexpr std::uint32_t kLargeLost = 4;

  Arrivals beats_{8};
  Arrivals checks_{3};
  Instant beat_at_{};         ///< when a sign of life came on the control lane
  Instant data_at_{};         ///< when anything came on the data lane
  std::uint32_t rounds_ = 0;  ///< large link checks that were sent, as far as is known; 0: not yet
  std::uint32_t last_round_ = 0;  ///< that of the last one that came
  bool beats_lost_ = false;       ///< too many of them
  bool checks_lost_ = false;      ///< too many of them
  bool lacks_data_ = false;
  bool lacks_beats_ = false;  ///< at the last look nothing came on the control lane
  bool works_ = true;
  bool fails_ = false;         ///< at the last look
  Instant changed_at_{};       ///< when it began to fail, or to be good
  Instant worked_again_at_{};  ///< when it last was found to work again
  unsigned relapses_ = 0;
};

}  // namespace peal::order::paxos
