// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/genuineness_feed.h"

#include "sim/baselines/registry.h"

namespace peal::sim {
namespace {

oracle::GenuinenessChecker::Options genuineness_options(const WorldOptions& options,
                                                        const HistoryRecorder& recorder) {
  oracle::GenuinenessChecker::Options out;
  for (const order::DomainNodes& each : options.domains) out.domains.push_back(each.nodes);
  out.names = &recorder.names();
  out.violations_max = 8;
  return out;
}

}  // namespace

GenuinenessFeed::GenuinenessFeed(const WorldOptions& options, HistoryRecorder& recorder)
    : inspection_(find_inspection(options.engine.engine().name)),
      recorder_(recorder),
      checker_(genuineness_options(options, recorder)) {
  for (std::uint32_t n = 1; n <= options.nodes; ++n) cluster_.nodes.push_back(NodeId{n});
  cluster_.options = options.engine.values();
  for (const order::DomainNodes& each : options.domains) domains_.push_back(each.nodes);
  if (domains_.empty()) domains_.push_back(cluster_.nodes);
}

void GenuinenessFeed::took(const order::UnitName& unit, DomainSet domains) {
  checker_.add_message({unit.sender, unit.number}, domains);
  std::vector<NodeId> all{unit.sender.node};
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (!domains.empty() && !domains.has(static_cast<DomainId>(i + 1))) continue;
    for (const NodeId node : domains_[i]) {
      sent_.insert({unit.sender.node, node});
      all.push_back(node);
    }
  }
  for (const NodeId a : all) {
    for (const NodeId b : all) met_.insert({a, b});
  }
}

void GenuinenessFeed::sent(Instant now, const Packet& packet) {
  named_.clear();
  if (inspection_ != nullptr && inspection_->units != nullptr) {
    inspection_->units(inspected(packet), named_);
  }
  if (packet.to.value != 0) return wrote(now, packet.from, packet.to, named_);
  for (const NodeId to : cluster_.nodes) wrote(now, packet.from, to, named_);
}

void GenuinenessFeed::wrote(Instant now, const order::InspectedWrite& write) {
  named_.clear();
  if (inspection_ != nullptr && inspection_->units_of_write != nullptr) {
    inspection_->units_of_write(write, cluster_, named_);
  }
  wrote(now, write.writer.node, write.owner.node, named_);
}

/// Whether both nodes are the sender or a destination of such a unit, which the bytes do not name
/// exactly.
bool GenuinenessFeed::concerns(const order::UnitName& unit, NodeId from, NodeId to) const {
  if (unit.sender == MemberId{}) return met_.contains({from, to});
  return unit.sender.node == to ? sent_.contains({to, from}) : sent_.contains({from, to});
}

void GenuinenessFeed::wrote(Instant now, NodeId from, NodeId to,
                            std::span<const order::UnitName> units) {
  ids_.clear();
  bool vague = false;
  for (const order::UnitName& each : units) {
    if (each.number != 0) {
      ids_.push_back({each.sender, each.number});
    } else if (concerns(each, from, to)) {
      vague = true;
    }
  }
  if (vague && ids_.empty()) return;
  const std::size_t before = checker_.violations().size();
  checker_.add({now.ns, from, to, ids_});
  if (checker_.violations().size() == before) return;
  recorder_.violation(now, "genuine", checker_.violations().back().text);
}

bool WitnessedHost::next_unit(std::uint32_t unit_bytes_max, order::Unit& out) {
  const DomainSet domains = host_.next_domains();
  if (!host_.next_unit(unit_bytes_max, out)) return false;
  feed_.took({self_, ++taken_}, domains);
  return true;
}

}  // namespace peal::sim
