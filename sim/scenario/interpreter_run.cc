// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/judge/liveness.h"
#include "sim/scenario/interpreter.h"

namespace peal::sim {

void Interpreter::do_run(Tokenizer& words) {
  if (words.accept("until")) {
    run_until(words);
    return;
  }
  const Duration length = words.duration();
  if (acting(words)) advance(now() + length);
}

void Interpreter::run_until(Tokenizer& words) {
  const std::string what = words.take("what to wait for");
  if (what == "installed") {
    until_installed(words);
  } else if (what == "delivered") {
    until_delivered(words);
  } else if (what == "idle") {
    until_idle(words);
  } else if (what == "event") {
    until_event(words);
  } else if (what == "packet") {
    until_packet(words);
  } else {
    words.fail("'" + what + "': accepted is installed, delivered, idle, event or packet");
  }
}

Instant Interpreter::read_limit(Tokenizer& words) {
  const Duration within = words.accept("within") ? words.duration() : patience();
  return world_ == nullptr ? Instant{} : now() + within;
}

void Interpreter::until_installed(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  const Instant limit = read_limit(words);
  if (!acting(words)) return;
  const bool met = advance_until(limit, [&] {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      const Process* process = world_->process(node);
      return process != nullptr && process->status.operational &&
             consists_of(process->status.members, members);
    });
  });
  if (!met) fail("no view of " + nodes_text(members) + " at " + nodes_text(nodes) + " in time");
  set_marks();
}

void Interpreter::until_delivered(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::uint64_t hash = digest_of(as_bytes_view(words.text()));
  const Instant limit = read_limit(words);
  if (!acting(words)) return;
  std::vector<NodeId> waiting = nodes;
  std::size_t seen = 0;
  const bool met = advance_until(limit, [&] {
    for (; seen < recorder_->events().size(); ++seen) {
      const trace::Event& event = recorder_->events()[seen];
      if (event.kind != trace::Kind::deliver || event.hash != hash) continue;
      std::erase(waiting, event.node.node);
    }
    return waiting.empty();
  });
  if (!met) fail(nodes_text(waiting) + " did not deliver it in time");
}

void Interpreter::until_idle(Tokenizer& words) {
  const Instant limit = read_limit(words);
  if (!acting(words)) return;
  while (!stopped() && !cluster_is_idle(*world_)) {
    if (now() >= limit) {
      fail("messages still wait after all this time: " + waiting_text(*world_));
      return;
    }
    advance(std::min(limit, now() + microseconds(200)));
  }
}

void Interpreter::until_event(Tokenizer& words) {
  const EventPattern pattern = read_event_pattern(words);
  const Instant limit = read_limit(words);
  if (!acting(words)) return;
  bool seen = false;
  event_probe_ = [&](MemberId who, const order::Event& event) {
    seen = seen || matches(pattern, who, event);
  };
  const bool met = advance_until(limit, [&] { return seen; });
  event_probe_ = nullptr;
  if (!met) fail("no such event in time");
}

void Interpreter::until_packet(Tokenizer& words) {
  const PacketPattern pattern = read_packet_pattern(words);
  const Instant limit = read_limit(words);
  if (!acting(words)) return;
  bool seen = false;
  packet_probe_ = [&](const Packet& packet) { seen = seen || matches(pattern, packet); };
  const bool met = advance_until(limit, [&] { return seen; });
  packet_probe_ = nullptr;
  if (!met) fail("no such packet in time");
}

void Interpreter::do_mark(Tokenizer& words) {
  if (acting(words)) set_marks();
}

void Interpreter::set_marks() {
  for (auto& counts : packets_from_) std::fill(counts.begin(), counts.end(), 0);
  for (std::uint32_t n = 1; n <= world_->nodes(); ++n) {
    const Process* process = world_->process(NodeId{n});
    Baseline& mark = marks_[n];
    mark = Baseline{};
    if (process == nullptr) continue;
    mark.incarnation = process->incarnation;
    mark.views = process->status.views;
    mark.events = process->work.events_seen;
    for (const order::Counter& counter : process->counters()) {
      mark.counters.push_back(counter.value);
    }
  }
}

/// on packet|event PATTERN [nth=3] [after=50us] do COMMAND
void Interpreter::do_on(Tokenizer& words) {
  Trigger trigger;
  const std::string what = words.take("packet or event");
  if (what == "packet") {
    trigger.packet = read_packet_pattern(words);
  } else if (what == "event") {
    trigger.event = read_event_pattern(words);
  } else {
    words.fail("'" + what + "': accepted is packet or event");
  }
  if (words.accept("nth")) trigger.remaining = words.number(1, 1'000'000);
  if (words.accept("after")) trigger.after = words.duration();
  words.expect("do");
  trigger.line = words.rest();
  trigger.number = line_;
  if (words.failed()) return;
  if (checking_) {
    run_text(trigger.line, line_);
  } else {
    triggers_.push_back(std::move(trigger));
  }
}

void Interpreter::do_transcript(Tokenizer& words) {
  if (words.accept("stop")) {
    if (acting(words)) transcribing_ = false;
    return;
  }
  if (!acting(words)) return;
  transcribing_ = true;
  transcript_.clear();
}

/// settle [n1,n2 | n3 ...] [quick]
void Interpreter::do_settle(Tokenizer& words) {
  std::vector<std::vector<NodeId>> parts;
  while (!words.at_end() && words.peek() != "quick") {
    parts.push_back(words.nodes());
    if (!words.accept("|")) break;
  }
  const bool quick = words.accept("quick");
  if (!acting(words)) return;
  targets_->stop();
  triggers_.clear();
  ++era_;
  Liveness liveness(*world_, parts, patience());
  liveness.run(quick, [this] { return stopped(); });
  if (!stopped()) settled_at_ = now();
}

/// If nothing has happened since `settle`, the tables of groups are final.
void Interpreter::report_tables() {
  if (!world_options_.groups || settled_at_ != now()) return;
  for (std::uint32_t n = 1; n <= world_->nodes(); ++n) {
    const Process* process = world_->process(NodeId{n});
    if (process != nullptr && process->status.view) process->clients->report_table();
  }
}

}  // namespace peal::sim
