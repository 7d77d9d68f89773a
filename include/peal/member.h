// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "peal/config.h"
#include "peal/domains.h"
#include "peal/types.h"
#include "peal/version.h"

// Peal delivers messages to all members of a cluster in the same order, in spite of losses, crashes
// and partitions. This header embeds one member in an application:
//
//   auto member = peal::Member::embed(config);
//   member->multicast("hello", peal::Service::agreed);
//   while (auto event = member->wait(std::chrono::seconds(1))) { … }
//
// A member runs in a thread of its own, unless the application's thread runs the member
// (Config::thread). The functions report errors as Result and do not throw: see types.h.

namespace peal {
/// Namespace of this version: see types.h.
inline namespace v0 {

/// A delivered message. The data that it points to are valid until the next call of next() or
/// wait().
struct Message {
  std::string_view sender;             ///< id of the sending member, such as "a.210987654321"
  std::uint64_t number{};              ///< counts the sender's messages, from 1
  bool own = false;                    ///< true if this member sent the message
  Service service{};                   ///< the ordering guarantee that the sender chose
  std::span<const std::byte> payload;  ///< the message's bytes; may be empty

  // The message's place in the order, equal at every member. In the order of one view, places
  // ascend in (position, index). With ToTo, places are equal at members that leave the view
  // together or end in it, and `fifo` and `causal` messages have no place (service.h).
  std::string_view view;  ///< the view to which the message belongs
  /// Counts from 1; with domains, the positions have gaps. 0: the message has no place; `sender`
  /// and `number` identify it.
  std::uint64_t position{};
  /// Distinguishes messages of the same position, from 0. 0 if the message has no place.
  std::uint32_t index{};
  bool transitional = false;  ///< true: delivered in the transitional view that follows `view`
  /// The names of the domains whose nodes learn the message, in the order of Ridge::domains or
  /// Ramcast::domains. Empty: all nodes learn it.
  std::span<const std::string_view> domains;
  bool as_guessed = false;  ///< with Ridge::optimistic: Early predicted exactly this place

  /// The payload as text.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// With Ridge::optimistic: announces a message before the message has its place. In one view, a
/// message is announced at most once, and the messages of one sender are announced in its order. An
/// announcement is void if the message was not delivered as a Message before the next regular view.
struct Early {
  Message message;  ///< the message; `position` and `index` are its probable place
};

/// A set of members. A regular view starts a new order. The transitional view before it has the
/// members that continue together from the old view. For messages that are delivered between the
/// transitional view and the regular view, the guarantees hold among these members.
struct View {
  bool transitional = false;  ///< true for a transitional view, false for a regular view
  /// The id of a regular view, such as "12@a.210987654321". In a transitional view: the id of the
  /// next regular view.
  std::string id;
  /// In a transitional view: the id of the previous regular view. Otherwise empty.
  std::string old;
  std::vector<std::string> members;  ///< the members, sorted by node
  /// True if the view may act for the whole cluster. Empty with PrimaryRule::none.
  std::optional<bool> primary;
  std::string reason;  ///< why the previous view ended at this node, for people
};

/// A problem that a person should know of and may have to solve.
struct Warning {
  std::string message;  ///< the problem, in one line
};

/// The last event: the member has left, or had to stop.
struct Closed {
  bool on_request = false;  ///< true if leave() was called
  std::string reason;       ///< why the member ended, in one line
};

/// The result of next() and wait().
using Event = std::variant<Message, View, Warning, Closed, Early>;

/// Another node of the cluster, and its address.
struct NodeAddress {
  std::string name;     ///< name of the node, as in Config::nodes
  std::string address;  ///< the configured address
  std::string at;       ///< IP address and port in use; empty: not found yet
  std::string problem;  ///< why the last lookup of the host name failed; empty: no failure
};

/// A node of the cluster that is not in the view.
struct MissingNode {
  std::string name;    ///< name of the node, as in Config::nodes
  std::string reason;  ///< why the node is missing, such as another key; empty: unknown here
};

/// The status of a member.
struct Status {
  std::string id;                    ///< the id of this member, such as "a.210987654321"
  std::string view;                  ///< the newest regular view; empty before the first view
  std::vector<std::string> members;  ///< the members of `view`
  std::uint64_t queued_messages{};   ///< messages that this member sent and has not delivered yet
  /// Bytes of this member's messages that the member's thread took and that have no place yet.
  std::uint64_t queued_bytes{};
  /// Approximate bytes of messages that wait to be read by next().
  std::uint64_t unread_bytes{};
  std::string order;  ///< "ring", "paxos", "ridge", "toto" or "ramcast": see Config::order
  /// The chosen options of the ordering protocol. The key of each option is that in a configuration
  /// file, such as "ridge.ensembles" with the value "3".
  std::map<std::string, std::string> options;
  std::vector<std::string> domains;  ///< names of the domains that this node belongs to
  /// What the next delivery or the next message of this member waits for, in words; empty: nothing.
  std::string waits_for;
  std::vector<MissingNode> missing;  ///< nodes of the active list that are not in the view
  std::string multicast;             ///< how data reach the other nodes, in words
  std::string data;                  ///< Config::data and the names of unreachable nodes, in words
  std::string seal;                  ///< the key for sealing packets, "key 1f0e9a3b"; or "insecure"
  std::vector<NodeAddress> nodes;    ///< the other nodes of both lists, with their addresses
  std::vector<std::string> list;     ///< names of the nodes in the active list
  /// Names of the nodes in the pending list: the list of Member::set_nodes(), or Config::nodes
  /// while the other nodes have another list. Empty: no list is pending.
  std::vector<std::string> next_list;
  std::string list_waits_for;  ///< what the pending list waits for, in words; empty: nothing
  /// All counters of the node and its transport, by name.
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

/// One member of a cluster, inside this process.
///
/// Threads: any thread may call multicast(), multicast_for(), fd(), id(), status(), reload_keys(),
/// set_nodes() and leave(), also concurrently. Only one thread at a time may call next() and
/// wait(). With Thread::caller, only one thread at a time may call next(), wait() and leave(). If a
/// different thread calls status() or set_nodes(), its call blocks until next(), wait() or leave()
/// runs. A moved-from member can only be destroyed or assigned to.
///
/// fork(): a member belongs to the process that created it. In a child process, the member's
/// descriptors are closed; create a new member there. The child can destroy its copy of the member,
/// which does not affect the parent's member. In the child, next() and wait() return Closed once,
/// leave() does nothing, fd() returns -1, id() is empty, and status() has only an explanation, in
/// `waits_for`. All other calls fail with closed.
class Member {
 public:
  /// Opens the node's sockets and, with Thread::own, starts the member's thread. The member then
  /// looks for the other nodes.
  ///
  /// @return  the member; or invalid_option (the message names the key, its value and what is
  ///          accepted; or the name of this node has no address of this machine; or the log in
  ///          `data_dir` is not usable), would_block (the name of this node is not resolved yet:
  ///          try again), address_in_use (another process uses the address or the log),
  ///          not_permitted, system, wrong_version.
  /// Blocks: up to 5 s to resolve the name of this node if its address is a name, and while the
  /// member reads its log in `data_dir`. Does not wait for other nodes or their names. Do not pass
  /// `header`: its default is the version of the headers that the application was compiled with.
  static Result<Member> embed(const Config& config, std::uint32_t header = PEAL_VERSION);

  Member(Member&&) noexcept;
  Member& operator=(Member&&) noexcept;
  /// Like leave() with a patience of 0, unless the member has left already.
  ~Member();

  /// Queues a message for ordered delivery to all members of the view, including this one.
  ///
  /// @param payload  0 to Config::message_bytes_max bytes; copied before return.
  /// @param service  the ordering guarantee. All protocols but Toto deliver `fifo` and `causal`
  ///                 messages like `agreed` messages.
  /// @param domains  the destinations: only the nodes of these domains learn the message. With
  ///                 Ridge, the name of one domain in Ridge::domains that this node belongs to.
  ///                 With Ramcast, one or several names in Ramcast::domains; this member delivers
  ///                 the message only if it is in one of them. The message gets its place only
  ///                 after all earlier messages of this member to other destinations have their
  ///                 places; this wait takes a round of messages between nodes. Without a name: all
  ///                 nodes, or with Ramcast all domains.
  /// @return         a ticket; or would_block (too many messages wait: read events, or call
  ///                 multicast_for()), too_large, closed, invalid_option (the protocol does not
  ///                 take these destinations; the message says why, and what is accepted).
  /// Blocks: never for long.
  Result<Ticket> multicast(std::span<const std::byte> payload, Service service,
                           DomainNames domains = {});
  Result<Ticket> multicast(std::string_view text, Service service, DomainNames domains = {});
  /// Like multicast(), but waits up to `patience` while too many messages wait. Do not call
  /// multicast_for() from the only thread that reads events: if this member's queue of events is
  /// full, the call cannot succeed. With Thread::caller, a call from the thread that runs the
  /// member also runs the member.
  Result<Ticket> multicast_for(std::span<const std::byte> payload, Service service,
                               std::chrono::milliseconds patience, DomainNames domains = {});

  /// Returns the next event, or nothing if no event waits. After Closed, returns nothing.
  /// Blocks: never. With Thread::caller, next() does the member's pending work if no event waits.
  std::optional<Event> next();
  /// Like next(), but waits up to `patience` for an event.
  std::optional<Event> wait(std::chrono::milliseconds patience);
  /// A descriptor for poll(2) and similar calls. It is readable when next() has an event, and
  /// perhaps once more after the last event was read. With Thread::caller, it is also readable when
  /// next() has work to do. Before you wait for the descriptor, call next() until it returns
  /// nothing. Do not read from the descriptor. It is valid as long as the member exists.
  int fd() const;

  /// Accepts no more messages, and waits up to `patience` until all queued messages are delivered
  /// here. Then leaves the view and, with Thread::own, stops the member's thread. Delivered events
  /// can still be read. Blocks: up to `patience`, and some milliseconds.
  void leave(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// Reads Config::key_file again, and continues with the keys in the file. No message is lost, and
  /// the view stays. Change the keys in the steps that `peal keygen` prints; do each step on all
  /// nodes.
  ///
  /// @return  the id of the key for sending, as `peal keygen --list` shows it; or closed; or
  ///          invalid_option (the message says what is wrong with the file; the old keys stay in
  ///          use).
  /// Blocks: while it reads the file. The member's thread uses the keys from its next turn on.
  Result<std::string> reload_keys();

  /// Makes `nodes` the pending list of nodes, which becomes active once all members of the view
  /// have it. No message is lost, and the view stays. Status::list_waits_for says what a pending
  /// list waits for. Change one thing at a time, on all nodes: to add a node, give the list to all
  /// running nodes, then start the new node. To remove a node, also stop it. Nodes that stay in the
  /// list keep their numbers.
  ///
  /// `acceptors`, with Paxos and Ridge: the future acceptors, as in Paxos::acceptors. Fewer than a
  /// majority of the acceptors may be new nodes. A node needs a `data_dir` to become an acceptor,
  /// unless votes are in memory.
  ///
  /// @return  success: the list is pending or active; or invalid_option (the message says why this
  ///          change is not possible, and what to do; the old list stays), closed.
  /// Blocks: for about a millisecond.
  Result<void> set_nodes(const std::vector<Node>& nodes,
                         const std::vector<std::uint32_t>& acceptors = {});

  /// The id of this member, as in View::members. It may change before the first view.
  std::string id() const;
  /// The status of the member at this moment. Blocks: for about a millisecond.
  Status status() const;

 private:
  class Impl;
  explicit Member(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace peal
