// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/daemon.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "cli/commands.h"

namespace peal::cli {
namespace {

constexpr int kStopMs = 3'000;

}  // namespace

BenchDaemon::BenchDaemon(Child child, const std::string& dir, const std::string& name)
    : socket_(dir + "/" + name + ".sock"), log_(dir + "/" + name + ".daemon.log") {
  child_.push_back(std::move(child));
}

Result<BenchDaemon, std::string> BenchDaemon::start(const std::string& dir,
                                                    const std::string& name) {
  auto child = Child::start(own_program(), {"node", "--config", dir + "/peal.toml", "--name", name},
                            dir + "/" + name + ".daemon.log");
  if (!child) return unexpected(child.error());
  return BenchDaemon(std::move(*child), dir, name);
}

std::optional<std::string> BenchDaemon::ended() {
  const auto& ended = child_.front().ended();
  if (!ended) return std::nullopt;
  return "the daemon ended (" + *ended + "): " + last_line(log_);
}

double BenchDaemon::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(child_.front().pid(), &clock) != 0) return 0;
  if (::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::uint64_t BenchDaemon::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(child_.front().pid()) + "/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void BenchDaemon::stop() { stop_all(child_, kStopMs); }

}  // namespace peal::cli
