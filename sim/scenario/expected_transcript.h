// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/transcript.h"

namespace peal::sim {

/// Records the packets between `transcript` and `transcript stop`, and compares them with the lines
/// between `expect transcript` and `end`.
class ExpectedTranscript {
 public:
  void start();
  void stop() { recording_ = false; }
  void on_send(const Packet& packet) {
    if (recording_) sent_.add(packet);
  }

  /// The script's lines after `line` are the expected transcript, until close().
  void open(std::uint32_t line);
  bool is_open() const { return expected_.has_value(); }
  void expect(std::string text) { expected_->push_back(std::move(text)); }

  /// The first line that differs.
  struct Difference {
    std::uint32_t line;
    std::string text;
  };
  /// Ends the expected transcript without comparing it.
  void close() { expected_.reset(); }
  /// Compares the recorded packets with the expected packets; nullopt if equal. Writes the recorded
  /// packets to `record`, unless `record` is null.
  std::optional<Difference> compare(std::FILE* record) const;

 private:
  Transcript sent_;
  bool recording_ = false;
  std::optional<std::vector<std::string>> expected_;
  std::uint32_t line_ = 0;  ///< number of the line `expect transcript`
};

}  // namespace peal::sim
