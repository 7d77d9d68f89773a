// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/expectations.h"

#include <algorithm>
#include <string_view>

namespace peal::sim {
namespace {

bool has_line_beginning(const Script& script, std::string_view begin) {
  return std::any_of(script.lines.begin(), script.lines.end(),
                     [begin](const Script::Line& line) { return line.text.rfind(begin, 0) == 0; });
}

}  // namespace

Expectations::Expectations(const Script& script)
    : violation_wanted_(has_line_beginning(script, "expect violation")),
      failure_wanted_(has_line_beginning(script, "expect violation expect")) {}

void Expectations::judge(Outcome& outcome, const std::string& where) const {
  const auto fail = [&](const std::string& text) {
    if (outcome.failure.empty()) outcome.failure = where + text;
  };
  if (failure_wanted_) {
    const bool found = !outcome.failure.empty();
    outcome.failure.clear();
    if (!found) fail("every expectation was met");
  }
  for (const std::string& wanted : wanted_) {
    if (wanted == "expect") continue;
    const bool found =
        std::any_of(outcome.violations.begin(), outcome.violations.end(),
                    [&](const Violation& v) { return wanted == "any" || v.property == wanted; });
    if (!found) fail("the violation " + wanted + " did not happen");
  }
  if (!wanted_.empty() || failure_wanted_) outcome.violations.clear();
}

}  // namespace peal::sim
