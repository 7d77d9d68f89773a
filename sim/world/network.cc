// SPDX-License-Identifier: Apache-2.0
#include "sim/world/network.h"

#include <algorithm>
#include <cmath>

namespace peal::sim {
namespace {

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Checks the fields of the rule that need the packet's content.
bool content_matches(const Rule& rule, const Packet& packet) {
  if (!rule.seq && !rule.view && !rule.retransmission && !rule.post && !rule.phase) return true;
  const order::PacketContent content = content_of(packet);
  return (!rule.seq || content.position == rule.seq) &&
         (!rule.view || content.proposes_view == *rule.view) &&
         (!rule.retransmission || content.retransmission == rule.retransmission) &&
         (!rule.post || content.post == rule.post) &&
         (!rule.phase || content.rotation == rule.phase);
}

/// A link that loses at least this share of its packets does not work.
constexpr double kLossOfWorkingLink = 0.05;

double share_lost(const Conditions& c) {
  return c.loss + c.burst * c.burst_packets + c.flip + c.partial;
}

}  // namespace

bool works(const Conditions& c) {
  return share_lost(c) < kLossOfWorkingLink && c.mtu == 0 && !c.bad_kind && !c.dead_data &&
         !c.dead_control && c.dead_above == 0;
}

bool is_lossy(const Conditions& c) {
  return share_lost(c) >= kLossOfWorkingLink && share_lost(c) < 1 &&
         !(c.dead_data && c.dead_control);
}

Network::Network(std::uint32_t nodes, std::uint64_t seed, FaultCounts& faults)
    : nodes_(nodes),
      random_(seed),
      faults_(faults),
      links_(static_cast<std::size_t>(nodes + 1) * (nodes + 1)) {
  PEAL_ASSERT(nodes >= 1 && nodes <= kNodesMax);
}

std::size_t Network::index(NodeId from, NodeId to) const {
  PEAL_ASSERT(from.value <= nodes_ && to.value <= nodes_);
  return static_cast<std::size_t>(from.value) * (nodes_ + 1) + to.value;
}

const Conditions& Network::of(const Link& link) const {
  return link.own < 0 ? conditions_ : own_conditions_[static_cast<std::size_t>(link.own)];
}

void Network::set_link(NodeId from, NodeId to, const Conditions& conditions) {
  Link& link = links_[index(from, to)];
  if (link.own < 0) {
    link.own = static_cast<std::int32_t>(own_conditions_.size());
    own_conditions_.push_back(conditions);
  } else {
    own_conditions_[static_cast<std::size_t>(link.own)] = conditions;
  }
}

void Network::clear_links() {
  own_conditions_.clear();
  for (Link& link : links_) link.own = -1;
}

void Network::cut(NodeId from, NodeId to) { links_[index(from, to)].cut = true; }
void Network::heal(NodeId from, NodeId to) { links_[index(from, to)].cut = false; }
void Network::heal_all() {
  for (Link& link : links_) {
    link.cut = false;
    link.burst_left = 0;
  }
}
bool Network::connected(NodeId from, NodeId to) const { return !links_[index(from, to)].cut; }

bool Network::link_works(NodeId from, NodeId to) const {
  return connected(from, to) && works(of(links_[index(from, to)]));
}

bool Network::link_is_lossy(NodeId from, NodeId to) const {
  return connected(from, to) && is_lossy(of(links_[index(from, to)]));
}

bool Network::link_carries(NodeId from, NodeId to) const {
  const Conditions& conditions = of(links_[index(from, to)]);
  return connected(from, to) && !conditions.dead_data && share_lost(conditions) < 1;
}

void Network::split(std::span<const std::vector<NodeId>> parts) {
  for (std::uint32_t a = 1; a <= nodes_; ++a) {
    for (std::uint32_t b = 1; b <= nodes_; ++b) {
      bool together = false;
      for (const std::vector<NodeId>& part : parts) {
        together = together || (contains(part, NodeId{a}) && contains(part, NodeId{b}));
      }
      links_[index(NodeId{a}, NodeId{b})].cut = a != b && !together;
    }
  }
}

std::uint32_t Network::add_rule(Rule rule) {
  rules_.emplace_back(next_rule_, std::move(rule));
  return next_rule_++;
}
void Network::remove_rule(std::uint32_t id) {
  std::erase_if(rules_, [id](const auto& entry) { return entry.first == id; });
}
void Network::clear_rules() { rules_.clear(); }

bool Network::lost(const Packet& packet, const Conditions& here, Link& link) {
  if (here.mtu != 0 && packet.lane == Lane::data && packet.bytes.size() > here.mtu) {
    faults_.add(Fault::too_large);
    return true;
  }
  if (packet.lane == Lane::data ? here.dead_data : here.dead_control) return true;
  if (here.dead_above != 0 && packet.bytes.size() > here.dead_above) return true;
  if (here.bad_kind && packet.kind == *here.bad_kind && random_.chance(here.bad_kind_loss)) {
    faults_.add(Fault::kind_loss);
    return true;
  }
  if (link.burst_left > 0) {
    --link.burst_left;
    faults_.add(Fault::burst_loss);
    return true;
  }
  if (here.burst > 0 && random_.chance(here.burst)) {
    link.burst_left = static_cast<std::uint32_t>(random_.below(2ULL * here.burst_packets + 1));
    faults_.add(Fault::burst_loss);
    return true;
  }
  if (here.loss > 0 && random_.chance(here.loss)) {
    faults_.add(Fault::loss);
    return true;
  }
  return false;
}

Duration Network::delay_of(const Packet& packet, const Conditions& here) {
  Duration delay = here.delay;
  if (here.tail.ns > 0) {
    const double stretch = -std::log1p(-random_.unit());
    delay.ns += static_cast<std::int64_t>(stretch * static_cast<double>(here.tail.ns));
  }
  if (here.per_kilobyte.ns > 0) {
    delay.ns += here.per_kilobyte.ns * static_cast<std::int64_t>(packet.bytes.size()) / 1'000;
  }
  if (here.large != 0 && packet.bytes.size() > here.large) {
    delay = delay + here.large_by;
    faults_.add(Fault::size_delay);
  }
  if (here.reorder > 0 && random_.chance(here.reorder)) {
    delay.ns += random_.between(0, here.reorder_by.ns);
    faults_.add(Fault::reorder);
  }
  if (here.late > 0 && random_.chance(here.late)) {
    delay.ns += random_.between(0, here.late_by.ns);
    faults_.add(Fault::long_delay);
  }
  return delay;
}

bool Network::matches(const Rule& rule, const Packet& packet, NodeId to,
                      bool anyone_recovers) const {
  if (rule.count == 0) return false;
  if (rule.kind && *rule.kind != packet.kind) return false;
  if (rule.recovering && !anyone_recovers) return false;
  if (!rule.from.empty() && !contains(rule.from, packet.from)) return false;
  if (!rule.to.empty() && !contains(rule.to, to)) return false;
  return content_matches(rule, packet);
}

bool Network::apply_rules(const Packet& packet, NodeId to, bool anyone_recovers, Fate& fate) {
  for (auto& [id, rule] : rules_) {
    if (!matches(rule, packet, to, anyone_recovers)) continue;
    if (rule.probability < 1 && !random_.chance(rule.probability)) continue;
    if (rule.count != ~0ULL) --rule.count;
    faults_.add(Fault::filtered);
    if (rule.act == Rule::Act::drop) return false;
    if (rule.act == Rule::Act::hold) {
      fate.held = true;
      continue;
    }
    const Duration more{random_.between(rule.low.ns, rule.high.ns)};
    if (rule.act == Rule::Act::delay) {
      fate.copies[0].after = fate.copies[0].after + more;
    } else if (fate.count < fate.copies.size()) {
      fate.copies[fate.count] = Arrival{fate.copies[0].after + more};
      ++fate.count;
    }
  }
  return true;
}

Fate Network::fate(const Packet& packet, NodeId to, bool anyone_recovers) {
  Fate fate;
  Link& link = links_[index(packet.from, to)];
  if (link.cut) return fate;
  const Conditions& here = of(link);
  if (lost(packet, here, link)) return fate;
  fate.copies[0] = Arrival{delay_of(packet, here)};
  fate.count = 1;
  if (!rules_.empty() && !apply_rules(packet, to, anyone_recovers, fate)) return Fate{};
  if (here.duplicate > 0 && random_.chance(here.duplicate) && fate.count < fate.copies.size()) {
    fate.copies[fate.count] = Arrival{delay_of(packet, here)};
    ++fate.count;
    faults_.add(Fault::duplicate);
  }
  if (here.flip > 0 && random_.chance(here.flip)) {
    fate.copies[0].damaged = true;
    faults_.add(Fault::bit_flip);
  }
  return fate;
}

}  // namespace peal::sim
