// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "order/paxos/options.h"

namespace peal::order::ridge {

/// How values come to all nodes; equal on all of them.
enum class Dissemination : std::uint8_t {
  distributors,  ///< along a chain of a majority of the acceptors, and from one other node to all
  ring,          ///< from node to node, to compare with
};

/// "distributors" or "ring".
std::string_view dissemination_name(Dissemination dissemination);
std::optional<Dissemination> dissemination_of_name(std::string_view name);

/// The Paxos engine with Ridge's ways. At most wire::kChainMax acceptors; else as
/// paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination = Dissemination::distributors);

}  // namespace peal::order::ridge
