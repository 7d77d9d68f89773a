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
// Nothing here throws but what the standard library throws when memory is used up.

namespace peal {
/// See types.h.
inline namespace v0 {

/// A message at its place in the order. Everything it points to is valid until the next call of
/// next() or wait().
struct Message {
  std::string_view sender;             ///< the member that sent it, such as "a.210987654321"
  std::uint64_t number{};              ///< counts the sender's messages, from 1
  bool own = false;                    ///< sent by this member
  Service service{};                   ///< what its sender asked for
  std::span<const std::byte> payload;  ///< its bytes; may be empty

  // Its place: the same at every member. Places in a view's order ascend in (position, index).
  std::string_view view;      ///< the view that ordered it
  std::uint64_t position{};   ///< from 1; with domains there are gaps
  std::uint32_t index{};      ///< among the messages of one position, from 0
  bool transitional = false;  ///< delivered in the transitional view that follows `view`
  std::string_view domain;    ///< that learns it; empty: all nodes
  bool as_guessed = false;    ///< with Ridge::optimistic: Early said that it comes exactly here

  /// The payload as text.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// With Ridge::optimistic: a message before it has its place, once in a view, each sender's in its
/// order. What has not come as a Message when the next regular view does is void.
struct Early {
  Message message;  ///< `position` and `index` are where it will probably come
};

/// Who is there. A regular view starts a new order; the transitional view before it says who comes
/// along from the old one: for the messages between the two, promises hold among those members.
struct View {
  bool transitional = false;  ///< which of the two kinds
  std::string id;             ///< such as "12@a.210987654321"; transitional: of the next view
  std::string old;            ///< the regular view before; empty if there was none
  std::vector<std::string> members;  ///< sorted by node
  std::optional<bool> primary;       ///< may it act for the whole cluster? Only with "majority"
  std::string reason;                ///< why this node gave up the view before, for people
};

/// Something that a person should know and may have to act on.
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

/// Another node of the cluster, and where it is.
struct NodeAddress {
  std::string name;     ///< as in Config::nodes
  std::string address;  ///< as configured
  std::string at;       ///< IP address and port; empty: not found yet
  std::string problem;  ///< why the name was not found when it was looked up last; empty: it was
};

/// A node of the cluster that is not in the view.
struct MissingNode {
  std::string name;    ///< as in Config::nodes
  std::string reason;  ///< what keeps it out, such as another key; empty: nothing is known here
};

/// How a member is doing.
struct Status {
  std::string id;                    ///< this member, such as "a.210987654321"
  std::string view;                  ///< the newest regular view; empty before the first
  std::vector<std::string> members;  ///< of that view
  std::uint64_t queued_messages{};   ///< that wait to be ordered
  std::uint64_t queued_bytes{};      ///< their payloads
  std::uint64_t unread_bytes{};      ///< that wait to be read by next(), about
  std::string order;                 ///< "ring", "paxos" or "ridge": see Config::order
  /// What was chosen of its options, by their keys in a configuration file: "3" of
  /// "ridge.ensembles". Those that say how it orders.
  std::map<std::string, std::string> options;
  std::vector<std::string> domains;  ///< of Ridge::domains, those that this node is in
  std::string waits_for;             ///< what the next delivery or message waits for, in words
  std::vector<MissingNode> missing;  ///< who is not in the view
  std::string multicast;             ///< how data reaches the others, in words
  std::string data;                  ///< Config::data, and who is not reached, in words
  std::string seal;                ///< "key 1f0e9a3b", which packets are sealed with, or "insecure"
  std::vector<NodeAddress> nodes;  ///< all but this one
  std::vector<std::string> list;   ///< names of the nodes that count
  /// Names of those of Member::set_nodes(), or of Config::nodes, until they count; or empty.
  std::vector<std::string> next_list;
  std::string list_waits_for;  ///< what they wait for, in words; empty: nothing
  /// Every counter of the node and its transport, by name.
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

/// One member of a cluster, inside this process.
/// Threads: multicast(), multicast_for(), fd(), id(), status(), reload_keys(), set_nodes() and
/// leave() from any thread, also at the same time; next() and wait() from one thread at a time.
/// With Thread::caller, leave() counts as next() and wait(), and whoever calls status() or
/// set_nodes() on another thread waits until one of them runs. One that was moved from can only be
/// destroyed or assigned to.
/// fork(): a member is its maker's. In the child its descriptors are closed, it can be destroyed,
/// which the parent's member does not notice, and all else is refused (closed).
class Member {
 public:
  /// Opens the node's sockets and starts its thread, if it has one: it looks for the other nodes.
  ///
  /// @return  the member; or invalid_option (the message names the key, its value and what is
  ///          accepted, or that the name of this node has no address of this machine),
  ///          would_block (nobody knows the name of this node yet: try again), address_in_use,
  ///          not_permitted, system, wrong_version.
  /// Blocks: up to 5 s, if the address of this node is a name. Others are looked up meanwhile.
  /// `header` is for the compiler to fill in, as in client.h.
  static Result<Member> embed(const Config& config, std::uint32_t header = PEAL_VERSION);

  Member(Member&&) noexcept;
  Member& operator=(Member&&) noexcept;
  /// As leave() without patience, if it has not left yet.
  ~Member();

  /// Queues a message for ordered delivery to all members of the view, this one included.
  ///
  /// @param payload  0 to Config::message_bytes_max bytes; copied before return.
  /// @param domain   of Ridge::domains, one that this node is in: only its nodes learn the
  /// message.
  ///                 What this member sent to another domain, or to all, before it, has its place
  ///                 before this one can get its own, which takes a round of messages. Empty: all.
  /// @return         a ticket; or would_block (too much waits: read events, or wait with
  ///                 multicast_for), too_large, closed, invalid_option (no such domain here).
  /// Blocks: never for long.
  Result<Ticket> multicast(std::span<const std::byte> payload, Service service,
                           std::string_view domain = {});
  Result<Ticket> multicast(std::string_view text, Service service, std::string_view domain = {});
  /// The same, waiting up to `patience` while too much waits. Do not call it from the only thread
  /// that reads events: if this member's own events are what is full, nothing would move. A thread
  /// that runs the member goes on running it meanwhile.
  Result<Ticket> multicast_for(std::span<const std::byte> payload, Service service,
                               std::chrono::milliseconds patience, std::string_view domain = {});

  /// The next event, or nothing if there is none at the moment. After Closed there is never one.
  /// Blocks: never. A thread that runs the member does what there is to do, if no event waits.
  std::optional<Event> next();
  /// The same, waiting up to `patience` for an event.
  std::optional<Event> wait(std::chrono::milliseconds patience);
  /// A descriptor for poll(2) and the like: readable when next() has an event, and perhaps once
  /// more after that; with Thread::caller, when next() has something to do. Call next()
  /// until it has nothing before you wait for it. Do not read it. Valid as long as the member.
  int fd() const;

  /// Takes no more messages, waits up to `patience` until those already queued are delivered here,
  /// says goodbye and stops the thread, if it has one. What was delivered can still be read.
  /// Blocks: up to `patience`, and some milliseconds.
  void leave(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// Reads Config::key_file again, and goes on with the keys in it: no message is lost, and the
  /// view stays. Change one thing at a time, on all nodes, as `peal keygen` says.
  ///
  /// @return  the key that is sent with, as `peal keygen --list` shows it; or invalid_option (the
  ///          message says what is wrong with the file, and the old keys stay in use), closed.
  /// Blocks: for reading the file. It takes effect in the next turn of whoever runs the member.
  Result<std::string> reload_keys();

  /// Goes over to this list of nodes: no message is lost, and the view stays. It counts once all
  /// members of the view have been given the same one; Status says what it waits for. Change one
  /// thing at a time, on all nodes: give the list to all that run, then start who is new. Who is
  /// removed is stopped. Nodes that stay keep their numbers.
  ///
  /// `acceptors`, with Paxos and Ridge: who votes from then on, as in Paxos::acceptors. Fewer than
  /// half of them may be new nodes. A node that was no acceptor needs a `data_dir` all the same.
  ///
  /// @return  nothing; or invalid_option (the message says why this list cannot be gone over to,
  /// and
  ///          what to do; the old one stays), closed.
  /// Blocks: for about a millisecond.
  Result<Done> set_nodes(const std::vector<Node>& nodes,
                         const std::vector<std::uint32_t>& acceptors = {});

  /// This incarnation, as in View::members. Before the first view, it may still change.
  std::string id() const;
  /// Blocks: for about a millisecond.
  Status status() const;

 private:
  class Core;
  explicit Member(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace v0
}  // namespace peal
