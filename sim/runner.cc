// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "base/probes.h"

namespace peal::sim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What parent and workers share. Lock-free atomics work between processes.
struct Shared {
  static constexpr std::size_t kWorkersMax = 256;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> stop_above;
  std::array<std::atomic<std::uint64_t>, kWorkersMax> at;  ///< index being run; 0: none
};

class Encoder {
 public:
  void number(std::uint64_t value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    out_.append(bytes, sizeof value);
  }
  void text(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

class Decoder {
 public:
  explicit Decoder(const std::string& in) : in_(in) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    PEAL_ASSERT(in_.size() - at_ >= sizeof value);
    std::memcpy(&value, in_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    PEAL_ASSERT(in_.size() - at_ >= size);
    std::string value = in_.substr(at_, size);
    at_ += size;
    return value;
  }

 private:
  const std::string& in_;
  std::size_t at_ = 0;
};

template <class Figure>
void each_figure(Figures& f, Figure figure) {
  figure("events", f.events);
  figure("packets", f.packets);
  figure("messages_submitted", f.messages_submitted);
  figure("units_originated", f.units_originated);
  figure("deliveries_checked", f.deliveries_checked);
  figure("views_installed", f.views_installed);
  figure("view_changes", f.view_changes);
  figure("recoveries_with_second_failure", f.recoveries_with_second_failure);
  figure("virtual_ns", f.virtual_ns);
}

std::string encode(Finding finding) {
  Encoder out;
  out.number(finding.index);
  out.text(finding.property);
  out.text(finding.text);
  each_figure(finding.figures, [&out](const char*, std::uint64_t value) { out.number(value); });
  for (std::size_t i = 0; i < kFaults; ++i) out.number(finding.faults.of(static_cast<Fault>(i)));
  out.number(finding.probes.size());
  for (const auto& [name, hits] : finding.probes) {
    out.text(name);
    out.number(hits);
  }
  out.number(finding.digest);
  out.number(static_cast<std::uint64_t>(finding.seconds * 1e9));
  return out.bytes();
}

Finding decode(const std::string& bytes) {
  Decoder in(bytes);
  Finding finding;
  finding.index = in.number();
  finding.property = in.text();
  finding.text = in.text();
  each_figure(finding.figures, [&in](const char*, std::uint64_t& value) { value = in.number(); });
  for (std::size_t i = 0; i < kFaults; ++i) finding.faults.add(static_cast<Fault>(i), in.number());
  for (std::uint64_t n = in.number(); n > 0; --n) {
    const std::string name = in.text();
    finding.probes[name] = in.number();
  }
  finding.digest = in.number();
  finding.seconds = static_cast<double>(in.number()) / 1e9;
  return finding;
}

void write_all(int fd, const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(3);  // nobody listens any more
    at += static_cast<std::size_t>(wrote);
  }
}

/// Buffers of one seed serve the next one: giving pages back and asking for them again would take
/// longer than everything else.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 0x7fff'ffff);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

/// Ends this process with SIGPROF after so much work. Time in which it did not get to run does not
/// count, so that a busy machine changes nothing.
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
  Pool(const PoolOptions& options, const std::function<Finding(std::uint64_t)>& work,
       const std::function<void(const Finding&)>& done);
  ~Pool();
  void run();

 private:
  struct Worker {
    pid_t pid = -1;
    int results = -1;  ///< pipe
    int errors = -1;   ///< what it printed; a file in memory
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
  const std::function<Finding(std::uint64_t)>& work_;
  const std::function<void(const Finding&)>& done_;
  Shared* shared_;
  std::vector<Worker> workers_;
};

Pool::Pool(const PoolOptions& options, const std::function<Finding(std::uint64_t)>& work,
           const std::function<void(const Finding&)>& done)
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
    const Clock::time_point start = Clock::now();
    Finding finding = work_(index);
    finding.index = index;
    finding.seconds = seconds_since(start);
    const std::map<std::string, std::uint64_t> after = probe_counts();
    for (const auto& [name, hits] : after) {
      if (hits != before[name]) finding.probes[name] = hits - before[name];
    }
    before = after;
    if (!finding.property.empty() && options_.stop_at_failure) shared_->stop_above = index;
    Encoder frame;
    frame.text(encode(std::move(finding)));
    shared_->at[slot] = 0;
    write_all(results, frame.bytes());
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

/// The worker closed its pipe: it is done, or it died.
void Pool::finish(std::size_t slot) {
  Worker& worker = workers_[slot];
  int status = 0;
  while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::uint64_t at = shared_->at[slot].load();
  if (at != 0) {
    Finding finding;
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

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string decimals(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

}  // namespace

void run_pool(const PoolOptions& options, const std::function<Finding(std::uint64_t)>& work,
              const std::function<void(const Finding&)>& done) {
  PEAL_ASSERT(options.first >= 1 && options.first <= options.last);
  Pool(options, work, done).run();
}

Finding run_seed(std::uint64_t seed, const SeedOptions& options) {
  const Script script = make_swarm_script(seed, options.swarm);
  RunOptions run;
  run.mutant = options.mutant;
  run.keep_history = false;
  const Outcome outcome = run_script(script, run);
  Finding finding;
  finding.index = seed;
  finding.property = outcome.property();
  finding.text = outcome.problem();
  finding.figures = outcome.figures;
  finding.faults = outcome.faults;
  finding.digest = outcome.digest;
  if (options.replay_check && finding.property.empty() && seed % 20 == 0) {
    const Outcome again = run_script(script, run);
    if (again.digest != outcome.digest) {
      finding.property = "replay";
      finding.text = "the same seed gave another run";
    }
  }
  return finding;
}

void Summary::add(const Finding& result) {
  ++seeds;
  if (!result.property.empty()) {
    ++violations;
    const auto place =
        std::upper_bound(failures.begin(), failures.end(), result,
                         [](const Finding& a, const Finding& b) { return a.index < b.index; });
    failures.insert(place, result);
  }
  Figures more = result.figures;
  std::vector<std::uint64_t> values;
  each_figure(more, [&values](const char*, std::uint64_t value) { values.push_back(value); });
  std::size_t i = 0;
  each_figure(figures, [&](const char*, std::uint64_t& value) { value += values[i++]; });
  for (std::size_t f = 0; f < kFaults; ++f) {
    faults.add(static_cast<Fault>(f), result.faults.of(static_cast<Fault>(f)));
  }
  for (const auto& [name, hits] : result.probes) probes[name] += hits;
}

std::string Summary::json() const {
  std::string out =
      "{\"violations\":" + std::to_string(violations) + ",\"seeds\":" + std::to_string(seeds);
  Figures all = figures;
  each_figure(all, [&out](const std::string& name, std::uint64_t value) {
    if (name != "virtual_ns") out += ",\"" + name + "\":" + std::to_string(value);
  });
  out += ",\"virtual_seconds\":" + decimals(static_cast<double>(figures.virtual_ns) / 1e9);
  out += ",\"seconds\":" + decimals(seconds);
  out +=
      ",\"seeds_per_second\":" + decimals(seconds > 0 ? static_cast<double>(seeds) / seconds : 0);
  out += ",\"faults\":{";
  for (std::size_t f = 0; f < kFaults; ++f) {
    out += std::string(f == 0 ? "" : ",") + "\"" + std::string(fault_name(static_cast<Fault>(f))) +
           "\":" + std::to_string(faults.of(static_cast<Fault>(f)));
  }
  out += "},\"probes\":{";
  bool first = true;
  for (const auto& [name, hits] : probes) {
    out += std::string(first ? "" : ",") + json_text(name) + ":" + std::to_string(hits);
    first = false;
  }
  out += "},\"failures\":[";
  for (std::size_t i = 0; i < failures.size(); ++i) {
    out += std::string(i == 0 ? "" : ",") + "{\"seed\":" + std::to_string(failures[i].index) +
           ",\"property\":" + json_text(failures[i].property) +
           ",\"text\":" + json_text(failures[i].text) + "}";
  }
  return out + "]}";
}

std::string Summary::text() const {
  std::string out;
  const auto row = [&out](const std::string& name, const std::string& value) {
    out += "  " + name + std::string(name.size() < 34 ? 34 - name.size() : 1, ' ') + value + "\n";
  };
  row("seeds", std::to_string(seeds));
  row("violations", std::to_string(violations));
  Figures all = figures;
  each_figure(all, [&row](std::string name, std::uint64_t value) {
    std::replace(name.begin(), name.end(), '_', ' ');
    if (name != "virtual ns") row(name, std::to_string(value));
  });
  row("simulated seconds", decimals(static_cast<double>(figures.virtual_ns) / 1e9));
  row("seconds", decimals(seconds));
  row("events per second", std::to_string(static_cast<std::uint64_t>(
                               seconds > 0 ? static_cast<double>(figures.events) / seconds : 0)));
  out += "faults\n";
  for (std::size_t f = 0; f < kFaults; ++f) {
    row(std::string(fault_text(static_cast<Fault>(f))),
        std::to_string(faults.of(static_cast<Fault>(f))));
  }
  for (const Finding& failure : failures) {
    out += "seed " + std::to_string(failure.index) + ": " + failure.text + "\n";
  }
  return out;
}

}  // namespace peal::sim
