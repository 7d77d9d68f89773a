// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/expected_transcript.h"

#include <algorithm>

namespace peal::sim {

void ExpectedTranscript::start() {
  recording_ = true;
  sent_.clear();
}

void ExpectedTranscript::open(std::uint32_t line) {
  expected_.emplace();
  line_ = line;
}

std::optional<ExpectedTranscript::Difference> ExpectedTranscript::compare(std::FILE* record) const {
  const std::vector<std::string> sent = sent_.lines();
  if (record != nullptr) {
    for (const std::string& line : sent) std::fprintf(record, "  %s\n", line.c_str());
  }
  for (std::size_t i = 0; i < std::max(expected_->size(), sent.size()); ++i) {
    const std::string left = i < expected_->size() ? (*expected_)[i] : "(nothing more)";
    const std::string right = i < sent.size() ? sent[i] : "(nothing more)";
    if (left == right) continue;
    return Difference{line_ + static_cast<std::uint32_t>(i) + 1,
                      "expected '" + left + "', sent was '" + right + "'"};
  }
  return std::nullopt;
}

}  // namespace peal::sim
