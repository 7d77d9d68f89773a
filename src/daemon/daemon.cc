// SPDX-License-Identifier: Apache-2.0
// Construction of a daemon, its turns, and its end.
#include "daemon/daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "config/nodes.h"
#include "io/clock.h"
#include "io/stream_listener.h"

namespace peal::daemon {
namespace {

/// The same value as in member::EmbeddedNode.
constexpr Duration kSpin = milliseconds(1);
/// At the end, the longest wait until clients' messages are acknowledged, and until clients'
/// connections are closed.
constexpr Duration kDrainPatience = seconds(1);
constexpr Duration kClosePatience = milliseconds(1'500);
/// The maximum number of connections without a session.
constexpr std::uint32_t kStreamsBeyondSessions = 1'024;

io::StreamsOptions streams_options(const session::Options& sessions) {
  io::StreamsOptions options;
  options.streams_max = sessions.sessions_max + kStreamsBeyondSessions;
  options.handshake_patience = sessions.hello_patience;
  return options;
}

session::Options with_node(session::Options sessions, const config::Settings& member) {
  sessions.cluster = member.cluster;
  sessions.node = member.name;
  sessions.nodes = member.nodes_max;  // maximum length of the list of nodes
  const node::Limits limits = config::node_limits(member);
  sessions.message_bytes_max = limits.message_bytes_max;
  sessions.tables_bytes_max = limits.control_bytes_max;
  sessions.companies = member.order->traits.companies;
  std::vector<group::GroupDomain> domains;
  for (const config::DomainEntry& each : member.domains) {
    std::vector<NodeId> nodes = each.nodes;
    std::sort(nodes.begin(), nodes.end());
    group::GroupDomain& domain = domains.emplace_back();
    domain = {each.name, std::move(nodes), each.groups, {}};
    for (const config::NodeEntry& node : member.nodes) {
      if (std::binary_search(domain.nodes.begin(), domain.nodes.end(), node.number)) {
        domain.node_names.push_back(node.name);
      }
    }
  }
  const auto kind =
      member.order->traits.genuine ? group::Domains::Kind::disjoint : group::Domains::Kind::nested;
  sessions.domains = group::Domains(std::move(domains), member.self(), kind);
  return sessions;
}

/// Reads the TLS files. An error in these files counts as an error of the configuration.
Result<std::shared_ptr<const io::TlsContext>, io::IoError> read_tls(
    const io::TlsServerOptions& options) {
  auto context = io::TlsContext::server(options);
  if (context) return context;
  return unexpected(io::IoError{Errc::invalid_option, "clients: " + context.error().message});
}

/// Adds a remedy to the error of a TCP port that cannot be opened.
io::IoError with_remedy(io::IoError why) {
  if (!why.message.starts_with("listen at ")) return why;
  switch (why.code) {
    case Errc::address_in_use:
      why.message += " (another node or program has it: stop that one, or choose another port)";
      break;
    case Errc::invalid_option:
      why.message += " (it is not an address of this machine: choose one that is)";
      break;
    case Errc::not_permitted:
      why.message += " (ports below 1024 are reserved: choose a higher one)";
      break;
    default: break;
  }
  return why;
}

/// Puts the configuration key that is at fault in front of `why`, the reason why a node cannot
/// start.
io::IoError with_key(const io::IoError& why) {
  const bool has_key = why.message.starts_with("trace: ") ||
                       why.message.starts_with("data_dir: ") || why.message.starts_with("fabric");
  return {why.code, (has_key ? "" : "nodes.address: ") + with_remedy(why).message};
}

/// With an engine whose messages fit into one packet, clients need packets of some size.
Result<void, io::IoError> check_packets(const config::Settings& member) {
  const std::uint32_t largest = message_bytes_max(member);
  if (largest >= config::kClientsMessageBytesLeast) return {};
  const std::uint32_t bytes = packet_bytes(member);
  return unexpected(io::IoError{
      Errc::invalid_option,
      "network.packet_bytes = " + std::to_string(bytes) +
          " is not accepted with clients and order = \"" + std::string(member.order->name) +
          "\", where each message fits into one packet: it must be at least " +
          std::to_string(bytes + config::kClientsMessageBytesLeast - largest)});
}

Result<void, io::IoError> check_folder(const std::string& folder) {
  struct stat status {};
  std::string why;
  if (::stat(folder.c_str(), &status) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISDIR(status.st_mode)) {
    why = "it is not a folder";
  } else if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    why = std::strerror(errno);
  }
  if (why.empty()) return {};
  return unexpected(io::IoError{Errc::invalid_option,
                                "clients.spool_dir = \"" + folder + "\" (" + why +
                                    "): accepted is a folder that exists and can be written to"});
}

using Doors = std::vector<std::unique_ptr<io::StreamListener>>;

/// Opens the sockets that clients connect to. Each TLS connection gets the context that `tls` holds
/// when the connection is accepted.
Result<Doors, io::IoError> open_doors(const Options& options,
                                      const std::shared_ptr<const io::TlsContext>& tls) {
  Doors doors;
  auto local = io::StreamListener::unix_socket(options.socket, options.socket_mode);
  if (!local) {
    return unexpected(io::IoError{local.error().code, "socket: " + local.error().message});
  }
  doors.push_back(std::move(*local));
  if (!options.tls) return doors;
  auto remote = io::StreamListener::tcp(options.tls->at, [&tls](io::Fd fd, io::StreamPeer peer) {
    return io::make_tls_server_stream(std::move(fd), std::move(peer), tls);
  });
  if (!remote) {
    return unexpected(
        io::IoError{remote.error().code, "clients.listen: " + with_remedy(remote.error()).message});
  }
  doors.push_back(std::move(*remote));
  return doors;
}

}  // namespace

/// Connects the loop to the node. In each turn, clients are read after the node's packets and
/// before the node's timers.
class Daemon::Turns final : public io::LoopHost {
 public:
  explicit Turns(Daemon& daemon) : daemon_(daemon), node_(daemon.runtime_->host()) {}

  void on_pause(Instant now, Duration gap) override {
    daemon_.now_ = now;
    node_.on_pause(now, gap);
  }
  io::Progress on_sockets(const io::Turn& turn) override {
    daemon_.now_ = turn.now;
    io::Progress progress = node_.on_sockets(turn);
    if (daemon_.connections_->work(turn.now)) progress.more = true;
    return progress;
  }
  void on_drained(Instant now) override { node_.on_drained(now); }
  void on_wake(Instant now) override { node_.on_wake(now); }
  void on_timer(Instant now) override { node_.on_timer(now); }
  void on_turn_end(Instant now) override { node_.on_turn_end(now); }
  std::optional<Instant> next_deadline() const override { return node_.next_deadline(); }

 private:
  Daemon& daemon_;
  io::LoopHost& node_;
};

Result<std::unique_ptr<Daemon>, io::IoError> Daemon::open(const Options& options, Owner& owner) {
  if (auto checked = config::validate(options.member); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  if (auto checked = check_packets(options.member); !checked) return unexpected(checked.error());
  const session::Options sessions = with_node(options.sessions, options.member);
  if (std::string wrong = session::validate(sessions); !wrong.empty()) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(wrong)});
  }
  std::unique_ptr<Daemon> daemon(new Daemon(options, owner));
  if (auto prepared = daemon->prepare(); !prepared) return unexpected(prepared.error());
  return daemon;
}

Daemon::Daemon(const Options& options, Owner& owner)
    : options_(options), owner_(owner), spool_(options.spool_dir) {
  options_.sessions = with_node(options.sessions, options.member);
  name_nodes(options.member.nodes);
}

Daemon::~Daemon() = default;

Result<void, io::IoError> Daemon::prepare() {
  if (auto usable = check_folder(options_.spool_dir); !usable) return usable;
  io::LoopOptions loop_options;
  loop_options.pause = needs_of(options_.member).pause;
  loop_options.spin = kSpin;
  loop_options.waiting = waiting_of(options_.member);
  auto loop = io::Loop::open(loop_options);
  if (!loop) return unexpected(loop.error());
  loop_ = std::move(*loop);
  // TLS and listeners are opened before the node, so that a daemon that cannot serve clients does
  // not use up an incarnation.
  if (options_.tls) {
    auto context = read_tls(options_.tls->tls);
    if (!context) return unexpected(context.error());
    tls_ = std::move(*context);
  }
  auto doors = open_doors(options_, tls_);
  if (!doors) return unexpected(doors.error());
  auto runtime = runtime::Runtime::open(options_.member, *loop_, *this);
  if (!runtime) return unexpected(with_key(runtime.error()));
  runtime_ = std::move(*runtime);
  session::Host& host = *this;
  sessions_ = std::make_unique<session::Sessions>(options_.sessions, host, spool_);
  set_session_nodes();
  connections_ = std::make_unique<Connections>(
      streams_options(options_.sessions), *loop_, *sessions_, regions_,
      [this](const std::string& who, const io::IoError& why) {
        owner_.on_refused(now_, who, why);
      });
  turns_ = std::make_unique<Turns>(*this);
  now_ = io::Clock::now();
  told_room_ = receive_room_units();
  for (auto& door : *doors) {
    if (auto listening = connections_->listen(std::move(door)); !listening) return listening;
  }
  return {};
}

void Daemon::run() {
  now_ = io::Clock::now();
  runtime_->start(now_);
  loop_->run(*turns_);
}

void Daemon::stop() {
  stop_asked_ = true;
  loop_->wake();
}

Result<void, io::IoError> Daemon::reconfigure(const Options& options) {
  const session::Options sessions = with_node(options.sessions, options_.member);
  if (std::string wrong = session::validate(sessions); !wrong.empty()) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(wrong)});
  }
  if (auto change = runtime_->nodes().validate(config::listing_of(options.member)); !change) {
    return unexpected(io::IoError{Errc::invalid_option, "nodes: " + change.error()});
  }
  if (auto checked = config::validate(options.member); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  std::shared_ptr<const io::TlsContext> tls = tls_;
  if (options.tls && tls_ != nullptr) {
    auto context = read_tls(options.tls->tls);
    if (!context) return unexpected(context.error());
    tls = std::move(*context);
  }
  if (options.socket_mode != options_.socket_mode) {
    // The socket's file exists, because only this process removes the file.
    if (::chmod(options_.socket.c_str(), options.socket_mode) != 0) {
      return unexpected(io::system_error("chmod " + options_.socket, errno));
    }
  }
  // From here on, nothing fails, so a refused reload changes nothing.
  options_.socket_mode = options.socket_mode;
  tls_ = std::move(tls);
  // All nodes must agree on whether packets are sealed, but not on the key.
  if (runtime_->transport().sending_key()) new_keys_ = options.member.keys;
  new_nodes_ = config::listing_of(options.member);
  new_sessions_ = sessions;
  runtime_->look_up_names(now_);
  loop_->wake();
  return {};
}

std::vector<std::string> Daemon::next_nodes() const {
  const auto& wanted = new_nodes_ ? new_nodes_ : runtime_->nodes().pending();
  if (!wanted || *wanted == runtime_->nodes().listing()) return {};
  return config::names_in(wanted->nodes);
}

void Daemon::on_nodes() {
  owner_.on_nodes(now_, config::names_in(runtime_->nodes().active()));
  set_session_nodes();
}

/// Sets the nodes that may be in a view: those of the active list and of the pending list. The
/// record of a message is kept until all these nodes know it, so that clients of these nodes are
/// notified of missed messages.
void Daemon::set_session_nodes() {
  std::vector<NodeId> nodes;
  for (const config::NodeEntry& node : runtime_->nodes().active()) nodes.push_back(node.number);
  if (const auto& next = runtime_->nodes().pending()) {
    for (const config::NodeEntry& node : next->nodes) nodes.push_back(node.number);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  sessions_->set_nodes(std::move(nodes));
}

void Daemon::name_nodes(const std::vector<config::NodeEntry>& nodes) {
  for (const config::NodeEntry& node : nodes) {
    if (node_names_.size() <= node.number.value) node_names_.resize(node.number.value + 1);
    node_names_[node.number.value] = node.name;
  }
}

// ---- end ----

void Daemon::on_wake(Instant now) {
  now_ = now;
  if (!stop_asked_ || phase_ != Phase::serving) return;
  phase_ = Phase::draining;
  phase_end_ = now + kDrainPatience;
  connections_->stop_listening();
  connections_->stop_reading();
}

void Daemon::drain(Instant now) {
  if (fatal_ && phase_ != Phase::closing) return close_sessions(now);
  if (phase_ == Phase::draining && (sessions_->idle() || now >= phase_end_)) {
    return close_sessions(now);
  }
  if (phase_ != Phase::closing) return;
  if (connections_->count() > 0 && now < phase_end_) return;
  if (!fatal_) runtime_->leave(now);
  phase_ = Phase::ended;
  loop_->stop();
  owner_.on_end(!fatal_, fatal_.value_or("on request"));
}

void Daemon::close_sessions(Instant now) {
  phase_ = Phase::closing;
  phase_end_ = now + kClosePatience;
  connections_->stop_listening();
  sessions_->stop(now);
}

}  // namespace peal::daemon
