// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "order/inspection/inspection.h"

namespace peal::sim {

/// A test of a part of the ghost: keeps the part's reports until they are read.
class GhostReports : public testing::Test {
 protected:
  /// All that was reported since the last call, a line each.
  std::string found() {
    std::string all;
    for (const auto& [property, text] : std::exchange(reports_, {})) {
      all += property + ": " + text + "\n";
    }
    return all;
  }
  /// The same, for one text in it.
  bool finds(const std::string& text) { return found().find(text) != std::string::npos; }

  order::GhostReport report = [this](std::string property, std::string text) {
    reports_.emplace_back(std::move(property), std::move(text));
  };

 private:
  std::vector<std::pair<std::string, std::string>> reports_;
};

}  // namespace peal::sim
