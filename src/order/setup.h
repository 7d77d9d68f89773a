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
}

namespace peal::order {

/// The chosen values of an engine's options, by key (option.h). The engine uses its default for an
/// absent key.
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
  /// Adds all values of `others`, which override those of this object.
  void add(const OptionValues& others) {
    for (const auto& [key, value] : others.values_) values_.insert_or_assign(key, value);
  }
  const std::map<std::string, std::int64_t, std::less<>>& all() const { return values_; }

  friend bool operator==(const OptionValues&, const OptionValues&) = default;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// A set of nodes with an order of its own, which only these nodes learn. Each of these nodes
/// merges that order with the one that all nodes learn.
struct DomainNodes {
  std::vector<NodeId> nodes;      ///< sorted; nodes that are not configured (yet) are ignored
  std::vector<NodeId> acceptors;  ///< sorted, in `nodes`; if empty, the engine chooses them
};

/// The arguments of an engine. The logs must outlive the engine.
struct Setup {
  MemberId self{};            ///< its epoch is larger than that of every earlier incarnation
  NodeList list;              ///< the configured nodes, this one included, and the acceptors
  std::uint64_t cluster = 0;  ///< see wire::Header; equal on all nodes
  std::uint32_t packet_bytes_max = 0;  ///< largest packet of the engine; equal on all nodes
  bool authenticated = false;          ///< a lower layer authenticates every byte, so packets carry
                                       ///< no checksum
  bool streams = false;                ///< the engine sends data over streams
  OptionValues options;
  std::vector<DomainNodes> domains;  ///< element i is domain i + 1
  /// An acceptor's durable log, used by this engine alone. Null on nodes that never vote, and on
  /// nodes that keep their votes in memory. The log's owner makes appended records durable, then
  /// calls on_durable().
  port::Log* log = nullptr;
  /// The log in which the node retains decided values for excluded members. Null if `log` is null.
  port::Log* owed = nullptr;
  std::uint64_t seed = 0;         ///< for engines that use randomness
  std::uint64_t first_count = 0;  ///< for tests: start of the counters
};

}  // namespace peal::order
