// SPDX-License-Identifier: Apache-2.0
#include "cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "wire/headroom.h"

namespace peal::order::test {
namespace {

constexpr Duration kHop = microseconds(20);

std::string name(const MemberId& member) {
  return std::string(1, static_cast<char>('a' + member.node.value - 1));
}

Cluster::Make ring_maker(const ring::Options& options) {
  return [options](const MemberId& self, const std::vector<NodeId>& universe, BufferPool& pool,
                   Host& host) {
    ring::Config config;
    config.self = self;
    config.universe = universe;
    config.cluster = 7;
    config.options = options;
    config.seed = self.node.value;
    return ring::make_engine(config, pool, host);
  };
}

}  // namespace

struct Cluster::Node final : Host, Effects {
  Node(Cluster& c, std::uint32_t i) : cluster(c), index(i) {}

  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue.size()); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
    if (queue.empty()) return false;
    const auto& [text, service] = queue.front();
    PEAL_ASSERT(text.size() <= unit_bytes_max);
    out.bytes = cluster.pool_.take(static_cast<std::uint32_t>(wire::kUnitHeadroomBytes),
                                   static_cast<std::uint32_t>(text.size()));
    std::memcpy(out.bytes.data(), text.data(), text.size());
    out.service = service;
    queue.pop_front();
    return true;
  }
  std::uint32_t receive_room_units() const override { return room; }

  void send(NodeId to, Lane, const BufferRef& packet) override {
    cluster.enqueue(index, to.value - 1, packet);
  }
  void multicast(Lane, const BufferRef& packet) override {
    for (std::uint32_t to = 0; to < cluster.nodes_.size(); ++to) {
      if (to != index) cluster.enqueue(index, to, packet);
    }
  }
  void originate(const ViewId&, Seq) override {}
  void deliver(const Delivery& d) override {
    log.push_back((d.transitional ? "t" : "") + std::to_string(d.seq) + ":" +
                  std::string(as_text(d.unit.view())));
  }
  void install(const View& view) override {
    std::string line = view.transitional ? "trans " : "view ";
    for (const MemberId& m : view.members) line += name(m);
    log.push_back(line);
    if (!view.transitional) members = view.members.size();
    if (!view.transitional) current = view.id;
    primary = view.primary;
  }
  void report(const Event& event) override {
    ++events[event.kind];
    last[event.kind] = event;
    if (event.kind == &event::nodes_adopted) list = event.a;
  }
  void fatal(std::string_view reason) override { log.push_back("fatal " + std::string(reason)); }

  Cluster& cluster;
  std::uint32_t index;
  std::unique_ptr<Engine> engine;
  std::deque<std::pair<std::string, Service>> queue;
  std::uint32_t room = 1U << 20;
  std::size_t members = 0;
  ViewId current{};
  Primary primary = Primary::unclaimed;
  std::map<const EventKind*, std::uint64_t> events;
  std::map<const EventKind*, Event> last;
  std::uint64_t list = 1;  ///< hash of the node's active list
  Log log;
};

Cluster::Cluster(std::uint32_t nodes, const ring::Options& options)
    : Cluster(ring_maker(options), nodes) {}

Cluster::Cluster(Make make, std::uint32_t nodes) : make_(std::move(make)) {
  for (std::uint32_t i = 0; i < nodes; ++i) nodes_.push_back(std::make_unique<Node>(*this, i));
}
Cluster::~Cluster() = default;

Engine& Cluster::engine(std::uint32_t node) { return *nodes_[node]->engine; }
const Log& Cluster::log(std::uint32_t node) const { return nodes_[node]->log; }
void Cluster::set_room(std::uint32_t node, std::uint32_t units) { nodes_[node]->room = units; }

void Cluster::start(std::uint32_t node) {
  std::vector<NodeId> universe;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) universe.push_back({i + 1});
  Node& n = *nodes_[node];
  n.engine = make_({{node + 1}, next_epoch_++}, universe, pool_, n);
  n.engine->start(now_, n);
}

void Cluster::start_all() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) start(i);
}

void Cluster::crash(std::uint32_t node) {
  nodes_[node]->engine.reset();
  nodes_[node]->queue.clear();
  nodes_[node]->members = 0;
}

void Cluster::leave(std::uint32_t node) { nodes_[node]->engine->leave(now_, *nodes_[node]); }

void Cluster::pause(std::uint32_t node, Duration gap) {
  nodes_[node]->engine->on_pause(now_, gap, *nodes_[node]);
  nodes_[node]->engine->on_drained(now_, *nodes_[node]);
}

std::uint64_t Cluster::events(std::uint32_t node, const EventKind* kind) const {
  const auto at = nodes_[node]->events.find(kind);
  return at == nodes_[node]->events.end() ? 0 : at->second;
}

std::optional<Event> Cluster::last_event(std::uint32_t node, const EventKind* kind) const {
  const auto at = nodes_[node]->last.find(kind);
  if (at == nodes_[node]->last.end()) return std::nullopt;
  return at->second;
}

Primary Cluster::primary(std::uint32_t node) const { return nodes_[node]->primary; }

void Cluster::submit(std::uint32_t node, const std::string& text, Service service) {
  preload(node, text, service);
  poke(node);
}

void Cluster::preload(std::uint32_t node, const std::string& text, Service service) {
  nodes_[node]->queue.emplace_back(text, service);
}

void Cluster::poke(std::uint32_t node) {
  if (nodes_[node]->engine) nodes_[node]->engine->on_work(now_, *nodes_[node]);
}

std::uint64_t Cluster::list(std::uint32_t node) const { return nodes_[node]->list; }

void Cluster::set_nodes(std::uint32_t node, const NodeList& nodes) {
  nodes_[node]->engine->set_nodes(now_, nodes, *nodes_[node]);
}

void Cluster::enqueue(std::uint32_t from, std::uint32_t to, const BufferRef& packet) {
  Flight flight{from, to, static_cast<wire::FrameKind>(packet.view()[3]), {}};
  flight.bytes.assign(packet.view().begin(), packet.view().end());
  on_sent(flight);
  if (!filter(flight)) return;
  network_.emplace(std::pair{(now_ + kHop).ns, next_number_++}, std::move(flight));
}

void Cluster::refuse_older(std::uint32_t node, const MemberId& newest) {
  nodes_[node]->engine->on_old_incarnation(now_, newest, *nodes_[node]);
}

void Cluster::inject(std::uint32_t node, ByteView bytes) {
  BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), packet.data());
  nodes_[node]->engine->on_packet(now_, Lane::data, packet, *nodes_[node]);
  nodes_[node]->engine->check_invariants();
}

bool Cluster::step(Instant limit) {
  Instant next = limit;
  Node* timer = nullptr;
  for (const auto& node : nodes_) {
    if (!node->engine) continue;
    const auto at = node->engine->next_deadline();
    if (at.has_value() && *at < next) {
      next = *at;
      timer = node.get();
    }
  }
  if (!network_.empty() && network_.begin()->first.first <= next.ns) {
    now_ = Instant{std::max(now_.ns, network_.begin()->first.first)};
    const Flight flight = std::move(network_.begin()->second);
    network_.erase(network_.begin());
    if (nodes_[flight.to]->engine) inject(flight.to, flight.bytes);
    return true;
  }
  if (timer == nullptr) {
    now_ = std::max(now_, limit);
    return false;
  }
  now_ = std::max(now_, next);
  timer->engine->on_timer(now_, *timer);
  timer->engine->check_invariants();
  return true;
}

void Cluster::run(Duration span) {
  const Instant limit = now_ + span;
  while (step(limit)) {
  }
}

bool Cluster::run_until(const std::function<bool()>& done, Duration span) {
  const Instant limit = now_ + span;
  while (!done()) {
    if (!step(limit)) return done();
  }
  return true;
}

bool Cluster::in_view_of(std::size_t members) const {
  const Node* first = nullptr;
  for (const auto& node : nodes_) {
    if (!node->engine) continue;
    if (first == nullptr) first = node.get();
    if (node->members != members || node->current != first->current) return false;
  }
  return first != nullptr;
}

std::uint64_t Cluster::counter(std::uint32_t node, std::string_view wanted) const {
  for (const Counter& counter : nodes_[node]->engine->counters()) {
    if (counter.name == wanted) return counter.value;
  }
  PEAL_ASSERT(false && "no such counter");
}

std::unique_ptr<Cluster> formed(std::uint32_t nodes, const ring::Options& options) {
  auto cluster = std::make_unique<Cluster>(nodes, options);
  cluster->start_all();
  EXPECT_TRUE(cluster->run_until([&] { return cluster->in_view_of(nodes); }, seconds(5)));
  return cluster;
}

}  // namespace peal::order::test
