// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order/paxos/routes.h"
#include "wire/headroom.h"
#include "wire/packet.h"

namespace peal::order::ridge::test {

using paxos::Arrival;
using paxos::Instance;
using paxos::Peer;
using paxos::Slot;
using wire::Drop;
using wire::PaxosKind;

inline MemberId member(std::uint32_t node) { return {{node}, 100}; }

/// The routes of one of seven nodes. Nodes 1 to 5 are acceptors; all seven are alive and in the
/// view.
class RoutesBench : public ::testing::Test, public Effects {
 protected:
  explicit RoutesBench(paxos::MakeRoutes make_routes) : make_routes_(make_routes) {}

  struct Sent {
    std::uint32_t to{};
    PaxosKind kind{};
    BufferRef packet;
  };

  void be(std::uint32_t node) {
    config_.self = member(node);
    config_.universe.clear();
    for (std::uint32_t n = 1; n <= 7; ++n) config_.universe.push_back({n});
    config_.acceptors = {{1}, {2}, {3}, {4}, {5}};
    config_.log = node <= 5 ? &log_ : nullptr;
    routes_.reset();
    wire::Checkpoint at;
    at.next = 1;
    at.nodes = {0, 1, 1, config_.universe, config_.acceptors};
    peers_.emplace(config_.self, log_.id(), config_.options);
    peers_->start(now_);
    peers_->know(at.nodes, {});
    at.view = {1, member(1)};
    for (std::uint32_t n = 1; n <= 7; ++n) {
      if (n != node) peers_->note(now_, *peers_->find({n}), member(n));
      at.members.push_back({member(n), 0});
      at.numbers.push_back(0);
    }
    state_ = paxos::OrderState(at);
    outbox_.emplace(config_, pool_);
    routes_ = make_routes_({config_, *peers_, store_, state_, *outbox_});
  }

  Arrival unit(Instance instance) const {
    Arrival arrival;
    arrival.round = round_;
    arrival.instance = instance;
    arrival.head = {wire::ValueKind::unit, Service::agreed, 1, member(1), instance};
    return arrival;
  }
  BufferRef bytes(std::size_t size = 1'000) {
    return pool_.take(wire::kUnitHeadroomBytes, static_cast<std::uint32_t>(size));
  }
  /// A packet of this kind, as the member `from` would send it.
  BufferRef packet(PaxosKind kind, const MemberId& from, const wire::Relay& frame,
                   std::size_t size = 1'000) {
    BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(wire::kRelayHeaderBytes + size));
    wire::Header header;
    header.sender = from;
    wire::encode_relay_in_place(header, kind, frame, {packet.data(), packet.size()});
    return packet;
  }
  wire::Relay relay(Instance instance, std::uint16_t way, std::uint32_t from = 1) const {
    wire::ValueHead head = unit(instance).head;
    head.origin = member(from);
    return {round_, instance, 0, way, head};
  }
  /// Receives a packet and forwards its value, as the engine does.
  Drop take(PaxosKind kind, std::uint32_t from, const wire::Relay& frame,
            std::size_t size = 1'000) {
    const BufferRef in = packet(kind, member(from), frame, size);
    Arrival arrival;
    const Drop reason = routes_->read(*peers_->find({from}), kind, in.view(), arrival);
    if (reason != Drop::none) return reason;
    asked_ = arrival.vote;
    own_ = arrival.own;
    routes_->pass_on(arrival, paxos::bytes_behind(in, wire::kRelayHeaderBytes), true, *this);
    return reason;
  }
  void decide(Instance instance, std::size_t size = 1'000, const MemberId& from = member(1)) {
    Slot* slot = store_.make(instance);
    slot->decided = true;
    slot->heard = {unit(instance).head, bytes(size)};
    slot->heard.head.origin = from;
  }
  std::string told() const {
    std::string text;
    for (const Sent& each : sent_) {
      text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(each.kind)) + ">" +
              std::to_string(each.to);
    }
    return text;
  }
  static std::string line(PaxosKind kind, const std::vector<std::uint32_t>& nodes) {
    std::string text;
    for (const std::uint32_t node : nodes) {
      text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(kind)) + ">" +
              std::to_string(node);
    }
    return text;
  }
  wire::State said() const {
    wire::State state;
    state.round = round_;
    state.first_list = 1;
    return state;
  }
  void suspect(std::uint32_t node) { peers_->find({node})->suspected = true; }

  void send(NodeId to, Lane /*lane*/, const BufferRef& packet) override {
    sent_.push_back({to.value, static_cast<PaxosKind>(packet.data()[3]), packet});
  }
  void multicast(Lane /*lane*/, const BufferRef& packet) override { send({}, Lane::data, packet); }
  void originate(const ViewId& /*view*/, Seq /*seq*/) override {}
  void deliver(const Delivery& /*delivery*/) override {}
  void install(const View& /*view*/) override {}
  void report(const Event& /*event*/) override {}
  void fatal(std::string_view /*reason*/) override {}

  /// A log that stores nothing: routes only check whether a node has a log.
  class NoLog final : public port::Log {
   public:
    Result<void, port::LogFailure> replay(port::LogReader& /*reader*/) override { return {}; }
    Result<LogPosition, Errc> append(ByteView /*first*/, ByteView /*rest*/) override {
      return unexpected(Errc::closed);
    }
    Result<LogPosition, Errc> checkpoint(ByteView /*record*/, LogPosition /*from*/) override {
      return unexpected(Errc::closed);
    }
    std::uint64_t id() const override { return 1; }
    LogPosition last() const override { return {}; }
    LogPosition durable() const override { return {}; }
    const std::optional<port::LogFailure>& failure() const override { return failure_; }

   private:
    std::optional<port::LogFailure> failure_;
  };

  paxos::MakeRoutes make_routes_;
  Instant now_{1'000'000'000};
  paxos::Round round_{4, member(1)};
  BufferPool pool_{2'048, 256};
  NoLog log_;
  paxos::Config config_;
  std::optional<paxos::Peers> peers_;
  paxos::Store store_{64, 100'000};
  paxos::OrderState state_;
  std::optional<paxos::Outbox> outbox_;
  std::unique_ptr<paxos::Routes> routes_;
  std::vector<Sent> sent_;
  bool asked_ = false;
  bool own_ = false;
};

}  // namespace peal::order::ridge::test
