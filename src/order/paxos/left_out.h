// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "order/member_set.h"
#include "order/paxos/owed_log.h"
#include "order/paxos/owed_ranges.h"
#include "order/paxos/peers.h"
#include "order/paxos/store.h"
#include "port/log.h"

namespace peal::order::paxos {

/// What members that were left out of a view may still lack of it: the decided values up to the
/// view without them. They owe their applications these, however long they are away, and need
/// nothing behind them; so they are kept apart from the history, which others overrun soon. With a
/// log they survive a restart of this node too. Several ensembles share one of these, and each has
/// its part.
class LeftOut {
 public:
  /// `bytes_max`: of what is kept for all. What comes on top takes the place of the oldest, and
  /// what is more than that alone is not kept. `log`: of this alone; null: it is in memory alone.
  explicit LeftOut(std::uint64_t bytes_max, port::Log* log = nullptr);
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;

  /// Reads what the log holds, before anything else: of these parts. False: it holds something that
  /// this release did not write, or cannot be read.
  bool restore(std::span<const std::uint8_t> parts);

  /// For `members`: what the store holds from `first` up.
  void keep(const OwedPart& part, MemberSet members, Instance first, const Store& store);
  /// Forgets what nobody needs any more, since they have it all, have restarted, or said goodbye;
  /// and what is of another order than that of the part, which is known now.
  void look(const OwedPart& part, const Peers& peers);
  std::optional<Store::Decided> decided(const OwedPart& part, Instance instance) const;

  /// Gives the log what it does not have yet, as far as it takes it.
  void write();
  /// Nothing of it waits for the log.
  bool durable() const { return !log_ || log_->durable(); }
  /// The log failed: nothing becomes durable any more.
  bool failed() const { return log_ && log_->failed(); }

  /// Who lost something for lack of room since the last call.
  std::vector<OwedRanges::Dropped> take_dropped() { return ranges_.take_dropped(); }
  std::uint64_t bytes() const { return ranges_.bytes(); }
  std::uint64_t dropped() const { return ranges_.dropped(); }

  void add_to(Digest& digest) const;

 private:
  OwedRanges ranges_;
  std::optional<OwedLog> log_;
};

}  // namespace peal::order::paxos
