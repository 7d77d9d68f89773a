// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/netmodel/run.h"

// The command line of `peal sim --net`.

namespace peal::sim {

struct NetArguments {
  std::string net = "10g", cpu, order, service = "agreed", rate, csv;
  std::string arrivals{arrivals_name(Arrivals::even)};
  std::string slow_node;
  std::uint32_t nodes = 8, senders = 0, payload = 1'350, datagram = 0, step = 0;
  std::uint32_t acceptors = 3;
  std::uint32_t domains = 0, outside = 0, under_way = 0;
  std::optional<std::uint32_t> ack_rate;
  /// Chosen values of the options in kEngineChoices.
  std::vector<std::pair<std::string_view, std::string>> choices;
  std::uint32_t personal = 0, accelerated = 0, global = 0, buffer = 0;
  double disk_us = 0, loss = 0, burst_us = 0, latency_us = 0, coalesce_us = 0, warm_up = 0.2,
         measure = 0.2;
  std::uint64_t seed = 1;
  bool json = false, no_multicast = false, to_all = false;
};

/// Declares all options; parsing fills in `a`.
void add_net_options(CLI::App& app, NetArguments& a);
/// The value of --rate, or its default.
std::string rate_of(const NetArguments& a);
/// The experiment, without its rate. `wrong`: set to one line if options cannot be combined, or the
/// engine does not accept one.
NetRunOptions net_options_of(const CLI::App& app, const NetArguments& a, std::string& wrong);

}  // namespace peal::sim
