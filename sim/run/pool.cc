// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/probes.h"

namespace peal::sim {
namespace {

using SteadyClock = std::chrono::steady_clock;

double elapsed_seconds(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Memory shared by parent and workers. Lock-free atomics work across processes.
struct Shared {
  static constexpr std::size_t kWorkersMax = 256;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> stop_above;
  std::array<std::atomic<std::uint64_t>, kWorkersMax> at;  ///< index that the worker runs, or 0
};

void write_all(int fd, const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(3);  // the parent no longer reads
    at += static_cast<std::size_t>(wrote);
  }
}

/// Keeps the memory of one seed for the next seed: returning pages to the system and requesting
/// them again would take longer than the run itself.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 0x7fff'ffff);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

/// Ends this process with SIGPROF after `seconds` of processor time. Waiting time does not count,
/// so the limit does not depend on the load of the machine.
void limit_processor_time(double seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = static_cast<time_t>(seconds);
  limit.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

std::map<std::string, std::uint64_t> probe_counts() {
  std::map<std::string, std::uint64_t> counts;
  for (const auto* probe = sim_hooks::Probe::first(); probe != nullptr; probe = probe->next()) {
    counts[probe->name()] += probe->hits();
  }
  return counts;
}

class Pool {
 public:
  Pool(const PoolOptions& options, const std::function<RunResult(std::uint64_t)>& work,
       const std::function<void(const RunResult&)>& done);
  ~Pool();
  void run();

 private:
  struct Worker {
    pid_t pid = -1;
    int results = -1;  ///< the pipe with the worker's results
    int errors = -1;   ///< standard error of the worker; a file in memory
    std::string bytes;
  };

  void spawn(std::size_t slot);
  [[noreturn]] void be_worker(std::size_t slot, int results);
  void read_results(Worker& worker);
  void take_findings(Worker& worker);
  void finish(std::size_t slot);
  bool work_left() const {
    return shared_->next.load() <= std::min(options_.last, shared_->stop_above.load());
  }

  PoolOptions options_;
  const std::function<RunResult(std::uint64_t)>& work_;
  const std::function<void(const RunResult&)>& done_;
  Shared* shared_;
  std::vector<Worker> workers_;
};

Pool::Pool(const PoolOptions& options, const std::function<RunResult(std::uint64_t)>& work,
           const std::function<void(const RunResult&)>& done)
    : options_(options), work_(work), done_(done) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  PEAL_ASSERT(memory != MAP_FAILED);
  shared_ = new (memory) Shared{};
  shared_->next = options.first;
  shared_->stop_above = ~0ULL;
  const std::uint64_t count = options.last - options.first + 1;
  const std::uint64_t jobs = std::min<std::uint64_t>({options.jobs, count, Shared::kWorkersMax});
  workers_.resize(std::max<std::uint64_t>(jobs, 1));
}

Pool::~Pool() { ::munmap(shared_, sizeof(Shared)); }

void Pool::spawn(std::size_t slot) {
  Worker& worker = workers_[slot];
  std::array<int, 2> ends{};
  const int piped = ::pipe2(ends.data(), O_CLOEXEC);
  PEAL_ASSERT(piped == 0);
  worker = Worker{};
  worker.errors = ::memfd_create("peal-sim-worker", MFD_CLOEXEC);
  PEAL_ASSERT(worker.errors >= 0);
  shared_->at[slot] = 0;
  std::fflush(nullptr);
  worker.pid = ::fork();
  PEAL_ASSERT(worker.pid >= 0);
  if (worker.pid == 0) {
    ::close(ends[0]);
    be_worker(slot, ends[1]);
  }
  ::close(ends[1]);
  worker.results = ends[0];
}

void Pool::be_worker(std::size_t slot, int results) {
  ::dup2(workers_[slot].errors, STDERR_FILENO);
  keep_memory();
  std::map<std::string, std::uint64_t> before;
  while (true) {
    const std::uint64_t index = shared_->next.fetch_add(1);
    if (index > options_.last || index > shared_->stop_above.load()) _exit(0);
    shared_->at[slot] = index;
    limit_processor_time(options_.hang_seconds);
    const SteadyClock::time_point start = SteadyClock::now();
    RunResult finding = work_(index);
    finding.index = index;
    finding.seconds = elapsed_seconds(start);
    const std::map<std::string, std::uint64_t> after = probe_counts();
    for (const auto& [name, hits] : after) {
      if (hits != before[name]) finding.probes[name] = hits - before[name];
    }
    before = after;
    if (!finding.property.empty() && options_.stop_at_failure) shared_->stop_above = index;
    const std::string body = encode(finding);
    const std::uint64_t size = body.size();
    shared_->at[slot] = 0;
    write_all(results, std::string(reinterpret_cast<const char*>(&size), sizeof size) + body);
  }
}

void Pool::take_findings(Worker& worker) {
  while (worker.bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t size = 0;
    std::memcpy(&size, worker.bytes.data(), sizeof size);
    if (worker.bytes.size() - sizeof size < size) return;
    done_(decode(worker.bytes.substr(sizeof size, size)));
    worker.bytes.erase(0, sizeof size + size);
  }
}

void Pool::read_results(Worker& worker) {
  std::array<char, 65'536> buffer;
  const ssize_t got = ::read(worker.results, buffer.data(), buffer.size());
  if (got > 0) {
    worker.bytes.append(buffer.data(), static_cast<std::size_t>(got));
    take_findings(worker);
  } else if (got == 0 || errno != EINTR) {
    ::close(worker.results);
    worker.results = -1;
  }
}

/// Handles a worker that has closed its pipe, because the worker has finished or crashed.
void Pool::finish(std::size_t slot) {
  Worker& worker = workers_[slot];
  int status = 0;
  while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::uint64_t at = shared_->at[slot].load();
  if (at != 0) {
    RunResult finding;
    finding.index = at;
    const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    finding.property = hung ? "hang" : "assert";
    std::array<char, 4'096> text{};
    const ssize_t got = ::pread(worker.errors, text.data(), text.size() - 1, 0);
    finding.text = std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (finding.text.empty()) {
      finding.text = hung ? "it took too long" : "the process ended without a word";
    }
    if (options_.stop_at_failure) shared_->stop_above = at;
    done_(finding);
  }
  ::close(worker.errors);
  worker.pid = -1;
}

void Pool::run() {
  for (std::size_t slot = 0; slot < workers_.size(); ++slot) spawn(slot);
  while (true) {
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) {
      if (worker.results >= 0) waiting.push_back({worker.results, POLLIN, 0});
    }
    if (waiting.empty()) break;
    ::poll(waiting.data(), waiting.size(), -1);
    for (std::size_t slot = 0; slot < workers_.size(); ++slot) {
      Worker& worker = workers_[slot];
      const bool ready = std::any_of(waiting.begin(), waiting.end(), [&](const pollfd& p) {
        return p.fd == worker.results && p.revents != 0;
      });
      if (worker.results < 0 || !ready) continue;
      read_results(worker);
      if (worker.results >= 0) continue;
      finish(slot);
      if (work_left()) spawn(slot);
    }
  }
}

}  // namespace

void run_pool(const PoolOptions& options, const std::function<RunResult(std::uint64_t)>& work,
              const std::function<void(const RunResult&)>& done) {
  PEAL_ASSERT(options.first >= 1 && options.first <= options.last);
  Pool(options, work, done).run();
}

}  // namespace peal::sim
