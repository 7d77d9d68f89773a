// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/sessions.h"

// One daemon, whose messages the test orders by hand, and clients with connections in memory.

namespace peal::session::test {

/// A spool that keeps its bytes in memory.
class MemorySpool final : public Spool {
 public:
  Result<void, Errc> append(SpoolId id, ByteView bytes) override;
  Result<void, Errc> read(SpoolId id, std::uint64_t offset, ByteSpan out) override;
  void discard(SpoolId id, std::uint64_t offset) override;
  void remove(SpoolId id) override;

  struct File {
    std::deque<std::byte> bytes;
    std::uint64_t discarded = 0;
  };
  std::map<SpoolId, File> files;
  std::uint64_t appends_left = ~std::uint64_t{0};  ///< number of appends before they fail
  bool reads_fail = false;
};

Options options();
Identity user(std::uint32_t uid, std::string name);

class Daemon final : public Host {
 public:
  explicit Daemon(const Options& options = test::options());

  /// Carries out the sessions' requests until there are no more. Writes to all connections whose
  /// clients read.
  void pump();
  /// Gives the next waiting message its place; false if no message may get a place.
  bool order_one();
  /// Pumps, and orders all waiting messages.
  void run();
  void pass(Duration time);
  /// Installs a new view of the same single member.
  void change_view();
  /// Another member joins the view, and has not sent its tables yet.
  void begin_to_meet();
  /// That member sends its tables, and so does this one.
  void exchange_tables(const std::vector<std::string>& names = {});
  /// Delivers a message that a client of a node outside the view has sent to the group.
  void hear_from_outside(std::string_view group, std::string_view payload);
  /// Another member joins the view, and leaves again. It has ordered messages to these names
  /// (sorted) in an earlier view.
  void meet(const std::vector<std::string>& names);
  /// Delivers a safe message with this number, from a member that is not in the view.
  void hear_other(std::uint64_t number);
  /// Another member joins the view, and its client joins the group. Then the member leaves the
  /// view.
  void lose_member_of(std::string_view group);

  // The functions of Host.
  Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                     DomainSet /*domains*/) override;
  void replace_control(ByteView message, DomainSet domains) override;
  std::uint64_t block(bool on) override {
    blocked = on;
    return 0;
  }
  void tables_equal(const ViewId&, std::uint64_t) override {}
  std::string_view node_name(NodeId) const override { return "n"; }
  wire::SessionToken draw_token() override;
  Answer ask(std::string_view what, bool admin) override;
  ByteSpan open_region(RegionId id, std::uint32_t bytes) override;
  void close_region(RegionId id) override;
  /// The shared memory that the client of this connection may read.
  ByteView region(ConnectionId id);

  struct Pipe {
    std::vector<std::byte> to_daemon;    ///< not read by the daemon yet
    std::vector<std::byte> from_daemon;  ///< not read by the client yet
    bool paused = false;                 ///< the daemon does not read
    bool reads = true;                   ///< the client reads
    bool closed = false;                 ///< the daemon closed the connection
    RegionId region = 0;                 ///< the shared region, sent with the first byte
    bool was_written = false;
    std::size_t input_left = ~std::size_t{0};   ///< bytes to the daemon before the cut
    std::size_t output_left = ~std::size_t{0};  ///< bytes to the client before the cut
    bool is_cut() const { return input_left == 0 || output_left == 0; }
  };
  ConnectionId connect(const Identity& identity);
  void write(ConnectionId id, ByteView bytes);
  void cut(ConnectionId id);
  /// Sets whether the client reads its connection.
  void let_read(ConnectionId id, bool reads);
  Pipe& pipe(ConnectionId id) { return pipes[id]; }

  struct Waiting {
    std::uint64_t number;
    Service service;
    bool control;
    std::vector<std::byte> bytes;
  };

  Instant now{1'000'000'000};
  MemorySpool spool;
  std::map<ConnectionId, Pipe> pipes;
  std::map<RegionId, std::vector<std::uint64_t>> regions;
  bool has_memory = true;  ///< false: no region can be opened
  std::deque<Waiting> waiting;
  std::deque<Waiting> control;
  std::size_t room = 100'000;  ///< messages that may wait
  bool blocked = false;
  bool stopped = false;        ///< the node accepts nothing any more
  bool stops_for_room = true;  ///< orders nothing while room_bytes() is 0
  bool causal = false;         ///< the engine gives fifo and causal messages no place
  std::unique_ptr<Sessions> sessions;

 private:
  void read_from(ConnectionId id);
  void write_to(ConnectionId id);
  void let_in(const std::vector<std::string>& names);

  MemberId self_{NodeId{1}, 7};
  ViewId view_{};
  Seq seq_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t met_ = 0;
  std::uint64_t heard_ = 0;
  std::uint64_t tokens_ = 0;
  ConnectionId last_connection_ = 0;
};

/// A client of the protocol, with one connection after the other.
class Client {
 public:
  Client(Daemon& daemon, std::string name, std::uint32_t keep_ms = 60'000,
         Identity identity = user(1, "ann"));

  /// Connects, and continues the client's session if it has one.
  void connect();
  void cut();
  void join(std::string_view group, const wire::SlowLimits& limits = {});
  void leave(std::string_view group);
  /// Sends a message to one target, or to several targets with commas between them. Returns the
  /// number of the message.
  std::uint64_t send(std::string_view targets, std::string_view payload,
                     Service service = Service::agreed);
  void seen();
  void mapped();
  void goodbye();
  void ask(std::string_view what);
  void ping(std::uint64_t number);
  void bytes(ByteView bytes) { daemon.write(connection, bytes); }
  /// Sends again the messages that the daemon lacks, according to its last welcome.
  void send_again();

  /// Reads all input. Returns the records since the last call as texts: "view g join #b#n: #a#n
  /// #b#n", "message g: 7 from #b#n", "acked 3", …
  std::vector<std::string> take();
  /// The same as take(), but only events.
  std::vector<std::string> take_events();

  Daemon& daemon;
  std::string name;
  std::uint32_t keep_ms;
  Identity identity;
  ConnectionId connection = 0;
  wire::SessionToken token{};
  std::string secret;
  std::uint64_t number = 0;  ///< of the last sent message
  std::uint64_t events = 0;  ///< events that the client has
  std::uint64_t acked = 0;
  std::uint64_t received = 0;                            ///< messages the daemon had at welcome
  bool welcome = false;                                  ///< the welcome came on this connection
  bool says_seen = true;                                 ///< take() reports that events were seen
  bool shares = false;                                   ///< the client can read shared memory
  bool maps = true;                                      ///< the client reports the mapping
  std::uint64_t shared = 0;                              ///< events read in shared memory
  std::uint64_t gone = 0;                                ///< events replaced before they were read
  std::uint64_t gap_bytes = 0;                           ///< bytes of dropped messages, from gaps
  wire::GapEvent gap;                                    ///< the last gap; `group` is invalid
  wire::Warning warning;                                 ///< the last warning; `group` is invalid
  std::uint32_t shared_bytes = 0;                        ///< from the last welcome
  std::map<std::uint64_t, std::vector<std::byte>> sent;  ///< records not acknowledged yet

 private:
  std::string text_of(const wire::Record& record);
};

}  // namespace peal::session::test
