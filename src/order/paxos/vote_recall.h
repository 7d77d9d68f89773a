// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/history.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/learner.h"
#include "order/paxos/parts.h"
#include "order/paxos/recall.h"

namespace peal::order::paxos {

/// Asks acceptors what they voted for, and answers such questions: for instances that are decided,
/// and that no node has any more as decided. README.md says why a majority's words tell ("What is
/// decided, and nobody has").
class VoteRecall {
 public:
  VoteRecall(const Parts& parts, Learner& learner, History& history,
             const Incarnations& incarnations)
      : p_(parts), learner_(learner), history_(history), incarnations_(incarnations) {}

  /// Asks all acceptors about the instances from the next one on.
  void ask(Effects& out);
  /// All that was asked about is consumed, so what is behind it may be asked about at once.
  bool is_through() const { return p_.state.next() == asked_upto_; }
  void answer(NodeId to, const wire::Recall& question, Effects& out);
  wire::Drop on_word(const Peer& from, const BufferRef& packet);
  /// True: words of a majority told the value of the next instance.
  bool take();
  /// Before this node skips the instances below `end`: keeps what it has to say of them.
  void keep_words(Instance end);
  /// Another list counts: others vote from here on.
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
