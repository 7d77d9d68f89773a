// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/expectations.h"
#include "sim/scenario/expected_transcript.h"
#include "sim/scenario/marks.h"
#include "sim/scenario/plain_script.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/targets.h"
#include "sim/scenario/tokenizer.h"
#include "sim/scenario/triggers.h"
#include "sim/world/world.h"

namespace peal::sim {

/// What the commands of a running scenario read and change: the world, the current line of the
/// script, the first error, and the parts that observe the world.
///
/// A command first parses its words, and acts only if acting() returns true. So the same code can
/// check a script without running it.
class ScenarioContext final : public Watcher {
 public:
  /// Executes or checks one command from the given line of the script.
  using RunCommand = std::function<void(const std::string& text, std::uint32_t line)>;

  ScenarioContext(const Script& script, const RunOptions& options, bool checking,
                  RunCommand run_command);
  ~ScenarioContext() override;

  // The script.
  bool checking() const { return checking_; }
  /// Ends the parsing of a command's words. False if the words are wrong, if the script already has
  /// an error, or if the script is only checked.
  bool acting(Tokenizer& words) const;
  std::uint32_t line() const { return line_; }
  void set_line(std::uint32_t line) { line_ = line; }
  void run_command(const std::string& text, std::uint32_t line) { run_command_(text, line); }
  RunOptions& options() { return options_; }

  // Errors. Only the first error of each kind is kept.

  /// Reports that the script cannot be run.
  void refuse(const std::string& text);
  /// Reports that an expectation is not met.
  void fail(const std::string& text);
  /// True if the script must not execute further commands.
  bool stopped() const;
  Outcome& outcome() { return outcome_; }
  /// The start of a message about the current line: "file:7: ".
  std::string where() const;

  // The cluster. The script describes the cluster before the world exists. A script that is only
  // checked has no world.
  bool has_cluster() const { return cluster_.has_value(); }
  const WorldOptions& cluster() const { return *cluster_; }
  void set_cluster(const WorldOptions& cluster) { cluster_ = cluster; }
  /// The size of the cluster; 0 before the script has described the cluster.
  std::uint32_t nodes() const { return cluster_ ? cluster_->nodes : 0; }
  std::vector<NodeId> all_nodes() const;
  void build();
  bool has_world() const { return world_ != nullptr; }
  World& world() { return *world_; }
  HistoryRecorder& recorder() const { return *recorder_; }
  FaultCounts& faults() { return recorder_->faults(); }

  // Time.
  Instant now() const { return world_->now(); }
  /// The time limit for the recovery of the ordering engine.
  Duration timeout() const;
  void advance(Instant limit);
  /// Steps until `met` returns true, or until `limit`. False if `met` never returned true. True if
  /// stopped(), because an earlier error has been reported already.
  bool advance_until(Instant limit, const std::function<bool()>& met);
  /// Calls `action` at `at`, unless end_faults() is called before.
  void plan(Instant at, std::function<void()> action);
  /// Ends targeted faults and triggers, and cancels all actions that plan() has planned.
  void end_faults();
  /// The time at which the last successful `settle` ended, with an idle cluster; nullopt if there
  /// was none.
  std::optional<Instant> settled_at() const { return settled_at_; }
  void settled() { settled_at_ = now(); }

  // The parts of a running scenario.
  Targets& targets() { return *targets_; }
  Triggers& triggers() { return triggers_; }
  Marks& marks() { return marks_; }
  Expectations& expectations() { return expectations_; }
  ExpectedTranscript& transcript() { return transcript_; }
  PlainScript& plain() { return plain_; }

  // Overrides of Watcher.
  void on_send(const Packet& packet, MemberId from) override;
  void on_event(MemberId who, const order::Event& event) override;

 private:
  const Script& script_;
  RunOptions options_;
  const bool checking_;
  RunCommand run_command_;
  std::uint32_t line_ = 0;  ///< number of the running line
  Outcome outcome_;
  std::optional<WorldOptions> cluster_;
  Triggers triggers_;
  Marks marks_;
  Expectations expectations_;
  ExpectedTranscript transcript_;
  PlainScript plain_;
  std::uint32_t era_ = 0;  ///< end_faults() begins a new era; actions of earlier eras do nothing
  std::optional<Instant> settled_at_;
  std::unique_ptr<HistoryRecorder> recorder_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Targets> targets_;
};

}  // namespace peal::sim
