// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/interpreter.h"

#include <algorithm>
#include <utility>

namespace peal::sim {

const order::EventKind* event_of_name(std::string_view name) {
  const auto in = [name](std::span<const order::EventKind* const> kinds) {
    const auto at = std::find_if(kinds.begin(), kinds.end(), [name](const order::EventKind* each) {
      return each->name == name;
    });
    return at == kinds.end() ? nullptr : *at;
  };
  if (const order::EventKind* known = in(order::event::shared())) return known;
  for (const order::Descriptor* engine : order::engines()) {
    if (const order::EventKind* known = in(engine->events)) return known;
  }
  return nullptr;
}

const std::vector<Interpreter::Verb>& Interpreter::verbs() {
  static const std::vector<Verb> table{
      {"cluster", &Interpreter::do_cluster},
      {"run", &Interpreter::do_run},
      {"mark", &Interpreter::do_mark},
      {"on", &Interpreter::do_on},
      {"transcript", &Interpreter::do_transcript},
      {"settle", &Interpreter::do_settle},
      {"start", &Interpreter::do_start},
      {"restart", &Interpreter::do_start},
      {"crash", &Interpreter::do_crash},
      {"pause", &Interpreter::do_pause},
      {"leave", &Interpreter::do_leave},
      {"list", &Interpreter::do_list},
      {"slow", &Interpreter::do_slow},
      {"application", &Interpreter::do_application},
      {"disk", &Interpreter::do_disk},
      {"clock", &Interpreter::do_clock},
      {"submit", &Interpreter::do_submit},
      {"load", &Interpreter::do_load},
      {"client", &Interpreter::do_client},
      {"network", &Interpreter::do_network},
      {"link", &Interpreter::do_link},
      {"mtu", &Interpreter::do_mtu},
      {"cut", &Interpreter::do_cut},
      {"move", &Interpreter::do_move},
      {"deaf", &Interpreter::do_deaf},
      {"mute", &Interpreter::do_mute},
      {"heal", &Interpreter::do_heal},
      {"split", &Interpreter::do_split},
      {"flap", &Interpreter::do_flap},
      {"drop", &Interpreter::do_drop},
      {"filter", &Interpreter::do_drop},
      {"delay", &Interpreter::do_delay},
      {"duplicate", &Interpreter::do_duplicate},
      {"hold", &Interpreter::do_hold},
      {"release", &Interpreter::do_release},
      {"clear", &Interpreter::do_clear},
      {"target", &Interpreter::do_target},
      {"inject", &Interpreter::do_inject},
      {"replay-old", &Interpreter::do_replay},
      {"expect", &Interpreter::do_expect},
  };
  return table;
}

Interpreter::Interpreter(const Script& script, const RunOptions& options, bool checking)
    : script_(script), options_(options), checking_(checking) {
  // A script that expects a violation runs on after it.
  expects_violation_ = std::any_of(script.lines.begin(), script.lines.end(), [](const auto& line) {
    return line.text.rfind("expect violation", 0) == 0;
  });
  expects_failure_ = std::any_of(script.lines.begin(), script.lines.end(), [](const auto& line) {
    return line.text.rfind("expect violation expect", 0) == 0;
  });
}

Interpreter::~Interpreter() {
  // Destroy the nodes before the objects that they write to.
  world_.reset();
}

std::string Interpreter::where() const { return script_.name + ":" + std::to_string(line_) + ": "; }

void Interpreter::fail(const std::string& text) {
  if (outcome_.failure.empty()) outcome_.failure = where() + text;
}

bool Interpreter::stopped() const {
  return !outcome_.error.empty() || !outcome_.failure.empty() ||
         (recorder_ != nullptr && !expects_violation_ && recorder_->broken());
}

bool Interpreter::acting(Tokenizer& words) {
  return words.finish() && !checking_ && outcome_.error.empty();
}

void Interpreter::run_line(const Script::Line& line) {
  line_ = line.number;
  if (transcript_block_) {
    Tokenizer words(line.text, world_options_.nodes);
    if (words.accept("end")) {
      expect_transcript(words);
    } else if (!words.at_end()) {
      std::string wanted = words.rest();
      wanted.erase(wanted.find_last_not_of(" \t\r") + 1);
      transcript_block_->push_back(std::move(wanted));
    }
    if (words.failed()) outcome_.error = where() + words.problem();
    return;
  }
  run_text(line.text, line.number);
}

void Interpreter::run_text(const std::string& text, std::uint32_t number) {
  const std::uint32_t outer = std::exchange(line_, number);
  Tokenizer words(text, world_options_.nodes);
  if (!words.at_end()) {
    const std::string name = words.take("a command");
    const auto& table = verbs();
    const auto verb =
        std::find_if(table.begin(), table.end(), [&](const Verb& v) { return v.name == name; });
    if (verb == table.end()) {
      words.fail("'" + name + "' is no command; tests/scenario/README.md lists them");
    } else if (!clustered_ && name != "cluster") {
      words.fail("the first command must be 'cluster'");
    } else {
      note_plain(text);
      (this->*verb->handler)(words);
    }
  }
  if (words.failed() && outcome_.error.empty()) outcome_.error = where() + words.problem();
  if (outer != 0) line_ = outer;
}

void Interpreter::note_plain(const std::string& text) {
  if (options_.plain == nullptr || checking_ || text.rfind("target", 0) == 0) return;
  const bool is_run = text.rfind("run ", 0) == 0;
  if (world_ != nullptr && now() > plain_at_) {
    std::fprintf(options_.plain, "run %s\n", duration_text(now() - plain_at_).c_str());
    plain_at_ = now();
  }
  if (!is_run) std::fprintf(options_.plain, "%s\n", text.c_str());
  std::fflush(options_.plain);
}

Outcome Interpreter::run() {
  for (const Script::Line& line : script_.lines) {
    run_line(line);
    if (stopped()) break;
  }
  if (outcome_.error.empty() && transcript_block_) {
    outcome_.error = where() + "'expect transcript' has no 'end'";
  }
  if (outcome_.error.empty() && !clustered_) {
    outcome_.error = script_.name + ": there is no 'cluster' line";
  }
  if (world_ == nullptr) return std::move(outcome_);
  note_plain("");
  recorder_->figures().virtual_ns = static_cast<std::uint64_t>(now().ns);
  if (const order::Ghost* ghost = world_->observers().ghost.get()) {
    const order::LogFigures logs = ghost->figures();
    Figures& figures = recorder_->figures();
    figures.logs_read = logs.logs_read;
    figures.logs_cut = logs.logs_cut;
    figures.votes_read = logs.votes_read;
    figures.votes_needed = logs.votes_needed;
    figures.older_votes_needed = logs.older_votes_needed;
    figures.promises_read = logs.promises_read;
  }
  outcome_.digest = world_->digest();
  world_->watch(nullptr);
  report_tables();
  recorder_->finish();
  outcome_.violations = recorder_->violations();
  if (expects_failure_) {
    const bool found = !outcome_.failure.empty();
    outcome_.failure.clear();
    if (!found) fail("every expectation was met");
  }
  for (const std::string& wanted : wanted_violations_) {
    if (wanted == "expect") continue;
    const bool found =
        std::any_of(outcome_.violations.begin(), outcome_.violations.end(),
                    [&](const Violation& v) { return wanted == "any" || v.property == wanted; });
    if (!found) fail("the violation " + wanted + " did not happen");
  }
  if (!wanted_violations_.empty() || expects_failure_) outcome_.violations.clear();
  outcome_.figures = recorder_->figures();
  outcome_.faults = recorder_->faults();
  outcome_.last_events = recorder_->last_events();
  return std::move(outcome_);
}

std::vector<std::string> Interpreter::last_events() const {
  return recorder_ == nullptr ? std::vector<std::string>{} : recorder_->last_events();
}

void Interpreter::advance(Instant limit) {
  while (!stopped() && world_->step(limit)) {
  }
}

bool Interpreter::advance_until(Instant limit, const std::function<bool()>& met) {
  if (met()) return true;
  while (!stopped()) {
    const bool more = world_->step(limit);
    if (met()) return true;
    if (!more) return false;
  }
  return true;  // another violation has been reported already
}

void Interpreter::on_send(const Packet& packet, MemberId /*from*/) {
  ++packets_from_[static_cast<std::size_t>(packet.kind)][packet.from.value];
  targets_->on_send(packet);
  if (transcribing_) transcript_.add(packet);
  if (packet_probe_) packet_probe_(packet);
  for (Trigger& trigger : triggers_) {
    if (trigger.remaining > 0 && trigger.packet && matches(*trigger.packet, packet)) fire(trigger);
  }
}

void Interpreter::on_event(MemberId who, const order::Event& event) {
  if (event_probe_) event_probe_(who, event);
  for (Trigger& trigger : triggers_) {
    if (trigger.remaining > 0 && !trigger.packet && matches(trigger.event, who, event)) {
      fire(trigger);
    }
  }
}

void Interpreter::fire(Trigger& trigger) {
  if (--trigger.remaining > 0) return;
  world_->plan(now() + trigger.after,
               [this, line = trigger.line, number = trigger.number, era = era_] {
                 if (era == era_) run_text(line, number);
               });
}

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
