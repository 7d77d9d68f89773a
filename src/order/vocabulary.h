// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// What engines report: kinds of events, reasons to wait, and reasons to form a new view. Each of
// these is a constant, and its address identifies it. An engine that needs a further kind or reason
// defines the constant in the engine's own folder, and changes no other file.

namespace peal::order {

/// A reason why the node delivers no unit, or accepts no unit, at the moment.
struct WaitKind {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people; completes "waits for …". {who} stands for the names of the awaited nodes, {is} and
  /// {has} for the verb in singular or plural, {seq} for the position.
  std::string_view text;
  /// The text if the engine names no awaited node. If text_of_nobody is empty, `text` is used, with
  /// "a member" in place of {who}.
  std::string_view text_of_nobody{};
  /// True: while a node waits for this reason, the node's view cannot act for the whole cluster,
  /// even if the view was installed as primary.
  bool without_majority = false;
};

/// A kind of event that an engine reports, for people or for counters.
struct EventKind {
  std::string_view name;  ///< for programs: lower case and '_'
};

/// Why a member gave up its view, or what a bad record is about.
struct GatherReason {
  std::string_view name;  ///< for programs: lower case and '_'
  /// For people, without a full stop. {who} stands for the member that caused the gathering,
  /// {pause_ms} for the milliseconds during which this process did not run.
  std::string_view text;
};

namespace wait {

inline constexpr WaitKind nothing{"nothing", ""};
inline constexpr WaitKind packet{"packet", "position {seq}, which did not arrive here"};
inline constexpr WaitKind slow_application{"slow_application",
                                           "the application of {who} to read its messages"};
/// Flow control: {who} is behind the newest position by the maximum gap.
inline constexpr WaitKind window{"window",
                                 "{who} to receive what was sent; flow control holds back more"};
/// Members gather to agree on a view.
inline constexpr WaitKind gathering{"gathering", "{who} to agree on the members"};
/// Members retransmit the missing packets of the old view.
inline constexpr WaitKind recovering{"recovering",
                                     "{who} to fetch the messages of the old view that it lacks"};
/// This node receives packets of nodes that do not receive this node's packets.
inline constexpr WaitKind not_heard{
    "not_heard",
    "others to hear this node: {who} {is} heard here, and nothing that this node sends arrives "
    "there"};

// Reasons to wait that only engines with acceptors report.

inline constexpr WaitKind coordinator{"coordinator", "{who} to be elected coordinator",
                                      "a coordinator to be elected"};
/// {who}: acceptors that this node suspects, or that may not vote.
inline constexpr WaitKind quorum{
    "quorum", "a majority of the acceptors to vote for position {seq}; {who} {has} not"};
inline constexpr WaitKind majority{
    "majority", "a majority of the acceptors; {who} {is} not heard", {}, true};
/// No order exists yet. Acceptors with votes in memory, or with new logs, must bootstrap an order
/// together.
inline constexpr WaitKind bootstrap{
    "bootstrap", "all acceptors to be there: no order has begun yet; {who} {is} not heard",
    "all acceptors to be there: no order has begun yet", true};
/// As `bootstrap`, but the acceptors have different lists. {who}: nodes whose current incarnation
/// has agreed to begin with another list of nodes.
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
/// Most acceptors are amnesiac. {who}: acceptors that are amnesiac or suspected.
inline constexpr WaitKind amnesiac{
    "amnesiac",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes: {who}",
    "all nodes to be stopped, and started again, with empty data_dirs if they have any: most "
    "acceptors lost their votes",
    true};
/// Packets of some members of the view do not arrive here, so the view may exclude this node.
inline constexpr WaitKind unheard{
    "unheard",
    "packets of {who} to arrive here; a view may go on without this node: look at the network "
    "between the two"};
/// The log of {who} has made nothing durable for a long time.
inline constexpr WaitKind disk{"disk", "the disk of {who}, which has written nothing for long"};

}  // namespace wait

namespace event {

// The comment at each kind says what the fields of Event mean.

/// view; a = number of members; b = nanoseconds since the gathering began (0 if the engine does not
/// gather members).
inline constexpr EventKind view_installed{"view_installed"};
/// reason; view = the last view; who = the member that caused the gathering, if any; b = number of
/// candidates.
inline constexpr EventKind gather_started{"gather_started"};
inline constexpr EventKind consensus_reached{"consensus_reached"};  ///< a = number of candidates
inline constexpr EventKind commit_started{"commit_started"};        ///< view; a = number of members
/// view; a = number of missing units.
inline constexpr EventKind recovery_started{"recovery_started"};
inline constexpr EventKind member_accused{"member_accused"};    ///< who = the member; reason
inline constexpr EventKind epoch_corrected{"epoch_corrected"};  ///< a = new epoch
inline constexpr EventKind incompatible_peer{
    "incompatible_peer"};  ///< who = the peer; a = wire::Drop reason; once per peer and reason
/// who = the writer; a = wire::Drop reason; reason = what it has written into this node's memory.
/// Once for each of these.
inline constexpr EventKind bad_record{"bad_record"};
inline constexpr EventKind nodes_adopted{
    "nodes_adopted"};  ///< a = hash of the newly active list of nodes
/// a = hash of the newly active list, which differs from this node's configured list.
inline constexpr EventKind nodes_not_given{"nodes_not_given"};
inline constexpr EventKind paused{"paused"};  ///< a = length of the pause in nanoseconds

// Events of engines with acceptors.
inline constexpr EventKind votes_forgotten{
    "votes_forgotten"};  ///< this acceptor has lost its votes, and does not vote
/// who = an acceptor, maybe this node. It had lost its votes, and may vote again now.
inline constexpr EventKind acceptor_renewed{"acceptor_renewed"};
/// who = an acceptor, maybe this node. Its log is an older copy, so it does not vote.
inline constexpr EventKind log_put_back{"log_put_back"};
/// For lack of space, this node dropped values that it retained for the excluded member `who`. a =
/// number of instances of these values.
inline constexpr EventKind owed_dropped{"owed_dropped"};

/// All events above.
std::span<const EventKind* const> shared();

}  // namespace event

}  // namespace peal::order
