// SPDX-License-Identifier: Apache-2.0
#include "toto_definition.h"

#include <algorithm>

namespace peal::order::toto::test {
namespace {

/// Whether x follows y.
bool follows(const GraphNode& x, const NodeRef& y) { return x.past[y.origin] >= y.seq; }

bool is_finite(Seq entry) { return entry != kUndetermined && entry != kInfinite; }

}  // namespace

std::size_t Candidate::nvt() const {
  return static_cast<std::size_t>(std::ranges::count_if(vt, is_finite));
}

Definition::Definition(Index members, const Criterion& criterion)
    : members_(members), criterion_(criterion), nodes_(members), defunct_(members, false) {}

void Definition::add(const Input& input) {
  if (input.node == nullptr) {
    defunct_[input.crashed] = true;
    return;
  }
  nodes_[input.node->ref.origin].push_back(input.node);
  if (input.node->ordered) pending_.push_back(input.node);
}

void Definition::take(const Input& input) {
  add(input);
  for (auto activation = decide(); !activation.empty(); activation = decide()) {
    decided.push_back(activation);
  }
}

/// The candidates, with Tail and VT of each.
Evaluation Definition::evaluate() const {
  Evaluation state;
  for (const GraphNode* m : pending_) {
    const bool candidate = std::ranges::none_of(
        pending_, [&](const GraphNode* other) { return other != m && follows(*m, other->ref); });
    if (candidate) state.candidates.push_back({m->ref, {}, {}});
  }
  std::ranges::sort(state.candidates, {}, [](const Candidate& m) { return m.unit.origin; });
  for (Index q = 0; q < members_; ++q) {
    const GraphNode* first = nullptr;
    for (Candidate& m : state.candidates) {
      const auto follower = std::ranges::find_if(
          nodes_[q], [&](const GraphNode* node) { return follows(*node, m.unit); });
      if (follower == nodes_[q].end()) continue;
      m.tail.push_back(q);
      if (first == nullptr || (*follower)->ref.seq < first->ref.seq) first = *follower;
    }
    if (first != nullptr || defunct_[q]) state.tail.push_back(q);
    for (Candidate& m : state.candidates) {
      Seq entry = defunct_[q] ? kInfinite : kUndetermined;
      if (first != nullptr) entry = follows(*first, m.unit) ? first->ref.seq : kInfinite;
      m.vt.push_back(entry);
    }
  }
  return state;
}

/// The number of columns in which VT(a) is less than VT(b).
std::size_t Definition::less(const Candidate& a, const Candidate& b) const {
  std::size_t columns = 0;
  for (std::size_t j = 0; j < members_; ++j) {
    if (is_finite(a.vt[j]) && b.vt[j] == kInfinite) ++columns;
  }
  return columns;
}

/// Win(a, b) = 1.
bool Definition::wins(const Candidate& a, const Candidate& b) const {
  return less(a, b) >= criterion_.win;
}

/// 1 is in Future(a, b): fewer than n - W + 1 columns j have VT(b)[j] <= VT(a)[j].
bool Definition::may_win(const Candidate& a, const Candidate& b) const {
  std::size_t against = 0;
  for (std::size_t j = 0; j < members_; ++j) {
    if (b.vt[j] != kUndetermined && b.vt[j] <= a.vt[j]) ++against;
  }
  return against + criterion_.win < members_ + 1;
}

bool Definition::external(const Evaluation& state,
                          const std::vector<const Candidate*>& sources) const {
  if (state.tail.size() == members_) return true;
  if (criterion_.rule == Rule::all_ack) return false;
  const auto wins = [&](const Candidate* s) { return s->nvt() >= criterion_.win; };
  const auto acknowledged = [&](const Candidate* s) {
    return s->ntail() + criterion_.win >= members_ + 1;
  };
  return (!criterion_.checks_nvt || std::ranges::any_of(sources, wins)) &&
         (!criterion_.checks_ntail || std::ranges::all_of(sources, acknowledged));
}

/// The sources, if the criterion holds; otherwise nothing.
std::vector<NodeRef> Definition::deliverable(const Evaluation& state) const {
  std::vector<const Candidate*> sources, others;
  for (const Candidate& m : state.candidates) {
    const bool beatable = std::ranges::any_of(state.candidates, [&](const Candidate& other) {
      return &other != &m && may_win(other, m);
    });
    const bool source = criterion_.rule == Rule::all_ack || !beatable;
    (source ? sources : others).push_back(&m);
  }
  const bool stable = std::ranges::all_of(others, [&](const Candidate* m) {
    return std::ranges::any_of(state.candidates,
                               [&](const Candidate& other) { return wins(other, *m); });
  });
  if (sources.empty() || !stable || !external(state, sources)) return {};
  std::vector<NodeRef> activation;
  for (const Candidate* s : sources) activation.push_back(s->unit);
  return activation;
}

std::vector<NodeRef> Definition::decide() {
  if (pending_.empty()) return {};
  std::vector<NodeRef> activation = deliverable(evaluate());
  std::erase_if(pending_, [&](const GraphNode* node) {
    return std::ranges::find(activation, node->ref) != activation.end();
  });
  return activation;
}

}  // namespace peal::order::toto::test
