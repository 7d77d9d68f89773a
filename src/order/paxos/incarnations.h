// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/paxos/bootstrap.h"
#include "order/paxos/checkpointer.h"
#include "order/paxos/copy_check.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Determines which acceptors bootstrap an order, and which are amnesiac. An amnesiac acceptor has
/// lost its promises and votes in the order: its log is lost or an older copy, or its votes were in
/// memory.
///
/// The active list names one incarnation of each of its acceptors: that of the acceptor's log or,
/// with votes in memory, that of the acceptor's process. An acceptor promises and votes only in the
/// named incarnation. Other nodes ignore the promises and votes of other incarnations. README.md
/// has the reasons ("How an order begins", "A log that is an older copy").
class Incarnations {
 public:
  Incarnations(const Parts& parts, Checkpointer& checkpointer)
      : p_(parts), checkpointer_(checkpointer) {}

  // ---- start ----

  /// Call it after the log was replayed.
  void start();
  /// Records in the log on disk that this incarnation begins. False: the log takes no record.
  bool open();
  /// Call it once per heartbeat: counts the answers of other acceptors about this node's log.
  void look() { copy_check_.look(p_.peers); }

  // ---- bootstrap ----

  /// Call it once per heartbeat while no order is known: reports to all nodes the acceptors that
  /// this node names for the bootstrap. False: this node names none, or its log has not recorded
  /// them yet.
  bool tell_lives(Effects& out);
  wire::Drop on_lives(Peer& from, const BufferRef& packet);
  /// Begins the order, if all named acceptors have named the same acceptors. False: the order does
  /// not begin yet.
  bool begin_order();
  const Bootstrap& bootstrap() const { return bootstrap_; }

  // ---- rights of this node in the order ----

  /// True if this node may promise and vote: it is an acceptor of the active list, in the
  /// incarnation that the list names, and its log has a record of the list.
  bool votes() const;
  /// True if this node's log records decided values.
  bool keeps_log() const;
  /// True if this node is an acceptor of the active list, but must not vote.
  bool is_amnesiac() const;
  /// True if this node may send its checkpoint of the order. An acceptor that takes the checkpoint
  /// may vote because of it.
  bool may_speak_for_order() const;
  /// True if a majority of the acceptors confirms that this node's log is the latest one.
  bool is_sure() const { return copy_check_.is_sure(); }
  /// True if this node's log is an older copy.
  bool is_put_back() const { return copy_check_.is_put_back(); }
  wire::LogWord log_word() const { return copy_check_.word(); }

  /// May this node adopt the order of this checkpoint? Also true if this node knows an order
  /// already.
  bool believes(const Peer& from, const wire::Checkpoint& said) const;
  /// May this node vote at once in `order`, which it adopts from a checkpoint of `from`?
  bool is_told_to_vote(const Peer& from, const wire::Nodes& order) const;
  /// A packet of a voting acceptor arrived: if that acceptor confirms this node's order, this node
  /// votes from now on.
  void hear_voter(const Peer& from);
  /// From now on, this node may vote in its order. Its log records the order first.
  void let_vote();
  /// Updates Peer::silent of this node: its place in the list or its right to vote may have
  /// changed.
  void update_silence();

  // ---- copies of logs ----

  /// The node `from` asks what this node remembers of the log of `from`: sends the answer.
  void answer_about_log(const Peer& from, const wire::State& said, Effects& out);
  wire::Drop on_log_heard(const Peer& from, const BufferRef& packet);

  /// Reports, once for each list, that this node is amnesiac. `view`: the last installed view.
  void report_amnesia(ViewId view, Effects& out);

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  void put_back();

  Parts p_;
  Checkpointer& checkpointer_;
  Bootstrap bootstrap_;
  bool taken_written_ = false;  ///< bootstrap_.taken() was written to the log, durable or not
  /// True if this node remembers all promises and votes that it may have given in its acceptor
  /// incarnation. Another node must confirm this, unless the log records that this node votes in
  /// the order.
  bool may_vote_ = false;
  CopyCheck copy_check_;
  /// Number of the list for which amnesia was reported.
  std::uint64_t told_amnesiac_ = ~std::uint64_t{0};
};

}  // namespace peal::order::paxos
