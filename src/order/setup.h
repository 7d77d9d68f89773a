// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "order/engine.h"

namespace peal::port {
class Log;
class Memory;
}  // namespace peal::port

namespace peal::order {

/// The chosen values of an engine's options, by key (option.h). If a key is absent, the engine uses
/// the option's default.
class OptionValues {
 public:
  void set(std::string_view key, std::int64_t value) {
    values_.insert_or_assign(std::string(key), value);
  }
  std::optional<std::int64_t> get(std::string_view key) const {
    const auto known = values_.find(key);
    if (known == values_.end()) return std::nullopt;
    return known->second;
  }
  /// Adds all values of `others`. If both objects have a key, the value of `others` replaces the
  /// value of this object.
  void add(const OptionValues& others) {
    for (const auto& [key, value] : others.values_) values_.insert_or_assign(key, value);
  }
  const std::map<std::string, std::int64_t, std::less<>>& all() const { return values_; }

  friend bool operator==(const OptionValues&, const OptionValues&) = default;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// The nodes of one domain. Only these nodes learn the order of the domain's messages. Each of them
/// merges the domain's order with the order that all nodes learn.
struct DomainNodes {
  std::vector<NodeId> nodes;      ///< sorted; nodes that are not configured (yet) are ignored
  std::vector<NodeId> acceptors;  ///< sorted, in `nodes`; if empty, the engine chooses them
};

/// The arguments of an engine. The logs must outlive the engine.
struct Setup {
  MemberId self{};            ///< the epoch exceeds the epochs of this node's earlier incarnations
  NodeList list;              ///< the configured nodes, including this node, and the acceptors
  std::uint64_t cluster = 0;  ///< see wire::Header; equal on all nodes
  std::uint32_t packet_bytes_max = 0;  ///< size of the largest packet; equal on all nodes
  bool authenticated = false;  ///< a lower layer authenticates packets, so they have no checksum
  bool streams = false;        ///< the engine sends data over streams
  OptionValues options;
  std::vector<DomainNodes> domains;  ///< element i is domain i + 1
  /// An acceptor's durable log. Only this engine uses the log. Null on nodes that never vote, and
  /// on nodes that keep their votes in memory. The log's owner makes appended records durable, then
  /// calls the engine's on_durable().
  port::Log* log = nullptr;
  /// The log in which the node retains decided values for excluded members. Null if `log` is null.
  port::Log* owed = nullptr;
  /// The memory that other nodes write to. Must outlive the engine. Null unless Needs::memory.
  port::Memory* memory = nullptr;
  std::uint64_t seed = 0;         ///< for engines that use randomness
  std::uint64_t first_count = 0;  ///< for tests: positions and view numbers begin after this number
};

}  // namespace peal::order
