// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// What engines report: events, reasons to wait, reasons to form a new view. The vocabularies are
// open. A word is a constant, and two words are the same if they have the same address. An engine
// that needs a word which is not here defines it in its own folder, with its text; nothing else
// changes.

namespace peal::order {

/// Why nothing is delivered or submitted at the moment.
struct WaitKind {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people; completes "waits for …". Of it, {who} becomes the names of the nodes waited for,
  /// {is} and {has} the verb that goes with them, {seq} the position.
  std::string_view text;
  /// The text if no node is named; empty: `text`, with "a member" for {who}.
  std::string_view text_of_nobody{};
  /// The view cannot act for the whole cluster at the moment, whatever was claimed when it was
  /// installed.
  bool without_majority = false;
};

/// Something that a person or a counter may want to know of.
struct EventKind {
  std::string_view name;  ///< for programs: lower case and '_'
};

/// Why a member gave up its view.
struct GatherReason {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people, without a full stop. {who} becomes the name of the member that gave the reason;
  /// {pause_ms}: how long this process did not run.
  std::string_view text;
};

namespace wait {

inline constexpr WaitKind nothing{"nothing", ""};
inline constexpr WaitKind packet{"packet", "position {seq}, which did not arrive here"};
inline constexpr WaitKind slow_application{"slow_application",
                                           "the application of {who} to read its messages"};
/// Flow control: the maximal gap is used up.
inline constexpr WaitKind window{"window",
                                 "{who} to receive what was sent; flow control holds back more"};
/// Members are looking for each other.
inline constexpr WaitKind gathering{"gathering", "{who} to agree on who is there"};
/// The packets of the old view are being repaired.
inline constexpr WaitKind recovering{"recovering", "{who} to get what it lacks of the old view"};
/// What this node sends does not arrive at nodes that are heard here.
inline constexpr WaitKind not_heard{
    "not_heard",
    "others to hear this node: {who} {is} heard here, and nothing that this node sends arrives "
    "there"};

// Of engines with acceptors.

inline constexpr WaitKind coordinator{"coordinator", "{who} to be elected coordinator",
                                      "a coordinator to be elected"};
/// The nodes named are acceptors that have not voted.
inline constexpr WaitKind quorum{
    "quorum", "a majority of the acceptors to vote for position {seq}; {who} {has} not"};
inline constexpr WaitKind majority{
    "majority", "a majority of the acceptors; {who} {is} not heard", {}, true};
/// Acceptors with votes in memory, or with new logs, begin an order together.
inline constexpr WaitKind bootstrap{
    "bootstrap", "all acceptors to be there: no order has begun yet; {who} {is} not heard",
    "all acceptors to be there: no order has begun yet", true};
/// As bootstrap; the nodes named agreed, in this incarnation, to begin with another list of nodes.
inline constexpr WaitKind bound{
    "bound",
    "all acceptors to begin with the same list of nodes: {who} agreed to begin with another one: "
    "restart {who}, with an empty data_dir if it has one",
    {},
    true};
inline constexpr WaitKind other_list{
    "other_list",
    "all acceptors to begin with the same list of nodes: the list of {who} is another one: run "
    "peal reload where it is out of date",
    {},
    true};
/// Most acceptors have lost their votes; those named among them.
inline constexpr WaitKind amnesiac{
    "amnesiac",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes: {who}",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes",
    true};
/// Packets of members of the view do not arrive here: it goes on without this node.
inline constexpr WaitKind unheard{
    "unheard",
    "packets of {who} to arrive here; a view may go on without this node: look at the network "
    "between the two"};
/// The log of the node named has made nothing durable for long.
inline constexpr WaitKind disk{"disk", "the disk of {who}, which has written nothing for long"};

}  // namespace wait

namespace event {

inline constexpr EventKind view_installed{
    "view_installed"};  ///< a = members, b = nanoseconds since the gathering began, view
inline constexpr EventKind gather_started{
    "gather_started"};  ///< reason, who = the member that gave it, if any
inline constexpr EventKind consensus_reached{"consensus_reached"};  ///< a = candidates
inline constexpr EventKind commit_started{"commit_started"};        ///< a = members, view
inline constexpr EventKind recovery_started{"recovery_started"};    ///< a = missing units, view
inline constexpr EventKind member_accused{"member_accused"};        ///< who
inline constexpr EventKind epoch_corrected{"epoch_corrected"};      ///< a = new epoch
inline constexpr EventKind incompatible_peer{
    "incompatible_peer"};  ///< who; a = Drop reason. Said once per peer and reason
inline constexpr EventKind nodes_adopted{
    "nodes_adopted"};  ///< a = hash of the list of nodes that counts from now on
/// a = hash of the list that counts from now on, which is another one than this node was given.
inline constexpr EventKind nodes_not_given{"nodes_not_given"};
inline constexpr EventKind paused{"paused"};  ///< a = nanoseconds

// Of engines with acceptors.
inline constexpr EventKind votes_forgotten{
    "votes_forgotten"};  ///< this acceptor has lost its votes: it does not vote
/// who: an acceptor that had lost its votes, maybe this one, votes again.
inline constexpr EventKind acceptor_renewed{"acceptor_renewed"};
/// who: this acceptor or another one, whose log is an older copy: it does not vote.
inline constexpr EventKind log_put_back{"log_put_back"};
/// who was excluded from a view, and is owed what this node had no room for; a = instances.
inline constexpr EventKind owed_dropped{"owed_dropped"};

/// All of them.
std::span<const EventKind* const> shared();

}  // namespace event

}  // namespace peal::order
