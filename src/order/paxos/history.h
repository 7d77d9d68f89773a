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

/// What was decided, for other nodes that lack it: the history of the store, what is retained for
/// excluded members, and what was kept of instances that this node skipped.
class History {
 public:
  /// Unless several ensembles share one, what is retained is this engine's own.
  explicit History(const Parts& parts);

  /// Reads what is retained from its log, if it is this engine's own. False: it cannot be read.
  bool restore();
  std::optional<Store::Decided> decided(Instance instance) const;
  /// Sends what was decided; nothing if this node does not have it. `again`: it was sent in vain
  /// before, so it takes the other lane.
  void send(NodeId to, Instance instance, bool again, Effects& out);

  /// The view that counts excluded those of `before` that are not in it: retains what they may
  /// lack.
  void retain_for_excluded(const std::vector<wire::ViewMember>& before);
  /// Retains for these members what they may lack of the instances below the next one.
  void retain_for(std::span<const MemberId> excluded);
  /// Once in each heartbeat: drops what nobody needs any more, and reports what was dropped for
  /// lack of room. `view`: the last that this node installed.
  void look(ViewId view, Effects& out);
  /// Gives the log what it does not have yet.
  void write() { retained_.write(); }
  /// All that is retained is on disk, where it is kept there at all.
  bool durable() const { return retained_.durable(); }
  /// The log failed: nothing becomes durable any more.
  bool failed() const { return retained_.failed(); }

  /// Values that were sent so far.
  std::uint64_t sent() const { return sent_; }
  const LeftOut& retained() const { return retained_; }
  void add_to(Digest& digest) const { retained_.add_to(digest); }

 private:
  bool reaches(Instance instance) const;
  OwedPart part() const;

  Parts p_;
  std::unique_ptr<LeftOut> own_;  ///< null if several ensembles share one
  LeftOut& retained_;
  std::uint64_t sent_ = 0;
};

}  // namespace peal::order::paxos
