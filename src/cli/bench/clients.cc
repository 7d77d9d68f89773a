// SPDX-License-Identifier: Apache-2.0
// `peal bench clients`: the cost of clients and groups at one daemon.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/clients_report.h"
#include "cli/bench/clock.h"
#include "cli/bench/daemon.h"
#include "cli/bench/talker.h"
#include "cli/commands.h"
#include "cli/node/cluster.h"

namespace peal::cli {
namespace {

constexpr std::int64_t kPatienceNs = 20 * kSecondNs;
constexpr std::uint64_t kSilent = 1'000;
constexpr std::uint64_t kListeners = 100;
constexpr int kTrials = 50;
constexpr std::uint64_t kBytesUnderWay = 1U << 20;
constexpr std::uint64_t kMessagesUnderWayMax = 1'024;
/// Limits of the events that wait for one member of a group. A member that stopped reading is meant
/// to reach the limit of memory, but not the limit of disk space.
constexpr std::uint64_t kSlowMemoryBytes = 4U << 20, kSlowDiskBytes = 4ULL << 30;

double us_since(std::int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) / 1e3; }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

/// One daemon in a folder of its own.
class Place {
 public:
  static Result<Place, std::string> make() {
    char path[] = "/tmp/peal-bench-XXXXXX";
    if (::mkdtemp(path) == nullptr) return unexpected(std::string("cannot make a folder in /tmp"));
    const auto cluster = make_local_cluster(path, "bench", 1, {});
    if (!cluster) return unexpected(cluster.error());
    // Each node may use 1/nodes_max of the limit for members of groups. With nodes_max = 1, this
    // daemon may use the whole limit.
    std::ofstream(cluster->config, std::ios::app) << "\n[limits]\nnodes_max = 1\n";
    auto daemon = BenchDaemon::start(path, cluster->names.front());
    if (!daemon) return unexpected(daemon.error());
    return Place(path, std::move(*daemon));
  }
  Place(Place&& other) noexcept
      : dir_(std::exchange(other.dir_, {})), daemon_(std::move(other.daemon_)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (dir_.empty()) return;
    daemon_.stop();
    std::error_code error;
    std::filesystem::remove_all(dir_, error);
  }
  BenchDaemon& daemon() { return daemon_; }

 private:
  Place(std::string dir, BenchDaemon daemon) : dir_(std::move(dir)), daemon_(std::move(daemon)) {}
  std::string dir_;
  BenchDaemon daemon_;
};

/// All measurements at one daemon. The first failure ends the run.
class Measurement {
 public:
  Measurement(const BenchClientsCommand& command, BenchDaemon& daemon)
      : command_(command), daemon_(daemon) {}

  Result<ClientsReport, std::string> run() {
    if (!wait_for_daemon() || !connect_clients() || !join_groups() || !silent_connections()) {
      return unexpected(problem_);
    }
    for (const wire::SlowPolicy policy :
         {wire::SlowPolicy::spill, wire::SlowPolicy::drop, wire::SlowPolicy::evict}) {
      if (!one_stopped(policy)) return unexpected(problem_);
    }
    return report_;
  }

 private:
  bool fail(std::string text) {
    const auto ended = daemon_.ended();
    problem_ = ended ? *ended : std::move(text);
    return false;
  }

  bool wait_for_daemon() {
    const std::int64_t deadline = now_ns() + kPatienceNs;
    while (!Talker::connect(daemon_.socket())) {
      if (daemon_.ended() || now_ns() > deadline) return fail("the daemon does not listen");
      ::usleep(10'000);
    }
    return true;
  }

  /// Connects a client and waits for its welcome; null after a failure.
  Talker* welcome(Crowd& crowd, const std::string& name) {
    auto talker = crowd.add(daemon_.socket());
    if (!talker) return fail(talker.error()), nullptr;
    Talker& client = **talker;
    client.hello(name);
    return serve(crowd, client, "a welcome", [&] { return client.heard().welcome; }) ? &client
                                                                                     : nullptr;
  }
  bool joined(Crowd& crowd, Talker& client, const std::string& group,
              const wire::SlowLimits& limits = {}) {
    client.join(++requests_, group, limits);
    if (!serve(crowd, client, "a reply to a join",
               [&] { return client.heard().replies.contains(requests_); })) {
      return false;
    }
    const wire::ClientCode code = client.heard().replies[requests_];
    client.heard().replies.erase(requests_);
    if (code == wire::ClientCode::ok) return true;
    return fail("a join was refused: " + std::string(wire::client_code_name(code)));
  }
  template <class Done>
  bool serve(Crowd& crowd, Talker& client, const std::string& what, const Done& done) {
    const bool in_time = crowd.run_until([&] { return done() || !client.heard().closing.empty(); },
                                         now_ns() + kPatienceNs);
    if (done()) return true;
    return fail(in_time ? "a client was turned away: " + client.heard().closing
                        : "no " + what + " within 20 s");
  }

  bool connect_clients() {
    const std::uint64_t before = daemon_.resident_bytes();
    std::vector<double> took;
    for (std::uint32_t i = 0; i < command_.clients; ++i) {
      const std::int64_t begin = now_ns();
      Talker* client = welcome(crowd_, "c" + std::to_string(i));
      if (client == nullptr) return false;
      took.push_back(us_since(begin));
      clients_.push_back(client);
    }
    report_.bytes_per_client = growth(before) / command_.clients;
    report_.connect_p50_us = percentile(took, 0.5);
    report_.connect_p99_us = percentile(took, 0.99);
    return true;
  }
  bool join_groups() {
    const std::uint64_t before = daemon_.resident_bytes();
    std::vector<double> took;
    for (std::uint32_t i = 0; i < command_.groups; ++i) {
      const std::int64_t begin = now_ns();
      if (!joined(crowd_, *clients_[i % clients_.size()], "group" + std::to_string(i))) {
        return false;
      }
      took.push_back(us_since(begin));
    }
    report_.bytes_per_group = growth(before) / command_.groups;
    report_.join_p50_us = percentile(took, 0.5);
    report_.join_p99_us = percentile(took, 0.99);
    return true;
  }
  double growth(std::uint64_t before) const {
    return static_cast<double>(daemon_.resident_bytes()) - static_cast<double>(before);
  }

  /// Measures clients one by one, from connecting to the delivery of the client's own message.
  bool good_clients(const std::string& name, std::vector<double>& took) {
    for (int i = 0; i < kTrials; ++i) {
      Crowd crowd;
      const std::int64_t begin = now_ns();
      Talker* client = welcome(crowd, name + std::to_string(i));
      const std::string group = "good" + name + std::to_string(i);
      if (client == nullptr || !joined(crowd, *client, group)) return false;
      client->send(group, {});
      if (!serve(crowd, *client, "a message", [&] { return client->heard().messages == 1; })) {
        return false;
      }
      took.push_back(us_since(begin));
    }
    return true;
  }
  bool silent_connections() {
    std::vector<double> alone, beside;
    if (!good_clients("a", alone)) return false;
    std::vector<std::unique_ptr<Talker>> silent;
    for (std::uint64_t i = 0; i < kSilent; ++i) {
      auto talker = Talker::connect(daemon_.socket());
      if (!talker) return fail(talker.error());
      silent.push_back(std::move(*talker));
    }
    if (!good_clients("b", beside)) return false;
    report_.silent = kSilent;
    report_.alone_p50_us = percentile(alone, 0.5);
    report_.alone_max_us = percentile(alone, 1);
    report_.beside_silent_p50_us = percentile(beside, 0.5);
    report_.beside_silent_max_us = percentile(beside, 1);
    return true;
  }

  /// Measures the throughput of one sender and its receivers: first while all receivers read, then
  /// while the last receiver does not read.
  bool one_stopped(wire::SlowPolicy policy) {
    StoppedReport stopped;
    stopped.policy = policy;
    std::vector<double> all, others;
    for (std::uint32_t run = 0; run < command_.runs; ++run) {
      double rate = 0;
      if (!throughput(policy, false, rate, stopped)) return false;
      all.push_back(rate);
      if (!throughput(policy, true, rate, stopped)) return false;
      others.push_back(rate);
    }
    stopped.all_read_per_s = percentile(all, 0.5);
    stopped.one_stopped_per_s = percentile(others, 0.5);
    report_.stopped.push_back(stopped);
    return true;
  }
  bool throughput(wire::SlowPolicy policy, bool stop, double& rate, StoppedReport& stopped) {
    Crowd crowd;
    const std::string group = "crowd" + std::to_string(++crowds_);
    std::vector<Talker*> listeners;
    for (std::uint64_t i = 0; i <= kListeners; ++i) {
      Talker* client = welcome(crowd, group + "-" + std::to_string(i));
      if (client == nullptr) return false;
      listeners.push_back(client);
      const bool sender = i == kListeners;
      const wire::SlowLimits limits{policy, kSlowMemoryBytes,
                                    policy == wire::SlowPolicy::spill ? kSlowDiskBytes : 0, 0};
      if (!sender && !joined(crowd, *client, group, limits)) return false;
    }
    Talker& sender = *listeners.back();
    Talker& slow = *listeners[kListeners - 1];
    if (stop) crowd.stop_reading(slow);
    const std::vector<std::byte> payload(command_.payload_bytes);
    const std::uint64_t window = std::clamp<std::uint64_t>(kBytesUnderWay / command_.payload_bytes,
                                                           16, kMessagesUnderWayMax);
    const std::int64_t begin = now_ns() + kSecondNs / 2;
    const auto length = static_cast<std::int64_t>(command_.seconds * 1e9);
    std::int64_t began = 0;
    std::uint64_t before = 0;
    const auto heard = [&] { return listeners.front()->heard().messages; };
    // All clients share one thread here. So the sender waits for all receivers but the last;
    // otherwise, one of these receivers could become slow only because the thread did not serve it.
    const auto held_back = [&] {
      return sender.sent() - sender.heard().acked >= window ||
             std::any_of(listeners.begin(), listeners.end() - 2, [&](const Talker* each) {
               return sender.sent() - each->heard().messages - each->heard().left_out >= window;
             });
    };
    // A busy machine may suspend this process for longer than `length`. So the measurement
    // continues until a message was delivered.
    const auto over = [&] { return began > 0 && now_ns() >= began + length && heard() > before; };
    while (!over()) {
      while (!held_back()) sender.send(group, payload);
      const auto more = [&] {
        if (began == 0 && now_ns() >= begin) {
          began = now_ns();
          before = heard();
        }
        return !held_back() || over() || !sender.heard().closing.empty();
      };
      if (!crowd.run_until(more, begin + length + kPatienceNs)) {
        return fail("messages are not acknowledged");
      }
      if (!sender.heard().closing.empty()) return fail("the sender: " + sender.heard().closing);
    }
    const double took_s = static_cast<double>(now_ns() - began) / 1e9;
    const std::uint64_t after = heard();
    for (std::uint64_t i = 0; i + 1 < kListeners; ++i) {
      const std::string& closing = listeners[i]->heard().closing;
      if (!closing.empty()) return fail("a client that reads was ended: " + closing);
    }
    if (stop) stopped.slow_was_told = slow.heard().closing;
    rate = static_cast<double>(after - before) / took_s;
    return true;
  }

  const BenchClientsCommand& command_;
  BenchDaemon& daemon_;
  Crowd crowd_;
  std::vector<Talker*> clients_;
  std::uint32_t requests_ = 0;
  std::uint32_t crowds_ = 0;
  ClientsReport report_;
  std::string problem_;
};

/// Raises the limit of descriptors: each client needs one in this process.
void allow_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_bench_clients(const BenchClientsCommand& command) {
  allow_descriptors();
  auto place = Place::make();
  if (!place) return fail(1, "bench clients: " + place.error());
  const auto report = Measurement(command, place->daemon()).run();
  if (!report) return fail(1, "bench clients: " + report.error());
  print(command, *report);
  return 0;
}

}  // namespace peal::cli
