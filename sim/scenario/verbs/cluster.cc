// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/baselines/registry.h"
#include "sim/judge/liveness.h"
#include "sim/scenario/verbs.h"
#include "trace/event.h"
#include "wire/frames.h"

namespace peal::sim {
namespace {

constexpr std::uint64_t kMessageBytes = 4U << 20;
constexpr std::uint64_t kSmallBytes = 1U << 20;
/// Share of the writes that `slow-write` makes slow.
constexpr double kSlowWrites = 0.05;
/// Memory is written in words; and the largest part of a write that may be applied at once.
constexpr std::uint64_t kWordBytes = 8, kSegmentMost = 1U << 20;
/// Counters on the wire are at most 2^63 - 1. Above the first count, 2^20 positions must remain for
/// the scenario.
constexpr std::uint64_t kFirstCountMost = wire::kCounterMax - (1U << 20);

/// Reads the ordering engine and its options in kEngineChoices.
void read_engine(Tokenizer& words, WorldOptions& options) {
  const std::string name = words.value("order").value_or("");
  if (const order::Descriptor* known = find_engine(name)) {
    options.engine = EngineOptions(*known);
  } else if (!name.empty()) {
    words.fail("order=" + name + ": accepted is " + engine_names());
  }
  for (const std::string_view choice : kEngineChoices) {
    const std::optional<std::string> text = words.value(choice);
    if (!text) continue;
    const std::string given = std::string(choice) + "=" + *text;
    if (options.engine.find(choice) == nullptr) {
      words.fail(given + ": accepted with order=" + engines_with_option(choice));
    } else if (!options.engine.read(choice, *text)) {
      words.fail(given + ": accepted is " + accepted_by(*options.engine.find(choice)));
    }
  }
}

/// With genuine multicast, no node is in two domains.
void check_domains(Tokenizer& words, const WorldOptions& options) {
  std::vector<bool> taken(options.nodes + 1);
  for (std::size_t i = 0; i < options.domains.size(); ++i) {
    for (const NodeId node : options.domains[i].nodes) {
      if (taken[node.value]) {
        words.fail("domain" + std::to_string(i + 1) + ": " + nodes_text({node}) +
                   " is in another domain, too");
      }
      taken[node.value] = true;
    }
  }
}

/// Reads the keys domain1=n1-n3, domain2=n3-n5 and so on.
void read_domains(Tokenizer& words, WorldOptions& options) {
  for (std::uint32_t i = 1; i <= kDomainMax; ++i) {
    std::vector<NodeId> nodes = words.nodes("domain" + std::to_string(i), {});
    if (nodes.empty()) break;
    options.domains.push_back({std::move(nodes), {}});
  }
  if (!options.domains.empty() && !options.engine.traits().has_domains()) {
    words.fail("domain1: the engine " + std::string(options.engine.engine().name) +
               " has no domains");
  }
  if (options.engine.is_genuine()) check_domains(words, options);
}

/// Reads how writes into the memory of other nodes travel.
void read_memory(Tokenizer& words, FabricOptions& fabric) {
  fabric.write_most = words.duration("write", fabric.write_most);
  fabric.write_least = std::min(fabric.write_least, fabric.write_most);
  fabric.slow_most = words.duration("slow-write", {});
  fabric.slow = fabric.slow_most.ns > 0 ? kSlowWrites : 0;
  fabric.segment_bytes =
      words.number("memory-segment", fabric.segment_bytes, kWordBytes, kSegmentMost) / kWordBytes *
      kWordBytes;
  static constexpr std::array kTears{"never", "ascending", "descending", "random"};
  const std::string tear = words.value("tear").value_or("ascending");
  const auto* const found = std::find(kTears.begin(), kTears.end(), tear);
  if (found == kTears.end()) {
    words.fail("tear=" + tear + ": accepted is never, ascending, descending or random");
    return;
  }
  fabric.tear = static_cast<FabricOptions::Tear>(found - kTears.begin());
}

void read_cluster_keys(Tokenizer& words, WorldOptions& options) {
  read_engine(words, options);
  options.nodes = static_cast<std::uint32_t>(words.number("nodes", 3, 1, kNodesMax));
  options.seed = words.number("seed", 1, 0, ~0ULL);
  words.set_cluster(options.nodes);
  options.list = words.nodes("list", {});
  read_domains(words, options);
  options.first_count = words.number("first-count", 0, 0, kFirstCountMost);
  options.drift_ppm = static_cast<std::int32_t>(words.number("drift", 0, 0, 200'000));
  ProcessLimits& process = options.process;
  process.receive_slabs = static_cast<std::uint32_t>(words.number("buffers", 0, 0, 1U << 20));
  process.unit_slabs = static_cast<std::uint32_t>(words.number("unit-buffers", 0, 0, 1U << 20));
  process.socket_packets =
      static_cast<std::uint32_t>(words.number("socket", process.socket_packets, 1, 1U << 20));
  process.room_units =
      static_cast<std::uint32_t>(words.number("room", process.room_units, 1, 1U << 20));
  options.step_cost = words.duration("step-cost", options.step_cost);
  options.send_cost = words.duration("send-cost", options.send_cost);
  options.wire_per_kilobyte = words.duration("wire", options.wire_per_kilobyte);
  read_memory(words, options.fabric);
  options.read_budget =
      static_cast<std::uint32_t>(words.number("read-budget", options.read_budget, 1, 1'000'000));
  options.loopback = words.yes_no("loopback").value_or(false);
  options.fan_out = words.yes_no("fan-out").value_or(false);
  options.ghost = words.yes_no("ghost").value_or(true);
  options.groups = words.yes_no("groups").value_or(false);
  options.sessions = words.yes_no("sessions").value_or(false);
  if (options.sessions && !options.groups) words.fail("sessions=yes needs groups=yes");
  const std::string driver = words.value("driver").value_or("any");
  if (driver != "any" && driver != "preferred") {
    words.fail("driver=" + driver + ": accepted is any or preferred");
  }
  options.follow_preference = driver == "preferred";
  node::Limits& limits = options.limits;
  limits.message_bytes_max =
      static_cast<std::uint32_t>(words.number("message-bytes", kMessageBytes, 1, 1U << 30));
  if (const std::uint32_t around = options.engine.needs(1).around_unit; around > 0) {
    // Each message fits into one unit, apart from control messages.
    limits.control_bytes_max = limits.message_bytes_max;
    limits.message_bytes_max =
        std::min(limits.message_bytes_max,
                 options.engine.packet_bytes_max() - around - node::kMessageInUnitBytes);
  }
  limits.submit_bytes_max =
      words.number("submit-bytes", 4ULL * limits.message_bytes_max, 1, 1ULL << 40);
  limits.submit_messages_max = static_cast<std::uint32_t>(
      words.number("submit-messages", limits.submit_messages_max, 1, 1U << 24));
  limits.submit_small_bytes_max =
      words.number("submit-small-bytes", kSmallBytes, 4'096, 1ULL << 30);
  limits.reassembly_bytes_max = std::uint64_t{node::longest_message_bytes(limits)} * options.nodes;
  const std::string problem = node::validate(limits, options.nodes);
  if (!problem.empty()) words.fail(problem);
  if (options.groups) {
    group::Options groups;
    groups.node_name = "n1";
    groups.nodes = options.nodes;
    groups.message_bytes_max = node::longest_message_bytes(limits);
    const std::string refused = group::validate(groups);
    if (!refused.empty()) words.fail(refused);
  }
}

void read_acceptor_keys(Tokenizer& words, WorldOptions& options) {
  options.acceptors = static_cast<std::uint32_t>(words.number("acceptors", 0, 0, options.nodes));
  const order::Descriptor& engine = options.engine.engine();
  if (options.acceptors > engine.traits.acceptors_most) {
    words.fail("acceptors=" + std::to_string(options.acceptors) + ": " + std::string(engine.name) +
               " takes at most " + std::to_string(engine.traits.acceptors_most));
  }
  options.segment_bytes =
      words.number("segment", NodeLog::kSegmentBytes, NodeLog::kSegmentBytesLeast, 1U << 30);
  options.disks.high = words.duration("sync", options.disks.high);
  options.disks.low = std::min(options.disks.low, options.disks.high);
  options.disks.slow = static_cast<double>(words.number("slow-syncs", 0, 0, 1'000)) / 1'000;
}

/// Starts all nodes of the list, and waits until they form one view.
void start_all(ScenarioContext& context) {
  World& world = context.world();
  const std::vector<NodeId>& list = context.cluster().list;
  const std::vector<NodeId> listed = list.empty() ? context.all_nodes() : list;
  for (const NodeId node : listed) world.start(node);
  const bool formed = context.advance_until(context.now() + context.timeout(), [&] {
    return std::all_of(listed.begin(), listed.end(), [&](NodeId node) {
      const Process* process = world.process(node);
      if (process == nullptr || !world.domains().has_view(node)) return process != nullptr;
      const std::vector<NodeId>& peers = world.domains().view_nodes(node);
      const auto expected = static_cast<std::size_t>(
          std::count_if(listed.begin(), listed.end(), [&peers](NodeId each) {
            return std::find(peers.begin(), peers.end(), each) != peers.end();
          }));
      // A node that has ended stays in its view with crash_stop: a first exchange that it has no
      // part in would never end.
      const bool exchanged = process->clients == nullptr ||
                             process->clients->groups().is_settled() ||
                             !world.options().engine.traits().crash_stop;
      return exchanged && process->status.operational && process->status.members.size() == expected;
    });
  });
  if (!formed) {
    context.recorder().violation(context.now(), "E10",
                                 "the nodes that were started did not form one view");
  }
  context.plain().built(context.now());
  context.marks().set(context.world());
}

void do_cluster(ScenarioContext& context, Tokenizer& words) {
  if (context.has_cluster()) {
    words.fail("there is one cluster in a scenario, and it has been described");
    return;
  }
  words.take_keys();
  WorldOptions options;
  options.maker = context.options().maker;
  options.keep_payloads = context.options().keep_history;
  read_cluster_keys(words, options);
  if (options.engine.has_acceptors()) read_acceptor_keys(words, options);
  const std::string start = words.value("start").value_or("all");
  if (start != "all" && start != "none") words.fail("start=" + start + ": accepted is all or none");
  if (const auto name = words.value("mutant")) {
    const Result<sim_hooks::Mutant, std::string> mutant = mutant_of_name(*name);
    if (!mutant) {
      words.fail(mutant.error());
    } else {
      context.options().mutant = *mutant;
    }
  }
  for (const auto& [key, value] : words.other_keys()) {
    words.mark_used(key);
    if (!options.engine.read(key, value)) {
      words.fail(key + "=" + value +
                 ": neither a key of 'cluster' nor an option of the engine that takes this value");
    }
  }
  // A scenario may set max_gap without checkpoint-every: keep checkpoint-every within max_gap.
  if (options.engine.find("checkpoint-every") != nullptr) {
    options.engine.set("checkpoint-every",
                       std::min<std::int64_t>(options.engine.number("checkpoint-every"),
                                              options.engine.max_gap()));
  }
  const std::string problem = options.engine.validate(options.domains);
  if (!problem.empty()) words.fail(problem);
  // A segment must hold a record of the log: a value with a small header.
  if (options.engine.has_acceptors() &&
      (options.segment_bytes % 8 != 0 ||
       options.segment_bytes < options.engine.packet_bytes_max() + (4U << 10))) {
    words.fail("segment=" + std::to_string(options.segment_bytes) +
               ": accepted is a multiple of 8 that holds a packet and 4096 bytes more");
  }
  context.set_cluster(options);
  if (!context.acting(words)) return;
  context.build();
  if (start == "all") start_all(context);
}

constexpr std::array kClusterVerbs{
    Verb{"cluster", do_cluster,
         "cluster [order=ENGINE] [nodes=3] [seed=1] [start=all|none] [mutant=NAME] "
         "[key=value ...]"},
};

}  // namespace

std::span<const Verb> cluster_verbs() { return kClusterVerbs; }

}  // namespace peal::sim
