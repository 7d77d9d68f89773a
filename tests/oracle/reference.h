// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trace/event.h"

namespace peal::oracle::test {

/// What the engine promises: everything, or what Options::quorum or Options::companies says.
enum class Promises { all, quorum, companies };

/// The ids of the properties that a history violates, all but primary, decided as slowly and as
/// literally as possible: the same verdicts as Checker's, without its data structures. Events in
/// real-time order, of the layer of messages.
std::set<std::string> judge_slowly(const std::vector<trace::Event>& events,
                                   Promises promises = Promises::all);

}  // namespace peal::oracle::test
