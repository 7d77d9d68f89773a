// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "group/groups.h"
#include "node/node.h"
#include "oracle/groups.h"

namespace peal::sim {

class Process;
struct Submission;

/// What a client of a story is to do. Names that are not connected connect.
struct ClientWish {
  enum class Kind : std::uint8_t { connect, join, leave, disconnect, send };
  Kind kind = Kind::send;
  std::string client;
  std::vector<std::string> targets;  ///< of join and leave: one group
  bool self_discard = false;
};

/// Groups that the clients of a cluster play with, drawn from its seed.
struct ClientMix {
  std::vector<std::string> groups;
  std::uint32_t nodes = 0;  ///< for private names
};
ClientMix make_client_mix(std::uint64_t seed, std::uint32_t nodes);

/// The process groups of one simulated node, and its clients: connects them to the node, and tells
/// the oracle all that they do and are told.
class Clients final : public group::Effects {
 public:
  Clients(Process& process, const ClientMix& mix, std::uint64_t seed);

  /// Carries out what an application wants: its wish, or, without one, whatever chance says, mostly
  /// sending these bytes. The node hears of it at its next flush().
  void carry_out(const Submission& submission);
  void on_view(const order::View& view);
  void on_message(const node::Message& message);
  /// The node, which had the id `before`, has another one: nobody has seen it under the first.
  void renamed(MemberId before);
  /// The node is gone.
  void ended();

  bool idle() const;
  /// The last table goes to the oracle: nothing is under way any more.
  void report_table() const;
  const group::Groups& groups() const { return groups_; }
  void work() { groups_.work(); }
  /// The members of a group as this node's table has them: "x@n1 y@n2".
  std::string members_text(std::string_view group) const;
  /// True if a client of this name, now connected, was given these bytes.
  bool was_given(std::string_view client, std::string_view payload) const;
  void keep_payloads() { keeps_payloads_ = true; }

  // group::Effects
  void deliver(std::span<const std::uint32_t> connections, const group::Received& message) override;
  void view(std::span<const std::uint32_t> connections, const group::GroupView& view) override;
  void transitional(std::uint32_t connection, std::string_view group) override;
  void left(std::uint32_t connection, std::string_view group) override;
  Result<void> submit(ByteView message, Service service) override;
  void replace_control(ByteView message) override;
  void block(bool blocked) override;
  void settled(const ViewId& view) override;

 private:
  struct Client {
    std::uint32_t connection = 0;
    std::uint64_t sent = 0;
    std::vector<std::uint64_t> given;  ///< hashes of payloads, if asked to keep them
  };
  struct Sent {
    std::uint32_t connection;
    std::uint64_t number;
    std::vector<std::string> targets;
    std::uint64_t hash;
    oracle::OwnCopy own;
  };

  ClientWish draw_wish();
  Client* connect(const std::string& name);
  void disconnect(const std::string& name);
  void send(const ClientWish& wish, Client& client, const Submission& submission);
  std::int64_t now() const;
  oracle::ClientId id_of(std::uint32_t connection) const;
  void deliver_one(std::uint32_t connection, const group::Received& message,
                   const std::vector<std::string>& targets);
  void note(std::uint32_t connection, const std::string& text) const;
  void check_counters();

  Process& process_;
  const ClientMix& mix_;
  Random random_;
  group::Groups groups_;
  std::map<std::string, Client> clients_;
  std::vector<Sent> early_;  ///< before the first view
  bool keeps_payloads_ = false;
};

}  // namespace peal::sim
