// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The client's side of `status`: asking several nodes, and showing their answers to a person.

namespace peal::cli {

struct ViewReport {
  std::string id;     ///< with the incarnation: equal at all nodes that are in it
  std::string shown;  ///< "12@n1"
  std::vector<std::string> members;
  std::optional<bool> primary;
  std::uint64_t messages = 0;
  std::string order;  ///< digest of the messages in their order
  double gap_ms = 0;  ///< without a regular view before it
};

/// What one node answered, or why it did not.
struct NodeReport {
  std::string name;
  std::string problem;  ///< empty if it answered
  bool absent = false;  ///< it does not run
  std::int64_t pid = 0;
  std::optional<ViewReport> view;
  bool changing = false;
  std::uint64_t delivered_messages = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t queued_messages = 0;
  std::string waits_for;
  /// What it could not use or had no room for, by reason; reasons without any are left out.
  std::vector<std::pair<std::string, std::uint64_t>> dropped;
  std::map<std::string, double> dropped_s_ago;  ///< since each of them grew last
  std::vector<ViewReport> views;                ///< oldest first
  std::string json;                             ///< the whole answer
};

/// Reads one answer; no value if it is not one.
std::optional<NodeReport> parse_report(std::string_view json);

/// Asks nodes again and again over connections that it keeps.
class NodePoller {
 public:
  NodePoller();
  ~NodePoller();
  /// What to ask; connections to sockets that are not named any more are closed.
  void set_sockets(const std::vector<std::string>& sockets);
  /// Answers name clients whose names begin so, and no others. Default: those that come first.
  void set_clients(const std::string& prefix);
  /// One report for each socket, in order. Waits at most `timeout_ms` for each node.
  std::vector<NodeReport> ask(int timeout_ms);

 private:
  struct Source;
  NodeReport ask_one(Source& source, int timeout_ms) const;
  std::vector<Source> sources_;
  std::string question_ = "status";
};

/// Lines for a terminal, headings first. `rates` are messages per second, one for each report, or
/// nothing.
std::vector<std::string> table_of(const std::vector<NodeReport>& reports,
                                  const std::vector<double>& rates);

/// How the nodes order, if it is not by the ring: a line for all that do it alike.
std::vector<std::string> order_lines(const std::vector<NodeReport>& reports);

/// Lines for nodes that dropped packets, damaged ones and those of strangers, or lines of their log
/// or trace, and when that was last.
std::vector<std::string> drop_lines(const std::vector<NodeReport>& reports);

/// What a node's answer says of the others whose addresses are names: a line for each, with the
/// address that was found, or why none was.
std::vector<std::string> address_lines(const NodeReport& report);

/// Who is not in a node's view: a line for all of whom nothing is known, and one for each of the
/// others, with the reason.
std::vector<std::string> missing_lines(const NodeReport& report);

/// What a node's answer says of the list of nodes that it is going over to: a line, or none.
std::vector<std::string> list_lines(const NodeReport& report);

/// What a node's answer says of its clients: a line for each that is named, one for each of its
/// groups for which something waits, and how many there are if not all are named.
std::vector<std::string> client_lines(const NodeReport& report);

/// True if all answered and are in one view of `members` members.
bool in_one_view(const std::vector<NodeReport>& reports, std::size_t members);

}  // namespace peal::cli
