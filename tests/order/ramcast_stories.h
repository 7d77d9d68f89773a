// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/hooks.h"

namespace peal::order::ramcast::test {

/// A scenario that returns what is wrong at its end, or nothing. Without the rule, something is:
/// `noticed` says what, as a regular expression. If the scenario does not come about at all ("not
/// connected"), it shows nothing.
inline void expect_needed(sim_hooks::Mutant rule, std::string (*story)(), const char* noticed) {
  EXPECT_EQ(story(), "");
  // In a process of its own, as an assertion may fail, too.
  const auto without_rule = [&] {
    sim_hooks::activate_mutant(rule);
    const std::string wrong = story();
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::exit(wrong.empty() ? 0 : 1);
  };
  EXPECT_EXIT(
      without_rule(), [](int status) { return status != 0; }, noticed)
      << sim_hooks::mutant_name(rule);
}

}  // namespace peal::order::ramcast::test
