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
#include "peal/types.h"
#include "peal/version.h"

// Peal delivers every message to every member of a cluster in the same order, through loss, crashes
// and partitions. This header embeds one member in an application:
//
//   auto member = peal::Member::embed(config);
//   member->multicast("hello", peal::Service::agreed);
//   while (auto event = member->wait(std::chrono::seconds(1))) { … }
//
// A member runs one thread of its own, unless the application lends it one (Config::thread).
// Nothing here throws, except that the standard library throws if memory is exhausted.

namespace peal {
/// See types.h.
inline namespace v0 {

/// A message at its place in the order. All that it points to is valid until the next call of
/// next() or wait().
struct Message {
  std::string_view sender;             ///< the member that sent it, such as "a.210987654321"
  std::uint64_t number{};              ///< counts the sender's messages, from 1
  bool own = false;                    ///< sent by this member
  Service service{};                   ///< the sender's choice
  std::span<const std::byte> payload;  ///< its bytes; may be empty

  // The message's place, equal at every member. Places in a view's order ascend in (position,
  // index).
  std::string_view view;      ///< the view that ordered it
  std::uint64_t position{};   ///< from 1; with domains, the positions have gaps
  std::uint32_t index{};      ///< distinguishes messages of one position, from 0
  bool transitional = false;  ///< delivered in the transitional view that follows `view`
  std::string_view domain;    ///< the domain whose nodes learn it; empty: all nodes
  bool as_guessed = false;    ///< with Ridge::optimistic: Early predicted exactly this place

  /// The payload as text.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// With Ridge::optimistic: announces a message before it has its place, at most once in a view. The
/// messages of one sender are announced in its order. An announcement is void if the message has
/// not come as a Message before the next regular view.
struct Early {
  Message message;  ///< `position` and `index` are its probable place
};

/// A set of members. A regular view starts a new order. The transitional view before it has the
/// members that continue together from the old view: for the messages that come between the
/// transitional and the regular view, guarantees hold among these members.
struct View {
  bool transitional = false;  ///< the kind of view
  std::string id;             ///< such as "12@a.210987654321"; transitional: the id of the next
                              ///< regular view
  std::string old;            ///< transitional: the previous regular view; otherwise empty
  std::vector<std::string> members;  ///< sorted by node
  std::optional<bool> primary;       ///< may the view act for the whole cluster? Empty with
                                     ///< PrimaryRule::none
  std::string reason;                ///< why this node gave up the previous view, for people
};

/// A condition that a person should know of, and may have to act on.
struct Warning {
  std::string message;  ///< one line
};

/// The last event: the member has left, or had to stop.
struct Closed {
  bool on_request = false;  ///< leave() was called
  std::string reason;       ///< one line
};

/// What next() and wait() return.
using Event = std::variant<Message, View, Warning, Closed, Early>;

/// Another node of the cluster, and its address.
struct NodeAddress {
  std::string name;     ///< as in Config::nodes
  std::string address;  ///< as configured
  std::string at;       ///< IP address and port; empty: not found yet
  std::string problem;  ///< why the last lookup of the name failed; empty: no failure
};

/// A node of the cluster that is not in the view.
struct MissingNode {
  std::string name;    ///< as in Config::nodes
  std::string reason;  ///< why it is missing, such as another key; empty: unknown here
};

/// The status of a member.
struct Status {
  std::string id;                    ///< this member, such as "a.210987654321"
  std::string view;                  ///< the newest regular view; empty before the first
  std::vector<std::string> members;  ///< of that view
  std::uint64_t queued_messages{};   ///< messages of this member that were not delivered here yet
  std::uint64_t queued_bytes{};      ///< bytes of messages that the member's thread has taken and
                                     ///< that have no place yet
  std::uint64_t unread_bytes{};      ///< bytes of messages that wait to be read by next(),
                                     ///< approximately
  std::string order;                 ///< "ring", "paxos" or "ridge": see Config::order
  /// The chosen options that determine how the member orders, by their keys in a configuration
  /// file: "3" for "ridge.ensembles".
  std::map<std::string, std::string> options;
  std::vector<std::string> domains;  ///< names of the domains that this node is in
  std::string waits_for;             ///< what the next delivery, or the next message of this
                                     ///< member, waits for
  std::vector<MissingNode> missing;  ///< the nodes that are not in the view
  std::string multicast;             ///< how data reach the other nodes, in words
  std::string data;                  ///< Config::data, and unreachable nodes, in words
  std::string seal;                  ///< "key 1f0e9a3b", the key for sealing packets, or "insecure"
  std::vector<NodeAddress> nodes;    ///< all nodes but this one
  std::vector<std::string> list;     ///< names of the active list of nodes
  /// Names of the pending list, until it is active: that of Member::set_nodes(), or Config::nodes
  /// while the other nodes have another list. Empty: no list is pending.
  std::vector<std::string> next_list;
  std::string list_waits_for;  ///< what the pending list waits for, in words; empty: nothing
  /// Every counter of the node and its transport, by name.
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

/// One member of a cluster, inside this process. Threads: multicast(), multicast_for(), fd(), id(),
/// status(), reload_keys(), set_nodes() and leave() from any thread, also concurrently; next() and
/// wait() from one thread at a time. With Thread::caller, next(), wait() and leave() may be called
/// from one thread at a time; status() and set_nodes() may be called from another thread, and then
/// block until next(), wait() or leave() runs. A moved-from member can only be destroyed or
/// assigned to. fork(): a member belongs to the process that created it. In a child process, the
/// member's descriptors are closed. The child can destroy the member, which does not affect the
/// parent's member; all other calls fail with closed, next() and wait() return Closed once, fd()
/// returns -1, id() is empty, and status() has only an explanation, in `waits_for`.
class Member {
 public:
  /// Opens the node's sockets and starts its thread, if it has one. The member then looks for the
  /// other nodes.
  ///
  /// @return  the member; or invalid_option (the message names the key, its value and what is
  ///          accepted, or says that the name of this node has no address of this machine),
  ///          would_block (the name of this node cannot be resolved yet: try again),
  ///          address_in_use, not_permitted, system, wrong_version.
  /// Blocks: up to 5 s, if the address of this node is a name; not for names of other nodes.
  /// Do not pass `header`: see client.h.
  static Result<Member> embed(const Config& config, std::uint32_t header = PEAL_VERSION);

  Member(Member&&) noexcept;
  Member& operator=(Member&&) noexcept;
  /// Like leave() with a patience of 0, unless the member has left already.
  ~Member();

  /// Queues a message for ordered delivery to all members of the view, including this one.
  ///
  /// @param payload  0 to Config::message_bytes_max bytes; copied before return.
  /// @param domain   name of one of Ridge::domains that this node is in: only the nodes of the
  ///                 domain learn the message. The message gets its place only after all earlier
  ///                 messages of this member to other domains, or to all nodes, have their
  ///                 places; this wait takes a round of messages between nodes. Empty: all nodes.
  /// @return         a ticket; or would_block (too much waits: read events, or wait with
  ///                 multicast_for), too_large, closed, invalid_option (no such domain here).
  /// Blocks: never for long.
  Result<Ticket> multicast(std::span<const std::byte> payload, Service service,
                           std::string_view domain = {});
  Result<Ticket> multicast(std::string_view text, Service service, std::string_view domain = {});
  /// Like multicast(), waiting up to `patience` while too many messages wait. Do not call it from
  /// the only thread that reads events: if this member's queue of events is full, the call waits in
  /// vain. With Thread::caller, the thread that runs the member continues to run it meanwhile.
  Result<Ticket> multicast_for(std::span<const std::byte> payload, Service service,
                               std::chrono::milliseconds patience, std::string_view domain = {});

  /// The next event, or nothing if there is none at the moment. After Closed there is never one.
  /// Blocks: never. With Thread::caller, next() does the member's pending work if no event waits.
  std::optional<Event> next();
  /// Like next(), waiting up to `patience` for an event.
  std::optional<Event> wait(std::chrono::milliseconds patience);
  /// A descriptor for poll(2) and similar calls: readable when next() has an event, and perhaps
  /// once more after the last event was read; with Thread::caller, also when next() has work to do.
  /// Call next() until it returns nothing before you wait for the descriptor. Do not read from it.
  /// Valid as long as the member.
  int fd() const;

  /// Accepts no more messages, waits up to `patience` until those already queued are delivered
  /// here, leaves the view and stops the thread, if it has one. Delivered events can still be read.
  /// Blocks: up to `patience`, and some milliseconds.
  void leave(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// Reads Config::key_file again, and continues with the keys in it: no message is lost, and the
  /// view stays. Change one thing at a time, on all nodes, as `peal keygen` says.
  ///
  /// @return  the key for sending, as `peal keygen --list` shows it; or invalid_option (the message
  ///          says what is wrong with the file, and the old keys stay in use), closed.
  /// Blocks: for reading the file. The keys take effect in the next turn of the member's thread.
  Result<std::string> reload_keys();

  /// Makes this list of nodes active: no message is lost, and the view stays. The list is pending
  /// until all members of the view have it; Status::list_waits_for says what it waits for. Change
  /// one thing at a time, on all nodes: give the list to all running nodes, then start new ones.
  /// Stop removed nodes. Nodes that stay keep their numbers.
  ///
  /// `acceptors`, with Paxos and Ridge: the future acceptors, as in Paxos::acceptors. New nodes
  /// must be fewer than a majority of them. A node needs a `data_dir` to become an acceptor, unless
  /// votes are in memory.
  ///
  /// @return  done; or invalid_option (the message says why this change is not possible, and
  ///          what to do; the old list stays), closed.
  /// Blocks: for about a millisecond.
  Result<void> set_nodes(const std::vector<Node>& nodes,
                         const std::vector<std::uint32_t>& acceptors = {});

  /// This incarnation, as in View::members. Before the first view, it may still change.
  std::string id() const;
  /// Blocks: for about a millisecond.
  Status status() const;

 private:
  class Impl;
  explicit Member(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace peal
