// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "group/groups.h"
#include "node/node.h"
#include "oracle/groups.h"

namespace peal::sim {

class Process;
struct Submission;
struct WorldOptions;

/// Each payload begins with the number of its message, so that receivers can identify the message.
inline constexpr std::size_t kNumberBytes = 8;

/// An action of a scenario's client. A client that is not connected connects first.
struct ClientWish {
  enum class Kind : std::uint8_t { connect, join, leave, disconnect, send };
  Kind kind = Kind::send;
  std::string client;
  std::vector<std::string> targets;  ///< for join and leave: one group
  bool self_discard = false;
};

/// The groups that a cluster's clients use, drawn from a seed.
struct ClientMix {
  std::vector<std::string> groups;
  std::uint32_t nodes = 0;                   ///< number of nodes, for drawing private names
  std::uint64_t held_bytes_max = 64U << 20;  ///< see group::Effects::may_hold()
};
ClientMix make_client_mix(std::uint64_t seed, std::uint32_t nodes);
/// The domains of the world as `node` sees them, each with the groups of the mix that belong to the
/// domain. With genuine multicast each domain also has the groups that begin with its name and a
/// dot, such as "d1.", and the last one has all others.
group::Domains domains_of(const WorldOptions& world, const ClientMix& mix, NodeId node);

/// The same for the oracle; none unless the engine multicasts to sets of domains.
oracle::GroupDomains oracle_domains(const WorldOptions& world, const ClientMix& mix);

/// A client's message that was reported to the oracle before the node's first view.
struct SentEarly {
  std::uint32_t connection;
  std::uint64_t number;
  std::vector<std::string> targets;
  std::uint64_t hash;
  oracle::OwnCopy own;
};

/// The process groups of one simulated node, and the clients of this node.
class ClientSide {
 public:
  virtual ~ClientSide() = default;

  /// Performs the client action `wish` of the submission, or a random action if `wish` is absent:
  /// mostly a message with the submission's payload. SessionClients always performs a random
  /// action. The engine is notified of resulting messages at the node's next flush().
  virtual void carry_out(const Submission& submission) = 0;
  virtual void on_view(const order::View& view) = 0;
  virtual void on_message(const node::Message& message) = 0;
  /// A message that submit_to_node() submitted has its place.
  virtual void on_placed(const node::Origination& /*placed*/) {}
  /// Call when the node's id has changed from `before`. No other node has seen the old id.
  virtual void renamed(MemberId before) = 0;
  /// Sets the nodes that may be in a view with this node; `nodes` is sorted.
  virtual void set_nodes(std::vector<NodeId> nodes) = 0;
  /// Call when the node's process has ended.
  virtual void ended() = 0;

  /// Describes unfinished work; empty if all work is finished.
  virtual std::string waits_for() const = 0;
  /// Reports the final table to the oracle. Call when all work is finished.
  virtual void report_table() = 0;
  virtual const group::Groups& groups() const = 0;
  virtual std::uint64_t digest() const = 0;
  virtual std::vector<order::Counter> named_counters() const = 0;
  /// Called after each input of the node, before the node's flush().
  virtual void work() = 0;
  /// Called at the time given to Driver::wake_clients().
  virtual void serve() {}
  /// Number of bytes of messages that may be delivered now. If 0, the node must wait.
  virtual std::uint64_t room_bytes() const { return ~std::uint64_t{0}; }
  /// True if the connected client with this name received this payload after keep_payloads().
  virtual bool was_given(std::string_view /*client*/, std::string_view /*payload*/) const {
    return false;
  }
  virtual void keep_payloads() {}
  /// True if the connected client with this name was notified, after keep_payloads(), of a gap in
  /// the group's messages.
  virtual bool was_told_of_gap(std::string_view /*client*/, std::string_view /*group*/) const {
    return false;
  }

  /// The members of a group in this node's table, as "x@n1 y@n2".
  std::string members_text(std::string_view group) const;

 protected:
  explicit ClientSide(Process& process) : process_(process) {}
  // Calls to the node and reports to the oracle, for Clients and SessionClients.
  Result<std::uint64_t, Errc> submit_to_node(ByteView message, Service service, DomainSet domains);
  void replace_control_of_node(ByteView message, DomainSet domains);
  /// If a client sent `message`, reports to the oracle that the node has delivered `message`.
  /// `id_of` maps a group::Client to its oracle::ClientId.
  template <class IdOf>
  void note_order(const node::Message& message, IdOf id_of);
  void count_exchanges(const group::Groups::Counters& before);
  void check_counters() const;
  std::int64_t now() const;
  void note_order(const oracle::GroupMessageId& message, const std::vector<std::string>& targets,
                  Seq place);

  Process& process_;
};

template <class IdOf>
void ClientSide::note_order(const node::Message& message, IdOf id_of) {
  group::Data data;
  if (message.payload.empty() || group::decode(message.payload, data) != wire::Drop::none) return;
  if (data.payload.size() < kNumberBytes) return;
  const std::vector<std::string> targets(data.targets.begin(), data.targets.end());
  note_order({id_of(data.client), load<std::uint64_t>(data.payload)}, targets, message.seq);
}

}  // namespace peal::sim
