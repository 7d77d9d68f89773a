// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/event.h"
#include "trace/names.h"

// Histories as text; histories/README.md describes the language.

namespace peal::oracle::test {

struct TextHistory {
  std::string title;
  std::string file;               ///< the name without the folder
  std::size_t line = 0;           ///< the line of the title
  std::set<std::string> breaks;   ///< violated properties; empty if legal
  std::vector<std::string> says;  ///< parts of the violations' texts
  bool live_only = false;         ///< only a common clock shows the violation
  bool merged_only = false;       ///< judged only without a common clock
  bool as_written = false;        ///< not judged with its lines in other orders
  bool cut = false;               ///< the ends of traces may be missing
  bool quorum = false;            ///< the engine orders on a quorum
  bool companies = false;         ///< the engine's order holds only within a company
  bool genuine = false;           ///< the engine multicasts to sets of `domains`
  std::vector<std::vector<NodeId>> domains;
  std::uint32_t universe = 0;
  trace::Layer layer = trace::Layer::order;
  std::vector<trace::Event> events;  ///< `at_ns` is the event's line number
  trace::Names names;
};

/// Reads all histories of a text. The error names the line.
Result<std::vector<TextHistory>, std::string> parse_histories(std::string_view text,
                                                              std::string_view file);

}  // namespace peal::oracle::test
