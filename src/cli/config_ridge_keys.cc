// SPDX-License-Identifier: Apache-2.0
// The keys of [ridge].

#include <string>
#include <utility>

#include "cli/config_keys.h"

namespace peal::cli {

void add_ridge_keys(std::vector<Key>& rows) {
  rows.push_back(text_key(
      "ridge", "dissemination", kDisseminations, "\"distributors\"",
      "How messages reach all nodes. \"distributors\": along a chain of acceptors, and from one of "
      "the other nodes in turn. \"ring\": from node to node, to compare with: as much throughput, "
      "and latency that grows with each node. The same on all nodes.",
      [](const std::string& text, NodeConfig& config) {
        return take_named(dissemination_of_name(text), config.dissemination);
      }));

  Key ensembles;
  ensembles.table = "ridge";
  ensembles.name = "ensembles";
  ensembles.accepted = "a whole number from 1 to " + std::to_string(kEnsemblesMax);
  ensembles.normal = "1";
  ensembles.help =
      "How many ensembles order together: each has a coordinator of its own and a part of the "
      "messages, and their orders become one. Several pay where all nodes send and one coordinator "
      "is what is full. They cost heartbeats and views of each, and a message may wait until the "
      "other ensembles say that they have nothing before it. The same on all nodes, for as long as "
      "they keep their logs: another number begins with empty ones.";
  ensembles.set = [](const Value& value, NodeConfig& config) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 1 || *number > kEnsemblesMax) return false;
    config.ensembles = static_cast<std::uint32_t>(*number);
    return true;
  };
  rows.push_back(std::move(ensembles));

  rows.push_back(text_key(
      "ridge", "merge", kMergings, "\"keys\"",
      "How the orders of several ensembles become one. \"keys\": by their senders' clocks. "
      "\"rotation\": one value of each in turn, as Multi-Ring Paxos, to compare with: each message "
      "may wait for a turn of the others, which skip theirs every millisecond, and an ensemble "
      "that orders more than 50,000 values in a second is held up to that. Only with ensembles = 2 "
      "or more. The same on all nodes.",
      [](const std::string& text, NodeConfig& config) {
        return take_named(merging_of_name(text), config.merging);
      }));

  rows.push_back(truth_key(
      "ridge", "optimistic",
      "With true, applications that embed a member are told of each message before it has its "
      "place, in the order that is probable, and then whether that was right; clients of a daemon "
      "are not. The network carries each message twice. With one ensemble only. The same on all "
      "nodes.",
      &NodeConfig::optimistic));
}

}  // namespace peal::cli
