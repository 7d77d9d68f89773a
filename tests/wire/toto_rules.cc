// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "examine.h"

namespace peal::wire::test {
namespace {

constexpr std::uint64_t kHighest = 0x7fff'ffff'ffff'ffff;

bool view_was_formed(const ViewId& view) {
  return view.number >= 1 && view.number <= kHighest && view.representative.node.value >= 1 &&
         view.representative.node.value <= 65'535;
}
bool node_number(Seq seq) { return seq >= 1 && seq <= kHighest; }

const char* broken_advances(const Node& node) {
  const std::size_t most = node.kind == NodeKind::control ? 127 : 11;
  if (node.advances.size() > most) return "too many advances";
  std::vector<unsigned> indices;
  for (const Advance& advance : node.advances) {
    if (advance.index >= 128) return "advance.index";
    if (advance.index == node.origin) return "an advance of the origin";
    if (advance.count < 1) return "advance.count";
    indices.push_back(advance.index);
  }
  const std::set<unsigned> distinct(indices.begin(), indices.end());
  if (distinct.size() != indices.size()) return "two advances of one member";
  return std::is_sorted(indices.begin(), indices.end()) ? nullptr : "advances not sorted";
}

/// Both ranges request one node of the same origin.
bool meet(const NodeRange& a, const NodeRange& b) {
  if (a.origin != b.origin) return false;
  const Seq last_of_a = a.first + (a.count - 1U);
  const Seq last_of_b = b.first + (b.count - 1U);
  return a.first <= last_of_b && b.first <= last_of_a;
}

}  // namespace

const char* broken_rule(const Node& node, ByteView packet) {
  if (!view_was_formed(node.view)) return "node.view";
  if (node.origin >= 128) return "node.origin";
  if (static_cast<unsigned>(node.kind) > 3) return "node.kind";
  if (!node_number(node.seq)) return "node.seq";
  if (node.decided > kHighest) return "node.decided";
  if (const char* rule = broken_advances(node)) return rule;
  const std::size_t front = 74 + 4 * node.advances.size();
  if (packet.size() < front) return "more advances than the packet has";
  const bool has_unit = packet.size() > front;
  return has_unit == (node.kind != NodeKind::control) ? nullptr : "node.kind against the unit";
}

const char* broken_rule(const TotoLacks& lacks) {
  if (!view_was_formed(lacks.view)) return "lacks.view";
  if (lacks.ranges.empty() || lacks.ranges.size() > 64) return "lacks.ranges";
  std::vector<std::pair<unsigned, Seq>> starts;
  for (std::size_t i = 0; i < lacks.ranges.size(); ++i) {
    const NodeRange& range = lacks.ranges[i];
    if (range.origin >= 128) return "range.origin";
    if (!node_number(range.first)) return "range.first";
    if (range.count < 1 || range.count > 64) return "range.count";
    if (!node_number(range.first + range.count)) return "range ends too high";
    for (std::size_t j = 0; j < i; ++j) {
      if (meet(lacks.ranges[j], range)) return "ranges overlap";
    }
    starts.emplace_back(range.origin, range.first);
  }
  return std::is_sorted(starts.begin(), starts.end()) ? nullptr : "ranges not sorted";
}

const char* broken_rule(const TotoStatus& status) {
  if (!view_was_formed(status.view)) return "status.view";
  if (status.have.empty() || status.have.size() > 128) return "status.have";
  const bool legal =
      std::all_of(status.have.begin(), status.have.end(), [](Seq seq) { return seq <= kHighest; });
  return legal ? nullptr : "status.have number";
}

const char* broken_rule(const TotoPass& pass) {
  if (!view_was_formed(pass.view)) return "pass.view";
  if (pass.hop > kHighest) return "pass.hop";
  if (pass.run > 512) return "pass.run";
  return pass.block < 128 || pass.block == 65'535 ? nullptr : "pass.block";
}

}  // namespace peal::wire::test
