// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/inner_names.h"
#include "cli/local_connection.h"
#include "cli/local_protocol.h"
#include "cli/output_queue.h"
#include "io/loop.h"

namespace peal::cli {

/// What the local server asks of the node behind it. Called from the loop's thread.
class LocalNode {
 public:
  virtual ~LocalNode() = default;
  /// The number of the message, counted from 1 in the order of the calls; or would_block (the
  /// server calls again after on_room), too_large, closed.
  virtual Result<std::uint64_t> submit(ByteView payload, Service service) = 0;
  virtual std::string status_json() = 0;
  /// The view in force, with the digest of what was delivered in it; no members before the first.
  virtual ViewRecord current_view() = 0;
};

struct LocalServerOptions {
  std::string path;
  Welcome welcome;
  std::uint64_t client_bytes_max = 64ULL << 20;  ///< that wait for one subscriber
  std::uint64_t input_bytes_max = 128ULL << 20;  ///< of unfinished requests, all connections
  std::uint32_t clients_max = 256;
};

struct LocalServerCounters {
  std::uint64_t accepted{};        ///< connections
  std::uint64_t turned_away{};     ///< connections: too many
  std::uint64_t bad_requests{};    ///< connections closed for nonsense
  std::uint64_t slow_receivers{};  ///< connections closed because their queue was full
};

/// Serves `peal send`, `peal recv` and `peal status` on a Unix socket that only its owner can open.
/// A client can disturb nobody but itself: what makes no sense closes its connection with the
/// reason; while the ring is full the sender's socket is not read; a receiver that falls too far
/// behind is disconnected. Memory is bounded by the options. Thread: the loop's.
class LocalServer {
 public:
  /// A socket file that no process listens on is replaced. The loop and the node must outlive the
  /// server. Errors: as listen_local()'s.
  static Result<std::unique_ptr<LocalServer>, io::IoError> open(const LocalServerOptions& options,
                                                                io::Loop& loop, LocalNode& node);
  /// Closes all connections and removes the socket file.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  /// To all subscribers, in the order of the calls.
  void publish(const MessageRecord& message);
  void publish(const ViewRecord& view);
  /// The node's own message with this number was delivered.
  void on_ordered(std::uint64_t number);
  /// The node may have room for messages again.
  void on_room();
  /// Sends what is waiting; call it at the end of each turn.
  void flush();
  /// Something waits for a client that has not taken it yet.
  bool has_output() const;
  /// Tells every client why the node stops, as far as their sockets take it at once.
  void say_goodbye(std::string_view reason);

  std::size_t connections() const { return connections_.size(); }
  bool has_blocked_senders() const;
  const LocalServerCounters& counters() const { return counters_; }

 private:
  using Bytes = std::vector<std::byte>;

  LocalServer(const LocalServerOptions& options, io::Loop& loop, LocalNode& node, int fd);
  void accept_all();
  void turn_away(int fd);
  bool make_place();
  void on_events(std::uint64_t id, std::uint32_t events);
  void read_input(LocalConnection& connection);
  void process(LocalConnection& connection);
  bool handle(LocalConnection& connection, const Record& record);
  bool handle_send(LocalConnection& connection, ByteView body);
  void subscribe(LocalConnection& connection);
  void push(LocalConnection& connection, OutputQueue::Chunk chunk);
  void push(LocalConnection& connection, Bytes record);
  void write_output(LocalConnection& connection);
  void update_watch(LocalConnection& connection);
  void seal();
  void finish_if_done(LocalConnection& connection);
  void drop(LocalConnection& connection);
  void bury();

  LocalServerOptions options_;
  io::Loop& loop_;
  LocalNode& node_;
  int listener_;
  Bytes scratch_;  ///< where sockets are read to
  std::uint64_t last_id_ = 0;
  std::uint64_t input_bytes_ = 0;  ///< unfinished requests; connections count into it
  std::map<std::uint64_t, std::unique_ptr<LocalConnection>> connections_;
  std::vector<std::uint64_t> dead_;  ///< dropped in this turn; freed when nobody refers to them
  Bytes shared_;                     ///< for all subscribers, not yet in their queues
  std::uint64_t retry_from_ = 0;     ///< id after which on_room() begins: everybody gets a turn
  /// Which connection submitted which of our messages that are not delivered yet.
  std::deque<std::pair<std::uint64_t, std::uint64_t>> waiting_;
  LocalServerCounters counters_;
};

}  // namespace peal::cli
