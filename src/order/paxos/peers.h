// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/paxos/options.h"
#include "order/paxos/reception.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// A node is taken into a view, or counts as an acceptor of a list to come, once it is no more than
/// so many instances behind: under full load that is what it last said of itself a heartbeat ago.
inline wire::Instance join_lag(const Options& options) {
  return std::max<wire::Instance>(512, options.max_gap / 2);
}

/// How far the log of one node was durable, as its incarnations said: so that a later one that
/// begins with an older copy can be told.
class LogsHeard {
 public:
  /// The incarnation with this epoch says so. One that is `sure` has been told all that was
  /// remembered here of those before.
  void note(std::uint64_t epoch, const wire::State& said);
  /// Another incarnation is there.
  void begin();
  /// Of the log with this id: what incarnations before said of it.
  std::vector<wire::LogHeard> before(std::uint64_t life) const;
  void add_to(Digest& digest) const;

 private:
  struct Heard {
    std::uint64_t life{};
    wire::LogHeard last{};
  };
  Heard now_;
  Heard before_;  ///< of the last incarnation before
  Heard untold_;  ///< of one before that; the last one may not have been told
  bool asks_ = false;
};

/// What is known of one node: of the list that counts, or of the one to go over to.
struct Peer {
  NodeId node{};
  bool self = false;
  bool listed = false;       ///< in the list that counts
  bool named = false;        ///< in that list as an acceptor
  std::uint64_t life{};      ///< of an acceptor: whose votes count. 0: no order has begun
  std::uint64_t has_life{};  ///< that it has, as it says; 0: it has not said it
  bool put_back = false;     ///< it says that its log is an older copy
  bool acceptor = false;     ///< named, and its votes count: else it has forgotten some
  bool silent = false;       ///< this node itself: it must not vote until it is told so
  MemberId member{};         ///< its newest incarnation that was heard of; epoch 0: none was
  bool suspected = true;     ///< never true of this node itself
  Instant heard{};
  Duration patience{};        ///< without a sign of life before it is suspected
  Duration silence{};         ///< the longest in the last seconds
  Duration silence_before{};  ///< and in those before
  Instant lately_until{};     ///< when `silence` begins anew
  Instant shrinks_at{};       ///< patience, if nothing speaks against it
  Duration forgiven{};        ///< of the present silence: this process did not run for so long
  bool asked = false;         ///< for what was decided, since its coordinator looked
  Reception reception;        ///< how well its packets arrive
  bool works = true;          ///< this node and it hear each other
  bool serve = true;          ///< it can be in a view that this node coordinates
  bool chosen = true;         ///< it is of those that should go on together
  Instant keeps_up{};  ///< when it last came further, had all, or its application took nothing
  wire::Instance came_to{};  ///< how far it had come then
  bool has_state = false;
  wire::State state;     ///< as it said last; if it said nothing, it knows and did nothing
  bool refused = false;  ///< its last state was: it goes by another list, or by another order
  bool bound = false;    ///< it said LIVES for another list, and never changes that in its life
  LogsHeard logs;        ///< what it said of its log
};

/// An order in which nothing is decided yet is learnt from its acceptors alone.
inline bool tells_of_order(const Peer& peer) {
  return peer.state.next > 1 || (peer.state.next == 1 && peer.named);
}

/// The nodes: who is alive, as far as it seems, and what each said last.
class Peers {
 public:
  /// `life`: of this node, see wire::Nodes::lives; 0 if it is never an acceptor.
  Peers(const MemberId& self, std::uint64_t life, const Options& options,
        const LinkRhythm& rhythm = kRhythmOfOne);

  void start(Instant now);
  /// The list that counts, and who else is to be known: sorted. What is known of a node stays.
  void know(const wire::Nodes& counts, const std::vector<NodeId>& others);
  Peer* find(NodeId node);
  const Peer* find(NodeId node) const;
  Peer& self() { return peers_[self_]; }
  const Peer& self() const { return peers_[self_]; }
  std::vector<Peer>& all() { return peers_; }
  const std::vector<Peer>& all() const { return peers_; }
  std::size_t listed() const { return listed_; }
  std::size_t acceptors() const { return acceptors_; }
  std::size_t majority() const { return acceptors_ / 2 + 1; }

  /// Acceptors of the list in the life that counts, this node included, as far as is known. If it
  /// is silent and the only one, it stays so.
  std::size_t lives() const;
  /// A sign of life. False: of an incarnation that was before another.
  bool note(Instant now, Peer& peer, const MemberId& member);
  /// Once in each heartbeat, by a node that has consumed all below `next`: looks for nodes that
  /// come no further, and not because their application takes nothing.
  void watch(Instant now, wire::Instance next);
  /// It has come no further for so long that it is not served: a view goes on without it.
  bool is_stuck(Instant now, const Peer& peer) const;
  /// What it says of itself; older words of the same incarnation are not believed.
  void note_state(Peer& peer, const wire::State& state);
  /// The log of this node is an older copy.
  void put_back();
  /// What it said is not believed any more.
  static void forget_state(Peer& peer);
  /// What it said last does not count here, nor does what it said before: it is not so any more.
  void refuse_state(Peer& peer);
  /// The same for what a coordinator said with a value: a majority voted in its round, up to there.
  void note_decided(const wire::Round& round, wire::Instance upto);
  /// Suspects those who were silent for too long.
  void tick(Instant now);
  /// This process did not run for so long: others have that much longer, but of one silence only
  /// for the longest pause. What was not read meanwhile says nothing of links.
  void forgive(Instant now, Duration gap);

  /// Acceptors that are not suspected, this node included unless it is silent.
  std::size_t live_acceptors() const;
  /// The first such acceptor, from the one with index `first` on and round the list, that should
  /// coordinate if nobody does: one that knows where the order stands before one that does not.
  /// Null if there is none.
  const Peer* candidate(std::size_t first) const;
  /// Is anybody known to know where the order stands?
  bool anybody_knows() const;

  void add_to(Digest& digest) const;

 private:
  MemberId id_;
  std::uint64_t own_life_;
  Options options_;
  LinkRhythm rhythm_;
  Instant started_{};
  std::vector<Peer> peers_;  ///< by node; this one is always among them
  std::size_t self_ = 0;
  std::size_t listed_ = 0;
  std::size_t acceptors_ = 0;
};

}  // namespace peal::order::paxos
