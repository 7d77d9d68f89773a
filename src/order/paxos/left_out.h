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

/// Retains what excluded members may still lack: the decided values up to the view that excluded
/// them. Members owe these to their applications however long they are away, and need none of the
/// later values. So they are kept apart from the history, whose space other values soon take. With
/// a log they survive a restart of this node too. Several ensembles share one such object, each
/// with its part.
class LeftOut {
 public:
  /// `bytes_max`: limit of what is kept, for all members. New values replace the oldest; what
  /// exceeds the limit alone is not kept. `log`: used by this object alone; null: values are in
  /// memory only.
  explicit LeftOut(std::uint64_t bytes_max, port::Log* log = nullptr);
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;

  /// Reads these parts from the log; call it first. False: the log holds a record that this release
  /// did not write, or cannot be read.
  bool restore(std::span<const std::uint8_t> parts);

  /// Retains for `members` what the store holds from `first` up.
  void keep(const OwedPart& part, MemberSet members, Instance first, const Store& store);
  /// Drops what no member needs any more, since each has it all, has restarted, or has left; and
  /// what is of another order than that of the part, if that is known.
  void look(const OwedPart& part, const Peers& peers);
  std::optional<Store::Decided> decided(const OwedPart& part, Instance instance) const;

  /// Appends to the log what it does not have yet, as far as it takes it.
  void write();
  /// Nothing waits for the log.
  bool durable() const { return !log_ || log_->durable(); }
  /// The log failed: nothing becomes durable any more.
  bool failed() const { return log_ && log_->failed(); }

  /// The members for whom something was dropped for lack of space since the last call.
  std::vector<OwedRanges::Dropped> take_dropped() { return ranges_.take_dropped(); }
  std::uint64_t bytes() const { return ranges_.bytes(); }
  std::uint64_t dropped() const { return ranges_.dropped(); }

  void add_to(Digest& digest) const;

 private:
  OwedRanges ranges_;
  std::optional<OwedLog> log_;
};

}  // namespace peal::order::paxos
