// SPDX-License-Identifier: Apache-2.0
#include "ridge_slots.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "base/assert.h"
#include "order/ridge/engine.h"
#include "paxos_bench.h"
#include "wire/headroom.h"
#include "wire/paxos.h"

namespace peal::order::ridge::test {
namespace {

/// In nanoseconds. A slot is so short that each measurement ends before the next heartbeat.
constexpr std::int64_t kSlot = 10'000;
constexpr std::uint32_t kValueBytes = 1'000;

bool is_link_check(const BufferRef& packet) {
  wire::Header header;
  return wire::decode_header(packet.view(), header) == wire::Drop::none &&
         header.kind == static_cast<wire::FrameKind>(wire::PaxosKind::link_check);
}

/// True if the packet occupies links for a slot, because it contains an application's value.
bool is_value(const BufferRef& packet) {
  return packet.size() > kValueBytes && !is_link_check(packet);
}

}  // namespace

/// A node whose log becomes durable right after each call of its engine.
class Slots::Node final : public Host, public Effects {
 public:
  Node(Slots& slots, const paxos::Config& config) : slots_(slots), self_(config.self.node.value) {
    paxos::Config mine = config;
    const auto& acceptors = mine.acceptors;
    const bool votes = std::binary_search(acceptors.begin(), acceptors.end(), mine.self.node);
    mine.log = votes ? &log_ : nullptr;
    const Shape& shape = slots.shape_;
    engine_ = ridge::make_engine(mine, pool_, *this, shape.dissemination,
                                 {shape.ensembles, {}, shape.merging});
  }

  void start() {
    engine_->start(slots_.now(), *this);
    finish();
  }
  void hear(const std::vector<std::byte>& bytes) {
    BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
    PEAL_ASSERT(static_cast<bool>(packet));
    std::memcpy(packet.data(), bytes.data(), bytes.size());
    engine_->on_packet(slots_.now(), Lane::data, packet, *this);
    packet.reset();
    finish();
  }
  void tick() {
    engine_->on_timer(slots_.now(), *this);
    finish();
  }
  void submit() {
    ++waiting_;
    engine_->on_work(slots_.now(), *this);
    finish();
  }
  std::int64_t deadline() const {
    const auto at = engine_->next_deadline();
    return at ? at->ns : INT64_MAX;
  }
  std::size_t members() const { return members_; }
  std::size_t records() const { return log_.kept(); }

  bool gone = false;
  std::int64_t egress_free = 0;
  std::int64_t ingress_free = 0;
  std::deque<std::vector<std::byte>> arrived;  ///< values that wait for this node's link
  std::int64_t timer_at = INT64_MAX;           ///< time of the planned timer event

  // Overrides of Host and Effects.
  std::uint32_t backlog_units() const override { return waiting_; }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
    PEAL_ASSERT(unit_bytes_max >= kValueBytes);
    if (waiting_ == 0) return false;
    --waiting_;
    out.bytes = pool_.take(wire::kUnitHeadroomBytes, kValueBytes);
    return true;
  }
  std::uint32_t receive_room_units() const override { return 1U << 20; }
  void send(NodeId to, Lane /*lane*/, const BufferRef& packet) override {
    slots_.post(self_, to.value, packet);
  }
  void multicast(Lane /*lane*/, const BufferRef& packet) override {
    for (std::uint32_t to = 1; to <= slots_.shape_.nodes; ++to) {
      if (to != self_) slots_.post(self_, to, packet);
    }
  }
  void originate(const ViewId& /*view*/, Seq /*seq*/) override {}
  void deliver(const Delivery& /*delivery*/) override { slots_.note_delivery(self_); }
  void install(const View& view) override {
    if (!view.transitional) members_ = view.members.size();
  }
  void report(const order::Event& /*event*/) override {}
  void fatal(std::string_view /*reason*/) override { PEAL_ASSERT(false && "nothing fails here"); }

 private:
  void finish() {
    if (log_.durable() < log_.last()) {
      log_.sync();
      engine_->on_durable(slots_.now(), *this);
    }
    slots_.wake(*this, self_);
  }

  Slots& slots_;
  std::uint32_t self_;
  BufferPool pool_{4'096, 16'384};
  paxos::test::MemoryLog log_;
  std::uint32_t waiting_ = 0;
  std::size_t members_ = 0;
  std::unique_ptr<Engine> engine_;
};

Slots::Slots(const Shape& shape) : shape_(shape) {
  paxos::Config config;
  for (std::uint32_t n = 1; n <= shape.nodes; ++n) config.universe.push_back({n});
  for (std::uint32_t n = 1; n <= 2 * shape.faults + 1; ++n) config.acceptors.push_back({n});
  config.options.packet_bytes_max = 2'000;
  config.options.window = config.options.window_first = 250;
  config.options.member_window = 1'024;
  config.options.votes_apart = {};  // packets that contain only votes occupy no link here
  delivered_by_.resize(shape.nodes + 1);
  nodes_.push_back(nullptr);
  for (std::uint32_t n = 1; n <= shape.nodes; ++n) {
    config.self = {{n}, 1};
    nodes_.push_back(std::make_unique<Node>(*this, config));
  }
  for (std::uint32_t n = 1; n <= shape.nodes; ++n) nodes_[n]->start();
}

Slots::~Slots() = default;

void Slots::post(std::uint32_t from, std::uint32_t to, const BufferRef& packet) {
  std::int64_t at = now_;
  // Link checks do not count: their number does not depend on the load.
  if (!is_link_check(packet)) ++packets_;
  note_nothing(from, packet);
  if (is_value(packet)) {
    ++copies_;
    Node& sender = *nodes_[from];
    const std::int64_t leaves = std::max(now_, sender.egress_free);
    sender.egress_free = leaves + kSlot;
    at = leaves;
  }
  at += shape_.delay * kSlot;
  const ByteView bytes = packet.view();
  events_.insert({at, ++number_, to, is_value(packet), {bytes.begin(), bytes.end()}});
}

void Slots::note_nothing(std::uint32_t from, const BufferRef& packet) {
  wire::Header header;
  wire::Relay relay;
  if (wire::decode_header(packet.view(), header) != wire::Drop::none) return;
  if (header.kind != static_cast<wire::FrameKind>(wire::PaxosKind::relay)) return;
  if (wire::decode_relay(packet.view(), relay) != wire::Drop::none) return;
  if (relay.head.kind != wire::ValueKind::nothing || relay.head.origin.node.value != from) return;
  nothings_.push_back({now_ / kSlot, from, header.cluster, relay.head.number});
}

void Slots::wake(Node& node, std::uint32_t number) {
  const std::int64_t at = std::max(node.deadline(), now_);
  if (at >= node.timer_at) return;
  node.timer_at = at;
  events_.insert({at, ++number_, number, false, {}});
}

bool Slots::step() {
  if (events_.empty()) return false;
  Arrival event = *events_.begin();
  events_.erase(events_.begin());
  PEAL_ASSERT(event.at >= now_);
  now_ = event.at;
  Node& node = *nodes_[event.to];
  if (node.gone) return true;
  if (event.packet.empty() && event.waits) {
    take_next(node, event.to);
    return true;
  }
  if (event.packet.empty()) {
    if (node.timer_at != event.at) return true;  // an earlier timer event has replaced this one
    node.timer_at = INT64_MAX;
    if (node.deadline() <= now_) {
      node.tick();
    } else {
      wake(node, event.to);
    }
    return true;
  }
  if (!event.waits) {
    node.hear(event.packet);
    return true;
  }
  // The packet waits behind all packets that arrived before it.
  node.arrived.push_back(std::move(event.packet));
  if (node.arrived.size() == 1) {
    events_.insert({std::max(now_, node.ingress_free), ++number_, event.to, true, {}});
  }
  return true;
}

void Slots::take_next(Node& node, std::uint32_t number) {
  const std::vector<std::byte> packet = std::move(node.arrived.front());
  node.arrived.pop_front();
  node.ingress_free = now_ + kSlot;
  if (!node.arrived.empty()) events_.insert({node.ingress_free, ++number_, number, true, {}});
  node.hear(packet);
}

bool Slots::all_in_a_view_of(std::uint32_t members) const {
  return std::all_of(nodes_.begin() + 1, nodes_.end(),
                     [=](const auto& node) { return node->gone || node->members() == members; });
}

void Slots::settle() {
  constexpr std::int64_t kLimit = 2'000'000'000;
  while (now_ < kLimit && !all_in_a_view_of(shape_.nodes)) PEAL_ASSERT(step());
  PEAL_ASSERT(all_in_a_view_of(shape_.nodes));
  // Runs until just after a heartbeat: all nodes send their heartbeats at the same time.
  const std::int64_t rest = now_ + 200'000'000;
  while (now_ < rest) PEAL_ASSERT(step());
}

void Slots::crash(std::uint32_t node) {
  nodes_[node]->gone = true;
  ++crashed_;
  const std::int64_t limit = now_ + 2'000'000'000;
  while (now_ < limit && !all_in_a_view_of(alive())) PEAL_ASSERT(step());
  PEAL_ASSERT(all_in_a_view_of(alive()));
}

void Slots::send(std::uint32_t count, std::uint32_t node, std::int64_t apart) {
  sent_at_.clear();
  latencies_.assign(count, 0);
  delivered_.assign(count, 0);
  std::fill(delivered_by_.begin(), delivered_by_.end(), 0U);
  copies_ = 0;
  const std::int64_t begin = now_;
  while (done_ < static_cast<std::uint64_t>(count) * alive()) {
    while (sent_at_.size() < count) {
      const std::int64_t due = begin + static_cast<std::int64_t>(sent_at_.size()) * apart * kSlot;
      if (!events_.empty() && events_.begin()->at < due) break;
      now_ = std::max(now_, due);
      sent_at_.push_back(due);
      nodes_[node]->submit();
    }
    PEAL_ASSERT(step());
  }
  done_ = 0;
  for (std::int64_t& latency : latencies_) latency /= kSlot;
}

std::uint64_t Slots::rest(std::int64_t slots) {
  const std::uint64_t before = packets_;
  const std::int64_t end = now_ + slots * kSlot;
  while (now_ < end) PEAL_ASSERT(step());
  return packets_ - before;
}

std::size_t Slots::records_of(std::uint32_t node) const { return nodes_[node]->records(); }

void Slots::note_delivery(std::uint32_t node) {
  const std::uint32_t value = delivered_by_[node]++;
  PEAL_ASSERT(value < sent_at_.size());
  ++done_;
  if (++delivered_[value] < alive()) return;
  latencies_[value] = now_ - sent_at_[value];
  if (value == 0) first_at_ = now_;
  span_ = (now_ - first_at_) / kSlot;
}

}  // namespace peal::order::ridge::test
