// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference_genuine.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// The properties of the engine: all, or those that Options::quorum, Options::companies or
/// Options::genuine leaves.
enum class Promises { all, quorum, companies, genuine };

/// The ids of the properties that a history violates, except `primary`. Each property is checked
/// slowly and literally, without the data structures of Checker. `events` are events of messages in
/// real-time order.
std::set<std::string> judge_slowly(const std::vector<trace::Event>& events,
                                   Promises promises = Promises::all);
/// The same with Promises::genuine, and with these domains.
std::set<std::string> judge_slowly(const std::vector<trace::Event>& events,
                                   const DomainNodes& domains);

}  // namespace peal::oracle::test
