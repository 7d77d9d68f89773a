// SPDX-License-Identifier: Apache-2.0
#include "daemon/process.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/text.h"
#include "daemon/daemon.h"
#include "daemon/node_log.h"
#include "daemon/own_address.h"
#include "daemon/reload.h"
#include "daemon/status.h"
#include "daemon/status_json.h"
#include "io/clock.h"
#include "io/notify.h"
#include "io/periodic_timer.h"
#include "io/stop_signals.h"

namespace peal::daemon {
namespace {

constexpr std::string_view kStatus = "status";
constexpr std::string_view kStatusOf = "status ";
/// The interval between two reads of the counters of drops. It is the resolution of DropTimes.
constexpr Duration kLookAtDrops = seconds(1);

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string short_list(const std::vector<std::string>& members) {
  std::vector<std::string> names;
  for (const std::string& member : members) names.emplace_back(short_id(member));
  return comma_separated(names);
}

/// The process of a node: the daemon, its log, its signals and its service manager.
class Process final : public Owner {
 public:
  Process(RunningFile file, std::string version, NodeLog log, io::Notifier notifier)
      : file_(std::move(file)),
        version_(std::move(version)),
        log_(std::move(log)),
        notifier_(std::move(notifier)),
        status_(settings().name, settings().cluster, io::Clock::now()) {}

  Ended run(Options options, const io::StopSignals& signals) {
    options.member.own_at = wait_for_own_address(options.member, signals, log_, notifier_);
    // The node has not started: no orderly end is needed.
    if (!options.member.own_at || io::told_to_stop(signals)) {
      log_.event("left", {{"delivered", "0"}, {"reason", "on request"}});
      return {};
    }
    auto opened = Daemon::open(options, *this);
    if (!opened) {
      const bool ours = opened.error().code == Errc::invalid_option ||
                        opened.error().code == Errc::address_in_use;
      return {ours ? 2 : 1, file_.placed(opened.error().message)};
    }
    daemon_ = std::move(*opened);
    const auto watched = daemon_->loop().watch(signals.fd(), EPOLLIN,
                                               [&](std::uint32_t) { on_signal(signals.take()); });
    if (!watched) return {1, watched.error().message};
    if (auto started = start_timers(); !started) return {1, started.error().message};
    log_started(options);
    tell(notifier_.ready(serving()));
    daemon_->run();
    return {good_ ? 0 : 1, {}};
  }

  // Overrides of Owner.
  void on_view(Instant now, const ViewNotice& view) override {
    status_.on_view(now, view);
    const std::string id(short_id(view.id));
    if (view.transitional) {
      log_.event("view_left", {{"view", std::string(short_id(view.old))},
                               {"next", id},
                               {"stay_together", short_list(view.members)},
                               {"reason", view.reason}});
      return;
    }
    const Duration gap = status_.delivered().views().back().gap;
    log_.event("view_installed", {{"view", id},
                                  {"members", short_list(view.members)},
                                  {"gap_ms", one_decimal(static_cast<double>(gap.ns) / 1e6)},
                                  {"primary", !view.primary   ? "unclaimed"
                                              : *view.primary ? "yes"
                                                              : "no"}});
  }

  void on_message(std::string_view sender, const node::Message& message) override {
    status_.on_message(sender, message);
  }

  void on_warning(Instant now, const std::string& text) override {
    log_.limited(now.ns, "warning", {{"text", text}});
  }

  void on_address(Instant now, std::string_view node,
                  const io::AddressBook::Change& change) override {
    const io::AddressBook::Entry& entry = change.entry;
    const auto text = [](const io::Endpoint& at) {
      return at.is_unspecified() ? std::string("not found") : io::to_string(at);
    };
    log_.limited(now.ns, "node_address",
                 {{"node", std::string(node)},
                  {"name", io::to_string(entry.name)},
                  {"at", text(entry.at)},
                  {"before", text(change.before)},
                  {"reason", entry.problem}});
  }

  void on_nodes(Instant, const std::vector<std::string>& nodes) override {
    log_.event("nodes_adopted", {{"nodes", comma_separated(nodes)}});
  }

  void on_refused(Instant now, const std::string& who, const io::IoError& why) override {
    log_.limited(now.ns, "client_refused", {{"who", who}, {"reason", why.message}});
  }

  void on_end(bool on_request, const std::string& reason) override {
    good_ = on_request;
    log_.event(on_request ? "left" : "stopped",
               {{"delivered", std::to_string(status_.delivered().messages())}, {"reason", reason}});
  }

  session::Answer on_ask(std::string_view what, bool admin) override {
    if (what == kStatus) return {wire::ClientCode::ok, status({})};
    if (what.starts_with(kStatusOf)) {
      return {wire::ClientCode::ok, status(what.substr(kStatusOf.size()))};
    }
    if (what != "reload") {
      return {wire::ClientCode::bad_name,
              quote(what) + " is not known: accepted are status, 'status PREFIX' and reload"};
    }
    if (!admin) {
      return {wire::ClientCode::not_permitted, "reload needs a [[client]] rule with admin = true"};
    }
    const auto reloaded = reload();
    if (!reloaded) return {wire::ClientCode::bad_record, reloaded.error()};
    return {wire::ClientCode::ok, "reloaded " + file_.file().path + going_over()};
  }

 private:
  /// Warns if the service manager could not be notified. The daemon continues.
  void tell(const Result<void, io::IoError>& told) {
    if (!told) on_warning(io::Clock::now(), "the service manager: " + told.error().message);
  }

  const config::Settings& settings() const { return file_.file().settings; }
  std::string serving() const { return "serving clients at " + file_.file().socket; }

  void log_started(const Options& options) const {
    log_.event("started", {{"node", settings().name},
                           {"cluster", settings().cluster},
                           {"address", io::to_string(settings().own().address)},
                           {"at", io::to_string(*options.member.own_at)},
                           {"nodes", std::to_string(settings().nodes.size())},
                           {"order", std::string(settings().order->name)},
                           {"socket", file_.file().socket},
                           {"listen", options.tls ? io::to_string(options.tls->at) : "no"},
                           {"seal", daemon_->node_status().seal},
                           {"version", version_}});
  }

  /// Starts the timer that reads the counters of drops, and the timer that answers the service
  /// manager's watchdog twice per period. Both timers run in the loop, so the answers stop if the
  /// loop hangs.
  Result<void, io::IoError> start_timers() {
    auto started = looks_.start(daemon_->loop(), kLookAtDrops, [this] {
      status_.look(io::Clock::now(), *daemon_, log_.dropped());
    });
    const auto interval = notifier_.watchdog_interval();
    if (!started || !interval) return started;
    return watchdog_.start(daemon_->loop(), nanoseconds(interval->ns / 2 + 1),
                           [this] { tell(notifier_.watchdog()); });
  }

  void on_signal(int number) {
    if (number == 0) return;
    if (number == SIGHUP) {
      tell(notifier_.reloading(io::Clock::now()));
      ignore(reload(), "it is in the log");
      tell(notifier_.ready(serving()));
      return;
    }
    tell(notifier_.stopping("on request"));
    log_.event("leaving", {{"signal", number == SIGINT ? "SIGINT" : "SIGTERM"}});
    daemon_->stop();
  }

  /// The part of a reload that is still pending, as text; empty if nothing is pending.
  std::string going_over() const {
    const std::string next = comma_separated(daemon_->next_nodes());
    if (next.empty()) return {};
    return "; the nodes " + next +
           " become active once all nodes have been reloaded (peal status says what they wait "
           "for)";
  }

  Result<void, std::string> reload() {
    const std::string& path = file_.file().path;
    const auto seal = file_.reload(*daemon_);
    if (seal) {
      log_.event("reloaded", {{"file", path}, {"seal", *seal}});
      const std::string next = comma_separated(daemon_->next_nodes());
      if (!next.empty()) log_.event("nodes_given", {{"nodes", next}});
      return {};
    }
    log_.event("not_reloaded", {{"file", path}, {"reason", seal.error()}});
    return unexpected(seal.error());
  }

  /// The status as JSON, with only those clients whose names begin with `prefix`.
  std::string status(std::string_view prefix) {
    return status_json(status_.status(io::Clock::now(), *daemon_, log_.dropped(), prefix));
  }

  RunningFile file_;
  std::string version_;
  NodeLog log_;
  io::Notifier notifier_;
  io::PeriodicTimer watchdog_;
  io::PeriodicTimer looks_;
  StatusRecorder status_;
  std::unique_ptr<Daemon> daemon_;
  bool good_ = false;
};

}  // namespace

Ended run_process(const ProcessOptions& options) {
  // Signals are caught first, so that a signal during the start also leads to an orderly end.
  const io::StopSignals signals(SIGHUP);
  // Without this call, the daemon would be killed when the reader of its output closes the pipe.
  ::signal(SIGPIPE, SIG_IGN);
  auto file = config::read_usable_file(options.config, options.name, options.trace);
  if (!file) return {2, file.error()};
  auto from_file = options_of(*file);
  if (!from_file) return {2, from_file.error()};
  auto notifier = io::Notifier::open(io::NotifyVariables::of_process());
  if (!notifier) return {2, notifier.error().message};
  auto log = NodeLog::open(options.json, STDERR_FILENO);
  if (!log) return {1, log.error().message};
  Process process(RunningFile(std::move(*file), options.config, options.name), options.version,
                  std::move(*log), std::move(*notifier));
  return process.run(std::move(*from_file), signals);
}

}  // namespace peal::daemon
