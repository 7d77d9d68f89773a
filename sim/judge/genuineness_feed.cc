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
    : nodes_(options.nodes),
      inspection_(find_inspection(options.engine.engine().name)),
      recorder_(recorder),
      checker_(genuineness_options(options, recorder)) {}

void GenuinenessFeed::took(const order::UnitName& unit, DomainSet domains) {
  checker_.add_message({unit.sender, unit.number}, domains);
}

void GenuinenessFeed::sent(Instant now, const Packet& packet) {
  named_.clear();
  if (inspection_ != nullptr && inspection_->units != nullptr) {
    inspection_->units(inspected(packet), named_);
  }
  if (packet.to.value != 0) return wrote(now, packet.from, packet.to, named_);
  for (std::uint32_t n = 1; n <= nodes_; ++n) wrote(now, packet.from, NodeId{n}, named_);
}

void GenuinenessFeed::wrote(Instant now, NodeId from, NodeId to,
                            std::span<const order::UnitName> units) {
  ids_.clear();
  for (const order::UnitName& each : units) ids_.push_back({each.sender, each.number});
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
