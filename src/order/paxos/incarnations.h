// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/paxos/bootstrap.h"
#include "order/paxos/checkpointer.h"
#include "order/paxos/copy_check.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Which acceptors begin an order, and which are amnesiac: they have forgotten what they said in
/// it, since their log is lost or an older copy, or their votes were in memory.
///
/// The list of nodes that counts names the life of each of its acceptors: its log, or in memory its
/// incarnation. An acceptor votes and promises in that life alone, and others count no other word
/// of it. README.md has the reasons ("How an order begins", "A log that is an older copy").
class Incarnations {
 public:
  Incarnations(const Parts& parts, Checkpointer& checkpointer)
      : p_(parts), checkpointer_(checkpointer) {}

  // ---- at the start ----
  /// The log was replayed.
  void start();
  /// The log on disk says that this incarnation begins. False: it takes nothing.
  bool open();
  /// Once in each heartbeat: other acceptors may be asked about the log.
  void look() { copy_check_.look(p_.peers); }

  // ---- how an order begins ----
  /// Once in each heartbeat, as long as no order is known: tells all whom this acceptor takes for
  /// those that begin one. False: nobody yet.
  bool tell_lives(Effects& out);
  wire::Drop on_lives(Peer& from, const BufferRef& packet);
  /// Begins the order, if all that this node takes for those that begin it have taken the same.
  /// False: not yet.
  bool begin_order();
  const Bootstrap& bootstrap() const { return bootstrap_; }

  // ---- what this node may say of the order ----
  /// It may promise and vote: it is an acceptor of the list that counts, in the life that the list
  /// names, and its log knows.
  bool votes() const;
  /// Its log says what is decided.
  bool keeps_log() const;
  /// It is an acceptor of the list that counts, and must not vote in it.
  bool is_amnesiac() const;
  /// It may tell others that the order goes on: they vote by that.
  bool may_speak_for_order() const;
  /// Its log is the one that it wrote last, as far as most acceptors know.
  bool is_sure() const { return copy_check_.is_sure(); }
  /// Its log is an older copy.
  bool is_put_back() const { return copy_check_.is_put_back(); }
  wire::LogWord log_word() const { return copy_check_.word(); }

  /// A checkpoint tells of an order that is new to this node: is it to be believed?
  bool believes(const Peer& from, const wire::Checkpoint& said) const;
  /// The same: may this node vote at once, as an acceptor of that order?
  bool is_told_to_vote(const Peer& from, const wire::Nodes& order) const;
  /// An acceptor that votes in the order says that it goes on: this node votes from now on.
  void hear_voter(const Peer& from);
  /// From now on this node votes in its order. Its log says so first.
  void let_vote();
  /// This node's part in the list may have changed: its own word counts or does not.
  void update_silence();

  // ---- copies of logs ----
  /// A node asks what was heard of its log.
  void answer_about_log(const Peer& from, const wire::State& said, Effects& out);
  wire::Drop on_log_heard(const Peer& from, const BufferRef& packet);

  /// Tells people once for each list that this node is amnesiac. `view`: installed last.
  void report_amnesia(ViewId view, Effects& out);

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  void put_back();

  Parts p_;
  Checkpointer& checkpointer_;
  Bootstrap bootstrap_;
  bool taken_written_ = false;  ///< the log has bootstrap_.taken(), durably or not yet
  /// This node has forgotten nothing that an acceptor in its life may have said. It has to be told
  /// so, unless its log says that it votes in the order.
  bool may_vote_ = false;
  CopyCheck copy_check_;
  std::uint64_t told_amnesiac_ = ~std::uint64_t{0};  ///< number of the list that it was told for
};

}  // namespace peal::order::paxos
