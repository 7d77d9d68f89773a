// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/scenario/context.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {

/// A command of the language of scenarios.
struct Verb {
  std::string_view name;
  void (*run)(ScenarioContext& context, Tokenizer& words);
  std::string_view usage;  ///< syntax, for error messages
};

/// The command with this name, or null.
const Verb* find_verb(std::string_view name);

// The families of commands. Each family has a file in verbs/.
std::span<const Verb> cluster_verbs();
std::span<const Verb> run_verbs();
std::span<const Verb> node_verbs();
std::span<const Verb> disk_verbs();
std::span<const Verb> send_verbs();
std::span<const Verb> client_verbs();
std::span<const Verb> link_verbs();
std::span<const Verb> packet_verbs();
std::span<const Verb> expect_verbs();

/// A kind of expectation about nodes: `expect NODES NAME ...`.
struct NodeCheck {
  std::string_view name;
  void (*run)(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes);
  std::string_view usage;
};
std::span<const NodeCheck> view_checks();
std::span<const NodeCheck> delivery_checks();
std::span<const NodeCheck> client_checks();

/// Reads a service: safe, agreed, causal or fifo.
Service read_service(Tokenizer& words);

}  // namespace peal::sim
