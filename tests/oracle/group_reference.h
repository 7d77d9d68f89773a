// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "group_text.h"

namespace peal::oracle::test {

/// The ids of the properties of groups that a history violates. Each property is checked literally,
/// by comparing all pairs. For `at_once` see GroupChecker::Options.
std::set<std::string> judge_groups_slowly(const std::vector<GroupEvent>& events,
                                          bool at_once = true);

}  // namespace peal::oracle::test
