// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "session/sessions.h"
#include "sim/clients/client_judge.h"
#include "sim/clients/client_names.h"
#include "sim/clients/client_side.h"
#include "sim/clients/memory_spool.h"
#include "sim/clients/sim_client.h"

namespace peal::sim {

/// The sessions of one simulated node's daemon, and the clients of this daemon. The clients use the
/// client protocol. They lose their connections and reconnect, stop reading, or vanish. A
/// ClientJudge reports all actions and events of the clients to the oracle.
class SessionClients final : public ClientSide, session::Host {
 public:
  SessionClients(Process& process, const ClientMix& mix, ClientNames& names, std::uint64_t seed);
  ~SessionClients() override;

  // ClientSide
  void carry_out(const Submission& submission) override;
  void on_view(const order::View& view) override;
  void on_message(const node::Message& message) override;
  void on_placed(const node::Origination& placed) override;
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
  /// A client and its connection.
  struct Station {
    std::unique_ptr<SimClient> client;
    session::ConnectionId link = 0;  ///< 0: no connection
    bool daemon_reads = true;        ///< false: the client's bytes wait for the daemon
    bool asks_again = false;         ///< the daemon wants another received(), even without bytes
    bool daemon_writes = false;      ///< the daemon has output for the client
    Instant reads_from{};            ///< the client does not read before this time
    Instant back_at{};               ///< time at which a client without a connection reconnects
    bool shares = false;             ///< the client can read events from shared memory
    std::uint32_t uid = 0;           ///< the client's user; clients of one user map the same memory
  };
  /// A message of a client without a place yet.
  struct UnderWay {
    std::uint64_t number = 0;  ///< as Message::number of the node
    std::string client;
    std::uint64_t client_number = 0;
  };
  using Stations = std::map<std::string, Station>;

  // session::Host
  Result<std::uint64_t, Errc> submit(ByteView message, Service service, DomainSet domains) override;
  void replace_control(ByteView message, DomainSet domains) override;
  std::uint64_t block(bool blocked) override;
  void tables_equal(const ViewId& view, std::uint64_t hash) override;
  std::string_view node_name(NodeId node) const override;
  wire::SessionToken draw_token() override;
  session::Answer ask(std::string_view what, bool admin) override;
  ByteSpan open_region(session::RegionId id, std::uint32_t bytes) override;
  /// The memory stays: clients keep the regions that they have mapped.
  void close_region(session::RegionId /*id*/) override {}

  void trouble(Station& station);
  void act(Station& station, const Submission& submission);
  void send(Station& station, const Submission& submission);
  Station& station_of(std::uint64_t slot);
  void connect(Station& station);
  void cut(Station& station, bool tells_daemon);
  void serve(Station& station);
  void take_wanted();
  /// The name of the session's client: CLIENT of the private name "#CLIENT#NODE".
  static std::string client_of(const session::SessionStatus& session) {
    return session.name.substr(1, session.name.rfind('#') - 1);
  }
  void doom_those_who_miss();
  void plan_service();
  Instant local_now() const;
  /// With disjoint domains, cuts the payload so that the message fits into a unit.
  void fit(const std::string& client, std::span<const std::string_view> targets,
           std::string& payload) const;
  std::string draw_group() { return mix_.groups[random_.below(mix_.groups.size())]; }

  const ClientMix& mix_;
  ClientNames& names_;
  ClientJudge judge_;
  const group::Domains domains_;
  std::deque<UnderWay> under_way_;  ///< with disjoint domains
  Random random_;
  std::vector<std::string> node_names_;  ///< by number of the node
  MemorySpool spool_;
  std::map<session::RegionId, std::vector<std::uint64_t>> regions_;
  session::Sessions sessions_;
  Stations stations_;  ///< by client name
  std::map<session::ConnectionId, Station*> links_;
  std::map<std::uint64_t, std::string> slots_;  ///< name of the client in each slot
  session::ConnectionId last_link_ = 0;
  std::optional<Instant> service_planned_;  ///< time of the next planned serve(), in world time
  session::Wanted wanted_;
  std::uint64_t left_out_ = 0;  ///< messages that the daemon has dropped for slow clients so far
  bool ordered_ = false;
  mutable bool node_waits_ = false;  ///< the node waits until room_bytes() is positive
};

}  // namespace peal::sim
