// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "sim/world/options.h"

namespace peal::sim {

/// The list of nodes in each node's configuration file.
class NodeLists {
 public:
  explicit NodeLists(const WorldOptions& options);

  /// Replaces the list in the node's file by `list`, which is sorted.
  void set(NodeId node, const std::vector<NodeId>& list);
  const order::NodeList& file(NodeId node) const { return files_[node.value]; }
  const std::vector<NodeId>& nodes(NodeId node) const { return files_[node.value].nodes; }
  /// True if the list in the node's file names the node itself. Otherwise the node cannot start.
  bool names_itself(NodeId node) const;
  /// The nodes that a daemon reports to its clients, sorted: the nodes of its active list, whose
  /// hash is `active`, and of the list in the node's file.
  std::vector<NodeId> known_to(NodeId node, std::uint64_t active) const;
  /// True if the view has a majority of one of two lists: the node's active list, whose hash is
  /// `active`, or the list in the node's file, which may just have become active. If `active` is 0,
  /// or the engine has acceptors, a majority of any list so far suffices.
  bool may_be_primary(NodeId node, std::uint64_t active, const order::View& view) const;

 private:
  order::NodeList with_acceptors(const std::vector<NodeId>& nodes) const;

  const WorldOptions& options_;
  std::vector<order::NodeList> files_;                  ///< by node
  std::map<std::uint64_t, std::vector<NodeId>> lists_;  ///< all lists so far, by hash
};

}  // namespace peal::sim
