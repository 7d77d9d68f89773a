// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "order/paxos/peers.h"
#include "order/paxos/records.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// Determines whether the log of this node is the latest one, or an older copy that was restored.
/// Each incarnation is recorded in the log before it sends anything, and other nodes remember the
/// length of the log that earlier incarnations reported. A log that lacks an incarnation, or is
/// shorter than remembered, is an older copy. README.md explains why the answers of a majority are
/// needed.
class CopyCheck {
 public:
  /// `starts`: the incarnations in the log, this one last. `was_put_back`: the log records that it
  /// is an older copy. If there is no log on disk, begin() is not called and nothing is checked.
  void begin(std::vector<Record::Start> starts, bool was_put_back);
  /// An acceptor reports what it heard of this log. True: this report is the first one that names a
  /// record that the log lacks, so the log is an older copy.
  bool note(NodeId from, const wire::LogAnswer& answer);
  /// Counts the answers anew: the set of acceptors may have changed.
  void look(const Peers& peers);

  /// True if a majority, including this node, has answered, and no answer shows that the log is a
  /// copy.
  bool is_sure() const { return sure_ && !put_back_; }
  bool is_put_back() const { return put_back_; }
  wire::LogWord word() const;

  void add_to(Digest& digest) const;

 private:
  bool holds(const wire::LogHeard& heard) const;

  std::vector<Record::Start> starts_;
  std::vector<NodeId> answered_;
  bool sure_ = true;
  bool asks_ = false;
  bool put_back_ = false;
};

}  // namespace peal::order::paxos
