// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/digest.h"
#include "node/node.h"
#include "wire/frames.h"

// A node with an engine that a test controls. On request, the engine orders the node's units and
// delivers units.

namespace peal::node::test {

/// Counts the calls of the node. The test itself calls the node through `host` and `effects`.
class FakeEngine final : public order::Engine {
 public:
  explicit FakeEngine(MemberId self) : self_(self) {}

  void start(Instant, order::Effects& out) override { effects = &out; }
  void on_packet(Instant, Lane, const BufferRef&, order::Effects&) override { ++packets; }
  void on_timer(Instant, order::Effects&) override { ++timers; }
  void on_work(Instant, order::Effects&) override { ++works; }
  void on_durable(Instant, order::Effects&) override { ++durables; }
  void on_pause(Instant, Duration, order::Effects&) override { ++pauses; }
  void on_drained(Instant, order::Effects&) override { ++drains; }
  void leave(Instant, order::Effects&) override { ++leaves; }
  std::optional<Instant> next_deadline() const override { return Instant{17}; }
  Lane preferred_lane() const override { return Lane::data; }
  MemberId self() const override { return self_; }
  order::WaitReason why() const override { return {}; }
  std::span<const order::Counter> counters() const override { return counters_; }
  void check_invariants() const override {}
  std::uint64_t digest() const override { return 5; }

  order::Host* host = nullptr;
  order::Effects* effects = nullptr;
  int packets = 0, timers = 0, works = 0, durables = 0, pauses = 0, drains = 0, leaves = 0;

 private:
  MemberId self_;
  std::vector<order::Counter> counters_{{"fake", 1}};
};

struct FakeTransport final : port::Transport {
  void send(NodeId, Lane, const BufferRef&) override { ++sends; }
  void multicast(Lane, const BufferRef&) override { ++multicasts; }
  void set_audience(std::span<const MemberId> members) override {
    audiences.emplace_back(members.begin(), members.end());
  }
  NodeId congested() const override { return slow; }
  int sends = 0, multicasts = 0;
  NodeId slow{};
  std::vector<std::vector<MemberId>> audiences;
};

/// Records all calls of a node to its owner.
struct Recorder final : Sink {
  struct Got {
    MemberId sender;
    std::uint64_t number;
    ViewId view;
    bool transitional;
    Seq seq;
    std::uint32_t index;
    Service service;
    DomainSet domains;
    std::string payload;
    bool in_place;  ///< the payload is inside the unit's buffer
    friend bool operator==(const Got&, const Got&) = default;
  };
  void on_message(const Message& m) override {
    const bool in_place =
        m.payload.data() >= newest_unit.data() &&
        m.payload.data() + m.payload.size() <= newest_unit.data() + newest_unit.size();
    got.push_back({m.sender, m.number, m.view, m.transitional, m.seq, m.index, m.service, m.domains,
                   std::string(as_text(m.payload)), in_place});
    if (m.gathered != nullptr) {
      ++gathered;
      if (steal) stolen.push_back(std::move(*m.gathered));
    }
  }
  void on_view(const order::View& view) override {
    if (!view.transitional) ++regular_views;
  }
  void on_originate(const Origination& each) override { placed.push_back(each); }
  void on_event(const order::Event&) override { ++events; }
  void on_fatal(std::string_view reason) override { fatal = reason; }
  std::uint32_t receive_room_units() const override { return room; }
  void on_unit_originated(const ViewId&, Seq, Service, DomainSet, ByteView unit) override {
    originated_digests.push_back(digest_of(unit));
  }
  void on_unit_delivered(const order::Delivery& delivery) override {
    newest_unit = delivery.unit.view();
    delivered_digests.push_back(digest_of(newest_unit));
  }

  std::vector<Got> got;
  std::vector<Origination> placed;
  std::vector<Gathered> stolen;
  std::vector<std::uint64_t> originated_digests, delivered_digests;
  ByteView newest_unit;
  bool steal = false;
  int gathered = 0, regular_views = 0, events = 0;
  std::string fatal;
  std::uint32_t room = 1'000;
};

struct Bench {
  explicit Bench(std::uint32_t node_number = 1, const Limits& limits = Limits{},
                 std::uint32_t slab_bytes = 2'048, std::uint32_t slabs = 64)
      : pool(slab_bytes, slabs), self{NodeId{node_number}, 100} {
    node = std::make_unique<Node>(
        limits, pool,
        [this](order::Host& host) {
          auto made = std::make_unique<FakeEngine>(self);
          made->host = &host;
          engine = made.get();
          return made;
        },
        transport, sink);
    node->start(Instant{});
  }
  ~Bench() { node->check_invariants(); }

  std::uint64_t submit(std::string_view payload, Service service = Service::agreed) {
    return node->submit(Instant{}, as_bytes_view(payload), service).value();
  }
  /// Takes one more unit from the node, without a place. False if the node has no unit to send.
  bool pull(std::uint32_t unit_bytes_max) {
    const DomainSet domains = engine->host->next_domains();
    order::Unit unit;
    if (!engine->host->next_unit(unit_bytes_max, unit)) return false;
    pulled.push_back({std::move(unit), domains});
    return true;
  }
  std::size_t pull_all(std::uint32_t unit_bytes_max) {
    std::size_t units = 0;
    while (pull(unit_bytes_max)) ++units;
    return units;
  }
  /// Gives the oldest pulled unit its place, which is the next position of `view`; a causal unit
  /// has no position.
  order::Delivery place() {
    const Seq at = pulled.front().unit.service == Service::causal ? 0 : ++seq;
    engine->effects->originate(view, at);
    const Pulled front = std::move(pulled.front());
    pulled.pop_front();
    return {view, false, at, self, front.unit.service, front.domains, front.unit.bytes};
  }
  /// Takes a unit of this node, and orders it at the next position of `view`. Empty if no unit
  /// waits.
  std::optional<order::Delivery> order_one(std::uint32_t unit_bytes_max) {
    if (!pull(unit_bytes_max)) return std::nullopt;
    return place();
  }
  /// Orders all waiting units, and delivers each unit to all of `to` before it orders the next one.
  /// Returns the number of units.
  std::size_t order_all(std::uint32_t unit_bytes_max, std::initializer_list<Bench*> to) {
    std::size_t units = 0;
    while (auto unit = order_one(unit_bytes_max)) {
      ++units;
      for (Bench* each : to) each->engine->effects->deliver(*unit);
    }
    return units;
  }
  void install(std::uint64_t number, bool transitional = false) {
    const std::vector<MemberId> members{self};
    const ViewId next{number, self};
    engine->effects->install(order::View{transitional, next, view, members, {}});
    if (!transitional) {
      view = next;
      seq = 0;
      pulled.clear();
    }
  }
  void deliver_bytes(MemberId origin, ByteView unit, Service service = Service::agreed) {
    BufferRef buffer = pool.take(0, static_cast<std::uint32_t>(unit.size()));
    std::copy(unit.begin(), unit.end(), buffer.data());
    engine->effects->deliver({view, false, ++seq, origin, service, {}, buffer});
  }
  std::uint64_t counter(std::string_view name) const {
    for (const order::Counter& each : node->counters()) {
      if (each.name == name) return each.value;
    }
    return ~0ULL;
  }

  BufferPool pool;
  MemberId self;
  FakeTransport transport;
  Recorder sink;
  FakeEngine* engine = nullptr;
  std::unique_ptr<Node> node;
  struct Pulled {
    order::Unit unit;
    DomainSet domains;
  };
  std::deque<Pulled> pulled;  ///< units without a place, oldest first
  ViewId view{};
  Seq seq = 0;
};

/// `size` bytes, which depend on their offset and on `seed`.
inline std::string pattern(std::size_t size, std::uint64_t seed) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>((i * 2'654'435'761U + (i >> 8) + seed * 97) >> 3);
  }
  return text;
}

}  // namespace peal::node::test
