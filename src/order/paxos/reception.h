// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
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
/// link checks and values on the data lane, large ones among them. A link that fails for long, or
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
  /// A link check of so many bytes.
  void check(Instant now, std::uint32_t number, std::size_t bytes, const Options& options);
  /// A value of so many bytes.
  void value(Instant now, std::size_t bytes, const Options& options);
  /// Judges; once in each heartbeat. `silent`: nothing at all is heard of the node.
  void look(Instant now, bool silent, const Options& options);

  bool works() const { return works_; }
  /// It does not work, and at the moment nothing says that it may again.
  bool failing() const { return !works_ && fails_; }

 private:
  bool loses();

  static constexpr unsigned kBeats = 64;
  static constexpr unsigned kChecks = 24;

  Arrivals beats_{8};
  Arrivals checks_{3};
  Instant beat_at_{};         ///< when a sign of life came on the control lane
  Instant large_at_{};        ///< when a large packet came on the data lane
  bool beats_lost_ = false;   ///< too many of them
  bool checks_lost_ = false;  ///< too many of them
  bool works_ = true;
  bool fails_ = false;         ///< at the last look
  Instant changed_at_{};       ///< when it began to fail, or to be good
  Instant worked_again_at_{};  ///< when it last was found to work again
  unsigned relapses_ = 0;
};

}  // namespace peal::order::paxos
