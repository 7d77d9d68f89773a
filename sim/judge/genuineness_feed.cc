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
    : domains_(genuineness_options(options, recorder).domains),
      inspection_(find_inspection(options.engine.engine().name)),
      recorder_(recorder),
      checker_(genuineness_options(options, recorder)) {
  for (std::uint32_t n = 1; n <= options.nodes; ++n) cluster_.nodes.push_back(NodeId{n});
  cluster_.options = options.engine.values();
  for (const order::DomainNodes& each : options.domains) cluster_.domains.push_back(each.nodes);
  if (cluster_.domains.empty()) cluster_.domains.push_back(cluster_.nodes);
}

void GenuinenessFeed::took(const order::UnitName& unit, DomainSet domains) {
  const trace::MessageId id{unit.sender, unit.number};
  checker_.add_message(id, domains);
  const DomainSet to = domains_.destinations(domains);
  for (const DomainId domain : to) sent_to_[{unit.sender, domain}].push_back(unit.number);
  by_number_[unit.number].push_back({unit.sender, to});
  first_of_.try_emplace({unit.sender.node, to}, id);
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

bool GenuinenessFeed::concerns(NodeId node, NodeId sender, DomainSet domains) const {
  return node == sender || domains_.of(node).meets(domains);
}

/// A unit that the name, which is not exact, may stand for, and that concerns both nodes.
std::optional<trace::MessageId> GenuinenessFeed::find(const order::UnitName& unit, NodeId from,
                                                      NodeId to) const {
  if (unit.counted_in != 0) {
    const auto sent = sent_to_.find({unit.sender, unit.counted_in});
    if (sent == sent_to_.end() || unit.number > sent->second.size()) return std::nullopt;
    return trace::MessageId{unit.sender, sent->second[unit.number - 1]};
  }
  if (unit.number != 0) {
    const auto taken = by_number_.find(unit.number);
    if (taken == by_number_.end()) return std::nullopt;
    for (const Taken& each : taken->second) {
      const NodeId sender = each.sender.node;
      if (concerns(from, sender, each.domains) && concerns(to, sender, each.domains)) {
        return trace::MessageId{each.sender, unit.number};
      }
    }
    return std::nullopt;
  }
  for (const auto& [key, id] : first_of_) {
    const auto& [sender, domains] = key;
    if (unit.sender != MemberId{} && unit.sender.node != sender) continue;
    if (concerns(from, sender, domains) && concerns(to, sender, domains)) return id;
  }
  return std::nullopt;
}

void GenuinenessFeed::wrote(Instant now, NodeId from, NodeId to,
                            std::span<const order::UnitName> units) {
  ids_.clear();
  for (const order::UnitName& each : units) {
    const trace::MessageId named{each.sender, each.number};
    const bool exact = each.sender != MemberId{} && each.number != 0 && each.counted_in == 0;
    if (exact) {
      ids_.push_back(named);
    } else if (const auto found = find(each, from, to)) {
      ids_.push_back(*found);
    } else if (each != order::UnitName{}) {
      ids_.push_back(each.counted_in == 0 ? named : trace::MessageId{each.sender, 0});  // unknown
    }
  }
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
