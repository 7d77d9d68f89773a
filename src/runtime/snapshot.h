// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace peal::runtime {

class Runtime;

/// Another node, and its address.
struct NodeAddress {
  std::string name;
  std::uint32_t number{};
  std::string address;  ///< the configured address
  std::string at;       ///< IP address and port; empty: unknown
  std::string problem;  ///< why the last lookup of the name failed; empty: no failure
};

/// A node of the active list that is not in the view.
struct MissingNode {
  std::string name;
  std::string reason;  ///< why the node is missing, one line; empty: unknown
};

/// A chosen engine option.
struct ChosenOption {
  std::string key;   ///< such as "ridge.ensembles"
  std::string text;  ///< the value, without quotes
  bool is_number = false;
};

inline constexpr std::size_t kDomainGroupsShown = 16;

/// A configured domain.
struct DomainStatus {
  std::string name;
  std::vector<std::string> nodes;  ///< names of its nodes in the active list
  /// Its process groups, as the configuration names them: the first kDomainGroupsShown of them.
  std::vector<std::string> groups;
  std::size_t groups_count = 0;
};

/// The status of a member, at one moment.
struct Snapshot {
  std::string id;
  std::string view;
  std::vector<std::string> members;
  std::uint64_t queued_messages{};
  std::uint64_t queued_bytes{};
  std::uint64_t unread_bytes{};
  std::string order;                  ///< the engine's name
  std::vector<ChosenOption> options;  ///< the engine's options that the status shows
  std::vector<std::string> domains;   ///< domains that the node is in
  std::vector<DomainStatus> all_domains;
  std::string waits_for;
  /// The ordering waits for a majority: the view cannot act for the cluster, even if the view is
  /// primary.
  bool without_majority = false;
  std::vector<MissingNode> missing;
  std::string multicast;
  std::string data;                ///< "datagrams" or "streams", and unreachable nodes
  std::string memory;              ///< how writes reach the other nodes; empty: no memory
  std::string leader;              ///< the node that leads this node's domain; empty: none
  std::uint64_t round = 0;         ///< the leader's round
  std::string engine;              ///< the engine's state, for a search for errors; may be empty
  std::string seal;                ///< the key for sealing packets, or "insecure"
  std::vector<NodeAddress> nodes;  ///< the other nodes, of both lists
  std::vector<std::string> list;   ///< names of the nodes in the active list
  std::vector<std::string> next_list;  ///< names of the nodes in the pending list; empty: none
  std::string list_waits_for;          ///< what the pending list waits for; empty: nothing
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

/// What the ordering waits for, and in which domain; empty: nothing. The domain of all nodes is not
/// named.
std::string wait_text(const Runtime& runtime);

/// The fields that a runtime knows: all but `view`, `members` and `unread_bytes`.
Snapshot snapshot_of(const Runtime& runtime);

}  // namespace peal::runtime
