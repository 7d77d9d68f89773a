// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/judge/liveness.h"
#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

/// Reads an optional `within 2s`, and returns the time at which it ends.
Instant read_limit(ScenarioContext& context, Tokenizer& words) {
  const Duration within = words.accept("within") ? words.duration() : context.timeout();
  return context.has_world() ? context.now() + within : Instant{};
}

void until_installed(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  const Instant limit = read_limit(context, words);
  if (!context.acting(words)) return;
  const bool met = context.advance_until(limit, [&] {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      const Process* process = context.world().process(node);
      return process != nullptr && process->status.operational &&
             consists_of(process->status.members, members);
    });
  });
  if (!met)
    context.fail("no view of " + nodes_text(members) + " at " + nodes_text(nodes) + " in time");
  context.marks().set(context.world());
}

void until_delivered(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::uint64_t hash = digest_of(as_bytes_view(words.text()));
  const Instant limit = read_limit(context, words);
  if (!context.acting(words)) return;
  std::vector<NodeId> waiting = nodes;
  std::size_t seen = 0;
  const bool met = context.advance_until(limit, [&] {
    for (; seen < context.recorder().events().size(); ++seen) {
      const trace::Event& event = context.recorder().events()[seen];
      if (event.kind != trace::Kind::deliver || event.hash != hash) continue;
      std::erase(waiting, event.node.node);
    }
    return waiting.empty();
  });
  if (!met) context.fail(nodes_text(waiting) + " did not deliver it in time");
}

void until_idle(ScenarioContext& context, Tokenizer& words) {
  const Instant limit = read_limit(context, words);
  if (!context.acting(words)) return;
  while (!context.stopped() && !cluster_is_idle(context.world())) {
    if (context.now() >= limit) {
      context.fail("messages still wait after all this time: " + waiting_text(context.world()));
      return;
    }
    context.advance(std::min(limit, context.now() + microseconds(200)));
  }
}

/// Lets time pass until a packet or an event matches `pattern`. False if none matches until
/// `limit`.
bool wait_for(ScenarioContext& context, Pattern pattern, Instant limit) {
  Triggers& triggers = context.triggers();
  triggers.watch(std::move(pattern));
  const bool met = context.advance_until(limit, [&triggers] { return triggers.seen(); });
  triggers.unwatch();
  return met;
}

void until_event(ScenarioContext& context, Tokenizer& words) {
  const EventPattern pattern = read_event_pattern(words);
  const Instant limit = read_limit(context, words);
  if (!context.acting(words)) return;
  if (!wait_for(context, pattern, limit)) context.fail("no such event in time");
}

void until_packet(ScenarioContext& context, Tokenizer& words) {
  const PacketPattern pattern = read_packet_pattern(words);
  const Instant limit = read_limit(context, words);
  if (!context.acting(words)) return;
  if (!wait_for(context, pattern, limit)) context.fail("no such packet in time");
}

constexpr std::array kUntil{
    Verb{"installed", until_installed, "run until installed NODES [members=n1,n2] [within 2s]"},
    Verb{"delivered", until_delivered, "run until delivered NODES \"text\" [within 2s]"},
    Verb{"idle", until_idle, "run until idle [within 5s]"},
    Verb{"event", until_event, "run until event NODES EVENT [within 1s]"},
    Verb{"packet", until_packet,
         "run until packet [kind=commit] [from n1] [to n2] [phase 1] [seq 5] [view] [recovering] "
         "[within 1s]"},
};

void do_run(ScenarioContext& context, Tokenizer& words) {
  if (!words.accept("until")) {
    const Duration length = words.duration();
    if (context.acting(words)) context.advance(context.now() + length);
    return;
  }
  const std::string what = words.take("what to wait for");
  const auto until =
      std::find_if(kUntil.begin(), kUntil.end(), [&](const Verb& v) { return v.name == what; });
  if (until == kUntil.end()) {
    words.fail("'" + what + "': accepted is installed, delivered, idle, event or packet");
    return;
  }
  words.set_usage(until->usage);
  until->run(context, words);
}

void do_mark(ScenarioContext& context, Tokenizer& words) {
  if (context.acting(words)) context.marks().set(context.world());
}

void do_on(ScenarioContext& context, Tokenizer& words) {
  Trigger trigger;
  const std::string what = words.take("packet or event");
  if (what == "packet") {
    trigger.pattern = read_packet_pattern(words);
  } else if (what == "event") {
    trigger.pattern = read_event_pattern(words);
  } else {
    words.fail("'" + what + "': accepted is packet or event");
  }
  if (words.accept("nth")) trigger.remaining = words.number(1, 1'000'000);
  if (words.accept("after")) trigger.after = words.duration();
  words.expect("do");
  trigger.command = words.rest();
  trigger.line = context.line();
  if (words.failed()) return;
  if (context.checking()) {
    context.run_command(trigger.command, trigger.line);
  } else {
    context.triggers().add(std::move(trigger));
  }
}

void do_transcript(ScenarioContext& context, Tokenizer& words) {
  const bool stops = words.accept("stop");
  if (!context.acting(words)) return;
  if (stops) {
    context.transcript().stop();
  } else {
    context.transcript().start();
  }
}

void do_settle(ScenarioContext& context, Tokenizer& words) {
  std::vector<std::vector<NodeId>> parts;
  while (!words.at_end() && words.peek() != "quick") {
    parts.push_back(words.nodes());
    if (!words.accept("|")) break;
  }
  const bool quick = words.accept("quick");
  if (!context.acting(words)) return;
  context.end_faults();
  Liveness liveness(context.world(), parts, context.timeout());
  liveness.run(quick, [&context] { return context.stopped(); });
  if (!context.stopped()) context.settled();
}

constexpr std::array kRunVerbs{
    Verb{"run", do_run, "run 2s, or run until installed|delivered|idle|event|packet ..."},
    Verb{"mark", do_mark, "mark"},
    Verb{"on", do_on, "on packet|event PATTERN [nth 3] [after 50us] do COMMAND"},
    Verb{"transcript", do_transcript, "transcript [stop]"},
    Verb{"settle", do_settle, "settle [n1,n2 | n3 ...] [quick]"},
};

}  // namespace

std::span<const Verb> run_verbs() { return kRunVerbs; }

}  // namespace peal::sim
