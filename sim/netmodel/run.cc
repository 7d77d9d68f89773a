// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "node/unit.h"
#include "sim/world/world.h"
#include "wire/frames.h"

namespace peal::sim {
namespace {

constexpr std::uint32_t kOneFrame = 1'472;
constexpr Duration kPatience = seconds(5);
/// Number of packets that wait at each sender at rate `max`: enough for every visit of the token.
constexpr std::uint64_t kWaitingPackets = 400;

std::uint64_t message_bytes_beside(const NetRunOptions& options) {
  return options.payload_bytes + node::kPartHeaderBytes;
}

std::uint32_t unit_room(std::uint32_t datagram) {
  return datagram - static_cast<std::uint32_t>(wire::kDataHeaderBytes + node::kUnitHeaderBytes);
}

std::uint32_t datagram_of(const NetRunOptions& options) {
  if (options.datagram_bytes != 0) return options.datagram_bytes;
  return message_bytes_beside(options) <= unit_room(kOneFrame) ? kOneFrame
                                                               : options.cpu->datagram_bytes_large;
}

std::vector<NodeId> nodes_of(const NetRunOptions& options, std::uint32_t domain) {
  const std::uint32_t size = options.nodes / options.domains;
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 1; i <= size; ++i) nodes.push_back(NodeId{(domain - 1) * size + i});
  return nodes;
}

order::Domain domain_of(const NetRunOptions& options, NodeId node) {
  if (options.domains == 0) return 0;
  return static_cast<order::Domain>((node.value - 1) / (options.nodes / options.domains) + 1);
}

WorldOptions world_of(const NetRunOptions& options) {
  NetModelOptions net;
  net.megabits = options.net->megabits;
  net.latency = options.latency.value_or(options.net->latency);
  net.coalesce = options.coalesce;
  net.port_buffer_bytes = options.port_buffer_bytes.value_or(options.net->port_buffer_bytes);
  net.data_loss = options.loss;
  net.cpu = options.cpu->costs;
  WorldOptions world;
  world.ghost = false;  // the ghost checks the protocol; an experiment only measures
  world.nodes = options.nodes;
  world.seed = options.seed;
  world.engine = engine_of(options);
  world.acceptors = options.acceptors;
  for (std::uint32_t domain = 1; domain <= options.domains; ++domain) {
    const std::vector<NodeId> nodes = nodes_of(options, domain);
    world.domains.push_back({nodes, {nodes.begin(), nodes.begin() + options.acceptors}});
  }
  world.disks = {options.disk, options.disk, 0, options.disk};
  world.multicast = options.multicast;
  world.step_cost = options.cpu->step;
  world.follow_preference = true;
  world.keep_packets = false;
  world.digest_every = 0;
  world.net = net;
  return world;
}

HistoryRecorder::Options ledger_of(const NetRunOptions& options) {
  HistoryRecorder::Options recorder;
  recorder.nodes = options.nodes;
  recorder.engine = &options.engine.engine();
  recorder.optimistic = options.engine.is_optimistic();
  for (std::uint32_t domain = 1; domain <= options.domains; ++domain) {
    recorder.domains.push_back(nodes_of(options, domain));
  }
  return recorder;
}

std::uint64_t counter(const Process& process, std::string_view name) {
  for (const order::Counter& each : process.node->counters()) {
    if (each.name == name) return each.value;
  }
  PEAL_ASSERT(false);
  return 0;
}

/// A cluster with its load and measurements.
class Experiment final : public Watcher {
 public:
  explicit Experiment(const NetRunOptions& options)
      : options_(options),
        recorder_(ledger_of(options)),
        world_(world_of(options), recorder_),
        random_(options.seed * 77 + 5),
        stamps_(options.nodes + 1) {}

  NetFigures run();

  void on_send(const Packet&, MemberId) override {}
  void on_event(MemberId, const order::Event&) override {}
  void on_originate(MemberId who) override;
  void on_message(Instant at, MemberId who, const node::Message& message) override;
  void on_early(Instant at, MemberId who, const node::Message& message) override;

 private:
  struct Sums {
    std::uint64_t visits = 0, retransmitted = 0;
    std::uint64_t delivered = 0, mistakes = 0, inversions = 0;
    std::vector<std::uint64_t> originated_by;
    std::vector<Duration> worked;
    Duration port_busy{}, card_busy{};
  };

  bool form_view();
  void begin_load();
  void submit_next(NodeId node, std::uint64_t number);
  void submit(NodeId node, Instant due);
  Sums sums() const;
  void judge(NetFigures& figures);
  void figure(const Sums& before, const Sums& after, NetFigures& figures);
  void latencies(NetFigures& figures);

  NetRunOptions options_;
  HistoryRecorder recorder_;
  World world_;
  Random random_;
  std::vector<std::uint64_t> stamps_;
  Instant origin_{};  ///< start of the load
  Instant from_{}, until_{};
  bool sending_ = false;
  std::uint64_t delivered_ = 0;  ///< deliveries at all nodes during the measurement
  std::vector<std::int64_t> latencies_ns_;
  std::vector<std::int64_t> early_ns_;
};

bool Experiment::form_view() {
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) world_.start(NodeId{n});
  const auto together = [this] {
    for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
      const Process* process = world_.process(NodeId{n});
      if (!process->status.operational || process->status.members.size() != options_.nodes)
        return false;
    }
    return true;
  };
  const Instant limit = world_.now() + kPatience;
  while (!together()) {
    if (!world_.step(limit)) return false;
  }
  world_.run_until(world_.now() + milliseconds(20));
  return true;
}

void Experiment::submit(NodeId node, Instant due) {
  std::string payload(options_.payload_bytes, '\0');
  std::memcpy(payload.data(), &due.ns, kStampBytes);
  if (payload.size() >= 2 * kStampBytes) {
    std::memcpy(payload.data() + kStampBytes, &++stamps_[node.value], kStampBytes);
  }
  world_.submit(node, options_.service, std::move(payload), domain_of(options_, node));
}

/// Plans the node's next message or burst of messages; `number` is the number of the first message.
/// The node sends at a constant mean rate. A random jitter delays each due time, by up to the mean
/// time between two messages or bursts, so that nodes are not in phase with the token.
void Experiment::submit_next(NodeId node, std::uint64_t number) {
  const double interval_ns = 1e9 * senders_of(options_) / options_.rate;
  const auto burst = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(options_.burst.ns) / interval_ns + 0.5));
  const double place = static_cast<double>(number) + random_.unit() * static_cast<double>(burst);
  const Instant due = origin_ + Duration{static_cast<std::int64_t>(place * interval_ns)};
  world_.plan(due, [this, node, number, due, burst] {
    if (!sending_) return;
    for (std::uint64_t i = 0; i < burst; ++i) submit(node, due);
    submit_next(node, number + burst);
  });
}

void Experiment::begin_load() {
  origin_ = world_.now();
  sending_ = true;
  const std::uint64_t room = unit_room(datagram_of(options_));
  const std::uint64_t waiting =
      std::clamp<std::uint64_t>(kWaitingPackets * room / message_bytes_beside(options_), 2, 30'000);
  for (std::uint32_t n = 1; n <= senders_of(options_); ++n) {
    if (options_.rate > 0) {
      submit_next(NodeId{n}, 0);
    } else {
      for (std::uint64_t i = 0; i < waiting; ++i) submit(NodeId{n}, world_.now());
    }
  }
}

void Experiment::on_originate(MemberId who) {
  if (!sending_ || options_.rate > 0) return;
  const NodeId node = who.node;
  world_.plan(world_.now(), [this, node] {
    if (sending_) submit(node, world_.now());
  });
}

void Experiment::on_message(Instant at, MemberId /*who*/, const node::Message& message) {
  if (at >= from_ && at < until_) ++delivered_;
  Instant due;
  std::memcpy(&due.ns, message.payload.data(), kStampBytes);
  if (due >= from_ && due < until_) latencies_ns_.push_back((at - due).ns);
}

void Experiment::on_early(Instant at, MemberId /*who*/, const node::Message& message) {
  Instant due;
  std::memcpy(&due.ns, message.payload.data(), kStampBytes);
  if (due >= from_ && due < until_) early_ns_.push_back((at - due).ns);
}

Experiment::Sums Experiment::sums() const {
  Sums sums;
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    const Process& process = *world_.process(NodeId{n});
    sums.worked.push_back(process.processor.worked);
    if (options_.engine.has_quorum()) {
      sums.originated_by.push_back(counter(process, "quorum_originated"));
      sums.retransmitted += counter(process, "quorum_resent") + counter(process, "quorum_repeated");
      if (!options_.engine.is_optimistic()) continue;
      sums.delivered += counter(process, "quorum_delivered");
      sums.mistakes += counter(process, "opt_mistakes");
      sums.inversions += counter(process, "opt_inversions");
      continue;
    }
    sums.visits += counter(process, "visits");
    sums.originated_by.push_back(counter(process, "originated"));
    sums.retransmitted += counter(process, "retransmitted");
  }
  sums.card_busy = world_.model()->card_busy_most();
  sums.port_busy = world_.model()->port_busy_most();
  return sums;
}

NetFigures Experiment::run() {
  NetFigures figures;
  if (!form_view()) {
    figures.violation = "the nodes form no view";
    return figures;
  }
  world_.watch(this);
  from_ = world_.now() + options_.warm_up;
  until_ = from_ + options_.measure;
  begin_load();
  world_.run_until(from_);
  const Sums before = sums();
  world_.run_until(until_);
  const Sums after = sums();
  sending_ = false;
  world_.run_until(until_ + milliseconds(100));
  judge(figures);
  figure(before, after, figures);
  latencies(figures);
  return figures;
}

void Experiment::judge(NetFigures& figures) {
  recorder_.finish();
  if (!recorder_.violations().empty()) {
    const Violation& first = recorder_.violations().front();
    figures.violation = first.property + ": " + first.text;
  }
  figures.views = recorder_.figures().view_changes;
  figures.messages_compared = recorder_.figures().deliveries_checked;
  figures.digest = world_.digest();
}

void Experiment::figure(const Sums& before, const Sums& after, NetFigures& figures) {
  const double length = static_cast<double>(options_.measure.ns);
  const auto rotations = static_cast<double>(after.visits - before.visits) / options_.nodes;
  const double bits = 8.0 * options_.payload_bytes;
  figures.offered_mbps = options_.rate * bits / 1e6;
  figures.messages_per_second = static_cast<double>(delivered_) / options_.nodes / length * 1e9;
  figures.mbps = figures.messages_per_second * bits / 1e6;
  figures.total_mbps = figures.mbps * std::max(options_.domains, 1U);
  figures.rotation_us = rotations > 0 ? length / rotations / 1e3 : 0;
  const std::uint32_t senders = senders_of(options_);
  double packets = 0, fewest = 1e300;
  for (std::uint32_t i = 0; i < senders; ++i) {
    const auto own = static_cast<double>(after.originated_by[i] - before.originated_by[i]);
    packets += own;
    fewest = std::min(fewest, own);
  }
  figures.least_sender = packets > 0 ? fewest * senders / packets : 0;
  const auto again = static_cast<double>(after.retransmitted - before.retransmitted);
  figures.retransmitted = packets > 0 ? again / packets : 0;
  for (std::size_t i = 0; i < after.worked.size(); ++i) {
    const double share = static_cast<double>((after.worked[i] - before.worked[i]).ns) / length;
    figures.busiest_cpu = std::max(figures.busiest_cpu, share);
  }
  figures.busiest_port = static_cast<double>((after.port_busy - before.port_busy).ns) / length;
  figures.busiest_card = static_cast<double>((after.card_busy - before.card_busy).ns) / length;
  figures.dropped_frames = world_.model()->dropped_frames();
  figures.dropped_packets = recorder_.faults().of(Fault::socket_full);
  figures.port_queue_bytes = world_.model()->queue_bytes_most();
  if (after.delivered > before.delivered) {
    const auto placed = static_cast<double>(after.delivered - before.delivered);
    figures.mistaken = static_cast<double>(after.mistakes - before.mistakes) / placed;
    figures.inverted = static_cast<double>(after.inversions - before.inversions) / placed;
  }
  if (options_.engine.has_quorum()) return;
  const Process& one = *world_.process(NodeId{1});
  figures.global_window = static_cast<std::uint32_t>(counter(one, "global_window"));
  figures.accelerated_percent = static_cast<std::uint32_t>(counter(one, "accelerated_percent"));
}

double microseconds_at(double share, const std::vector<std::int64_t>& sorted_ns) {
  if (sorted_ns.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted_ns.size() - 1));
  return static_cast<double>(sorted_ns[index]) / 1e3;
}

void Experiment::latencies(NetFigures& figures) {
  std::sort(early_ns_.begin(), early_ns_.end());
  figures.early_p50_us = microseconds_at(0.5, early_ns_);
  figures.early_p99_us = microseconds_at(0.99, early_ns_);
  std::vector<std::int64_t>& all = latencies_ns_;
  if (all.empty()) return;
  std::sort(all.begin(), all.end());
  const auto mean = [&all](std::size_t first) {
    const double sum = std::accumulate(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                       0.0, [](double a, std::int64_t b) { return a + double(b); });
    return sum / static_cast<double>(all.size() - first) / 1e3;
  };
  const auto at = [&all](double share) { return microseconds_at(share, all); };
  figures.mean_us = mean(0);
  figures.worst_us = mean(all.size() - (all.size() + 19) / 20);
  figures.p50_us = at(0.5);
  figures.p99_us = at(0.99);
  figures.max_us = at(1);
}

}  // namespace

EngineOptions engine_of(const NetRunOptions& options) {
  EngineOptions engine = options.engine;
  const CpuKind& cpu = *options.cpu;
  engine.set("packet_bytes_max", datagram_of(options));
  // Use the values of real nodes, also for the history.
  engine.set("gap", microseconds(500).ns);
  engine.set("suspect", milliseconds(200).ns);
  engine.set("history", 64 << 20);
  const bool original = options.accelerated_window == 0U;
  const std::uint32_t personal =
      options.personal_window.value_or(original ? cpu.original_window : cpu.window);
  const std::uint32_t global = options.global_window.value_or(personal * options.nodes);
  engine.set("personal_window", personal);
  engine.set("global_window", global);
  if (options.accelerated_window) {
    engine.set("accelerated_window", *options.accelerated_window);
  } else if (personal != 0) {
    engine.set("accelerated_window", personal);
  }
  std::string priority(cpu.priority);
  if (engine.number("accelerated_window") == 0) {
    // If no packets follow the token, all packets arrive before it.
    engine.set("request_lag", 0);
    priority = "careful";
  }
  const bool known = engine.read("priority", priority);
  PEAL_ASSERT(known);
  if (!engine.has_quorum()) {
    const std::uint32_t usual = EngineOptions().max_gap();
    engine.set("max_gap", std::clamp(4 * global, usual, 8'192U));
  }
  return engine;
}

NetFigures run_net(const NetRunOptions& options) {
  PEAL_ASSERT(options.net != nullptr && options.cpu != nullptr);
  PEAL_ASSERT(options.payload_bytes >= kStampBytes);
  return Experiment(options).run();
}

}  // namespace peal::sim
