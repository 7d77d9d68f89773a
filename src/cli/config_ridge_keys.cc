// SPDX-License-Identifier: Apache-2.0
// The keys of [ridge].

#include <string>
#include <utility>

#include "cli/config_keys.h"

namespace peal::cli {

namespace {

Key merge_key() {
  Key merge;
  merge.table = "ridge";
  merge.name = "merge";
  merge.accepted = kMergings;
  merge.normal = "\"keys\"";
  merge.help =
      "How the orders of several ensembles become one. \"keys\": by their senders' clocks. "
      "\"rotation\": one value of each in turn, as Multi-Ring Paxos, to compare with: each message "
      "may wait for a turn of the others, which skip theirs every millisecond, and an ensemble "
      "that "
      "orders more than 50,000 values in a second is held up to that. Only with ensembles = 2 or "
      "more. The same on all nodes.";
  merge.set = [](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && take_named(merging_of_name(*text), config.merging);
  };
  return merge;
}

}  // namespace

void add_ridge_keys(std::vector<Key>& rows) {
  Key key;
  key.table = "ridge";
  key.name = "dissemination";
  key.accepted = kDisseminations;
  key.normal = "\"distributors\"";
  key.help =
      "How messages reach all nodes. \"distributors\": along a chain of acceptors, and from one of "
      "the other nodes in turn. \"ring\": from node to node, to compare with: as much throughput, "
      "and latency that grows with each node. The same on all nodes.";
  key.set = [](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return false;
    const auto dissemination = dissemination_of_name(*text);
    if (dissemination) config.dissemination = *dissemination;
    return dissemination.has_value();
  };
  rows.push_back(std::move(key));

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

  rows.push_back(merge_key());

  Key optimistic;
  optimistic.table = "ridge";
  optimistic.name = "optimistic";
  optimistic.accepted = "true or false";
  optimistic.normal = "false";
  optimistic.help =
      "With true, applications that embed a member are told of each message before it has its "
      "place, in the order that is probable, and then whether that was right; clients of a daemon "
      "are not. The network carries each message twice. With one ensemble only. The same on all "
      "nodes.";
  optimistic.set = [](const Value& value, NodeConfig& config) {
    const auto* truth = std::get_if<bool>(&value);
    if (truth != nullptr) config.optimistic = *truth;
    return truth != nullptr;
  };
  rows.push_back(std::move(optimistic));
}

}  // namespace peal::cli
