// SPDX-License-Identifier: Apache-2.0
#include "toto_explore.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal::order::toto::test {
namespace {

constexpr std::size_t kSendersMax = 5;
constexpr std::size_t kNodesMax = 6;
constexpr std::uint32_t kCapacity = 8;
static_assert(kNodesMax < kCapacity);

using Past = std::array<Seq, kSendersMax>;

struct SmallNode {
  Index origin = 0;
  bool ordered = true;
  Past past{};
  std::array<Cover, kSendersMax> covers{};
  std::size_t cover_count = 0;

  Seq seq() const { return past[origin]; }
};

/// A graph of at most kNodesMax nodes, in the order in which Graphs adds them.
class SmallGraph {
 public:
  explicit SmallGraph(Index senders) : senders_(senders) {}

  Index senders() const { return senders_; }
  std::size_t size() const { return nodes_.size(); }
  const Past& newest() const { return newest_; }
  SmallNode& node(std::size_t position) { return nodes_[position]; }
  const SmallNode& node(std::size_t position) const { return nodes_[position]; }
  std::size_t position(Index origin, Seq seq) const { return positions_[origin][seq]; }

  /// Adds the next node of `origin`, with this past of other nodes.
  void push(Index origin, Past past) {
    const Past before = previous(origin);
    past[origin] = ++newest_[origin];
    SmallNode added{.origin = origin, .past = past};
    for (Index other = 0; other < senders_; ++other) {
      if (past[other] > before[other]) added.covers[added.cover_count++] = {other, past[other]};
    }
    positions_[origin][past[origin]] = nodes_.size();
    nodes_.push_back(added);
  }
  /// Removes the node that was added last.
  void pop() {
    --newest_[nodes_.back().origin];
    nodes_.pop_back();
  }

  /// The past of the newest node of `origin`.
  Past previous(Index origin) const {
    return newest_[origin] == 0 ? Past{} : nodes_[position(origin, newest_[origin])].past;
  }
  std::string text() const {
    std::string text;
    for (const SmallNode& node : nodes_) {
      text += " " + std::string(1, static_cast<char>('a' + node.origin));
      text += std::to_string(node.seq()) + (node.ordered ? "(" : " control(");
      for (Index other = 0; other < senders_; ++other) text += std::to_string(node.past[other]);
      text += ")";
    }
    return text;
  }

 private:
  Index senders_;
  Past newest_{};
  std::vector<SmallNode> nodes_;
  std::array<std::array<std::size_t, kNodesMax + 1>, kSendersMax> positions_{};
};

/// Calls `visit` once for each graph of the scope. The nodes of a graph have several orders that
/// respect causality. The graph is built only in the order that always takes the lowest sender
/// whose next node is possible.
template <class Visit>
class Graphs {
 public:
  Graphs(const Scope& scope, Visit visit)
      : scope_(scope), graph_(scope.senders), visit_(std::move(visit)) {}

  void run() { extend(); }

 private:
  void extend() {
    if (graph_.size() == scope_.nodes) return choose_kinds(0);
    for (Index origin = 0; origin < scope_.senders; ++origin) {
      Past past = graph_.previous(origin);
      choose_past(origin, 0, past);
    }
  }

  /// Tries all pasts of the next node of `origin`. The entries before `other` are chosen already.
  void choose_past(Index origin, Index other, Past& past) {
    if (other == scope_.senders) {
      if (!is_closed(past) || !is_lowest(origin, past)) return;
      graph_.push(origin, past);
      extend();
      return graph_.pop();
    }
    const Seq least = past[other];
    for (; past[other] <= graph_.newest()[other]; ++past[other]) {
      choose_past(origin, static_cast<Index>(other + 1), past);
      if (other == origin) break;
    }
    past[other] = least;
  }

  /// Whether the past contains all nodes that its nodes follow.
  bool is_closed(const Past& past) const {
    for (Index other = 0; other < scope_.senders; ++other) {
      if (past[other] == 0) continue;
      const Past& followed = graph_.node(graph_.position(other, past[other])).past;
      for (std::size_t i = 0; i < followed.size(); ++i) {
        if (followed[i] > past[i]) return false;
      }
    }
    return true;
  }

  /// Whether no node of a higher sender was added after all predecessors of this node.
  bool is_lowest(Index origin, const Past& past) const {
    std::size_t behind = 0;  // the first position behind the predecessors
    for (Index other = 0; other < scope_.senders; ++other) {
      if (past[other] != 0) behind = std::max(behind, graph_.position(other, past[other]) + 1);
    }
    for (std::size_t i = behind; i < graph_.size(); ++i) {
      if (graph_.node(i).origin > origin) return false;
    }
    return true;
  }

  void choose_kinds(std::size_t position) {
    if (position == 0 && scope_.sorted_senders) {
      const auto counts = std::span(graph_.newest()).first(scope_.senders);
      if (!std::ranges::is_sorted(counts, std::greater<>())) return;
    }
    if (position == graph_.size()) return visit_(graph_);
    choose_kinds(position + 1);
    if (!scope_.both_kinds) return;
    graph_.node(position).ordered = false;
    choose_kinds(position + 1);
    graph_.node(position).ordered = true;
  }

  Scope scope_;
  SmallGraph graph_;
  Visit visit_;
};

/// Explores all orders of arrival of one graph, with one threshold.
class Arrivals {
 public:
  Arrivals(Index senders, Explored& explored) : senders_(senders), explored_(explored) {
    std::vector<Index> permutation(senders);
    std::iota(permutation.begin(), permutation.end(), Index{0});
    do {
      permutations_.push_back(permutation);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }

  void run(const SmallGraph& graph, Index win) {
    graph_ = &graph;
    activations_ = 0;
    whole_ = -1;
    levels_[0].order.begin({.members = senders_, .win = win, .capacity = kCapacity});
    levels_[0].decided = 0;
    arrive(0, Past{});
    explored_.activations += activations_;
  }

 private:
  /// A member after some inputs.
  struct Level {
    TotalOrder order;
    std::size_t decided = 0;  ///< activations so far
  };

  void arrive(std::size_t level, const Past& held) {
    if (level == graph_->size()) return finish(level);
    for (Index origin = 0; origin < senders_ && explored_.violation.empty(); ++origin) {
      if (held[origin] == graph_->newest()[origin]) continue;
      const SmallNode& node = graph_->node(graph_->position(origin, held[origin] + 1));
      Past after = held;
      ++after[origin];
      if (!std::ranges::equal(node.past, after, std::ranges::less_equal{})) continue;
      join(level, node);
      arrive(level + 1, after);
    }
  }

  /// The whole graph has joined: now every member's last node joins.
  void finish(std::size_t level) {
    const auto decided = static_cast<std::int64_t>(levels_[level].decided);
    const bool first = whole_ < 0;
    if (first) whole_ = decided;
    if (decided != whole_) return fail("the whole graph decides less in one order of arrival");
    if (!first) {
      flush(level, permutations_[explored_.orders++ % permutations_.size()]);
      return;
    }
    ++explored_.orders;
    for (const auto& permutation : permutations_) flush(level, permutation);
  }

  void flush(std::size_t level, const std::vector<Index>& members) {
    for (const Index member : members) {
      SmallNode node{.origin = member, .ordered = false, .past = graph_->newest()};
      ++node.past[member];
      for (Index other = 0; other < senders_; ++other) {
        node.covers[node.cover_count++] = {other, node.past[other]};
      }
      join(level++, node);
    }
    if (!levels_[level].order.idle()) return fail("units are pending at the end");
    if (levels_[level].decided != activations_) fail("the end decides less in one order");
  }

  /// The next level: the node has joined, and all that it makes possible is decided.
  void join(std::size_t level, const SmallNode& node) {
    Level& next = levels_[level + 1];
    next = levels_[level];
    next.order.on_node(node.origin, node.seq(), node.ordered, std::span(node.past).first(senders_),
                       std::span(node.covers).first(node.cover_count));
    ++explored_.inputs;
    while (next.order.decide(activation_)) note_decision(next.decided++);
  }

  void note_decision(std::size_t index) {
    std::uint64_t units = 1;
    for (const NodeRef& unit : activation_) {
      units = units * (kSendersMax * kCapacity) + unit.origin * kCapacity + unit.seq;
    }
    PEAL_ASSERT(index < sequence_.size());
    if (index == activations_) sequence_[activations_++] = units;
    if (sequence_[index] != units) fail("two orders of arrival decide different activations");
  }

  void fail(const char* what) {
    if (explored_.violation.empty()) explored_.violation = what + (":" + graph_->text());
  }

  Index senders_;
  Explored& explored_;
  std::vector<std::vector<Index>> permutations_;
  const SmallGraph* graph_ = nullptr;
  std::array<std::uint64_t, kNodesMax> sequence_{};  ///< decided in all orders, as far as known
  std::size_t activations_ = 0;                      ///< the length of `sequence_`
  std::int64_t whole_ = -1;  ///< activations that the whole graph decides; negative: unknown
  std::array<Level, kNodesMax + kSendersMax + 1> levels_;
  Activation activation_;
};

}  // namespace

Explored explore(const Scope& scope) {
  PEAL_ASSERT(scope.senders <= kSendersMax && scope.nodes <= kNodesMax);
  Explored explored;
  Arrivals arrivals(scope.senders, explored);
  const auto visit = [&](const SmallGraph& graph) {
    ++explored.graphs;
    for (auto win = static_cast<Index>(scope.senders / 2 + 1); win <= scope.senders; ++win) {
      if (explored.violation.empty()) arrivals.run(graph, win);
    }
  };
  Graphs graphs(scope, visit);
  graphs.run();
  return explored;
}

}  // namespace peal::order::toto::test
