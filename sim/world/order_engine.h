// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "order/paxos/options.h"
#include "order/registry/registry.h"
#include "order/ridge/dissemination.h"

namespace peal::sim {

using order::paxos::Storage;
using order::ridge::Dissemination;
using order::ridge::Merging;

inline std::optional<Storage> storage_of_name(std::string_view name) {
  if (name == "disk") return Storage::disk;
  if (name == "memory") return Storage::memory;
  return std::nullopt;
}

}  // namespace peal::sim
