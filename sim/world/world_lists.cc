// SPDX-License-Identifier: Apache-2.0
// Lists of nodes: those in files, and how nodes and the daemons' clients learn them.
#include <algorithm>
#include <utility>

#include "sim/world/world.h"

namespace peal::sim {
namespace {

void add_nodes(std::vector<NodeId>& to, const std::vector<NodeId>& nodes) {
  to.insert(to.end(), nodes.begin(), nodes.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

}  // namespace

order::NodeList World::list_of_nodes(const WorldOptions& options,
                                     const std::vector<NodeId>& nodes) {
  Digest hash;
  for (const NodeId node : nodes) hash.add(node.value);
  order::NodeList list{hash.value() | 1, nodes, {}};
  if (!options.engine.has_quorum()) return list;
  list.acceptors = options.engine.engine().default_acceptors(nodes);
  if (options.acceptors != 0) {
    const auto count = std::min<std::size_t>(options.acceptors, nodes.size());
    list.acceptors.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return list;
}

void World::set_list(NodeId node, const std::vector<NodeId>& list) {
  files_[node.value] = list_of_nodes(options_, list);
  lists_[files_[node.value].hash] = list;
  recorder_.faults().add(Fault::list_changed);
  tell_list(node);
}

void World::tell_list(NodeId node) {
  const std::vector<NodeId>& list = list_of(node);
  Process* process = processes_[node.value].get();
  if (process == nullptr || std::find(list.begin(), list.end(), node) == list.end()) return;
  if (process->state == Process::State::paused) {
    plan(now_ + milliseconds(5), [this, node] { tell_list(node); });
    return;
  }
  if (process->busy_until > now_) {
    plan(process->busy_until, [this, node] { tell_list(node); });
    return;
  }
  tell_clients_list(*process);
  call(*process, [&](node::Node& n, Instant local) { n.set_nodes(local, files_[node.value]); });
}

/// A primary view has most nodes of the node's active list, or of the list in its file, which may
/// just have become active. Engines with acceptors do not report their active list, so for them any
/// list will do. The oracle judges this only if there is one list of nodes.
void World::check_primary(const Process& process, const order::View& view) {
  if (view.transitional || view.primary != order::Primary::yes || recorder_.broken()) return;
  const auto has_most_of = [&view](const std::vector<NodeId>& list) {
    const auto held = std::count_if(list.begin(), list.end(), [&view](NodeId node) {
      return std::any_of(view.members.begin(), view.members.end(),
                         [node](MemberId member) { return member.node == node; });
    });
    return 2 * static_cast<std::size_t>(held) > list.size();
  };
  const NodeId node = process.self.node;
  if (has_most_of(list_of(node))) return;
  const bool any = std::any_of(lists_.begin(), lists_.end(), [&](const auto& each) {
    const bool may_count =
        options_.engine.has_quorum() || process.list == 0 || each.first == process.list;
    return may_count && has_most_of(each.second);
  });
  if (any) return;
  recorder_.violation(now_, "primary",
                      "n" + std::to_string(node.value) +
                          " takes a view for the primary one that has not most nodes of a list "
                          "that may count");
}

/// Like daemons: the nodes of the active list and of the pending one.
void World::tell_clients_list(Process& process) {
  if (process.clients == nullptr) return;
  std::vector<NodeId> nodes;
  add_nodes(nodes, lists_[process.list]);
  add_nodes(nodes, list_of(process.self.node));
  process.clients->set_nodes(std::move(nodes));
}

}  // namespace peal::sim
