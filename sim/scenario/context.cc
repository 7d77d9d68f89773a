// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/context.h"

#include <utility>

namespace peal::sim {

ScenarioContext::ScenarioContext(const Script& script, const RunOptions& options, bool checking,
                                 RunCommand run_command)
    : script_(script),
      options_(options),
      checking_(checking),
      run_command_(std::move(run_command)),
      triggers_([this](const Trigger& trigger) {
        plan(now() + trigger.after,
             [this, text = trigger.command, line = trigger.line] { run_command_(text, line); });
      }),
      expectations_(script),
      plain_(checking ? nullptr : options.plain) {}

ScenarioContext::~ScenarioContext() {
  // Destroy the nodes before the objects that they write to.
  world_.reset();
}

// ---- the script ----

std::string ScenarioContext::where() const {
  return script_.name + ":" + std::to_string(line_) + ": ";
}

bool ScenarioContext::acting(Tokenizer& words) const {
  return words.finish() && !checking_ && outcome_.error.empty();
}

void ScenarioContext::refuse(const std::string& text) {
  if (outcome_.error.empty()) outcome_.error = where() + text;
}

void ScenarioContext::fail(const std::string& text) {
  if (outcome_.failure.empty()) outcome_.failure = where() + text;
}

bool ScenarioContext::stopped() const {
  return !outcome_.error.empty() || !outcome_.failure.empty() ||
         (recorder_ != nullptr && !expectations_.violation_wanted() && recorder_->broken());
}

// ---- the cluster ----

std::vector<NodeId> ScenarioContext::all_nodes() const {
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes(); ++n) all.push_back(NodeId{n});
  return all;
}

void ScenarioContext::build() {
  const WorldOptions& options = *cluster_;
  sim_hooks::activate_mutant(options_.mutant);
  HistoryRecorder::Options recorder;
  recorder.nodes = options.nodes;
  recorder.engine = &options.engine.engine();
  recorder.optimistic = options.engine.is_optimistic();
  for (const order::DomainNodes& domain : options.domains) {
    recorder.domains.push_back(domain.nodes);
  }
  recorder.sessions = options.sessions;
  recorder.lists_change = !options.list.empty();
  recorder.first_count = options.first_count;
  recorder.keep_history = options_.keep_history;
  recorder.trace = options_.trace;
  recorder.echo = options_.echo;
  recorder_ = std::make_unique<HistoryRecorder>(recorder);
  world_ = std::make_unique<World>(options, *recorder_);
  targets_ = std::make_unique<Targets>(*world_, options.seed,
                                       [this](const std::string& command, Fault counted) {
                                         if (counted != Fault::count)
                                           recorder_->faults().add(counted);
                                         run_command_(command, line_);
                                       });
  marks_.begin(options.nodes);
  world_->watch(this);
}

// ---- time ----

Duration ScenarioContext::timeout() const {
  const Duration within = cluster_->engine.usual().forms;
  return within + within * cluster_->drift_ppm / 500'000;
}

void ScenarioContext::advance(Instant limit) {
  while (!stopped() && world_->step(limit)) {
  }
}

bool ScenarioContext::advance_until(Instant limit, const std::function<bool()>& met) {
  if (met()) return true;
  while (!stopped()) {
    const bool more = world_->step(limit);
    if (met()) return true;
    if (!more) return false;
  }
  return true;  // stopped() is true: an earlier error has been reported already
}

void ScenarioContext::plan(Instant at, std::function<void()> action) {
  world_->plan(at, [this, action = std::move(action), era = era_] {
    if (era == era_) action();
  });
}

void ScenarioContext::end_faults() {
  targets_->stop();
  triggers_.clear();
  ++era_;
}

// ---- what the world does ----

void ScenarioContext::on_send(const Packet& packet, MemberId /*from*/) {
  marks_.on_send(packet);
  targets_->on_send(packet);
  transcript_.on_send(packet);
  triggers_.on_send(packet, *world_);
}

void ScenarioContext::on_event(MemberId who, const order::Event& event) {
  triggers_.on_event(who, event);
}

}  // namespace peal::sim
