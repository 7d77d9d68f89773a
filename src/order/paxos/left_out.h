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

/// Retains the decided values that excluded members may still lack, up to the view that excluded
/// them. An excluded member must still deliver these values, however long it is away, but needs no
/// later values. So retained values are kept apart from the history, where newer values would soon
/// replace them. With a log, retained values survive a restart of this node too. Several ensembles
/// share one LeftOut, and an OwedPart names the ensemble of each value.
class LeftOut {
 public:
  /// `bytes_max`: limit of the retained values of all members. New values replace the oldest
  /// values. A range that alone exceeds the limit is not retained. `log`: used by this object
  /// alone; null: values are in memory only.
  explicit LeftOut(std::uint64_t bytes_max, port::Log* log = nullptr);
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;

  /// Reads all ranges from the log; call it first. `parts`: the ensembles of this node. False if
  /// the log cannot be read, holds a range of another ensemble, or holds a record that this release
  /// does not know.
  bool restore(std::span<const std::uint8_t> parts);

  /// Retains, for `members`, the consumed values from `first` on that the store still holds.
  void keep(const OwedPart& part, MemberSet members, Instance first, const Store& store);
  /// Drops each range of the part's ensemble that no member needs any more: each member of the
  /// range has consumed all of it, has restarted, or has left. Also drops the ensemble's ranges of
  /// orders other than `part.order`. Call it only if the order is known.
  void look(const OwedPart& part, const Peers& peers);
  std::optional<Store::Decided> decided(const OwedPart& part, Instance instance) const;

  /// Appends retained values that the log does not have yet, as many as the log takes now.
  void write();
  /// True if all retained values are durable, or if there is no log.
  bool durable() const { return !log_ || log_->durable(); }
  /// True if the log failed. Then nothing becomes durable any more.
  bool failed() const { return log_ && log_->failed(); }

  /// The members for which values were dropped for lack of space since the last call.
  std::vector<OwedRanges::Dropped> take_dropped() { return ranges_.take_dropped(); }
  std::uint64_t bytes() const { return ranges_.bytes(); }
  std::uint64_t dropped() const { return ranges_.dropped(); }

  void add_to(Digest& digest) const;

 private:
  OwedRanges ranges_;
  std::optional<OwedLog> log_;
};

}  // namespace peal::order::paxos
