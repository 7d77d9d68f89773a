// SPDX-License-Identifier: Apache-2.0
// A bank in two shards, east and west, each with three replicas. A transfer between accounts of
// both shards is one message to both of them, with one place in their order: no commit protocol is
// needed. An audit is such a message, too: at its place each replica reports the balances of its
// shard. The replicas of a shard must report the same, and both shards together all the money.
//
// `transfer` runs all six replicas in one process. `transfer east-1` and so on run one replica
// each, as processes of their own, until their input ends. One replica of a shard may be killed:
// the others go on. The exit status is 0 if all audits were right.

#include <atomic>
#include <iostream>
#include <latch>
#include <list>
#include <thread>
#include <utility>

#include "replica.h"

namespace {

peal::Config config_of(const std::string& replica) {
  peal::Config config;
  config.cluster = "bank";
  config.name = replica;
  // The packets stay on this machine. Otherwise set key_file to a file from `peal keygen`.
  config.insecure = true;
  int port = 4810;
  for (const std::string& each : bank::kReplicas) {
    config.nodes.push_back({each, "127.0.0.1:" + std::to_string(port)});
    port += 2;
  }
  // A killed process is noticed at once, whatever `suspect` is; a slow one is waited for so long.
  // Six replicas may have to share two processors here.
  config.order = peal::Ramcast{
      .domains = {{.name = "east", .nodes = {1, 2, 3}}, {.name = "west", .nodes = {4, 5, 6}}},
      .suspect = std::chrono::seconds(5)};
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  std::list<Replica> replicas;
  for (const std::string& name : names.empty() ? bank::kReplicas : names) {
    auto member = peal::Member::embed(config_of(name));
    if (!member) {
      std::cerr << name << ": " << member.error().message << '\n';
      return 1;
    }
    replicas.emplace_back(name, std::move(*member));
  }
  std::latch unchecked(static_cast<std::ptrdiff_t>(replicas.size()));
  std::atomic<bool> stop = false, failed = false;
  std::vector<std::thread> threads;
  for (Replica& replica : replicas) {
    threads.emplace_back([&replica, &unchecked, &stop, &failed] {
      bool checked = false;
      const auto count = [&] {
        if (!std::exchange(checked, true)) unchecked.count_down();
      };
      const std::string problem = replica.serve([&] { return stop.load(); }, count);
      count();
      if (problem.empty()) return;
      std::cerr << problem + "\n";
      failed = true;
    });
  }
  if (names.empty()) {
    unchecked.wait();
  } else {
    for (std::string line; std::getline(std::cin, line);) continue;
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  for (Replica& replica : replicas) replica.leave();
  return failed ? 1 : 0;
}
