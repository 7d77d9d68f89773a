// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/run.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sim/netmodel/setup.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr Duration kPatience = seconds(60);
/// Number of packets that wait at each sender at rate `max`: enough for every visit of the token.
constexpr std::uint64_t kWaitingPackets = 400;
/// Without acknowledgements, messages get their places by later messages. Then each sender sends
/// about so many messages after the measurement.
constexpr double kLaterMessages = 20;

/// The sum of the process's counters with these names. An engine has only some of them.
std::uint64_t counters(const Process& process, std::initializer_list<std::string_view> names) {
  std::uint64_t sum = 0;
  for (const order::Counter& each : process.node->counters()) {
    if (std::find(names.begin(), names.end(), each.name) != names.end()) sum += each.value;
  }
  return sum;
}

/// A cluster with its load and measurements.
class Experiment final : public Watcher {
 public:
  explicit Experiment(const NetRunOptions& options)
      : options_(options),
        recorder_(recorder_of(options)),
        world_(world_of(options), recorder_),
        samples_(world_, options.nodes),
        random_(options.seed * 77 + 5),
        stamps_(all_nodes(options) + 1),
        waiting_(all_nodes(options) + 1) {}

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
    std::uint64_t writes = 0;
  };

  void slow_down();
  bool form_view();
  bool has_view(std::uint32_t node) const;
  void begin_load();
  DueTimes due_times() const;
  void submit_next(NodeId node, DueTimes times);
  void submit(NodeId node, Instant due);
  Sums sums();
  void judge(NetFigures& figures);
  void figure(const Sums& before, const Sums& after, NetFigures& figures);
  void decisions(NetFigures& figures);
  void latencies(NetFigures& figures);
  double interval_ns() const { return 1e9 * senders_of(options_) / options_.rate; }
  bool is_slow(NodeId node) const {
    return options_.slow_node.ns > 0 && node.value == options_.nodes;
  }

  NetRunOptions options_;
  HistoryRecorder recorder_;
  World world_;
  OrderSamples samples_;
  Random random_;
  std::vector<std::uint64_t> stamps_;
  std::vector<std::deque<Instant>> waiting_;  ///< by node: due times of messages without places
  Instant origin_{};                          ///< start of the load
  Instant from_{}, until_{};
  bool sending_ = false;
  std::uint64_t due_ = 0;        ///< messages that are due during the measurement
  std::uint64_t delivered_ = 0;  ///< deliveries at all nodes during the measurement
  std::vector<std::int64_t> latencies_ns_;
  std::vector<std::int64_t> early_ns_;
  std::vector<std::int64_t> replies_ns_;
};

void Experiment::slow_down() {
  Conditions far = world_.network().conditions();
  far.delay = options_.slow_node;
  const NodeId last{options_.nodes};
  for (std::uint32_t n = 1; n < options_.nodes; ++n) {
    world_.network().set_link(NodeId{n}, last, far);
    world_.network().set_link(last, NodeId{n}, far);
  }
}

bool Experiment::has_view(std::uint32_t node) const {
  const Process* process = world_.process(NodeId{node});
  const bool genuine = options_.engine.is_genuine();
  const std::uint32_t members = options_.nodes / (genuine ? std::max(options_.domains, 1U) : 1);
  return process->status.operational && process->status.members.size() == members;
}

bool Experiment::form_view() {
  for (std::uint32_t n = 1; n <= all_nodes(options_); ++n) world_.start(NodeId{n});
  const auto together = [this] {
    for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
      if (!has_view(n)) return false;
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
  if (due >= from_ && due < until_) ++due_;
  waiting_[node.value].push_back(due);
  std::string payload(options_.payload_bytes, '\0');
  std::memcpy(payload.data(), &due.ns, kStampBytes);
  if (payload.size() >= 2 * kStampBytes) {
    std::memcpy(payload.data() + kStampBytes, &++stamps_[node.value], kStampBytes);
  }
  world_.submit(node, options_.service, std::move(payload), domain_of(options_, node));
}

/// Plans the node's next message or burst of messages.
void Experiment::submit_next(NodeId node, DueTimes times) {
  const Instant due = origin_ + times.next(random_);
  world_.plan(due, [this, node, times, due] {
    if (!sending_) return;
    for (std::uint64_t i = 0; i < times.burst(); ++i) submit(node, due);
    submit_next(node, times);
  });
}

void Experiment::begin_load() {
  origin_ = world_.now();
  sending_ = true;
  auto waiting = std::clamp<std::uint64_t>(messages_in(options_, kWaitingPackets), 2, 30'000);
  if (options_.under_way > 0) waiting = options_.under_way;
  for (std::uint32_t i = 0; i < senders_of(options_); ++i) {
    const NodeId node{first_sender(options_).value + i};
    if (options_.rate > 0) {
      submit_next(node, due_times());
    } else {
      for (std::uint64_t each = 0; each < waiting; ++each) submit(node, world_.now());
    }
  }
}

DueTimes Experiment::due_times() const {
  const double burst = static_cast<double>(options_.burst.ns) / interval_ns() + 0.5;
  return {options_.arrivals, interval_ns(),
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(burst))};
}

void Experiment::on_originate(MemberId who) {
  const NodeId node = who.node;
  if (std::deque<Instant>& waiting = waiting_[node.value]; !waiting.empty()) {
    const Instant due = waiting.front();
    waiting.pop_front();
    const bool measured = due >= from_ && due < until_;
    if (measured) replies_ns_.push_back((world_.now() - due).ns);
  }
  if (!sending_ || options_.rate > 0) return;
  world_.plan(world_.now(), [this, node] {
    if (sending_) submit(node, world_.now());
  });
}

void Experiment::on_message(Instant at, MemberId who, const node::Message& message) {
  if (at >= from_ && at < until_) ++delivered_;
  if (is_slow(who.node) || is_slow(message.sender.node)) return;
  Instant due;
  std::memcpy(&due.ns, message.payload.data(), kStampBytes);
  if (due >= from_ && due < until_) latencies_ns_.push_back((at - due).ns);
}

void Experiment::on_early(Instant at, MemberId who, const node::Message& message) {
  if (is_slow(who.node) || is_slow(message.sender.node)) return;
  Instant due;
  std::memcpy(&due.ns, message.payload.data(), kStampBytes);
  if (due >= from_ && due < until_) early_ns_.push_back((at - due).ns);
}

Experiment::Sums Experiment::sums() {
  Sums sums;
  for (std::uint32_t n = 1; n <= all_nodes(options_); ++n) {
    const Process& process = *world_.process(NodeId{n});
    sums.worked.push_back(process.processor.worked);
    sums.visits += counters(process, {"visits"});
    sums.originated_by.push_back(counters(process, {"originated", "quorum_originated", "units_sent",
                                                    "whitebox_units_taken", "skeen_units_taken"}));
    sums.retransmitted += counters(process, {"retransmitted", "quorum_resent", "quorum_repeated"});
    if (!options_.engine.is_optimistic()) continue;
    sums.delivered += counters(process, {"quorum_delivered"});
    sums.mistakes += counters(process, {"opt_mistakes"});
    sums.inversions += counters(process, {"opt_inversions"});
  }
  if (const Fabric* fabric = world_.fabric()) sums.writes = fabric->counts().writes;
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
  if (options_.slow_node.ns > 0) slow_down();
  world_.watch(this);
  from_ = world_.now() + options_.warm_up;
  until_ = from_ + options_.measure;
  samples_.measure(from_, until_);
  begin_load();
  world_.run_until(from_);
  const Sums before = sums();
  world_.run_until(until_);
  const Sums after = sums();
  if (!acknowledges(options_) && options_.rate > 0) {
    world_.run_until(until_ + Duration{static_cast<std::int64_t>(kLaterMessages * interval_ns())});
  }
  sending_ = false;
  world_.run_until(world_.now() + milliseconds(100));
  judge(figures);
  figure(before, after, figures);
  decisions(figures);
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
  // With random arrivals, a measurement offers more or less than the rate.
  const bool random = options_.arrivals == Arrivals::poisson;
  const double offered = random ? static_cast<double>(due_) / length * 1e9 : options_.rate;
  figures.offered_mbps = offered * bits / 1e6;
  figures.messages_per_second = static_cast<double>(delivered_) / options_.nodes / length * 1e9;
  figures.mbps = figures.messages_per_second * bits / 1e6;
  const std::uint32_t times = options_.to_all ? 1 : std::max(options_.domains, 1U);
  figures.total_mbps = figures.mbps * times;
  figures.total_messages_per_second = figures.messages_per_second * times;
  if (figures.total_messages_per_second > 0) {
    figures.writes = static_cast<double>(after.writes - before.writes) / (length / 1e9) /
                     figures.total_messages_per_second;
  }
  figures.rotation_us = rotations > 0 ? length / rotations / 1e3 : 0;
  const std::uint32_t senders = senders_of(options_);
  double packets = 0, fewest = 1e300;
  for (std::uint32_t n = first_sender(options_).value; n < first_sender(options_).value + senders;
       ++n) {
    const auto own = static_cast<double>(after.originated_by[n - 1] - before.originated_by[n - 1]);
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
    figures.guesses.mistaken = static_cast<double>(after.mistakes - before.mistakes) / placed;
    figures.guesses.inverted = static_cast<double>(after.inversions - before.inversions) / placed;
  }
  const Process& one = *world_.process(NodeId{1});
  figures.global_window = static_cast<std::uint32_t>(counters(one, {"global_window"}));
  figures.accelerated_percent = static_cast<std::uint32_t>(counters(one, {"accelerated_percent"}));
}

void Experiment::decisions(NetFigures& figures) {
  const IndexOfLatency& index = samples_.index();
  if (index.messages() == 0) return;
  const auto us = [](Duration time) { return static_cast<double>(time.ns) / 1e3; };
  figures.wait_us = us(samples_.mean_wait());
  figures.index = index.mean_index();
  figures.concurrent = index.mean_concurrent();
  figures.work = samples_.work();
  const std::uint32_t majority = options_.nodes / 2 + 1;
  for (std::uint32_t voters = majority; voters <= options_.nodes; ++voters) {
    const std::size_t place = std::min<std::size_t>(voters - majority, 3);
    figures.index_shares[place] += index.share(voters);
  }
  if (options_.rate == 0 || acknowledges(options_)) return;
  const Duration interval{static_cast<std::int64_t>(interval_ns())};
  figures.expected_us = us(index.expected_wait(options_.arrivals, interval));
}

double microseconds_at(double share, const std::vector<std::int64_t>& sorted_ns) {
  if (sorted_ns.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted_ns.size() - 1));
  return static_cast<double>(sorted_ns[index]) / 1e3;
}

void Experiment::latencies(NetFigures& figures) {
  std::sort(early_ns_.begin(), early_ns_.end());
  figures.early.p50_us = microseconds_at(0.5, early_ns_);
  figures.early.p99_us = microseconds_at(0.99, early_ns_);
  std::sort(replies_ns_.begin(), replies_ns_.end());
  figures.reply.p50_us = microseconds_at(0.5, replies_ns_);
  figures.reply.p95_us = microseconds_at(0.95, replies_ns_);
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

NetFigures run_net(const NetRunOptions& options) {
  PEAL_ASSERT(options.net != nullptr && options.cpu != nullptr);
  PEAL_ASSERT(options.payload_bytes >= kStampBytes);
  return Experiment(options).run();
}

}  // namespace peal::sim
