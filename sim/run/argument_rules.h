// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/run/arguments.h"

// Checks of the command line after all words are parsed: which options may be combined, and whether
// the named files, settings and mutants exist.

namespace peal::sim {

/// Values that can be checked only when all options are known.
struct Texts {
  std::vector<std::string> settings;
  std::string accelerated_window;
  /// Chosen values of the options in kEngineChoices.
  std::vector<std::pair<std::string_view, std::string>> choices;
  std::vector<std::string> scenarios;
  std::vector<std::string> mutants;
};

inline constexpr const char* kSettingMust =
    "KEY=VALUE as in the line `cluster` of a scenario, such as token_loss=40ms";
inline constexpr const char* kMutantMust =
    "the name of a deliberate fault of src/base/mutants.h, or what stands before its first _, such "
    "as m5";

/// Returns `--seed = "x" is not accepted: it must be ...`.
std::string refusal(const std::string& name, const std::string& value, const std::string& must);
/// Sets `out` to the mutant of this name; false if there is no such mutant.
bool read_mutant(const std::string& text, sim_hooks::Mutant& out);

/// Completes `a` from `texts`. `given` returns whether an option is present. Returns one line about
/// an error, or an empty string.
std::string take_texts(const std::function<bool(const char*)>& given, const Texts& texts,
                       Arguments& a);

}  // namespace peal::sim
