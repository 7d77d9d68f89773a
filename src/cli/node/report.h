// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The client's side of `status`: queries several nodes, and shows their answers to people.

namespace peal::cli {

struct ViewReport {
  std::string id;     ///< with the representative's epoch; equal at all nodes in the view
  std::string shown;  ///< "12@n1"
  std::vector<std::string> members;
  std::optional<bool> primary;
  std::uint64_t messages = 0;
  std::string order;           ///< digest of the messages in their order
  std::uint64_t unplaced = 0;  ///< further messages: those without a position
  double gap_ms = 0;           ///< time without a regular view before this view
};

/// The answer of one node to `status`, or the reason why there is no answer.
struct NodeReport {
  std::string name;
  std::string problem;  ///< why there is no answer; empty if there is an answer
  bool absent = false;  ///< the node does not run
  std::int64_t pid = 0;
  std::optional<ViewReport> view;
  std::string view_of;  ///< the domain whose views these are; empty: those of all nodes
  bool changing = false;
  std::uint64_t delivered_messages = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t queued_messages = 0;
  std::string waits_for;
  /// The number of drops by counter; counters that are 0 are omitted.
  std::vector<std::pair<std::string, std::uint64_t>> dropped;
  std::map<std::string, double> dropped_s_ago;  ///< time since each counter grew last
  std::vector<ViewReport> views;                ///< oldest first
  std::string json;                             ///< the whole answer
};

/// Parses one answer; no value if it is invalid.
std::optional<NodeReport> parse_report(std::string_view json);

/// Queries nodes repeatedly, over connections that stay open.
class NodePoller {
 public:
  NodePoller();
  ~NodePoller();
  /// Sets the sockets to query; connections to other sockets are closed.
  void set_sockets(const std::vector<std::string>& sockets);
  /// Answers include only clients whose names begin with `prefix`. Without this call, answers
  /// include all clients. An answer has at most 100 clients of its node; clients that wait for
  /// something come first.
  void set_clients(const std::string& prefix);
  /// One report for each socket, in the order of set_sockets(). Waits at most `timeout_ms` for each
  /// node.
  std::vector<NodeReport> ask(int timeout_ms);

 private:
  struct Source;
  NodeReport ask_one(Source& source, int timeout_ms) const;
  std::vector<Source> sources_;
  std::string question_ = "status";
};

/// A table for a terminal, headings first. `rates` has the messages per second of each report, or
/// is empty.
std::vector<std::string> table_of(const std::vector<NodeReport>& reports,
                                  const std::vector<double>& rates);

/// True if there are reports, all nodes answered, all nodes are in one view of `members` members,
/// and no node is changing its view.
bool in_one_view(const std::vector<NodeReport>& reports, std::size_t members);

}  // namespace peal::cli
