// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "oracle/groups.h"
#include "session/sessions.h"
#include "sim/clients/client_side.h"
#include "sim/clients/memory_spool.h"
#include "sim/clients/sim_client.h"

namespace peal::sim {

/// Maps private names to clients, for the whole cluster. No two clients of a run share a name.
class ClientNames {
 public:
  void set(const std::string& private_name, const oracle::ClientId& id) { ids_[private_name] = id; }
  /// Moves all clients of one incarnation to another.
  void renamed(MemberId before, MemberId now) {
    for (auto& [name, id] : ids_) {
      if (id.node == before) id.node = now;
    }
  }
  const oracle::ClientId* find(std::string_view private_name) const {
    const auto at = ids_.find(private_name);
    return at == ids_.end() ? nullptr : &at->second;
  }
  /// A random name; empty if there is none.
  std::string draw(Random& random) const;

 private:
  std::map<std::string, oracle::ClientId, std::less<>> ids_;
};

/// The daemon's side of one simulated node with whole sessions, and its clients. The clients speak
/// the protocol; they are cut off and reconnect, stop reading, or vanish. Tells the oracle all that
/// they do and receive.
class SessionClients final : public ClientSide, session::Host, TalkWatcher {
 public:
  SessionClients(Process& process, const ClientMix& mix, ClientNames& names, std::uint64_t seed);
  ~SessionClients() override;

  // ClientSide
  void carry_out(const Submission& submission) override;
  void on_view(const order::View& view) override;
  void on_message(const node::Message& message) override;
  void renamed(MemberId before) override;
  void set_nodes(std::vector<NodeId> nodes) override { sessions_.set_nodes(std::move(nodes)); }
  void ended() override;
  std::string waits_for() const override;
  void report_table() override;
  const group::Groups& groups() const override { return sessions_.groups(); }
  std::uint64_t digest() const override { return sessions_.digest(); }
  std::vector<order::Counter> named_counters() const override;
  void work() override;
  void serve() override;
  std::uint64_t room_bytes() const override;

 private:
  /// The daemon completed an exchange in `view` when the client's session had `events` events.
  struct Mark {
    std::uint64_t events;
    ViewId view;
  };
  /// A client and its connection.
  struct Station {
    std::unique_ptr<SimClient> talk;
    oracle::ClientId id{};            ///< set once the session has started
    session::ConnectionId link = 0;   ///< 0: no connection
    bool daemon_reads = true;         ///< false: the client's bytes wait
    bool asks_again = false;          ///< the daemon wants another call for it, with or without
                                      ///< bytes
    bool daemon_writes = false;       ///< the daemon has output for it
    Instant reads_from{};             ///< the client does not read before this time
    Instant back_at{};                ///< without a connection: when it reconnects
    bool shares = false;              ///< it reads events from shared memory
    std::uint32_t uid = 0;            ///< clients of one user map the same memory
    bool doomed = false;              ///< it misses messages, so the oracle gets no more reports of
                                      ///< it
    std::set<std::uint64_t> ordered;  ///< its own messages that this daemon has delivered
    std::deque<Mark> marks;           ///< marks whose events it has not all received
  };
  using Stations = std::map<std::string, Station>;

  // session::Host
  Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                     order::Domain domain) override;
  void replace_control(ByteView message) override;
  void block(bool blocked) override;
  void tables_equal(const ViewId& view, std::uint64_t hash) override;
  std::string_view node_name(NodeId node) const override;
  wire::SessionToken draw_token() override;
  session::Answer ask(std::string_view what, bool admin) override;
  ByteSpan open_region(session::RegionId id, std::uint32_t bytes) override;
  /// Clients keep the regions that they have mapped.
  void close_region(session::RegionId /*id*/) override {}

  // TalkWatcher
  void started(SimClient& talk) override;
  void resumed(SimClient& talk) override;
  void message(SimClient& talk, const wire::MessageEvent& event) override;
  void view(SimClient& talk, const wire::GroupViewEvent& event) override;
  void transitional(SimClient& talk, std::string_view group) override;
  void left(SimClient& talk, std::string_view group) override;
  void gap(SimClient& talk, const wire::GapEvent& event) override;
  void shared(SimClient& talk) override;
  void settled(SimClient& talk, std::uint64_t number) override;
  void ended(SimClient& talk, wire::ClientCode code) override;
  void wrong(SimClient& talk, const std::string& text) override;

  void trouble(Station& station);
  void act(Station& station, const Submission& submission);
  void send(Station& station, const Submission& submission);
  Station& station_of(std::uint64_t slot);
  Station& of(const SimClient& talk);
  bool hears(const Station& station) const { return station.id.connection != 0 && !station.doomed; }
  void connect(Station& station);
  void cut(Station& station, bool tells_daemon);
  void serve(Station& station);
  void take_wanted();
  /// The client in the private name "#client#node".
  static std::string client_of(const session::SessionStatus& session) {
    return session.name.substr(1, session.name.rfind('#') - 1);
  }
  void mark_all(const ViewId& view);
  void come_past_marks(Station& station, std::uint64_t events) const;
  Station& told(const SimClient& talk);
  void doom_those_who_miss();
  void doom(Station& station);
  void plan_service();
  oracle::ClientId id_of(std::string_view private_name);
  std::string private_name(std::string_view client, NodeId node) const;
  Instant local_now() const;
  std::string draw_group() { return mix_.groups[random_.below(mix_.groups.size())]; }
  void violation(const SimClient& talk, const std::string& text) const;
  void note(const SimClient& talk, const std::string& text) const;

  const ClientMix& mix_;
  ClientNames& names_;
  Random random_;
  std::vector<std::string> node_names_;  ///< by node
  MemorySpool spool_;
  std::map<session::RegionId, std::vector<std::uint64_t>> regions_;
  session::Sessions sessions_;
  Stations stations_;  ///< by client name
  std::map<session::ConnectionId, Station*> links_;
  std::map<std::uint64_t, std::string> slots_;  ///< name of the client in each slot
  std::vector<SentEarly> early_;                ///< sent before the first view, also by clients
                                                ///< that are gone
  session::ConnectionId last_link_ = 0;
  std::uint32_t last_number_ = 0;           ///< number of the last client
  std::optional<Instant> service_planned_;  ///< world time
  session::Wanted wanted_;
  std::uint64_t left_out_ = 0;  ///< messages that the daemon has omitted so far
  bool ordered_ = false;
  mutable bool node_waits_ = false;  ///< the node was told that there is no space
};

}  // namespace peal::sim
