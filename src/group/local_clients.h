// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "group/events.h"
#include "group/options.h"

namespace peal::group {

/// The clients of this node, and their requests. Each request becomes a message, and takes effect
/// when the message is delivered.
class LocalClients {
 public:
  struct Client {
    std::string name;
    std::set<std::string, std::less<>> groups;  ///< joined or joining, and not leaving
  };

  LocalClients(const Options& options, Effects& effects) : options_(options), effects_(effects) {}

  // Requests: see Groups.
  Result<std::uint32_t, Refusal> connect(std::string_view name);
  /// Fails if the table has not enough space for one more member at this node, `self`: each node
  /// has only its share of the table.
  Result<void, Refusal> join(std::uint32_t connection, std::string_view group, const Table& table,
                             MemberId self);
  Result<void, Refusal> leave(std::uint32_t connection, std::string_view group);
  Result<void, Refusal> send(std::uint32_t connection, const Outgoing& message);
  void disconnect(std::uint32_t connection, wire::ClientCode reason);
  Result<void, Refusal> mark();
  void work();

  /// With disjoint domains: the message with this number has its place, so it is no longer under
  /// way. Returns the message if it changes memberships.
  std::optional<std::vector<std::byte>> take_placed(std::uint64_t number);
  /// The number of the last change without a place, up to this number; 0: none.
  std::uint64_t last_change(std::uint64_t up_to) const;
  /// The join of a client of this node was delivered.
  void on_joined(std::string_view name, std::string_view group);
  bool has(std::uint32_t connection) const { return clients_.contains(connection); }
  /// The connection of the client with this name; null: none.
  const std::uint32_t* find(std::string_view name) const;
  const std::map<std::uint32_t, Client>& all() const { return clients_; }
  bool has_work() const { return !dead_.empty(); }
  void check_invariants() const;

 private:
  struct Dead {
    std::uint32_t connection;
    std::string name;
    wire::ClientCode reason;
  };
  struct UnderWay {
    std::uint64_t number;
    std::vector<std::byte> message;
  };
  Client* client(std::uint32_t connection);
  Result<void, Refusal> submit(Service service, DomainSet domains);
  Result<void, Refusal> submit_change();

  const Options& options_;
  Effects& effects_;
  std::map<std::uint32_t, Client> clients_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::vector<Dead> dead_;  ///< clients whose Disconnect messages are not yet submitted
  std::uint32_t last_connection_ = 0;
  std::uint64_t last_number_ = 0;    ///< of the last message that was submitted
  std::uint64_t joining_bytes_ = 0;  ///< upper bound for the table bytes of pending joins
  std::deque<UnderWay> under_way_;   ///< with disjoint domains: changes without a place
  std::vector<std::byte> encoded_;   ///< memory that each message reuses
};

}  // namespace peal::group
