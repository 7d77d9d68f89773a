// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "order/inspection/inspection.h"

namespace peal::sim {

/// A test of a checker such as GhostRing. Keeps the checker's reports until the test reads them.
class GhostReports : public testing::Test {
 protected:
  /// The reports since the last call, a line for each.
  std::string found() {
    std::string all;
    for (const auto& [property, text] : std::exchange(reports_, {})) {
      all += property + ": " + text + "\n";
    }
    return all;
  }
  /// True if the reports since the last call contain `text`.
  bool finds(const std::string& text) { return found().find(text) != std::string::npos; }

  order::GhostReport report = [this](std::string property, std::string text) {
    reports_.emplace_back(std::move(property), std::move(text));
  };

 private:
  std::vector<std::pair<std::string, std::string>> reports_;
};

}  // namespace peal::sim
