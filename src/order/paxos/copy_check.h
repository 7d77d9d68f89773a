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

/// Whether the log of this node is what it wrote last, or an older copy that was put back. Each
/// incarnation is in the log before it says anything, and others remember how far the log was when
/// incarnations before spoke: a log that lacks the incarnation, or is shorter there, is a copy.
/// README.md says why a majority is asked.
class CopyCheck {
 public:
  /// `starts`: what the log says of incarnations, this one last. Without a log on disk begin() is
  /// not called, and there is nothing to check.
  void begin(std::vector<Record::Start> starts, bool was_put_back);
  /// An acceptor said what it heard of this log. True: it heard of more than the log holds.
  bool note(NodeId from, const wire::LogAnswer& answer);
  /// Others may have become acceptors.
  void look(const Peers& peers);

  /// Enough have answered for a majority with this node, and none heard of more.
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
