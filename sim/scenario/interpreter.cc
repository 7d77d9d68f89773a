// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/interpreter.h"

#include <utility>

#include "sim/scenario/verbs.h"

namespace peal::sim {

Interpreter::Interpreter(const Script& script, const RunOptions& options, bool checking)
    : script_(script),
      context_(script, options, checking,
               [this](const std::string& text, std::uint32_t line) { run_command(text, line); }) {}

Outcome Interpreter::run() {
  for (const Script::Line& line : script_.lines) {
    run_line(line);
    if (context_.stopped()) break;
  }
  if (context_.transcript().is_open()) context_.refuse("'expect transcript' has no 'end'");
  Outcome& outcome = context_.outcome();
  if (outcome.error.empty() && !context_.has_cluster()) {
    outcome.error = script_.name + ": there is no 'cluster' line";
  }
  if (!context_.has_world()) return std::move(outcome);
  context_.plain().command("", context_.now());
  report_logs();
  outcome.digest = context_.world().digest();
  context_.world().watch(nullptr);
  report_tables();
  HistoryRecorder& recorder = context_.recorder();
  recorder.finish();
  outcome.violations = recorder.violations();
  context_.expectations().judge(outcome, context_.where());
  outcome.figures = recorder.figures();
  outcome.faults = recorder.faults();
  outcome.last_events = recorder.last_events();
  return std::move(outcome);
}

std::vector<std::string> Interpreter::last_events() const {
  return context_.has_world() ? context_.recorder().last_events() : std::vector<std::string>{};
}

// ---- lines ----

void Interpreter::run_line(const Script::Line& line) {
  context_.set_line(line.number);
  if (context_.transcript().is_open()) {
    read_transcript(line.text);
  } else {
    run_command(line.text, line.number);
  }
}

void Interpreter::run_command(const std::string& text, std::uint32_t line) {
  const std::uint32_t outer = context_.line();
  context_.set_line(line);
  Tokenizer words(text, context_.nodes());
  if (!words.at_end()) {
    const std::string name = words.take("a command");
    const Verb* verb = find_verb(name);
    if (verb == nullptr) {
      words.fail("'" + name + "' is no command; tests/scenario/README.md lists them");
    } else if (!context_.has_cluster() && name != "cluster") {
      words.fail("the first command must be 'cluster'");
    } else {
      const Instant now = context_.has_world() ? context_.now() : Instant{};
      context_.plain().command(text, now);
      words.set_usage(verb->usage);
      verb->run(context_, words);
    }
  }
  if (words.failed()) context_.refuse(words.problem_and_usage());
  if (outer != 0) context_.set_line(outer);
}

void Interpreter::read_transcript(const std::string& text) {
  Tokenizer words(text, context_.nodes());
  if (words.accept("end")) {
    end_transcript(words);
  } else if (!words.at_end()) {
    std::string wanted = words.rest();
    wanted.erase(wanted.find_last_not_of(" \t\r") + 1);
    context_.transcript().expect(std::move(wanted));
  }
  if (words.failed()) context_.refuse(words.problem());
}

void Interpreter::end_transcript(Tokenizer& words) {
  ExpectedTranscript& transcript = context_.transcript();
  if (context_.acting(words)) {
    if (const auto difference = transcript.compare(context_.options().record)) {
      context_.set_line(difference->line);
      context_.fail(difference->text);
    }
  }
  transcript.close();
}

// ---- the end ----

void Interpreter::report_logs() {
  Figures& figures = context_.recorder().figures();
  figures.virtual_ns = static_cast<std::uint64_t>(context_.now().ns);
  const order::Ghost* ghost = context_.world().observers().ghost.get();
  if (ghost == nullptr) return;
  const order::LogFigures logs = ghost->figures();
  figures.logs_read = logs.logs_read;
  figures.logs_cut = logs.logs_cut;
  figures.votes_read = logs.votes_read;
  figures.votes_needed = logs.votes_needed;
  figures.older_votes_needed = logs.older_votes_needed;
  figures.promises_read = logs.promises_read;
}

/// Reports the tables of groups to the oracle if no time has passed since `settle`, so that the
/// tables are final.
void Interpreter::report_tables() {
  if (!context_.cluster().groups || context_.settled_at() != context_.now()) return;
  for (const NodeId node : context_.all_nodes()) {
    const Process* process = context_.world().process(node);
    if (process != nullptr && process->status.view) process->clients->report_table();
  }
}

// ---- results ----

std::string Script::text() const {
  std::string all;
  for (const Line& line : lines) all += line.text + "\n";
  return all;
}

std::string Outcome::problem() const {
  if (!error.empty()) return error;
  if (!violations.empty()) return violations[0].property + ": " + violations[0].text;
  return failure;
}

std::string Outcome::property() const {
  if (!error.empty()) return "usage";
  if (!violations.empty()) return violations[0].property;
  return failure.empty() ? "" : "expect";
}

std::string check_script(const Script& script) {
  RunOptions options;
  return Interpreter(script, options, true).run().error;
}

}  // namespace peal::sim
