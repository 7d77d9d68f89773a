// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>

#include <csignal>
#include <cstdio>

#include "cli/commands.h"
#include "cli/config.h"
#include "cli/local_server.h"
#include "cli/node_log.h"
#include "cli/node_state.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "io/clock.h"
#include "io/loop.h"

// Last: see cli/inner_names.h.
#include "cli/member_config.h"

namespace peal::cli {
namespace {

constexpr int kEventsPerTurn = 4'096;
constexpr std::chrono::milliseconds kLeavePatience{1'000};
constexpr Duration kGoodbyePatience = milliseconds(500);  // for clients to take what is theirs

std::string fixed(double value) {
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

/// One node of `peal node`: the member, the local socket, and the log.
class NodeProcess : public LocalNode, public io::LoopHost {
 public:
  NodeProcess(const NodeConfig& config, v0::Member member, const StopSignals& signals, bool json)
      : config_(config),
        member_(std::move(member)),
        signals_(signals),
        log_(json),
        started_(io::Clock::now()) {}

  /// Serves until a signal comes or the member has to stop.
  int run(const std::string& address) {
    auto loop = io::Loop::open({});
    if (!loop) return fail(1, "node: " + loop.error().message);
    loop_ = std::move(*loop);
    LocalServerOptions options;
    options.path = config_.socket;
    options.welcome = {config_.message_bytes_max, config_.cluster, config_.node};
    options.client_bytes_max = config_.client_bytes_max;
    options.input_bytes_max = config_.submit_bytes_max;
    options.clients_max = config_.clients_max;
    auto server = LocalServer::open(options, *loop_, *this);
    if (!server) {
      const bool ours = server.error().code == Errc::invalid_option ||
                        server.error().code == Errc::address_in_use;
      return fail(ours ? 2 : 1,
                  "node: " + config_.place_of("socket") + " = " + server.error().message);
    }
    server_ = std::move(*server);
    auto watched =
        loop_->watch(member_.fd(), EPOLLIN, [this](std::uint32_t) { take_events(); })
            .and_then([this] {
              return loop_->watch(signals_.fd(), EPOLLIN, [this](std::uint32_t) { on_signal(); });
            });
    if (!watched) return fail(1, "node: " + watched.error().message);
    log_.event("started", {{"node", config_.node},
                           {"cluster", config_.cluster},
                           {"address", address},
                           {"nodes", std::to_string(config_.nodes.size())},
                           {"socket", config_.socket},
                           {"seal", member_.status().seal},
                           {"version", PEAL_VERSION}});
    loop_->run(*this);
    return finish();
  }

  // LocalNode
  Result<std::uint64_t> submit(ByteView payload, Service service) override {
    auto ticket =
        member_.multicast(payload, is_safe(service) ? v0::Service::safe : v0::Service::agreed);
    if (ticket) {
      submitted_ = ticket->number;
      return submitted_;
    }
    switch (ticket.error().code) {
      case v0::ErrorCode::would_block: return tl::unexpected(Errc::would_block);
      case v0::ErrorCode::too_large: return tl::unexpected(Errc::too_large);
      default: return tl::unexpected(Errc::closed);
    }
  }

  std::string status_json() override {
    v0::Status status = member_.status();
    StatusFacts facts;
    facts.node = config_.node;
    facts.member = member_.id();
    facts.cluster = config_.cluster;
    facts.uptime = io::Clock::now() - started_;
    facts.waits_for = std::move(status.waits_for);
    facts.multicast = std::move(status.multicast);
    facts.seal = std::move(status.seal);
    facts.submitted = submitted_;
    facts.queued_messages = status.queued_messages;
    facts.queued_bytes = status.queued_bytes;
    facts.counters = std::move(status.counters);
    facts.connections = server_->connections();
    facts.local = server_->counters();
    return cli::status_json(state_, facts);
  }

  ViewRecord current_view() override { return state_.current(); }

  // io::LoopHost: nothing is driven but what the loop watches.
  void on_pause(Instant, Duration) override {}
  io::Progress on_sockets(const io::Turn&) override { return {false, true}; }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant) override { server_->flush(); }
  std::optional<Instant> next_deadline() const override { return std::nullopt; }

 private:
  void on_signal() {
    const int number = signals_.take();
    if (number == 0) return;
    if (number == SIGHUP) {
      reload();
      return;
    }
    log_.event("leaving", {{"signal", number == SIGINT ? "SIGINT" : "SIGTERM"}});
    loop_->stop();
  }

  void reload() {
    auto key = member_.reload_keys();
    if (key) {
      log_.event("keys_reloaded", {{"key_file", config_.key_file}, {"sending", *key}});
    } else {
      log_.event("keys_kept", {{"reason", key.error().message}});
    }
  }

  /// Takes what the member has for us; the descriptor stays readable if that was not all.
  void take_events() {
    for (int i = 0; i < kEventsPerTurn; ++i) {
      auto event = member_.next();
      if (!event) break;
      std::visit([this](const auto& content) { on_event(content); }, *event);
    }
    server_->on_room();
  }

  void on_event(const v0::Message& message) {
    MessageRecord record;
    record.sender = message.sender;
    record.number = message.number;
    record.view = message.view;
    record.transitional = message.transitional;
    record.position = message.position;
    record.index = message.index;
    record.service = message.service == v0::Service::safe ? Service::safe : Service::agreed;
    record.payload = message.payload;
    state_.on_message(record);
    server_->publish(record);
    if (message.own) server_->on_ordered(message.number);
  }

  void on_event(const v0::View& view) {
    ViewRecord record;
    record.transitional = view.transitional;
    record.id = view.id;
    record.old = view.old;
    record.members = view.members;
    record.primary = view.primary;
    record.reason = view.reason;
    state_.on_view(io::Clock::now(), record);
    server_->publish(record);
    const std::string id(short_id(view.id));
    if (view.transitional) {
      log_.event("view_left", {{"view", std::string(short_id(view.old))},
                               {"next", id},
                               {"stay_together", short_list(view.members)},
                               {"reason", view.reason}});
      return;
    }
    const ViewHistory& now = state_.views().back();
    log_.event("view_installed", {{"view", id},
                                  {"members", short_list(view.members)},
                                  {"gap_ms", fixed(static_cast<double>(now.gap.ns) / 1e6)},
                                  {"primary", !view.primary   ? "unclaimed"
                                              : *view.primary ? "yes"
                                                              : "no"}});
  }

  void on_event(const v0::Warning& warning) {
    log_.limited(io::Clock::now().ns, "warning", {{"text", warning.message}});
  }

  void on_event(const v0::Closed& closed) {
    closed_ = true;
    on_request_ = closed.on_request;
    reason_ = closed.reason;
    loop_->stop();
  }

  /// Leaves the others in good order, and hands out what was delivered until then.
  int finish() {
    if (!closed_) member_.leave(kLeavePatience);
    while (auto event = member_.next()) {
      std::visit([this](const auto& content) { on_event(content); }, *event);
    }
    server_->flush();
    const Instant deadline = io::Clock::now() + kGoodbyePatience;
    while (server_->has_output() && io::Clock::now() < deadline) {
      loop_->turn(*this, milliseconds(10));
    }
    const bool good = !closed_ || on_request_;
    server_->say_goodbye(good ? "the node was stopped" : "the node had to stop: " + reason_);
    log_.event(good ? "left" : "stopped", {{"delivered", std::to_string(state_.messages())},
                                           {"reason", good ? "on request" : reason_}});
    return good ? 0 : 1;
  }

  const NodeConfig& config_;
  v0::Member member_;
  const StopSignals& signals_;
  NodeLog log_;
  Instant started_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<LocalServer> server_;
  NodeState state_;
  std::uint64_t submitted_ = 0;
  bool closed_ = false;
  bool on_request_ = false;
  std::string reason_;
};

}  // namespace

int run_node(const NodeCommand& command) {
  if (command.print_config) {
    std::fputs(annotated_config().c_str(), stdout);
    return 0;
  }
  auto config = read_usable_config(command.config, command.name, command.trace);
  if (!config) return fail(2, "node: " + config.error());
  const StopSignals signals(
      SIGHUP);  // before the member starts its thread, which must not get them
  const std::string address = io::to_string(config->own().address);
  auto member = v0::Member::embed(member_config(*config));
  if (!member) {
    const bool ours = member.error().code == v0::ErrorCode::invalid_option ||
                      member.error().code == v0::ErrorCode::address_in_use;
    return fail(ours ? 2 : 1, "node: " + config->file + ":" + std::to_string(config->own().line) +
                                  ": nodes.address = " + quote(address) + ": " +
                                  member.error().message);
  }
  NodeProcess process(*config, std::move(*member), signals, command.json);
  return process.run(address);
}

}  // namespace peal::cli
