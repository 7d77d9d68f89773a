// SPDX-License-Identifier: Apache-2.0
#include "sim/world/node_lists.h"

#include <algorithm>

#include "base/digest.h"

namespace peal::sim {
namespace {

void add_nodes(std::vector<NodeId>& to, const std::vector<NodeId>& nodes) {
  to.insert(to.end(), nodes.begin(), nodes.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

bool has_most_of(const order::View& view, const std::vector<NodeId>& list) {
  const auto held = std::count_if(list.begin(), list.end(), [&view](NodeId node) {
    return std::any_of(view.members.begin(), view.members.end(),
                       [node](MemberId member) { return member.node == node; });
  });
  return 2 * static_cast<std::size_t>(held) > list.size();
}

}  // namespace

NodeLists::NodeLists(const WorldOptions& options) : options_(options) {
  std::vector<NodeId> first = options.list;
  for (std::uint32_t n = 1; n <= options.nodes && options.list.empty(); ++n) {
    first.push_back(NodeId{n});
  }
  files_.assign(options.nodes + 1, with_acceptors(first));
  lists_[files_.front().hash] = first;
}

order::NodeList NodeLists::with_acceptors(const std::vector<NodeId>& nodes) const {
  Digest hash;
  for (const NodeId node : nodes) hash.add(node.value);
  order::NodeList list{hash.value() | 1, nodes, {}};
  if (!options_.engine.has_acceptors()) return list;
  list.acceptors = options_.engine.engine().default_acceptors(nodes);
  if (options_.acceptors != 0) {
    const auto count = std::min<std::size_t>(options_.acceptors, nodes.size());
    list.acceptors.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return list;
}

void NodeLists::set(NodeId node, const std::vector<NodeId>& list) {
  files_[node.value] = with_acceptors(list);
  lists_[files_[node.value].hash] = list;
}

bool NodeLists::names_itself(NodeId node) const {
  const std::vector<NodeId>& list = nodes(node);
  return std::find(list.begin(), list.end(), node) != list.end();
}

std::vector<NodeId> NodeLists::known_to(NodeId node, std::uint64_t active) const {
  std::vector<NodeId> known;
  if (const auto at = lists_.find(active); at != lists_.end()) add_nodes(known, at->second);
  add_nodes(known, nodes(node));
  return known;
}

bool NodeLists::may_be_primary(NodeId node, std::uint64_t active, const order::View& view) const {
  if (has_most_of(view, nodes(node))) return true;
  return std::any_of(lists_.begin(), lists_.end(), [&](const auto& each) {
    const bool may_count = options_.engine.has_quorum() || active == 0 || each.first == active;
    return may_count && has_most_of(view, each.second);
  });
}

}  // namespace peal::sim
