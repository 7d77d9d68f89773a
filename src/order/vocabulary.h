// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// What engines report: events, reasons to wait, reasons to form a new view. The vocabularies are
// open. A word is a constant, identified by its address. An engine that needs another word defines
// it in its own folder, with its text, and changes nothing else.

namespace peal::order {

/// Why nothing is delivered or submitted at the moment.
struct WaitKind {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people; completes "waits for …". {who} stands for the names of the awaited nodes, {is} and
  /// {has} for the matching verb, {seq} for the position.
  std::string_view text;
  /// The text if no node is named. If this is empty, `text` is used, with "a member" for {who}.
  std::string_view text_of_nobody{};
  /// True: while a node waits for this, its view cannot act for the whole cluster, even if the view
  /// was installed as primary.
  bool without_majority = false;
};

/// A report for people or counters.
struct EventKind {
  std::string_view name;  ///< for programs: lower case and '_'
};

/// Why a member gave up its view.
struct GatherReason {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people, without a full stop. {who} stands for the member that gave the reason, {pause_ms}
  /// for the time that this process did not run.
  std::string_view text;
};

namespace wait {

inline constexpr WaitKind nothing{"nothing", ""};
inline constexpr WaitKind packet{"packet", "position {seq}, which did not arrive here"};
inline constexpr WaitKind slow_application{"slow_application",
                                           "the application of {who} to read its messages"};
/// Flow control: the members have used up the maximal gap.
inline constexpr WaitKind window{"window",
                                 "{who} to receive what was sent; flow control holds back more"};
/// Members gather to agree on a view.
inline constexpr WaitKind gathering{"gathering", "{who} to agree on the members"};
/// Members repair the packets of the old view.
inline constexpr WaitKind recovering{"recovering",
                                     "{who} to fetch the messages of the old view that it lacks"};
/// This node hears nodes that do not receive this node's packets.
inline constexpr WaitKind not_heard{
    "not_heard",
    "others to hear this node: {who} {is} heard here, and nothing that this node sends arrives "
    "there"};

// Reasons to wait of engines with acceptors.

inline constexpr WaitKind coordinator{"coordinator", "{who} to be elected coordinator",
                                      "a coordinator to be elected"};
/// {who}: the acceptors that have not voted.
inline constexpr WaitKind quorum{
    "quorum", "a majority of the acceptors to vote for position {seq}; {who} {has} not"};
inline constexpr WaitKind majority{
    "majority", "a majority of the acceptors; {who} {is} not heard", {}, true};
/// Acceptors with votes in memory, or with new logs, bootstrap an order together.
inline constexpr WaitKind bootstrap{
    "bootstrap", "all acceptors to be there: no order has begun yet; {who} {is} not heard",
    "all acceptors to be there: no order has begun yet", true};
/// As bootstrap; {who}: nodes whose current incarnation agreed to another list of nodes.
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
/// Most acceptors are amnesiac; {who}: some of the amnesiac ones.
inline constexpr WaitKind amnesiac{
    "amnesiac",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes: {who}",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes",
    true};
/// Packets of members of the view do not arrive here, so the view may exclude this node.
inline constexpr WaitKind unheard{
    "unheard",
    "packets of {who} to arrive here; a view may go on without this node: look at the network "
    "between the two"};
/// The log of {who} has made nothing durable for a long time.
inline constexpr WaitKind disk{"disk", "the disk of {who}, which has written nothing for long"};

}  // namespace wait

namespace event {

// For each kind: what the fields of Event mean.
inline constexpr EventKind view_installed{
    "view_installed"};  ///< view; a = number of members, b = nanoseconds since the gathering began
inline constexpr EventKind gather_started{
    "gather_started"};  ///< reason; view = the last view; who = the member that gave the reason, if
                        ///< any; b = number of candidates
inline constexpr EventKind consensus_reached{"consensus_reached"};  ///< a = number of candidates
inline constexpr EventKind commit_started{"commit_started"};        ///< view; a = number of members
inline constexpr EventKind recovery_started{"recovery_started"};    ///< view; a = number of missing
                                                                    ///< units
inline constexpr EventKind member_accused{"member_accused"};        ///< who, reason
inline constexpr EventKind epoch_corrected{"epoch_corrected"};      ///< a = new epoch
inline constexpr EventKind incompatible_peer{
    "incompatible_peer"};  ///< who; a = wire::Drop reason. Reported once per peer and reason
inline constexpr EventKind nodes_adopted{
    "nodes_adopted"};  ///< a = hash of the newly active list of nodes
/// a = hash of the newly active list, which differs from this node's configured list.
inline constexpr EventKind nodes_not_given{"nodes_not_given"};
inline constexpr EventKind paused{"paused"};  ///< a = length of the pause in nanoseconds

// Events of engines with acceptors.
inline constexpr EventKind votes_forgotten{
    "votes_forgotten"};  ///< this acceptor has lost its votes, and does not vote
/// who = an acceptor, maybe this one, that had lost its votes and votes again.
inline constexpr EventKind acceptor_renewed{"acceptor_renewed"};
/// who = an acceptor, maybe this one, whose log is an older copy: it does not vote.
inline constexpr EventKind log_put_back{"log_put_back"};
/// who = an excluded member for which this node had no space to retain values; a = number of
/// instances.
inline constexpr EventKind owed_dropped{"owed_dropped"};

/// All events above.
std::span<const EventKind* const> shared();

}  // namespace event

}  // namespace peal::order
