// SPDX-License-Identifier: Apache-2.0
#include "oracle/cycles.h"

#include <algorithm>

namespace peal::oracle {
namespace {

// Edges for all pairs of consecutive deliveries. A pair in a view's log gets only one edge.
std::vector<Edge> edges_of(const History& history) {
  std::vector<Edge> edges;
  // By view: the number of entries of the view's log that have edges.
  std::vector<std::uint32_t> covered(history.views.size(), 0);
  for (Index member = 0; member < history.processes.size(); ++member) {
    Index last = kNone;
    for (const Index at : history.processes[member].spans) {
      const Span& span = history.spans[at];
      const std::uint32_t count = history.delivery_count(span);
      std::uint32_t& done = covered[span.view];
      for (std::uint32_t k = 0; k < count; ++k) {
        if (k >= 1 && k < std::min(done, span.common)) {
          k = std::min(done, span.common) - 1;
          last = history.delivery(span, k);
          continue;
        }
        const Index next = history.delivery(span, k);
        if (last != kNone) edges.push_back({last, next, member});
        last = next;
      }
      done = std::max(done, span.common);
    }
  }
  return edges;
}

// Edges, grouped by their start.
class Graph {
 public:
  Graph(std::size_t nodes, const std::vector<Edge>& edges)
      : edges_(edges.size()), begin_(nodes + 1, 0), incoming_(nodes, 0) {
    for (const Edge& edge : edges) {
      ++begin_[edge.from + 1];
      ++incoming_[edge.to];
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const Edge& edge : edges) edges_[next[edge.from]++] = edge;
  }

  // Repeatedly removes nodes without incoming edges. The nodes that stay are on a cycle, or
  // reachable from one. Returns true if no node stays.
  bool reduce() {
    std::vector<Index> ready;
    for (Index node = 0; node < incoming_.size(); ++node) {
      if (incoming_[node] == 0) ready.push_back(node);
    }
    std::size_t removed = 0;
    while (!ready.empty()) {
      const Index node = ready.back();
      ready.pop_back();
      ++removed;
      for (std::uint32_t i = begin_[node]; i < begin_[node + 1]; ++i) {
        if (--incoming_[edges_[i].to] == 0) ready.push_back(edges_[i].to);
      }
    }
    return removed == incoming_.size();
  }

  // Call after reduce(). Walks backwards from a node that stayed, until a node comes a second time.
  std::vector<Step> cycle() const {
    std::vector<Edge> before(incoming_.size());
    for (const Edge& edge : edges_) {
      if (incoming_[edge.from] != 0 && incoming_[edge.to] != 0) before[edge.to] = edge;
    }
    std::vector<bool> seen(incoming_.size(), false);
    Index node = 0;
    while (incoming_[node] == 0) ++node;
    for (; !seen[node]; node = before[node].from) seen[node] = true;
    std::vector<Step> steps;
    const Index start = node;
    do {
      steps.push_back({before[node].from, before[node].member});
      node = before[node].from;
    } while (node != start);
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> incoming_;
};

}  // namespace

std::vector<Step> find_cycle(const History& history) {
  return find_cycle(history.messages.size(), edges_of(history));
}

std::vector<Step> find_cycle(std::size_t messages, const std::vector<Edge>& edges) {
  Graph graph(messages, edges);
  if (graph.reduce()) return {};
  return graph.cycle();
}

}  // namespace peal::oracle
