// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace peal::trace {

/// Maps nodes to names and back. A node without a name is written as `#` and its number.
class Names {
 public:
  /// True for 1 to 255 letters, digits, `.`, `_` or `-`.
  static bool valid(std::string_view name);

  /// Gives `node` the name. Returns false if the name is not valid, or if another node has it.
  bool set(NodeId node, std::string_view name);
  /// Gives `node` the name, and takes the name from the node that had it. Does nothing if the name
  /// is not valid.
  void replace(NodeId node, std::string_view name);
  /// The node with that name; a new name gets a node. The new name `#7` gets node 7 if that node
  /// has no name. Every other new name gets the number after the highest known number. Returns node
  /// 0 if the name is not valid or no node is left.
  NodeId intern(std::string_view name);
  /// The node's name, or `#` and its number.
  std::string name(NodeId node) const;
  /// Appends the node's name to `out`, as name() returns it.
  void append(std::string& out, NodeId node) const;

 private:
  void add(NodeId node, std::string_view name);

  std::map<std::string, NodeId, std::less<>> ids_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::uint32_t last_ = 0;
};

}  // namespace peal::trace
