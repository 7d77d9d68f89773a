// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "order/paxos/left_out.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Decided values for nodes that lack them: the history of the store, the values retained for
/// excluded members, and the values kept for instances that this node skipped.
class History {
 public:
  /// If several ensembles share an object for retained values (Config::left_out), this engine has
  /// none of its own.
  explicit History(const Parts& parts);

  /// Reads the retained values from their log, unless several ensembles share these values. False:
  /// the log cannot be read.
  bool restore();
  std::optional<Store::Decided> decided(Instance instance) const;
  /// Sends a decided value, if this node has it. `again`: an earlier packet was lost, so this
  /// packet takes the control lane.
  void send(NodeId to, Instance instance, bool again, Effects& out);

  /// The view that is active now excluded members of `before`: retains the values that these
  /// members may lack.
  void retain_for_excluded(const std::vector<wire::ViewMember>& before);
  /// Retains, for the members `excluded`, the values that they may lack, up to the last consumed
  /// instance.
  void retain_for(std::span<const MemberId> excluded);
  /// Call it once per heartbeat: drops retained values that no member needs any more, and reports
  /// values that were dropped for lack of space. `view`: the last view that this node installed.
  void look(ViewId view, Effects& out);
  /// Appends to the log the retained values that the log does not have yet.
  void write() { retained_.write(); }
  /// True if all retained values are on disk, or if retained values are kept in memory only.
  bool durable() const { return retained_.durable(); }
  /// True if the log of retained values failed. Then nothing becomes durable any more.
  bool failed() const { return retained_.failed(); }

  /// The number of values sent so far.
  std::uint64_t sent() const { return sent_; }
  const LeftOut& retained() const { return retained_; }
  void add_to(Digest& digest) const { retained_.add_to(digest); }

 private:
  bool reaches(Instance instance) const;
  OwedPart part() const;

  Parts p_;
  std::unique_ptr<LeftOut> own_;  ///< null if several ensembles share one object
  LeftOut& retained_;
  std::uint64_t sent_ = 0;
};

}  // namespace peal::order::paxos
