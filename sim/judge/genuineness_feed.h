// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oracle/domain_map.h"
#include "oracle/genuineness.h"
#include "order/engine.h"
#include "order/inspection/inspection.h"
#include "sim/judge/history_recorder.h"
#include "sim/world/options.h"
#include "sim/world/packet.h"

namespace peal::sim {

/// With genuine multicast: tells the oracle whom each unit concerns, and which units each packet
/// and each write into the memory of other nodes speaks of.
class GenuinenessFeed {
 public:
  GenuinenessFeed(const WorldOptions& options, HistoryRecorder& recorder);

  /// The engine of `unit.sender` took this unit from its host.
  void took(const order::UnitName& unit, DomainSet domains);
  void sent(Instant now, const Packet& packet);
  /// A write of `from` into memory of `to`. `units`: what the write speaks of.
  void wrote(Instant now, NodeId from, NodeId to, std::span<const order::UnitName> units);
  void wrote(Instant now, const order::InspectedWrite& write);

 private:
  std::optional<trace::MessageId> find(const order::UnitName& unit, NodeId from, NodeId to) const;
  bool concerns(NodeId node, NodeId sender, DomainSet domains) const;

  order::ClusterShape cluster_;
  const oracle::DomainMap domains_;
  /// Numbers of the units that the sender sent to the domain.
  std::map<std::pair<MemberId, DomainId>, std::vector<std::uint64_t>> sent_to_;
  struct Taken {
    MemberId sender{};
    DomainSet domains;
  };
  std::map<std::uint64_t, std::vector<Taken>> by_number_;
  /// The first unit of each sender for each set of domains.
  std::map<std::pair<NodeId, DomainSet>, trace::MessageId> first_of_;
  const order::Inspection* inspection_;  ///< null: packets name no units
  HistoryRecorder& recorder_;
  oracle::GenuinenessChecker checker_;
  std::vector<order::UnitName> named_;
  std::vector<trace::MessageId> ids_;
};

/// Passes an engine's queries on to its node, and tells the feed of the units.
class WitnessedHost final : public order::Host {
 public:
  WitnessedHost(order::Host& host, MemberId self, GenuinenessFeed& feed)
      : host_(host), self_(self), feed_(feed) {}

  std::uint32_t backlog_units() const override { return host_.backlog_units(); }
  bool next_unit(std::uint32_t unit_bytes_max, order::Unit& out) override;
  DomainSet next_domains() const override { return host_.next_domains(); }
  std::uint32_t receive_room_units() const override { return host_.receive_room_units(); }

 private:
  order::Host& host_;
  MemberId self_;
  GenuinenessFeed& feed_;
  std::uint64_t taken_ = 0;
};

}  // namespace peal::sim
