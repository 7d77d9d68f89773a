// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace peal::trace {

/// Which node has which name. A node without a name is written as `#` and its number.
class Names {
 public:
  /// 1 to 255 letters, digits, `.`, `_` or `-`.
  static bool valid(std::string_view name);

  /// Gives `node` a name, which must be valid and not yet used by another node; false if it is not.
  bool set(NodeId node, std::string_view name);
  /// Gives `node` a name, which must be valid, whoever had it before.
  void replace(NodeId node, std::string_view name);
  /// The node of that name; gives the name the lowest unused id above all known ones if it is new.
  /// Node 0 if the name is not valid or no id is left. `#7` is node 7, unless that one has a name.
  NodeId intern(std::string_view name);
  /// The node's name, or `#` and its number.
  std::string name(NodeId node) const;
  /// Appends what name() returns.
  void append(std::string& out, NodeId node) const;

 private:
  void add(NodeId node, std::string_view name);

  std::map<std::string, NodeId, std::less<>> ids_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::uint32_t last_ = 0;
};

}  // namespace peal::trace
