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

/// What was chosen of an engine's options, by their keys (option.h). The engine has its default for
/// a key that is not there.
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
  /// Takes over what was chosen there, in the place of what was chosen here.
  void add(const OptionValues& others) {
    for (const auto& [key, value] : others.values_) values_.insert_or_assign(key, value);
  }
  const std::map<std::string, std::int64_t, std::less<>>& all() const { return values_; }

  friend bool operator==(const OptionValues&, const OptionValues&) = default;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// Some nodes with an order of their own, which no others learn. What it orders and what all nodes
/// learn becomes one order at each of them.
struct DomainNodes {
  std::vector<NodeId> nodes;      ///< sorted; those that are not configured (yet) do not count
  std::vector<NodeId> acceptors;  ///< sorted, of these; none: the engine's choice
};

/// What one engine is made from. What it points to must outlive the engine.
struct Setup {
  MemberId self{};            ///< its epoch is larger than all before
  NodeList list;              ///< the configured nodes, this one included, and the acceptors
  std::uint64_t cluster = 0;  ///< see wire::Header; equal on all nodes
  std::uint32_t packet_bytes_max = 0;  ///< largest packet of the engine; equal on all nodes
  bool authenticated = false;  ///< every byte of a packet is: it carries no checksum of its own
  bool streams = false;        ///< data goes over streams
  OptionValues options;
  std::vector<DomainNodes> domains;  ///< domain 1 and so on
  /// An acceptor's durable log, which belongs to this engine; null on nodes that never vote, and
  /// where votes are in memory. Its owner commits what is appended, and then calls on_durable().
  port::Log* log = nullptr;
  /// Where the same node keeps what excluded members are owed. Not without `log`.
  port::Log* owed = nullptr;
  std::uint64_t seed = 0;         ///< of an engine that draws
  std::uint64_t first_count = 0;  ///< of tests: where counters begin
};

}  // namespace peal::order
