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

/// Each payload begins with the number of its message, so that whoever gets it can name it.
inline constexpr std::size_t kNumberBytes = 8;

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
/// Which of these groups belong to the domains of the process's world.
group::Domains domains_of(const Process& process, const ClientMix& mix);

/// A message of a client, told to the oracle before its node's first view.
struct SentEarly {
  std::uint32_t connection;
  std::uint64_t number;
  std::vector<std::string> targets;
  std::uint64_t hash;
  oracle::OwnCopy own;
};

/// The process groups of one simulated node, and its clients.
class ClientSide {
 public:
  virtual ~ClientSide() = default;

  /// Carries out what an application wants: its wish, or, without one, whatever chance says, mostly
  /// sending these bytes. The node hears of it at its next flush().
  virtual void carry_out(const Submission& submission) = 0;
  virtual void on_view(const order::View& view) = 0;
  virtual void on_message(const node::Message& message) = 0;
  /// The node, which had the id `before`, has another one: nobody has seen it under the first.
  virtual void renamed(MemberId before) = 0;
  /// The nodes that may be in a view with this one, sorted.
  virtual void set_nodes(std::vector<NodeId> nodes) = 0;
  /// The node is gone.
  virtual void ended() = 0;

  /// What is under way; empty if nothing is.
  virtual std::string waits_for() const = 0;
  /// The last table goes to the oracle: nothing is under way any more.
  virtual void report_table() = 0;
  virtual const group::Groups& groups() const = 0;
  virtual std::uint64_t digest() const = 0;
  virtual std::vector<order::Counter> named_counters() const = 0;
  /// After each call of the node.
  virtual void work() = 0;
  /// When it was asked for: see World::wake_clients().
  virtual void serve() {}
  /// Bytes of messages that may be delivered; 0: the node is to wait.
  virtual std::uint64_t room_bytes() const { return ~std::uint64_t{0}; }
  /// True if a client of this name, now connected, was given these bytes.
  virtual bool was_given(std::string_view /*client*/, std::string_view /*payload*/) const {
    return false;
  }
  virtual void keep_payloads() {}
  /// The same: it was told that messages of the group are missing.
  virtual bool was_told_of_gap(std::string_view /*client*/, std::string_view /*group*/) const {
    return false;
  }

  /// The members of a group as this node's table has them: "x@n1 y@n2".
  std::string members_text(std::string_view group) const;

 protected:
  explicit ClientSide(Process& process) : process_(process) {}
  // What both kinds ask of the node, and tell of it.
  Result<std::uint64_t> submit_to_node(ByteView message, Service service, order::Domain domain);
  void replace_control_of_node(ByteView message);
  /// Tells the oracle that the node got so far as this message, if a client sent it: `id_of` gives
  /// a client of that name and connection its id.
  template <class IdOf>
  void note_order(const node::Message& message, IdOf id_of);
  void count_exchanges(const group::Groups::Counters& before);
  void check_counters() const;
  std::int64_t now() const;
  void note_order(const oracle::GroupMessageId& message, const std::vector<std::string>& targets);

  Process& process_;
};

template <class IdOf>
void ClientSide::note_order(const node::Message& message, IdOf id_of) {
  group::Data data;
  if (message.payload.empty() || group::decode(message.payload, data) != wire::Drop::none) return;
  if (data.payload.size() < kNumberBytes) return;
  const std::vector<std::string> targets(data.targets.begin(), data.targets.end());
  note_order({id_of(data.client), load<std::uint64_t>(data.payload)}, targets);
}

}  // namespace peal::sim
