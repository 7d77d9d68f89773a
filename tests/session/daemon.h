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

// One daemon whose node the test orders by hand, and clients on connections in memory.

namespace peal::session::test {

/// Bytes "on disk".
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
  std::uint64_t appends_left = ~std::uint64_t{0};  ///< then they fail
  bool reads_fail = false;
};

Options options();
Identity user(std::uint32_t uid, std::string name);

class Daemon final : public Host {
 public:
  explicit Daemon(const Options& options = test::options());

  /// Carries out the sessions' requests until there are no more. Connections whose client reads are
  /// written to.
  void pump();
  /// The next waiting message gets its place; false if there is none.
  bool order_one();
  /// Orders all, and pumps.
  void run();
  void pass(Duration time);
  /// A new view of the same single member.
  void change_view();
  /// Another member joins, and has not sent its knowledge yet.
  void begin_to_meet();
  /// Another member joins, has ordered messages for these names (sorted), and leaves again.
  void meet(const std::vector<std::string>& names);
  /// Another member, which is not in the view, ordered a safe message with this number.
  void hear_other(std::uint64_t number);
  /// Another member joins, a client of it joins the group, and the network takes it away.
  void lose_member_of(std::string_view group);

  // Host
  Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                     order::Domain /*domain*/) override;
  void replace_control(ByteView message) override;
  void block(bool on) override { blocked = on; }
  void tables_equal(const ViewId&, std::uint64_t) override {}
  std::string_view node_name(NodeId) const override { return "n"; }
  wire::SessionToken draw_token() override;
  Answer ask(std::string_view what, bool admin) override;
  ByteSpan open_region(RegionId id, std::uint32_t bytes) override;
  void close_region(RegionId id) override;
  /// What a connection may read besides its bytes.
  ByteView region(ConnectionId id);

  struct Pipe {
    std::vector<std::byte> to_daemon;    ///< not taken yet
    std::vector<std::byte> from_daemon;  ///< not read by the client yet
    bool paused = false;                 ///< the daemon does not read
    bool reads = true;                   ///< the client does
    bool closed = false;                 ///< by the daemon
    RegionId region = 0;                 ///< whose descriptor came with its first byte
    bool was_written = false;
    std::size_t input_left = ~std::size_t{0};   ///< bytes that get through before it is cut
    std::size_t output_left = ~std::size_t{0};  ///< in the other direction
    bool is_cut() const { return input_left == 0 || output_left == 0; }
  };
  ConnectionId connect(const Identity& identity);
  void write(ConnectionId id, ByteView bytes);
  void cut(ConnectionId id);
  /// The client reads, or no longer.
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
  bool has_memory = true;  ///< otherwise no region can be opened
  std::deque<Waiting> waiting;
  std::deque<Waiting> control;
  std::size_t room = 100'000;  ///< messages that may wait
  bool blocked = false;
  bool stopped = false;        ///< the node accepts nothing any more
  bool stops_for_room = true;  ///< nothing is ordered without Sessions::room_bytes()
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
  std::uint64_t tokens_ = 0;
  ConnectionId last_connection_ = 0;
};

/// A client that speaks the protocol, on one connection after the other.
class Client {
 public:
  Client(Daemon& daemon, std::string name, std::uint32_t keep_ms = 60'000,
         Identity identity = user(1, "ann"));

  /// Connects and says hello; continues its session if it has one.
  void connect();
  void cut();
  void join(std::string_view group, const wire::SlowLimits& limits = {});
  void leave(std::string_view group);
  /// To one target or several, separated by commas. Returns the message's number.
  std::uint64_t send(std::string_view targets, std::string_view payload,
                     Service service = Service::agreed);
  void seen();
  void mapped();
  void goodbye();
  void ask(std::string_view what);
  void ping(std::uint64_t number);
  void bytes(ByteView bytes) { daemon.write(connection, bytes); }
  /// Repeats the messages that the daemon does not have, according to `welcome`.
  void send_again();

  /// Reads all input; returns it as text since the last call: "view g join #b#n: #a#n #b#n",
  /// "message g 7 from #b#n", "acked 3", …
  std::vector<std::string> take();
  /// The same, events only.
  std::vector<std::string> take_events();

  Daemon& daemon;
  std::string name;
  std::uint32_t keep_ms;
  Identity identity;
  ConnectionId connection = 0;
  wire::SessionToken token{};
  std::string secret;
  std::uint64_t number = 0;  ///< of the last message
  std::uint64_t events = 0;  ///< that it has
  std::uint64_t acked = 0;
  std::uint64_t received = 0;                            ///< by the daemon, in the last welcome
  bool welcome = false;                                  ///< on this connection
  bool says_seen = true;                                 ///< take() acknowledges the events
  bool shares = false;                                   ///< it can read shared memory
  bool maps = true;                                      ///< and it reports that it has mapped it
  std::uint64_t shared = 0;                              ///< events that it found there
  std::uint64_t gone = 0;                                ///< and events that were replaced there
  std::uint64_t gap_bytes = 0;                           ///< that were dropped, according to gaps
  wire::Warning warning;                                 ///< the last one; its group is gone
  std::uint32_t shared_bytes = 0;                        ///< as in the last welcome
  std::map<std::uint64_t, std::vector<std::byte>> sent;  ///< records that are not acknowledged

 private:
  std::string text_of(const wire::Record& record);
};

}  // namespace peal::session::test
