// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "oracle/groups.h"
#include "sim/clients/client_names.h"
#include "sim/clients/client_side.h"
#include "sim/clients/sim_client.h"

namespace peal::sim {

class HistoryRecorder;

/// Judges what the clients of one simulated node receive. Also reports all actions and events of
/// these clients to the oracle.
class ClientJudge final : public ClientWatcher {
 public:
  ClientJudge(const Process& process, ClientNames& names) : process_(process), names_(names) {}

  /// Returns a new connection number, which no other client of this incarnation of the node has.
  std::uint32_t next_number() { return ++last_number_; }
  void add(const std::string& client) { accounts_[client]; }
  void remove(const std::string& client) { accounts_.erase(client); }
  /// Ends the reports to the oracle about the client. Call doom() when the client misses messages.
  void doom(const std::string& client);
  bool is_doomed(const std::string& client) const { return accounts_.at(client).doomed; }
  /// The id of the client with the private name `name`. The default value until that client has
  /// read its welcome.
  oracle::ClientId id_of(std::string_view name) const;

  void sent(const std::string& client, std::uint64_t number, std::vector<std::string> targets,
            std::uint64_t hash, oracle::OwnCopy own);
  /// Call when this daemon has delivered the client's message `number`.
  void ordered(const std::string& client, std::uint64_t number);
  /// Call when the daemon has completed an exchange of tables in `view`, and the client's session
  /// has `events` events. When the client has received these events, the oracle is notified that
  /// the client has passed the exchange.
  void mark(const std::string& client, std::uint64_t events, const ViewId& view);
  /// Call when the client has received all events of its session so far.
  void caught_up(const SimClient& client) { come_past_marks(of(client), client.events()); }
  /// Call when the node has installed a regular view.
  void entered() { early_.clear(); }
  /// Call when the node's id has changed from `before`. No other node has seen the old id.
  void renamed(MemberId before);
  /// Call when the node's process and its clients have ended.
  void end();
  /// Writes a line about the client to HistoryRecorder::Options::echo, for people.
  void note(const SimClient& client, const std::string& text) const;

  // ClientWatcher
  void started(SimClient& client) override;
  void resumed(SimClient& client) override;
  void message(SimClient& client, const wire::MessageEvent& event) override;
  void view(SimClient& client, const wire::GroupViewEvent& event) override;
  void transitional(SimClient& client, std::string_view group) override;
  void left(SimClient& client, std::string_view group) override;
  void gap(SimClient& client, const wire::GapEvent& event) override;
  void shared(SimClient& client) override;
  void settled(SimClient& client, std::uint64_t number) override;
  void ended(SimClient& client, wire::ClientCode code) override;
  void wrong(SimClient& client, const std::string& text) override;

 private:
  struct Mark {
    std::uint64_t events;
    ViewId view;
  };
  struct Account {
    oracle::ClientId id{};            ///< set once the session has started
    bool doomed = false;              ///< the oracle gets no more reports about the client
    std::set<std::uint64_t> ordered;  ///< numbers of messages that this daemon has delivered
    std::deque<Mark> marks;           ///< marks with events that the client has not received yet
    /// True if the oracle knows the client and still gets reports about the client.
    bool is_reported() const { return id.connection != 0 && !doomed; }
  };

  Account& of(const SimClient& client) { return accounts_.at(client.name()); }
  /// Call when the client receives an event. Reports the marks before this event to the oracle, and
  /// returns the client's account.
  Account& told(const SimClient& client);
  void come_past_marks(Account& account, std::uint64_t events) const;
  void doom(Account& account) const;
  void violation(const std::string& client, const std::string& text) const;
  HistoryRecorder& recorder() const;
  oracle::GroupChecker& checker() const;
  std::int64_t now() const;

  const Process& process_;
  ClientNames& names_;
  std::map<std::string, Account, std::less<>> accounts_;  ///< by client name
  /// Messages that clients sent before the node's first view; their clients may have ended.
  std::vector<SentEarly> early_;
  std::uint32_t last_number_ = 0;
};

}  // namespace peal::sim
