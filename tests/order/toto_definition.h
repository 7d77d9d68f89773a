// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "toto_run.h"

// ToTo's delivery criterion in the terms of its paper (src/order/toto/README.md), and the rule
// all-ack. Nothing here is incremental: each value is computed from the whole graph whenever it is
// needed.

namespace peal::order::toto::test {

/// Entries of VT that are not the number of a node.
inline constexpr Seq kUndetermined = 0;
inline constexpr Seq kInfinite = std::numeric_limits<Seq>::max();

/// A candidate, with its quantifying functions.
struct Candidate {
  NodeRef unit{};
  std::vector<Index> tail;  ///< Tail(m): the members that sent a node which follows the candidate
  std::vector<Seq> vt;      ///< VT(m), by member

  std::size_t ntail() const { return tail.size(); }
  std::size_t nvt() const;
};

/// All candidates by ascending sender, and the members with a determined column.
struct Evaluation {
  std::vector<Candidate> candidates;
  std::vector<Index> tail;
};

/// The criterion, and the variants of it that toto_variants_test.cc compares.
struct Criterion {
  Index win = 1;  ///< W; may be lower than TotalOrder accepts
  Rule rule = Rule::toto;
  bool checks_ntail = true;  ///< external (a): NTail(s) >= n-W+1 for every source
  bool checks_nvt = true;    ///< external (a): NVT(s) >= W for a source
};

class Definition {
 public:
  Definition(Index members, const Criterion& criterion);

  /// Adds the input, and decides nothing.
  void add(const Input& input);
  /// Decides the next activation. Returns no units if the criterion does not hold.
  std::vector<NodeRef> decide();
  /// Adds the input, and decides all activations that it makes possible.
  void take(const Input& input);

  Evaluation evaluate() const;
  Index members() const { return static_cast<Index>(members_); }
  const std::vector<const GraphNode*>& pending() const { return pending_; }

  Decisions decided;

 private:
  std::size_t less(const Candidate& a, const Candidate& b) const;
  bool wins(const Candidate& a, const Candidate& b) const;
  bool may_win(const Candidate& a, const Candidate& b) const;
  bool external(const Evaluation& state, const std::vector<const Candidate*>& sources) const;
  std::vector<NodeRef> deliverable(const Evaluation& state) const;

  std::size_t members_;
  Criterion criterion_;
  std::vector<std::vector<const GraphNode*>> nodes_;  ///< by origin
  std::vector<const GraphNode*> pending_;
  std::vector<bool> defunct_;
};

}  // namespace peal::order::toto::test
