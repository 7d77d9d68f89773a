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

// Histories of what clients of groups saw, as values and as text; histories/groups/README.md
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
  gap,
  reach,
};

/// One call of the checker.
struct GroupEvent {
  GroupVerb verb{};
  std::int64_t at = 0;
  ClientId client;  ///< of exchange, table, order and enter: its node only
  std::string group;
  GroupView view;
  GroupMessageId message;
  std::vector<std::string> groups;
  std::uint64_t hash = 0;  ///< of the message, or of the table
  std::string name;        ///< of connect: the private one
  OwnCopy own = OwnCopy::unknown;
  ViewId in;  ///< of exchange, enter, reach and table
  std::vector<GroupTableEntry> entries;
};

void play(GroupChecker& checker, const GroupEvent& event);

struct GroupText {
  std::string title;
  std::string file;                ///< without its folder
  std::size_t line = 0;            ///< of the title
  std::set<std::string> breaks;    ///< property ids; empty if legal
  std::vector<std::string> says;   ///< what a violation's text must contain
  std::vector<GroupEvent> events;  ///< `at` is the line number
  bool at_once = true;             ///< see GroupChecker::Options
  trace::Names names;
};

/// Reads all histories of a text. The error names the line.
Result<std::vector<GroupText>, std::string> parse_groups(std::string_view text,
                                                         std::string_view file);

}  // namespace peal::oracle::test
