// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "oracle/groups.h"
#include "trace/names.h"

// Histories of what clients of groups received, as values and as text. histories/groups/README.md
// describes the language.

namespace peal::oracle::test {

enum class GroupVerb : std::uint8_t {
  connect,
  gone,
  send,
  deliver,
  view,
  transitional,
  left,
  exchange,
  table,
  order,
  enter,
  part,
  gap,
  reach,
};

/// One call of a function of GroupChecker.
struct GroupEvent {
  GroupVerb verb{};
  std::int64_t at = 0;
  ClientId client;  ///< for exchange, table, order and enter: only the node
  std::string group;
  GroupView view;
  GroupMessageId message;
  std::vector<std::string> groups;
  std::uint64_t hash = 0;  ///< of the message, or of the table
  std::string name;        ///< for connect: the client's private name
  OwnCopy own = OwnCopy::unknown;
  Placing placing = Placing::placed;  ///< for order
  ViewId in;                          ///< the view, for exchange, enter, part, reach and table
  std::vector<GroupTableEntry> entries;
};

void play(GroupChecker& checker, const GroupEvent& event);

struct GroupText {
  std::string title;
  std::string file;                          ///< the name without the folder
  std::size_t line = 0;                      ///< the line of the title
  std::set<std::string> breaks;              ///< violated properties; empty if legal
  std::vector<std::string> says;             ///< parts of the violations' texts
  std::vector<GroupEvent> events;            ///< `at` is the event's line number
  bool at_once = true;                       ///< see GroupChecker::Options
  bool companies = false;                    ///< see GroupChecker::Options
  bool crash_stop = false;                   ///< see GroupChecker::Options
  std::vector<std::vector<NodeId>> domains;  ///< the nodes of domain 1, 2, ...
  trace::Names names;
};

/// The domains of a history; none if it has none. A group is of the domain whose number its name
/// ends with, a private name of its node's domain.
GroupDomains domains_of(const GroupText& history);

/// Reads all histories of a text. The error names the line.
Result<std::vector<GroupText>, std::string> parse_groups(std::string_view text,
                                                         std::string_view file);

}  // namespace peal::oracle::test
