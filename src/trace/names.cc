// SPDX-License-Identifier: Apache-2.0
#include "trace/names.h"

#include <algorithm>
#include <charconv>

namespace peal::trace {
namespace {

constexpr std::size_t kNameBytesMax = 255;
constexpr std::uint32_t kNodeMax = 65'535;

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// The node with this number, which followed `#` in a name; node 0 if no node has such a number.
NodeId from_number(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && value <= kNodeMax ? NodeId{value} : NodeId{};
}

}  // namespace

bool Names::valid(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), name_character);
}

bool Names::set(NodeId node, std::string_view name) {
  if (!valid(name)) return false;
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second == node;
  const auto old = names_.find(node.value);
  if (old != names_.end()) ids_.erase(old->second);
  add(node, name);
  return true;
}

void Names::replace(NodeId node, std::string_view name) {
  if (set(node, name)) return;
  const auto known = ids_.find(name);
  if (known == ids_.end()) return;  // the name is not valid
  names_.erase(known->second.value);
  ids_.erase(known);
  set(node, name);
}

NodeId Names::intern(std::string_view name) {
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  NodeId node = name.starts_with('#') ? from_number(name.substr(1)) : NodeId{};
  if (node == NodeId{} && !valid(name)) return NodeId{};
  if (node == NodeId{} || names_.contains(node.value)) {
    if (last_ >= kNodeMax) return NodeId{};
    node = NodeId{last_ + 1};
  }
  add(node, name);
  return node;
}

void Names::add(NodeId node, std::string_view name) {
  ids_.emplace(name, node);
  names_[node.value] = name;
  last_ = std::max(last_, node.value);
}

void Names::append(std::string& out, NodeId node) const {
  const auto known = names_.find(node.value);
  if (known != names_.end()) {
    out += known->second;
  } else {
    out += '#';
    out += std::to_string(node.value);
  }
}

std::string Names::name(NodeId node) const {
  std::string out;
  append(out, node);
  return out;
}

}  // namespace peal::trace
