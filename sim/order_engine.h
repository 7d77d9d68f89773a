// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"

namespace peal::sim {

using order::paxos::Storage;
using order::ridge::Dissemination;
using order::ridge::Merging;

/// Which engine orders.
enum class OrderEngine : std::uint8_t { ring, paxos, ridge };

/// Engines whose acceptors have logs, and which need most of them.
inline bool on_quorums(OrderEngine engine) { return engine != OrderEngine::ring; }

inline std::string_view order_engine_name(OrderEngine engine) {
  switch (engine) {
    case OrderEngine::ring: return "ring";
    case OrderEngine::paxos: return "paxos";
    case OrderEngine::ridge: return "ridge";
  }
  return "";
}

inline std::optional<OrderEngine> order_engine_of_name(std::string_view name) {
  for (const OrderEngine engine : {OrderEngine::ring, OrderEngine::paxos, OrderEngine::ridge}) {
    if (order_engine_name(engine) == name) return engine;
  }
  return std::nullopt;
}

inline std::optional<Storage> storage_of_name(std::string_view name) {
  if (name == "disk") return Storage::disk;
  if (name == "memory") return Storage::memory;
  return std::nullopt;
}

}  // namespace peal::sim
