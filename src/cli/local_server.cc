// SPDX-License-Identifier: Apache-2.0
#include "cli/local_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.h"
#include "cli/local_socket.h"

namespace peal::cli {
namespace {

constexpr std::size_t kReadBytes = 256U << 10;
constexpr std::size_t kChunkBytes = 256U << 10;

}  // namespace

Result<std::unique_ptr<LocalServer>, io::IoError> LocalServer::open(
    const LocalServerOptions& options, io::Loop& loop, LocalNode& node) {
  auto fd = listen_local(options.path);
  if (!fd) return tl::unexpected(std::move(fd.error()));
  std::unique_ptr<LocalServer> server(new LocalServer(options, loop, node, *fd));
  auto watched =
      loop.watch(*fd, EPOLLIN, [raw = server.get()](std::uint32_t) { raw->accept_all(); });
  if (!watched) return tl::unexpected(std::move(watched.error()));
  return server;
}

LocalServer::LocalServer(const LocalServerOptions& options, io::Loop& loop, LocalNode& node, int fd)
    : options_(options), loop_(loop), node_(node), listener_(fd), scratch_(kReadBytes) {}

LocalServer::~LocalServer() {
  for (auto& [id, connection] : connections_) drop(*connection);
  loop_.unwatch(listener_);
  ::close(listener_);
  ::unlink(options_.path.c_str());
}

void LocalServer::accept_all() {
  constexpr int kAcceptedMax = 64;  // per turn
  for (int i = 0; i < kAcceptedMax; ++i) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (connections_.size() >= options_.clients_max && !make_place()) {
      turn_away(fd);
      continue;
    }
    const std::uint64_t id = ++last_id_;
    auto connection = std::make_unique<LocalConnection>(id, fd, input_bytes_);
    LocalConnection& added = *connection;
    connections_.emplace(id, std::move(connection));
    ++counters_.accepted;
    update_watch(added);
  }
}

/// Frees the place of a client that was told to go and does not read it.
bool LocalServer::make_place() {
  bury();
  for (auto& [id, connection] : connections_) {
    if (connection->stage() != LocalConnection::Stage::closing) continue;
    drop(*connection);
    break;
  }
  bury();
  return connections_.size() < options_.clients_max;
}

void LocalServer::turn_away(int fd) {
  Bytes record;
  append_record(record, RecordKind::closing,
                as_bytes_view("the node has " + std::to_string(options_.clients_max) +
                              " connections, its limit (limits.clients_max)"));
  ignore(::send(fd, record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT),
         "a client that is gone needs no reason");
  ::close(fd);
  ++counters_.turned_away;
}

void LocalServer::on_events(std::uint64_t id, std::uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  LocalConnection& connection = *found->second;
  if (connection.is_dead()) return;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !connection.blocked &&
      !connection.input_over) {
    read_input(connection);
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) write_output(connection);
  finish_if_done(connection);
  update_watch(connection);
}

void LocalServer::read_input(LocalConnection& connection) {
  if (input_bytes_ > options_.input_bytes_max && connection.input().size() > kReadBytes) {
    ++counters_.bad_requests;
    return connection.refuse("the node has no memory for more unfinished messages");
  }
  if (connection.read(scratch_) == LocalConnection::Arrival::broken) return drop(connection);
  process(connection);
}

/// Handles every whole request that has been read, until one has to wait.
void LocalServer::process(LocalConnection& connection) {
  connection.blocked = false;
  while (connection.talks()) {
    const Framed framed = next_record(connection.input(), kSmallBodyMax,
                                      std::uint64_t{options_.welcome.message_bytes_max} + 1);
    if (framed.state == Framed::State::incomplete) break;
    if (framed.state == Framed::State::too_long) {
      ++counters_.bad_requests;
      connection.refuse(framed.record.kind == RecordKind::send
                            ? "a message longer than the limit of " +
                                  std::to_string(options_.welcome.message_bytes_max) +
                                  " bytes (limits.message_bytes_max)"
                            : std::string("a request that is too long"));
      break;
    }
    // Refusing frees the input: nothing of it may be looked at afterwards.
    if (!handle(connection, framed.record) || !connection.talks()) break;
    connection.use_input(framed.bytes);
  }
  connection.trim_input();
}

/// False if the record stays where it is: it waits for room, or the connection is closing.
bool LocalServer::handle(LocalConnection& connection, const Record& record) {
  if (connection.stage() == LocalConnection::Stage::greeting) {
    const auto version = record.kind == RecordKind::hello ? parse_hello(record.body) : std::nullopt;
    if (!version || *version != kLocalVersion) {
      ++counters_.bad_requests;
      connection.refuse(version ? "version " + std::to_string(*version) +
                                      " of the local protocol: this node speaks version " +
                                      std::to_string(kLocalVersion)
                                : std::string("the first request must be a hello"));
      return false;
    }
    connection.open();
    Bytes welcome;
    append_welcome(welcome, options_.welcome);
    push(connection, std::move(welcome));
    return true;
  }
  switch (record.kind) {
    case RecordKind::send: return handle_send(connection, record.body);
    case RecordKind::subscribe:
      if (!record.body.empty() || connection.subscribed) break;
      subscribe(connection);
      return true;
    case RecordKind::status: {
      if (!record.body.empty()) break;
      const std::string text = node_.status_json();
      Bytes reply;
      append_record(reply, RecordKind::status_reply, as_bytes_view(text));
      push(connection, std::move(reply));
      return true;
    }
    default: break;
  }
  ++counters_.bad_requests;
  connection.refuse("a request that makes no sense here (kind " +
                    std::to_string(static_cast<int>(record.kind)) + ")");
  return false;
}

bool LocalServer::handle_send(LocalConnection& connection, ByteView body) {
  const auto request = parse_send(body);
  if (!request) {
    ++counters_.bad_requests;
    connection.refuse("a message with an unknown service");
    return false;
  }
  const auto number = node_.submit(request->payload, request->service);
  if (number) {
    ++connection.submitted;
    waiting_.emplace_back(*number, connection.id());
    return true;
  }
  if (number.error() == Errc::would_block) {
    connection.blocked = true;
    return false;
  }
  connection.refuse("the node did not take the message: " + std::string(errc_name(number.error())));
  return false;
}

void LocalServer::subscribe(LocalConnection& connection) {
  // What is not yet in the queues happened before this subscription.
  seal();
  connection.subscribed = true;
  const ViewRecord view = node_.current_view();
  if (view.members.empty()) return;
  Bytes bytes;
  append_view(bytes, view);
  push(connection, std::move(bytes));
}

void LocalServer::publish(const MessageRecord& message) {
  append_message(shared_, message);
  if (shared_.size() >= kChunkBytes) seal();
}

void LocalServer::publish(const ViewRecord& view) { append_view(shared_, view); }

/// Puts what was published into the subscribers' queues. The bytes are shared.
void LocalServer::seal() {
  if (shared_.empty()) return;
  const OutputQueue::Chunk chunk = std::make_shared<const Bytes>(std::move(shared_));
  shared_ = Bytes();
  for (auto& [id, connection] : connections_) {
    if (!connection->subscribed || connection->stage() != LocalConnection::Stage::open) continue;
    push(*connection, chunk);
  }
}

void LocalServer::on_ordered(std::uint64_t number) {
  while (!waiting_.empty() && waiting_.front().first <= number) {
    const auto found = connections_.find(waiting_.front().second);
    if (found != connections_.end()) ++found->second->ordered;
    waiting_.pop_front();
  }
}

bool LocalServer::has_blocked_senders() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return entry.second->blocked; });
}

void LocalServer::on_room() {
  std::vector<std::uint64_t> blocked;
  for (const auto& [id, connection] : connections_) {
    if (connection->blocked) blocked.push_back(id);
  }
  if (blocked.empty()) return;
  const auto first = std::upper_bound(blocked.begin(), blocked.end(), retry_from_);
  std::rotate(blocked.begin(), first, blocked.end());
  for (const std::uint64_t id : blocked) {
    LocalConnection& connection = *connections_.at(id);
    if (connection.stage() != LocalConnection::Stage::open) continue;
    process(connection);
    finish_if_done(connection);
    update_watch(connection);
    if (connection.blocked) break;  // no room left: the next ones would find none either
    retry_from_ = id;
  }
}

void LocalServer::flush() {
  seal();
  for (auto& [id, connection] : connections_) {
    if (connection->is_dead()) continue;
    if (connection->ordered != connection->ordered_told && connection->output().empty()) {
      Bytes bytes;
      append_ordered(bytes, connection->ordered);
      connection->ordered_told = connection->ordered;
      push(*connection, std::move(bytes));
    }
    if (!connection->output().empty() && (connection->watched & EPOLLOUT) == 0) {
      write_output(*connection);
    }
    finish_if_done(*connection);
    update_watch(*connection);
  }
  bury();
}

void LocalServer::push(LocalConnection& connection, Bytes record) {
  push(connection, std::make_shared<const Bytes>(std::move(record)));
}

void LocalServer::push(LocalConnection& connection, OutputQueue::Chunk chunk) {
  if (connection.output().bytes() <= options_.client_bytes_max) {
    return connection.output().push(std::move(chunk));
  }
  ++counters_.slow_receivers;
  connection.refuse("it fell more than " + std::to_string(options_.client_bytes_max) +
                    " bytes behind (limits.client_bytes_max)");
}

void LocalServer::write_output(LocalConnection& connection) {
  if (connection.output().write(connection.fd()) == OutputQueue::Outcome::broken) drop(connection);
}

void LocalServer::finish_if_done(LocalConnection& connection) {
  if (connection.is_done()) drop(connection);
}

void LocalServer::update_watch(LocalConnection& connection) {
  if (connection.is_dead()) return;
  const std::uint32_t wanted = connection.wanted_events();
  if (wanted == connection.watched) return;
  // A descriptor without wanted events is not watched at all: its hang-up would be reported again
  // and again.
  if (wanted == 0) {
    loop_.unwatch(connection.fd());
  } else if (connection.watched != 0) {
    loop_.change(connection.fd(), wanted);
  } else {
    const auto done =
        loop_.watch(connection.fd(), wanted,
                    [this, id = connection.id()](std::uint32_t events) { on_events(id, events); });
    if (!done) return drop(connection);
  }
  connection.watched = wanted;
}

void LocalServer::drop(LocalConnection& connection) {
  if (connection.is_dead()) return;
  if (connection.watched != 0) loop_.unwatch(connection.fd());
  connection.watched = 0;
  connection.close();
  dead_.push_back(connection.id());
}

void LocalServer::bury() {
  for (const std::uint64_t id : dead_) connections_.erase(id);
  dead_.clear();
}

bool LocalServer::has_output() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return !entry.second->output().empty(); });
}

void LocalServer::say_goodbye(std::string_view reason) {
  seal();
  for (auto& [id, connection] : connections_) {
    if (connection->is_dead()) continue;
    write_output(*connection);
    connection->refuse(reason);
    write_output(*connection);
  }
}

}  // namespace peal::cli
