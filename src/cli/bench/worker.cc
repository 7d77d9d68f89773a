// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/worker.h"

#include <sys/prctl.h>

#include "cli/bench/client.h"
#include "cli/bench/sampler.h"
#include "cli/commands.h"
#include "cli/engine_options.h"
#include "config/file/file.h"
#include "member/embedded_node.h"
#include "trace/json.h"

namespace peal::cli {
namespace {

/// A Link (see worker.h) to a member in this process.
class CoreLink {
 public:
  CoreLink(member::EmbeddedNode& core, bool own_thread)
      : core_(core), sampler_(core), own_thread_(own_thread) {}

  BenchSent submit(ByteView payload, Service service) {
    const auto number = core_.submit(payload, service);
    if (number) return BenchSent::taken;
    return number.error() == Errc::would_block ? BenchSent::full : BenchSent::refused;
  }
  template <class W>
  bool take(W& worker) {
    if (own_thread_) return tell(worker, core_.next());
    const std::uint64_t turns = core_.turns();
    const auto event = core_.next();
    // It has come in that turn, after the clock was read.
    if (core_.turns() != turns) worker.on_woken();
    return tell(worker, event);
  }
  template <class W>
  void wait(W& worker, std::int64_t until_ns) {
    if (!own_thread_) {
      const auto event = core_.wait_until(steady_time(until_ns));
      worker.on_woken();
      tell(worker, event);
      return;
    }
    wait_for(core_.fd(), until_ns);
  }
  void begin(std::int64_t from_ns, std::int64_t to_ns) {
    sampler_.start(steady_time(from_ns), steady_time(to_ns), own_thread_);
  }
  void poll(std::int64_t now_ns) {
    if (!own_thread_) sampler_.poll(steady_time(now_ns));
  }
  void finish(BenchResult& result) {
    sampler_.stop();
    result.counters = sampler_.growth();
    result.gauges = sampler_.gauges();
  }
  std::uint64_t placed() const { return core_.placed(); }
  double cpu_seconds() const { return cli::cpu_seconds(); }
  std::string waits_for() const { return core_.status().waits_for; }

 private:
  template <class W>
  bool tell(W& worker, const member::EventReader::Out& event) {
    if (const auto* message = std::get_if<member::MessageOut>(&event)) {
      if (message->early) {
        worker.on_early(message->payload);
        return true;
      }
      worker.on_message(BenchMessage{message->sender, message->number, message->seq,
                                     message->payload, message->own});
    } else if (const auto* notice = std::get_if<std::unique_ptr<member::Notice>>(&event)) {
      tell(worker, **notice);
    } else {
      return false;
    }
    return true;
  }
  template <class W>
  void tell(W& worker, const member::Notice& notice) {
    if (notice.kind == member::Notice::Kind::closed) worker.on_closed(notice.text);
    if (notice.kind != member::Notice::Kind::view || notice.transitional) return;
    worker.on_view(trace::text_of(notice.id, core_.names()), notice.members.size());
  }

  member::EmbeddedNode& core_;
  BenchSampler sampler_;
  bool own_thread_;
};

/// The member's settings: the settings of the file, the keys of the cluster, and the thread and the
/// packet loss of the plan.
Result<config::Settings, std::string> settings_for(const config::File& file,
                                                   const BenchPlan& plan) {
  config::Settings settings = file.settings;
  if (plan.poll) {
    const bool polls = role_of(plan, settings.self().value - 1).polls;
    settings.options.set(std::string(kPoll), polls ? 1 : 2);
  }
  if (auto keys = config::load_keys(settings); !keys) return unexpected(keys.error());
  settings.own_thread = plan.own_thread;
  if (plan.loss > 0) {
    settings.faults.emplace();
    settings.faults->drop_in = plan.loss;
    settings.faults->only = Lane::data;
  }
  return settings;
}

}  // namespace

int run_bench_worker(const BenchCommand& command) {
  const auto plan = read_plan(command.dir);
  if (!plan) return fail(2, "bench: no plan in " + command.dir);
  if (plan->limit) return run_limit_worker(command, *plan);
  const auto file = config::read_file(command.dir + "/peal.toml", command.worker);
  if (!file) return fail(2, "bench: " + file.error());
  if (plan->daemon) return run_bench_client(command, *plan, *file);
  const auto settings = settings_for(*file, *plan);
  if (!settings) return fail(2, "bench: " + settings.error());
  auto core = member::EmbeddedNode::open(*settings);
  if (!core) return fail(1, "bench: " + core.error().message);
  // With the kernel's default slack, messages would be sent up to 50 us after they are due. The
  // member's own thread, if any, runs already and keeps the default slack.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  CoreLink link(**core, plan->own_thread);
  const BenchResult result = BenchWorker(link, *plan, settings->self().value - 1).run();
  if (!write_result(command.dir, command.worker, result)) return fail(1, "bench: no result");
  // With an engine on quorums, it is possible that only a majority has received the last message.
  // The other nodes must be able to request it, so this node stays until all have their results.
  wait_for_results(command.dir, file->settings.nodes,
                   [&](std::int64_t until_ns) { (*core)->wait_until(steady_time(until_ns)); });
  (*core)->leave(std::chrono::milliseconds(500));
  return result.problem.empty() ? 0 : fail(1, "bench: " + command.worker + ": " + result.problem);
}

}  // namespace peal::cli
