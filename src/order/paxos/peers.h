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

/// A node is admitted to a view, or counts as an acceptor of a pending list, if it lags by at most
/// so many instances: under full load, a report that is one heartbeat old lags about as much.
inline wire::Instance join_lag(const Options& options) {
  return std::max<wire::Instance>(512, options.max_gap / 2);
}

/// How much of the log of one node was durable, as its incarnations reported. This shows whether a
/// later incarnation begins with an older copy.
class LogsHeard {
 public:
  /// The incarnation with this epoch sent this STATE. An incarnation that reports `sure` has
  /// received all that this node remembered of earlier ones.
  void note(std::uint64_t epoch, const wire::State& said);
  /// Another incarnation appeared.
  void begin();
  /// What earlier incarnations reported of the log with this id.
  std::vector<wire::LogHeard> before(std::uint64_t life) const;
  void add_to(Digest& digest) const;

 private:
  struct Heard {
    std::uint64_t life{};
    wire::LogHeard last{};
  };
  Heard now_;
  Heard before_;  ///< of the previous incarnation
  Heard untold_;  ///< of an incarnation before that, of which the previous one may not know
  bool asks_ = false;
};

/// What is known of one node of the active or the pending list.
struct Peer {
  NodeId node{};
  bool self = false;
  bool listed = false;       ///< in the active list
  bool named = false;        ///< an acceptor in the active list
  std::uint64_t life{};      ///< of an acceptor: the incarnation whose votes count. 0: no order has
                             ///< begun
  std::uint64_t has_life{};  ///< the incarnation that it reports; 0: not reported yet
  bool put_back = false;     ///< it reports that its log is an older copy
  bool acceptor = false;     ///< named, and its votes count; false for amnesiac ones
  bool silent = false;       ///< this node itself: it must not vote until another node confirms
                             ///< that it may
  MemberId member{};         ///< its newest known incarnation; epoch 0: none
  bool suspected = true;     ///< never true of this node itself
  Instant heard{};
  Duration patience{};        ///< the time without a packet after which it is suspected
  Duration silence{};         ///< the longest time without a packet in the last seconds
  Duration silence_before{};  ///< `silence` of the seconds before those
  Instant lately_until{};     ///< when `silence` is reset
  Instant shrinks_at{};       ///< when patience shrinks, if nothing lengthens it
  Duration forgiven{};        ///< the longest suspension of this process in the present silence
  bool asked = false;         ///< it requested decided values after this node's coordinator last
                              ///< looked
  Reception reception;        ///< how well its packets arrive
  bool works = true;          ///< this node and it hear each other
  bool serve = true;          ///< it can be in a view that this node coordinates
  bool chosen = true;         ///< it is one of the nodes that should be in one view
  Instant keeps_up{};  ///< when it last progressed, had everything, or its application was full
  wire::Instance came_to{};  ///< its next instance (State::next) at the last watch()
  bool has_state = false;
  wire::State state;     ///< its last STATE; until the first one, default values
  bool refused = false;  ///< its last STATE was of another list or of another order
  bool bound = false;    ///< it named acceptors for another list (LIVES), and an incarnation does
                         ///< so for one list only
  LogsHeard logs;        ///< what it reported of its log
};

/// Does the peer show that an order exists? As long as nothing is decided in an order, only the
/// acceptors of that order may show it.
inline bool tells_of_order(const Peer& peer) {
  return peer.state.next > 1 || (peer.state.next == 1 && peer.named);
}

/// The nodes: which seem alive, and what each reported last.
class Peers {
 public:
  /// `life`: incarnation of this node as an acceptor (wire::Nodes::lives); 0 if it is never one.
  Peers(const MemberId& self, std::uint64_t life, const Options& options,
        const LinkRhythm& rhythm = kRhythmOfOne);

  void start(Instant now);
  /// Sets the active list (`counts`) and further nodes to be known (`others`, sorted). Keeps what
  /// is known of each node.
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

  /// The number of acceptors, including this node, that are or may be in the named incarnations. 0
  /// if this node is the only one and must not vote: no other node can confirm that it may.
  std::size_t lives() const;
  /// A packet of the peer arrived. False: it is of an older incarnation than the newest known one.
  bool note(Instant now, Peer& peer, const MemberId& member);
  /// Call it once per heartbeat, on a node that has consumed all below `next`: looks for nodes
  /// without progress whose applications are not full.
  void watch(Instant now, wire::Instance next);
  /// The peer has made no progress for so long that it is not served: a view continues without it.
  bool is_stuck(Instant now, const Peer& peer) const;
  /// A STATE of the peer arrived. An older one of the same incarnation does not replace the
  /// last one.
  void note_state(Peer& peer, const wire::State& state);
  /// The log of this node is an older copy.
  void put_back();
  /// Forgets the peer's STATE.
  static void forget_state(Peer& peer);
  /// The peer's last STATE does not apply here. Earlier ones are outdated, and are forgotten.
  void refuse_state(Peer& peer);
  /// A coordinator's proposal shows that a majority voted in `round` for all instances up to
  /// `upto`.
  void note_decided(const wire::Round& round, wire::Instance upto);
  /// Suspects nodes that were silent for too long.
  void tick(Instant now);
  /// This process was suspended for this time: silent nodes get that much more time, but during one
  /// silence only as much as the longest pause. Packets that this process did not read show nothing
  /// about links.
  void forgive(Instant now, Duration gap);

  /// Acceptors that are not suspected, including this node unless it must not vote.
  std::size_t live_acceptors() const;
  /// The acceptor that should coordinate if none does: the fittest that is not suspected; among
  /// equally fit ones, one that knows the state of the order; among these, the first one from index
  /// `first` on, cyclically. Null if there is none.
  const Peer* candidate(std::size_t first) const;
  /// Does any node know the state of the order?
  bool anybody_knows() const;

  void add_to(Digest& digest) const;

 private:
  MemberId id_;
  std::uint64_t own_life_;
  Options options_;
  LinkRhythm rhythm_;
  Instant started_{};
  std::vector<Peer> peers_;  ///< by node; always contains this one
  std::size_t self_ = 0;
  std::size_t listed_ = 0;
  std::size_t acceptors_ = 0;
};

}  // namespace peal::order::paxos
