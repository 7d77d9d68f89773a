// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/history.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/learner.h"
#include "order/paxos/parts.h"
#include "order/paxos/recall.h"

namespace peal::order::paxos {

/// If an instance is decided, but no node has the decided value any more, asks acceptors for their
/// votes in that instance. Also answers such requests. README.md explains why the votes of a
/// majority reveal the value ("Decided values that no node has").
class VoteRecall {
 public:
  VoteRecall(const Parts& parts, Learner& learner, History& history,
             const Incarnations& incarnations)
      : p_(parts), learner_(learner), history_(history), incarnations_(incarnations) {}

  /// Asks all acceptors about the instances from the next one on.
  void ask(Effects& out);
  /// True if all instances that were asked about are consumed. Then the following instances may be
  /// asked about at once.
  bool is_through() const { return p_.state.next() == asked_upto_; }
  void answer(NodeId to, const wire::Recall& question, Effects& out);
  wire::Drop on_word(const Peer& from, const BufferRef& packet);
  /// If votes of a majority reveal the value of the next instance, passes the value to the learner,
  /// and returns true.
  bool take();
  /// Call it before this node skips the instances below `end`: keeps its votes for them.
  void keep_words(Instance end);
  /// Another list is active: other acceptors vote in later instances.
  void begin_list() { recall_.clear(); }

  void check_invariants() const;
  void add_to(Digest& digest) const { recall_.add_to(digest); }

 private:
  void note_own(const wire::Recall& question);
  std::optional<KeptWords::Word> word_on(Instance instance) const;

  Parts p_;
  Learner& learner_;
  History& history_;
  const Incarnations& incarnations_;
  Recall recall_;
  Instance asked_upto_ = 0;  ///< one above the last instance that was asked about
};

}  // namespace peal::order::paxos
