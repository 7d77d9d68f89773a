// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/node/process.h"
#include "config/file/file.h"

namespace peal::cli {
namespace {

constexpr int kStopTimeoutMs = 3'000;
// The port of all nodes: each node has its own network namespace.
constexpr std::uint16_t kPort = 4'800;

Unexpected<BenchFailure> failure(int status, std::string line) {
  return unexpected(BenchFailure{status, std::move(line)});
}

}  // namespace

Result<std::unique_ptr<BenchPlace>, BenchFailure> BenchPlace::make(const BenchCommand& command) {
  std::unique_ptr<BenchPlace> place(new BenchPlace);
  std::string path = command.place + "/peal-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return failure(2, "--dir = " + quote(command.place) + ": cannot make a folder there: " +
                          std::generic_category().message(errno));
  }
  place->dir_ = path;
  const LocalRules rules{.sealed = command.insecure ? Sealed::no : Sealed::yes,
                         .order = command.order,
                         .options = command.options,
                         .multicast = command.multicast,
                         .streams = command.streams,
                         .acceptors = command.acceptors.value_or(0),
                         .domains = command.domains,
                         .outside = command.outside};
  Result<LocalCluster, std::string> cluster;
  if (command.loopback) {
    cluster = make_local_cluster(place->dir_, "bench", command.nodes, rules);
    if (!cluster) return failure(1, cluster.error());
  } else {
    auto network = BenchNetwork::make(command.nodes, command.link_bits_per_s);
    if (!network) return failure(2, network.error());
    place->network_ = std::move(*network);
    std::vector<std::string> addresses;
    for (std::uint32_t node = 0; node < command.nodes; ++node) {
      addresses.push_back(BenchNetwork::address(node) + ":" + std::to_string(kPort));
    }
    cluster = make_cluster(place->dir_, "bench", addresses, rules);
    if (!cluster) return failure(1, cluster.error());
  }
  place->cluster_ = std::move(*cluster);
  if (command.table != nullptr) {
    auto set = place->set_table(command.table->name, command.table_settings);
    if (!set) return unexpected(set.error());
  }
  return place;
}

Result<void, BenchFailure> BenchPlace::set_table(std::string_view table,
                                                 const std::string& settings) {
  {
    std::ofstream file(cluster_.config, std::ios::app);
    file << "\n[" << table << "]\n";
    for (std::size_t from = 0; from <= settings.size();) {
      const std::size_t end = std::min(settings.find(',', from), settings.size());
      file << settings.substr(from, end - from) << "\n";
      from = end + 1;
    }
  }
  const auto file = config::read_file(cluster_.config, names().front());
  if (file) return {};
  // The user did not write the file. So only the text after the file's name and line is useful.
  const std::string& error = file.error();
  const std::size_t name = error.find(cluster_.config);
  const std::size_t rest =
      name == 0 ? error.find_first_not_of("0123456789: ", cluster_.config.size()) : 0;
  return failure(2,
                 "--" + std::string(table) + " = " + quote(settings) + ": " + error.substr(rest));
}

BenchPlace::~BenchPlace() {
  std::error_code error;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, error);
}

Result<void, BenchFailure> BenchPlace::run(const BenchPlan& plan) {
  if (auto cleared = clear_data(cluster_); !cleared) return failure(1, cleared.error());
  if (!write_plan(dir_, plan)) return failure(1, "cannot write to " + dir_);
  for (const std::string& name : names()) {
    for (const char* ending : {".json", ".log", ".ready"}) {
      ::unlink((dir_ + "/" + name + ending).c_str());
    }
  }
  ::unlink((dir_ + "/begin").c_str());
  std::vector<Child> children;
  auto done = start(children);
  if (done) done = wait_for(children);
  stop_all(children, kStopTimeoutMs);
  return done;
}

Result<void, BenchFailure> BenchPlace::start(std::vector<Child>& children) {
  for (std::uint32_t node = 0; node < names().size(); ++node) {
    auto child = Child::start(own_program(), {"bench", "--worker", names()[node], dir_},
                              log_of(node), network_ ? network_->space(node) : -1);
    if (!child) return failure(1, child.error());
    children.push_back(std::move(*child));
  }
  return {};
}

Result<Child, std::string> BenchPlace::start_daemon(std::size_t node) const {
  const auto space = static_cast<std::uint32_t>(node);
  return Child::start(own_program(), {"node", "--config", cluster_.config, "--name", names()[node]},
                      log_of(node), network_ ? network_->space(space) : -1);
}

Result<void, BenchFailure> BenchPlace::wait_for(std::vector<Child>& children) {
  while (true) {
    bool all = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto& ended = children[i].ended();
      all = all && ended.has_value();
      if (!ended || children[i].status() == 0) continue;
      const std::string line = last_line(log_of(i));
      return failure(1, line.starts_with("peal: bench: ")
                            ? line.substr(13)
                            : names()[i] + " ended (" + *ended + "): " + line);
    }
    if (all) return {};
    pollfd wake{signals_.fd(), POLLIN, 0};
    ::poll(&wake, 1, 20);
    if (signals_.take() != 0) return failure(1, "interrupted");
  }
}

Result<std::vector<BenchResult>, BenchFailure> run_cluster(BenchPlace& place,
                                                           const BenchCommand& command,
                                                           double messages_per_s) {
  BenchPlan plan;
  plan.own_thread = command.own_thread;
  plan.daemon = command.daemon;
  plan.nodes = command.nodes;
  plan.domains = command.domains;
  plan.outside = command.outside;
  plan.senders = command.senders;
  plan.poll = command.poll;
  plan.payload_bytes = command.payload_bytes;
  plan.service = command.service;
  plan.rate = messages_per_s / senders_of(plan);
  plan.under_way = messages_under_way(command);
  plan.loss = command.loss_percent / 100;
  plan.warm_up_s = command.warm_up_s.value_or(std::clamp(command.seconds / 5, 0.3, 2.0));
  plan.seconds = command.seconds;
  auto done = place.run(plan);
  if (!done) return unexpected(done.error());
  std::vector<BenchResult> results;
  for (const std::string& name : place.names()) {
    auto result = read_result(place.dir(), name);
    if (!result) return failure(1, "no result of " + name);
    results.push_back(std::move(*result));
  }
  return results;
}

Result<std::vector<LimitResult>, BenchFailure> run_limit(BenchPlace& place,
                                                         const BenchCommand& command) {
  BenchPlan plan;
  plan.limit = true;
  plan.nodes = command.nodes;
  plan.payload_bytes = command.payload_bytes;
  plan.seconds = command.seconds;
  auto done = place.run(plan);
  if (!done) return unexpected(done.error());
  std::vector<LimitResult> results;
  for (const std::string& name : place.names()) {
    auto result = read_limit_result(place.dir(), name);
    if (!result) return failure(1, "no result of " + name);
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace peal::cli
