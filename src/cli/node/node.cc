// SPDX-License-Identifier: Apache-2.0
// `peal node`: one node, and the clients at its doors.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <variant>

#include "cli/commands.h"
#include "cli/node/drops.h"
#include "cli/node/log.h"
#include "cli/node/own_address.h"
#include "cli/node/signals.h"
#include "cli/node/state.h"
#include "cli/node/status_answer.h"
#include "cli/text.h"
#include "config/file/file.h"
#include "config/file/print.h"
#include "config/nodes.h"
#include "daemon/daemon.h"
#include "group/message.h"
#include "io/clock.h"
#include "io/fd.h"
#include "io/notify.h"
#include "peal/version.h"
#include "seal/key.h"

namespace peal::cli {
namespace {

constexpr std::string_view kStatus = "status";
constexpr std::string_view kStatusOf = "status ";
/// The resolution of the time of the last drop.
constexpr Duration kLookAtDrops = seconds(1);

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string short_list(const std::vector<std::string>& members) {
  std::string text;
  for (const std::string& member : members) {
    if (!text.empty()) text += ',';
    text += short_id(member);
  }
  return text;
}

/// The file's rules for clients, with the secrets in it and the rules that always apply.
Result<session::Options, std::string> client_rules(const config::File& file) {
  session::Options options = file.clients.sessions;
  if (auto loaded = config::load_secrets(options); !loaded) {
    return tl::unexpected(file.path + ": " + loaded.error());
  }
  config::add_own_rules(options, ::geteuid());
  return options;
}

Result<daemon::Options, std::string> daemon_options(const config::File& file) {
  daemon::Options options;
  options.member = file.settings;
  if (auto keys = config::load_keys(options.member); !keys) {
    return tl::unexpected(file.path + ": " + keys.error());
  }
  auto rules = client_rules(file);
  if (!rules) return tl::unexpected(rules.error());
  options.sessions = std::move(*rules);
  options.socket = file.socket;
  // If the file has rules, they decide; without rules, only the owner and root may do anything.
  const config::Clients& clients = file.clients;
  options.socket_mode = clients.sessions.clients.empty() ? 0600 : 0666;
  options.spool_dir = clients.spool_dir;
  if (clients.listen.port != 0) {
    daemon::TlsDoor door;
    door.at = clients.listen;
    door.tls.certificate = clients.certificate;
    door.tls.key = clients.key;
    door.tls.client_ca = clients.ca;
    door.tls.clients =
        clients.ca.empty() ? io::ClientCertificates::none : io::ClientCertificates::optional;
    options.tls = std::move(door);
  }
  return options;
}

/// The process of a node: the daemon, its log, its signals and its service manager.
class NodeProcess final : public daemon::Owner {
 public:
  NodeProcess(const NodeCommand& command, config::File file, NodeLog log, io::Notifier notifier)
      : command_(command),
        file_(std::move(file)),
        log_(std::move(log)),
        notifier_(std::move(notifier)) {}

  int run(daemon::Options options, const StopSignals& signals) {
    options.member.own_at = wait_for_own_address(options.member, signals, log_, notifier_);
    // Only a node that has started needs an orderly end.
    if (!options.member.own_at || told_to_stop(signals)) {
      log_.event("left", {{"delivered", "0"}, {"reason", "on request"}});
      return 0;
    }
    auto opened = daemon::Daemon::open(options, *this);
    if (!opened) {
      const bool ours = opened.error().code == Errc::invalid_option ||
                        opened.error().code == Errc::address_in_use;
      return fail(ours ? 2 : 1, "node: " + placed(opened.error().message));
    }
    daemon_ = std::move(*opened);
    const auto watched = daemon_->loop().watch(signals.fd(), EPOLLIN,
                                               [&](std::uint32_t) { on_signal(signals.take()); });
    if (!watched) return fail(1, "node: " + watched.error().message);
    if (auto started = start_timers(); !started) {
      return fail(1, "node: " + started.error().message);
    }
    const config::Settings& settings = file_.settings;
    log_.event("started", {{"node", settings.name},
                           {"cluster", settings.cluster},
                           {"address", io::to_string(settings.own().address)},
                           {"at", io::to_string(*options.member.own_at)},
                           {"nodes", std::to_string(settings.nodes.size())},
                           {"order", std::string(settings.order->name)},
                           {"socket", file_.socket},
                           {"listen", options.tls ? io::to_string(options.tls->at) : "no"},
                           {"seal", daemon_->node_status().seal},
                           {"version", PEAL_VERSION_TEXT}});
    tell(notifier_.ready("serving clients at " + file_.socket));
    daemon_->run();
    return good_ ? 0 : 1;
  }

  // daemon::Owner
  void on_view(Instant now, const daemon::ViewNotice& view) override {
    state_.on_view(now, view);
    const std::string id(short_id(view.id));
    if (view.transitional) {
      log_.event("view_left", {{"view", std::string(short_id(view.old))},
                               {"next", id},
                               {"stay_together", short_list(view.members)},
                               {"reason", view.reason}});
      return;
    }
    const Duration gap = state_.views().back().gap;
    log_.event("view_installed", {{"view", id},
                                  {"members", short_list(view.members)},
                                  {"gap_ms", one_decimal(static_cast<double>(gap.ns) / 1e6)},
                                  {"primary", !view.primary   ? "unclaimed"
                                              : *view.primary ? "yes"
                                                              : "no"}});
  }

  void on_message(std::string_view sender, const node::Message& message) override {
    // Other data of daemons belong to no client.
    if (group::kind_of(message.payload) != static_cast<std::uint8_t>(group::Kind::data)) return;
    state_.on_message(sender, message.number, message.payload.size());
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
               {{"delivered", std::to_string(state_.messages())}, {"reason", reason}});
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
    return {wire::ClientCode::ok, "reloaded " + file_.path + going_over()};
  }

 private:
  /// A service manager that does not respond is no reason to stop.
  void tell(const Result<void, io::IoError>& told) {
    if (!told) on_warning(io::Clock::now(), "the service manager: " + told.error().message);
  }

  /// Answers the watchdog twice per period, from the loop: a loop that hangs stops answering.
  Result<void, io::IoError> start_timers() {
    auto started = every(looks_, kLookAtDrops, [this] { ignore(snapshot(), "it has looked"); });
    const auto interval = notifier_.watchdog_interval();
    if (!started || !interval) return started;
    return every(watchdog_, nanoseconds(interval->ns / 2 + 1),
                 [this] { tell(notifier_.watchdog()); });
  }

  Result<void, io::IoError> every(io::Fd& timer, Duration interval, std::function<void()> what) {
    timer = io::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    itimerspec period{};
    period.it_interval.tv_sec = interval.ns / 1'000'000'000;
    period.it_interval.tv_nsec = interval.ns % 1'000'000'000;
    period.it_value = period.it_interval;
    if (timer.get() < 0 || ::timerfd_settime(timer.get(), 0, &period, nullptr) != 0) {
      return tl::unexpected(io::system_error("a timer", errno));
    }
    return daemon_->loop().watch(timer.get(), EPOLLIN,
                                 [fd = timer.get(), what = std::move(what)](std::uint32_t) {
                                   std::uint64_t times = 0;
                                   ignore(::read(fd, &times, sizeof times), "no matter how often");
                                   what();
                                 });
  }

  void on_signal(int number) {
    if (number == 0) return;
    if (number == SIGHUP) {
      tell(notifier_.reloading(io::Clock::now()));
      ignore(reload(), "it is in the log");
      tell(notifier_.ready("serving clients at " + file_.socket));
      return;
    }
    tell(notifier_.stopping("on request"));
    log_.event("leaving", {{"signal", number == SIGINT ? "SIGINT" : "SIGTERM"}});
    daemon_->stop();
  }

  /// The part of a reload that is not completed.
  std::string going_over() const {
    const std::string next = comma_separated(daemon_->next_nodes());
    if (next.empty()) return {};
    return "; the nodes " + next +
           " will count once all nodes have been reloaded (peal status says what they wait for)";
  }

  Result<void, std::string> reload() {
    const auto seal = take_from_file();
    if (seal) {
      log_.event("reloaded", {{"file", file_.path}, {"seal", *seal}});
      const std::string next = comma_separated(daemon_->next_nodes());
      if (!next.empty()) log_.event("nodes_given", {{"nodes", next}});
      return {};
    }
    log_.event("not_reloaded", {{"file", file_.path}, {"reason", seal.error()}});
    return tl::unexpected(seal.error());
  }

  /// Takes from the file what may change while the node runs: rules and limits of clients, TLS
  /// files, the list of nodes, and the keys between them. Returns the key for sealing packets from
  /// now on. On an error nothing has changed.
  Result<std::string, std::string> take_from_file() {
    auto file = config::read_file(command_.config, command_.name);
    if (!file) return tl::unexpected(file.error());
    if (std::string fixed = config::fixed_difference(file_, *file); !fixed.empty()) {
      return tl::unexpected(file->path + ": " + fixed +
                            " cannot change while the node runs: restart it, or take it back");
    }
    auto options = daemon_options(*file);
    if (!options) return tl::unexpected(options.error());
    auto taken = daemon_->reconfigure(*options);
    if (!taken) return tl::unexpected(file->path + ": " + taken.error().message);
    file_.clients = file->clients;
    file_.settings = with(file_.settings, config::listing_of(file->settings));
    const auto& keys = options->member.keys;
    return keys ? "key " + seal::to_text(keys->sending) : std::string("insecure");
  }

  /// The node's snapshot, with the counters of its clients and of its log.
  runtime::Snapshot snapshot() {
    runtime::Snapshot now = daemon_->node_status();
    now.counters.emplace_back(kLogLines, log_.dropped());
    drops_.look(io::Clock::now(), now.counters);
    for (const order::Counter& each : daemon_->client_counters()) {
      now.counters.emplace_back(each.name, each.value);
    }
    return now;
  }

  /// Includes the clients whose names begin with `prefix`.
  std::string status(std::string_view prefix) {
    StatusFacts facts;
    facts.node = file_.settings.name;
    facts.cluster = file_.settings.cluster;
    facts.uptime = io::Clock::now() - started_;
    facts.member = snapshot();
    const Instant now = io::Clock::now();
    for (const std::string& each : drop_counters()) {
      if (const auto grew = drops_.grew(each)) facts.dropped_ago[each] = now - *grew;
    }
    facts.clients = daemon_->client_status(prefix);
    const io::StreamsCounters& streams = daemon_->connection_counters();
    facts.accepted = streams.accepted;
    facts.turned_away = streams.turned_away + streams.handshakes_failed;
    return status_json(state_, facts);
  }

  /// Adds the line of the key in the file to an error: "socket: …" becomes "peal.toml:3: socket:
  /// …".
  std::string placed(const std::string& problem) const {
    const std::string key = problem.substr(0, problem.find(": "));
    if (key == "nodes.address") {
      const config::Settings& settings = file_.settings;
      return file_.path + ":" + std::to_string(file_.line_of(config::address_line(settings.name))) +
             ": nodes.address = " + quote(io::to_string(settings.own().address)) +
             problem.substr(key.size());
    }
    if (file_.lines.count(key) == 0) return file_.path + ": " + problem;
    return file_.place_of(key) + problem.substr(key.size());
  }

  const NodeCommand& command_;
  config::File file_;
  NodeLog log_;
  io::Notifier notifier_;
  io::Fd watchdog_;
  io::Fd looks_;
  DropTimes drops_;
  NodeState state_;
  Instant started_ = io::Clock::now();
  std::unique_ptr<daemon::Daemon> daemon_;
  bool good_ = false;
};

}  // namespace

int run_node(const NodeCommand& command) {
  if (command.print_config) {
    std::fputs(config::annotated_file().c_str(), stdout);
    return 0;
  }
  // First, so that a signal during the start also leads to an orderly end.
  const StopSignals signals(SIGHUP);
  // A reader that closes its end is no reason to stop.
  ::signal(SIGPIPE, SIG_IGN);
  auto file = config::read_usable_file(command.config, command.name, command.trace);
  if (!file) return fail(2, "node: " + file.error());
  auto options = daemon_options(*file);
  if (!options) return fail(2, "node: " + options.error());
  auto notifier = io::Notifier::open(io::NotifyVariables::of_process());
  if (!notifier) return fail(2, "node: " + notifier.error().message);
  auto log = NodeLog::open(command.json, STDERR_FILENO);
  if (!log) return fail(1, "node: " + log.error().message);
  NodeProcess process(command, std::move(*file), std::move(*log), std::move(*notifier));
  return process.run(std::move(*options), signals);
}

}  // namespace peal::cli
