// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace peal::runtime {

class Runtime;

/// Another node, and where it is.
struct NodeAddress {
  std::string name;
  std::uint32_t number{};
  std::string address;  ///< as configured
  std::string at;       ///< IP address and port; empty: not known
  std::string problem;  ///< of looking the name up; empty: none
};

/// A node that counts and is not in the view.
struct MissingNode {
  std::string name;
  std::string reason;  ///< what keeps it out, one line; empty: nothing is known
};

/// What was chosen of an engine's options.
struct ChosenOption {
  std::string key;   ///< "ridge.ensembles"
  std::string text;  ///< without quotes
  bool is_number = false;
};

/// How a member is doing, at one moment.
struct Snapshot {
  std::string id;
  std::string view;
  std::vector<std::string> members;
  std::uint64_t queued_messages{};
  std::uint64_t queued_bytes{};
  std::uint64_t unread_bytes{};
  std::string order;                  ///< the engine's name
  std::vector<ChosenOption> options;  ///< of the engine, those that a status shows
  std::vector<std::string> domains;   ///< that the node is in
  std::string waits_for;
  bool without_majority = false;  ///< the view cannot act for all, whatever it claimed to be
  std::vector<MissingNode> missing;
  std::string multicast;
  std::string data;                    ///< "datagrams" or "streams", and who is not reached
  std::string seal;                    ///< which key packets are sealed with, or "insecure"
  std::vector<NodeAddress> nodes;      ///< the other ones, of both lists
  std::vector<std::string> list;       ///< names of the nodes that count
  std::vector<std::string> next_list;  ///< of those that are gone over to; empty: no others
  std::string list_waits_for;          ///< what that waits for; empty: nothing
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

/// What a runtime knows of it: all but the view, its members and what is not read.
Snapshot snapshot_of(const Runtime& runtime);

}  // namespace peal::runtime
