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
/// this many instances. Under full load, a report that is one heartbeat old lags by about as much.
inline wire::Instance join_lag(const Options& options) {
  return std::max<wire::Instance>(512, options.max_gap / 2);
}

/// The positions up to which one node's log was durable, as the node's incarnations reported them.
/// They show whether a later incarnation begins with an older copy of the log.
class LogsHeard {
 public:
  /// The incarnation with this epoch sent this STATE. An incarnation that reports `sure` has
  /// received all positions that this node remembered of earlier incarnations.
  void note(std::uint64_t epoch, const wire::State& said);
  /// Call when another incarnation of the node appears.
  void begin();
  /// The positions that earlier incarnations reported of the log with this id.
  std::vector<wire::LogHeard> before(std::uint64_t life) const;
  void add_to(Digest& digest) const;

 private:
  struct Heard {
    std::uint64_t life{};
    wire::LogHeard last{};
  };
  Heard now_;
  Heard before_;  ///< the report of the previous incarnation
  /// The report of an earlier incarnation; the previous incarnation may not have received it.
  Heard untold_;
  bool asks_ = false;
};

/// This node's knowledge of one node of the active or the pending list.
struct Peer {
  NodeId node{};
  bool self = false;
  bool listed = false;  ///< in the active list
  bool named = false;   ///< an acceptor in the active list
  /// The incarnation whose votes count, if the node is an acceptor; 0: no order has begun.
  std::uint64_t life{};
  std::uint64_t has_life{};  ///< the acceptor incarnation that the peer reports; 0: none yet
  bool put_back = false;     ///< the peer reports that its log is an older copy
  /// An acceptor in the active list whose votes count; false for amnesiac acceptors.
  bool acceptor = false;
  /// Can be true only in this node's own entry: no other node has confirmed yet that this node may
  /// vote.
  bool silent = false;
  MemberId member{};      ///< the newest known incarnation of the node; epoch 0: none
  bool suspected = true;  ///< never true of this node itself
  Instant heard{};
  Duration patience{};        ///< the time without a packet after which the peer is suspected
  Duration silence{};         ///< longest time without a packet in this period (kLately)
  Duration silence_before{};  ///< `silence` of the previous period
  Instant lately_until{};     ///< end of this period
  Instant shrinks_at{};       ///< when patience shrinks, if nothing lengthens it
  Duration forgiven{};  ///< longest suspension of this process during the peer's present silence
  /// The peer requested decided values. This node's Coordinator reads the flag and clears it.
  bool asked = false;
  Reception reception;  ///< how well the peer's packets arrive here
  bool works = true;    ///< this node and the peer hear each other
  bool serve = true;    ///< the peer can be in a view that this node coordinates
  bool chosen = true;   ///< the peer is one of the nodes that should be in one view
  /// When the peer last made progress, lacked nothing, or had a full application.
  Instant keeps_up{};
  wire::Instance came_to{};  ///< the peer's next instance (State::next) at the last watch()
  bool has_state = false;
  wire::State state;     ///< the peer's last STATE; default values until the first STATE
  bool refused = false;  ///< the peer's last STATE was of another list or of another order
  /// The peer has named acceptors for another list (LIVES). One incarnation of a node names
  /// acceptors for one list only.
  bool bound = false;
  LogsHeard logs;  ///< what the peer's incarnations reported of its log
};

/// Does the peer show that an order exists? As long as nothing is decided in an order, only the
/// acceptors of that order may show it.
inline bool tells_of_order(const Peer& peer) {
  return peer.state.next > 1 || (peer.state.next == 1 && peer.named);
}

/// The known nodes: which of them seem alive, and what each node reported last.
class Peers {
 public:
  /// `life`: incarnation of this node as an acceptor (wire::Nodes::lives); 0 if this node never
  /// votes.
  Peers(const MemberId& self, std::uint64_t life, const Options& options,
        const LinkRhythm& rhythm = kRhythmOfOne);

  void start(Instant now);
  /// Sets the active list (`counts`) and further nodes to be known (`others`, sorted). Keeps the
  /// information about each node that was known before.
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

  /// The number of acceptors, including this node, that are or may be in the incarnations that the
  /// list names. 0 if this node is the only such acceptor and must not vote: then no other node can
  /// confirm that this node may vote.
  std::size_t lives() const;
  /// A packet of the peer arrived. False: the packet is of an older incarnation than the newest
  /// known one.
  bool note(Instant now, Peer& peer, const MemberId& member);
  /// Call it once per heartbeat: looks for nodes without progress whose applications are not full.
  /// This node has consumed all instances below `next`.
  void watch(Instant now, wire::Instance next);
  /// True if the peer has made no progress for so long that it is not served: the next view
  /// excludes it.
  bool is_stuck(Instant now, const Peer& peer) const;
  /// Call when a STATE of the peer arrived. The STATE replaces the one noted before, unless it was
  /// sent earlier than that one.
  void note_state(Peer& peer, const wire::State& state);
  /// Notes that the log of this node is an older copy.
  void put_back();
  /// Forgets the peer's STATE.
  static void forget_state(Peer& peer);
  /// Call when the peer's last STATE is of another list or order. Forgets the peer's earlier STATE,
  /// which is outdated.
  void refuse_state(Peer& peer);
  /// Call when a coordinator's proposal shows that a majority voted in `round` for all instances up
  /// to `upto`.
  void note_decided(const wire::Round& round, wire::Instance upto);
  /// Suspects nodes that were silent for too long.
  void tick(Instant now);
  /// This process was suspended for the time `gap`, so silent nodes get that much more time. If
  /// this process is suspended several times during one silence, only the longest suspension
  /// counts. Packets that this process did not read show nothing about links.
  void forgive(Instant now, Duration gap);

  /// Acceptors that are not suspected, including this node unless it must not vote.
  std::size_t live_acceptors() const;
  /// The acceptor that should coordinate if no acceptor does: the fittest one that is not
  /// suspected. Among equally fit acceptors, those that know the state of the order come first.
  /// Among these, it is the first one from index `first` on, cyclically. Null if there is none.
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
  std::vector<Peer> peers_;  ///< sorted by node; always contains this node
  std::size_t self_ = 0;
  std::size_t listed_ = 0;
  std::size_t acceptors_ = 0;
};

}  // namespace peal::order::paxos
