// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/world/faults.h"
#include "sim/world/packet.h"

namespace peal::sim {

inline constexpr std::uint32_t kNodesMax = 128;

/// How the network treats packets. Probabilities are 0 to 1.
struct Conditions {
  Duration delay = microseconds(50);  ///< base delay of every packet
  Duration tail = microseconds(10);   ///< mean of a random, exponential addition to `delay`
  Duration per_kilobyte{};            ///< delay added for each 1,000 bytes
  double loss = 0;                    ///< probability that a copy is lost, for each copy alone
  double burst = 0;                   ///< probability that a burst of losses begins on a link
  std::uint32_t burst_packets = 10;   ///< mean length of a burst
  double duplicate = 0;
  double reorder = 0;  ///< probability that a packet is held back by up to `reorder_by`
  Duration reorder_by = milliseconds(1);
  double late = 0;  ///< probability that a packet is delayed by up to `late_by`
  Duration late_by = milliseconds(100);
  double flip = 0;     ///< probability that one bit is damaged
  double partial = 0;  ///< probability that a multicast reaches only some nodes
  double replay = 0;   ///< probability that an old packet arrives again
  Duration replay_by = seconds(2);
  std::uint32_t mtu = 0;    ///< packets of the data lane above this size are lost; 0: no limit
  std::uint32_t large = 0;  ///< size above which packets are delayed by `large_by`; 0: no delay
  Duration large_by = milliseconds(900);
  std::optional<PacketKind> bad_kind;  ///< kind of packets that have the loss `bad_kind_loss`
  double bad_kind_loss = 0;
  bool dead_data = false;        ///< all packets of the data lane are lost
  bool dead_control = false;     ///< all packets of the token and control lanes are lost
  std::uint32_t dead_above = 0;  ///< packets above this size are lost on every lane; 0: no limit
};

/// True if a link with these conditions loses less than one packet in twenty, of every kind and
/// size.
bool works(const Conditions& conditions);
/// True if a link with these conditions loses at least one packet in twenty, of every kind and
/// size, but not all packets.
bool is_lossy(const Conditions& conditions);

/// A scenario's rule for matching packets. Absent fields match everything.
struct Rule {
  enum class Act : std::uint8_t { drop, delay, duplicate, hold };
  Act act = Act::drop;
  std::optional<PacketKind> kind;
  std::vector<NodeId> from;
  std::vector<NodeId> to;
  /// Position of a data packet, or instance of a proposed or decided value.
  std::optional<Seq> seq;
  std::optional<bool> view;            ///< whether a proposed value is the next view
  std::optional<bool> retransmission;  ///< whether a data packet retransmits a unit
  std::optional<bool> post;            ///< whether a data packet was sent after the token
  std::optional<std::uint32_t> phase;  ///< phase of a commit token, 1 or 2
  double probability = 1;
  std::uint64_t count = ~0ULL;  ///< number of packet copies that the rule still applies to
  Duration low{};               ///< range of the delay
  Duration high{};
  bool recovering = false;  ///< applies only while some node recovers
};

/// The arrival of one copy of a packet.
struct Arrival {
  Duration after;  ///< delay from the departure of the packet
  bool damaged = false;
};
/// The copies of one packet for one node.
struct Fate {
  std::array<Arrival, 4> copies;
  std::uint32_t count = 0;
  bool held = false;  ///< a rule holds the packet until it is released
};

/// Decides what happens to packets between nodes: delay, loss, damage, cuts. Used by one thread.
class Network {
 public:
  Network(std::uint32_t nodes, std::uint64_t seed, FaultCounts& faults);

  Conditions& conditions() { return conditions_; }
  /// Sets conditions of one direction of one link, in place of the common conditions.
  void set_link(NodeId from, NodeId to, const Conditions& conditions);
  void clear_links();

  void cut(NodeId from, NodeId to);
  void heal(NodeId from, NodeId to);
  void heal_all();
  bool connected(NodeId from, NodeId to) const;
  /// True if the link from `from` to `to` is not cut, and works() accepts its conditions.
  bool link_works(NodeId from, NodeId to) const;
  bool link_is_lossy(NodeId from, NodeId to) const;
  /// True if the link is not cut, and does not lose all packets: retransmission makes up for the
  /// loss.
  bool link_carries(NodeId from, NodeId to) const;
  /// Connects nodes that share a part; parts may overlap. A node in no part is alone. Replaces all
  /// cuts.
  void split(std::span<const std::vector<NodeId>> parts);

  /// Adds a rule; remove_rule() takes the returned identifier.
  std::uint32_t add_rule(Rule rule);
  void remove_rule(std::uint32_t id);
  void clear_rules();
  bool has_rules() const { return !rules_.empty(); }

  /// Decides what happens to the copy of `packet` for `to`.
  Fate fate(const Packet& packet, NodeId to, bool anyone_recovers);
  /// partial() draws whether a multicast reaches only some nodes. coin() then draws for each node.
  bool partial() { return conditions_.partial > 0 && random_.chance(conditions_.partial); }
  bool coin() { return random_.chance(0.5); }
  Random& random() { return random_; }

 private:
  struct Link {
    bool cut = false;
    std::uint32_t burst_left = 0;
    std::int32_t own = -1;  ///< index in own_conditions_; -1: the common conditions
  };

  std::size_t index(NodeId from, NodeId to) const;
  const Conditions& of(const Link& link) const;
  bool lost(const Packet& packet, const Conditions& here, Link& link);
  Duration delay_of(const Packet& packet, const Conditions& here);
  bool matches(const Rule& rule, const Packet& packet, NodeId to, bool anyone_recovers) const;
  /// False if a rule drops the packet.
  bool apply_rules(const Packet& packet, NodeId to, bool anyone_recovers, Fate& fate);

  std::uint32_t nodes_;
  Random random_;
  FaultCounts& faults_;
  Conditions conditions_;
  std::vector<Conditions> own_conditions_;
  std::vector<Link> links_;
  std::vector<std::pair<std::uint32_t, Rule>> rules_;
  std::uint32_t next_rule_ = 1;
};

}  // namespace peal::sim
