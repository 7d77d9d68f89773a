// SPDX-License-Identifier: Apache-2.0
// `peal bench failover`: how long nothing is delivered after the leading node is killed.
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bench/clock.h"
#include "cli/bench/failover_report.h"
#include "cli/bench/progress.h"
#include "cli/bench/run.h"
#include "cli/bench/sync_probe.h"
#include "cli/commands.h"
#include "cli/node/report.h"
#include "cli/text.h"
#include "peal/client.h"

namespace peal::cli {
namespace {

constexpr const char* kFailoverGroup = "failover";
constexpr int kFailoverStopMs = 5'000;
/// Time limit for each step: starting, connecting, installing a view, delivering again. Each step
/// normally takes far less.
constexpr std::int64_t kFailoverPatienceNs = 60 * kSecondNs;
/// Nodes answer four queries per second (docs/daemon.md).
constexpr std::int64_t kAskEveryNs = 260 * 1'000'000;
constexpr int kAnswerMs = 2'000;
constexpr std::int64_t kAttemptNs = 20 * 1'000'000;
/// The maximum delay of a due message; received events are handled at once.
constexpr int kTurnMs = 1;
/// After this process was suspended, messages that are overdue by more than this time are skipped.
constexpr std::int64_t kLateMaxNs = 20 * 1'000'000;

double ms_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) / 1e6;
}

/// One node, and its client if the client is connected.
struct Node {
  std::string name;
  std::vector<Child> process;  ///< exactly one
  std::optional<Client> client;
  std::size_t members = 0;  ///< members of the group in the last view that the client got
  // Times of events after the current kill; 0: not yet.
  std::int64_t view_at = 0;
  std::int64_t delivered_at = 0;
  std::int64_t fresh_at = 0;
};

/// The value of a counter of engines on quorums in a node's answer; 0 if the answer lacks the
/// counter.
std::uint64_t counter(const NodeReport& report, const char* name) {
  const auto answer = nlohmann::json::parse(report.json, nullptr, false);
  if (!answer.is_object() || !answer.contains("counters")) return 0;
  return answer["counters"].value(name, std::uint64_t{0});
}

/// Kills and restarts nodes under constant load. The first failure ends the run.
class Failover {
 public:
  Failover(BenchPlace& place, const BenchFailoverCommand& command, SyncProbe& probe)
      : place_(place),
        command_(command),
        probe_(probe),
        payload_(command.cluster.payload_bytes),
        interval_ns_(static_cast<std::int64_t>(
            1e9 / command.cluster.rate.messages_of(command.cluster.payload_bytes))) {
    for (const std::string& name : place.names()) {
      nodes_.emplace_back();
      nodes_.back().name = name;
    }
  }
  ~Failover() {
    std::vector<Child> all;
    for (Node& node : nodes_) {
      node.client.reset();
      for (Child& child : node.process) all.push_back(std::move(child));
    }
    stop_all(all, kFailoverStopMs);
  }
  Failover(const Failover&) = delete;
  Failover& operator=(const Failover&) = delete;

  Result<FailoverReport, std::string> run() {
    const BenchProgress progress;
    progress.say("starting " + counted(nodes_.size(), "node"));
    FailoverReport report;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!start(i)) return unexpected(problem_);
    }
    if (!wait_for_all()) return unexpected(problem_);
    for (std::uint32_t i = 0; i < command_.kills; ++i) {
      const std::string at =
          "kill " + std::to_string(i + 1) + " of " + std::to_string(command_.kills) + ": ";
      progress.say(at + "all nodes are in one view, and deliver");
      const std::int64_t settled =
          now_ns() + static_cast<std::int64_t>(command_.settle_s * double{kSecondNs});
      if (!flow([&] { return now_ns() >= settled; }, settled + kFailoverPatienceNs,
                "time to pass")) {
        return unexpected(problem_);
      }
      const auto victim = choose();
      if (!victim) return unexpected(problem_);
      progress.say(at + nodes_[*victim].name + " was killed");
      if (!kill(*victim, report)) return unexpected(problem_);
      progress.say(at + nodes_[*victim].name + " starts again");
      if (!start_again(*victim, report.kills.back())) return unexpected(problem_);
    }
    return report;
  }

 private:
  bool fail(std::string text) {
    problem_ = std::move(text);
    return false;
  }

  bool start(std::size_t i) {
    auto child = place_.start_daemon(i);
    if (!child) return fail(child.error());
    nodes_[i].process.push_back(std::move(*child));
    return true;
  }

  /// Connects a client and joins the group, if the node listens already. False: the node has ended.
  bool connect(std::size_t i) {
    Node& node = nodes_[i];
    if (const auto& ended = node.process.front().ended()) {
      return fail(node.name + " ended (" + *ended + "): " + last_line(place_.log_of(i)));
    }
    ClientOptions options;
    options.daemon = place_.socket_of(i);
    options.name = "load";
    options.keep = std::chrono::milliseconds(0);  // the session ends with its node
    auto client = Client::connect(options);
    if (!client) return true;
    if (client->join(kFailoverGroup)) node.client.emplace(std::move(*client));
    return true;
  }

  /// Waits until all nodes and all clients are in one view.
  bool wait_for_all() {
    const std::int64_t deadline = now_ns() + kFailoverPatienceNs;
    std::int64_t attempt_at = 0;
    while (std::any_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return !n.client; })) {
      const bool gone =
          now_ns() >= attempt_at && std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& n) {
            return !n.client && !connect(static_cast<std::size_t>(&n - nodes_.data()));
          });
      if (gone) return false;
      if (now_ns() >= attempt_at) attempt_at = now_ns() + kAttemptNs;
      if (now_ns() > deadline) return fail("a node does not listen: " + logs());
      if (!turn()) return false;
    }
    const auto joined = [&] {
      return std::all_of(nodes_.begin(), nodes_.end(),
                         [&](const Node& n) { return n.members == nodes_.size(); });
    };
    if (!flow(joined, deadline, "all clients to be in the group")) return false;
    bool all = false;
    return flow([&] { return all = all || in_one_view(ask(), nodes_.size()); }, deadline,
                "all nodes to be in one view", kAskEveryNs);
  }

  std::vector<NodeReport> ask() {
    std::vector<std::string> sockets;
    for (std::size_t i = 0; i < nodes_.size(); ++i) sockets.push_back(place_.socket_of(i));
    poller_.set_sockets(sockets);
    return poller_.ask(kAnswerMs);
  }

  /// The leading node: the coordinator or, with the ring, the first member of the view. Nothing if
  /// no node leads within the time limit.
  std::optional<std::size_t> choose() {
    const order::Traits& traits = command_.cluster.order->traits;
    const bool quorum = traits.quorum;
    std::optional<std::size_t> best;
    std::uint64_t newest = 0;
    const auto look = [&] {
      const auto reports = ask();
      for (std::size_t i = 0; i < reports.size(); ++i) {
        if (!reports[i].problem.empty() || !reports[i].view) continue;
        // Only a coordinator has a window above 0.
        const char* mark = traits.genuine ? "domain_leads" : "quorum_window";
        const bool leads = quorum ? counter(reports[i], mark) > 0
                                  : reports[i].view->members.front() == nodes_[i].name;
        const char* counted = traits.genuine ? "domain_round" : "quorum_round";
        const std::uint64_t round = quorum ? counter(reports[i], counted) + 1 : 1;
        if (!leads || round <= newest) continue;
        newest = round;
        best = i;
      }
      return best.has_value();
    };
    if (!flow(look, now_ns() + kFailoverPatienceNs, "a coordinator", kAskEveryNs))
      return std::nullopt;
    return best;
  }

  bool kill(std::size_t victim, FailoverReport& report) {
    for (Node& node : nodes_) node.view_at = node.delivered_at = node.fresh_at = 0;
    killed_ = victim;
    killed_at_ = now_ns();
    nodes_[victim].process.front().signal(SIGKILL);
    const auto done = [&] {
      return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& n) {
        return &n == &nodes_[victim] || (n.delivered_at != 0 && n.fresh_at != 0);
      });
    };
    if (!flow(done, killed_at_ + kFailoverPatienceNs,
              "a view, and a delivery in it, at all that are left")) {
      return false;
    }
    FailoverKill result;
    result.victim = nodes_[victim].name;
    result.sync_ms = static_cast<double>(probe_.longest_since(killed_at_)) / 1e6;
    for (const Node& node : nodes_) {
      if (&node == &nodes_[victim]) continue;
      result.survivors.push_back({node.name, ms_between(killed_at_, node.view_at),
                                  ms_between(killed_at_, node.delivered_at),
                                  ms_between(killed_at_, node.fresh_at)});
    }
    report.kills.push_back(std::move(result));
    return true;
  }

  bool start_again(std::size_t victim, FailoverKill& result) {
    Node& node = nodes_[victim];
    node.client.reset();
    node.members = 0;
    node.process.front().wait();
    node.process.clear();
    killed_.reset();
    const std::int64_t begin = now_ns();
    if (!start(victim) || !wait_for_all()) return false;
    result.back_s = ms_between(begin, now_ns()) / 1e3;
    return true;
  }

  // ---- load and deliveries ----

  /// Sends and reads until `done` returns true. Calls `done` at most once per `every_ns`.
  template <class Done>
  bool flow(const Done& done, std::int64_t deadline_ns, const std::string& what,
            std::int64_t every_ns = 0) {
    std::int64_t ask_at = 0;
    while (true) {
      if (now_ns() >= ask_at) {
        if (done()) return true;
        ask_at = now_ns() + every_ns;
      }
      if (now_ns() > deadline_ns) {
        return fail("waited " + std::to_string(kFailoverPatienceNs / kSecondNs) +
                    " s in vain for " + what + ": " + logs());
      }
      if (!turn()) return false;
    }
  }

  bool turn() {
    if (place_.interrupted()) return fail("interrupted");
    if (const std::string problem = probe_.problem(); !problem.empty()) return fail(problem);
    send_due();
    std::vector<pollfd> waits;
    for (Node& node : nodes_) {
      if (!node.client) continue;
      while (auto event = node.client->next()) {
        if (!take(node, *event)) return false;
      }
      if (!is_killed(node)) waits.push_back({node.client->fd(), POLLIN, 0});
    }
    ::poll(waits.data(), waits.size(), kTurnMs);
    return true;
  }

  bool is_killed(const Node& node) const { return killed_ && &node == &nodes_[*killed_]; }

  void send_due() {
    const std::int64_t now = now_ns();
    due_ns_ = std::max(due_ns_, now - kLateMaxNs);
    for (; due_ns_ <= now; due_ns_ += interval_ns_) {
      Node& node = nodes_[turn_++ % nodes_.size()];
      if (!node.client || is_killed(node)) continue;
      std::memcpy(payload_.data(), &now, sizeof now);
      const std::string_view target = kFailoverGroup;
      // If there is no space, the message is skipped: only the first delivery matters.
      ignore(node.client->send(std::span(&target, 1), payload_), "the next one counts");
    }
  }

  bool take(Node& node, const ClientEvent& event) {
    if (is_killed(node)) return true;
    if (const auto* message = std::get_if<GroupMessage>(&event)) {
      std::int64_t sent = 0;
      if (message->payload.size() != payload_.size()) {
        return fail("a message was delivered that nobody sent");
      }
      std::memcpy(&sent, message->payload.data(), sizeof sent);
      if (node.view_at != 0 && node.delivered_at == 0) node.delivered_at = now_ns();
      if (killed_ && node.fresh_at == 0 && sent > killed_at_) node.fresh_at = now_ns();
    } else if (const auto* view = std::get_if<GroupView>(&event)) {
      node.members = view->members.size();
      if (killed_ && node.view_at == 0 && node.members + 1 == nodes_.size()) {
        node.view_at = now_ns();
      }
    } else if (const auto* ended = std::get_if<Ended>(&event)) {
      return fail("the session of a client at " + node.name + " ended: " + ended->message);
    }
    return true;
  }

  std::string logs() const {
    std::string text;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      text += (i == 0 ? "" : "; ") + nodes_[i].name + ": " + last_line(place_.log_of(i));
    }
    return text;
  }

  BenchPlace& place_;
  const BenchFailoverCommand& command_;
  SyncProbe& probe_;
  std::vector<std::byte> payload_;
  std::int64_t interval_ns_;
  std::int64_t due_ns_ = 0;
  std::size_t turn_ = 0;
  std::vector<Node> nodes_;
  std::optional<std::size_t> killed_;
  std::int64_t killed_at_ = 0;
  NodePoller poller_;
  std::string problem_;
};

}  // namespace

int run_bench_failover(const BenchFailoverCommand& command) {
  const auto place = BenchPlace::make(command.cluster);
  if (!place) return fail(place.error().status, "bench failover: " + place.error().line);
  auto probe = SyncProbe::start((*place)->dir());
  if (!probe) return fail(1, "bench failover: " + probe.error());
  auto report = Failover(**place, command, **probe).run();
  if (!report) return fail(1, "bench failover: " + report.error());
  report->sync_max_ms = static_cast<double>((*probe)->longest()) / 1e6;
  report->syncs = (*probe)->count();
  report->processors = std::thread::hardware_concurrency();
  ignore(::getloadavg(&report->load_1min, 1), "then it is shown as 0");
  print(command, *report);
  return 0;
}

}  // namespace peal::cli
