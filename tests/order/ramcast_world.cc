// SPDX-License-Identifier: Apache-2.0
#include "ramcast_world.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "wire/headroom.h"

namespace peal::order::ramcast::test {
namespace {

constexpr std::size_t kUnitBytesMin = 20;  // what identifies a message

}  // namespace

/// A process: its engine, its memory, and what its application has submitted.
struct World::Node final : public Host {
  explicit Node(std::uint32_t which, NodeId node_id) : index(which), id(node_id) {}

  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue.size()); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
    if (queue.empty()) return false;
    const Sent& sent = queue.front();
    const std::uint32_t bytes = std::min(sent.bytes, unit_bytes_max);
    BufferRef buffer = pool->take(wire::kUnitHeadroomBytes, bytes);
    if (!buffer) return false;
    std::fill_n(buffer.data(), bytes, static_cast<std::byte>(sent.number));
    store<std::uint32_t>(ByteSpan(buffer.data(), bytes), sent.sender.node.value);
    store<std::uint64_t>(ByteSpan(buffer.data(), bytes).subspan(4), sent.sender.epoch);
    store<std::uint32_t>(ByteSpan(buffer.data(), bytes).subspan(12), sent.number);
    store<std::uint32_t>(ByteSpan(buffer.data(), bytes).subspan(16), bytes);
    out.bytes = buffer;
    out.service = Service::agreed;
    pulled.push_back(sent);
    pulled.back().after = largest;
    if (on_pull) on_pull(pulled.back());
    queue.pop_front();
    return true;
  }
  DomainSet next_domains() const override { return DomainSet::of(queue.front().domain); }
  std::uint32_t receive_room_units() const override { return room; }

  const std::uint32_t index;
  const NodeId id;
  MemberId self{};
  std::uint64_t epochs = 100;
  std::unique_ptr<BufferPool> pool;
  std::vector<BufferRef> buffers;  ///< see take_buffers()
  std::unique_ptr<sim::SimMemory> memory;
  std::unique_ptr<RamcastEngine> engine;
  std::deque<Sent> queue;
  std::vector<Sent> pulled;
  std::function<void(const Sent&)> on_pull;
  std::uint32_t submitted = 0;
  std::uint32_t room = 1'000'000;
  bool paused = false;
  bool woken = false;
  Instant paused_at{};
  std::deque<std::vector<std::byte>> packets;  ///< that arrived
  std::uint64_t timer = 0;                     ///< the planned timer that counts
  std::optional<Instant> armed;
  Seq largest = 0;  ///< key that was delivered or told
  std::vector<Seq> keys, places;
  std::set<Seq> elsewhere;  ///< keys of its messages of which it was told that others deliver them
  std::map<MemberId, std::uint32_t> last;  ///< number of the last message of each sender
  std::vector<MemberId> view;
  ViewId view_id{};
};

class World::Output final : public Effects {
 public:
  Output(World& world, Node& node) : world_(world), node_(node) {}
  void send(NodeId to, Lane /*lane*/, const BufferRef& packet) override {
    world_.send(node_.index, to, packet);
  }
  void multicast(Lane /*lane*/, const BufferRef& /*packet*/) override {
    world_.complain("a multicast");
  }
  void originate(const ViewId& view, Seq seq) override {
    node_.places.push_back(seq);
    if (view == ViewId{}) node_.elsewhere.insert(seq);
    node_.largest = std::max(node_.largest, seq);
    if (node_.places.size() > node_.pulled.size()) return world_.complain("a place for no unit");
    const Sent& sent = node_.pulled[node_.places.size() - 1];
    if (node_.places.size() > 1 && seq <= node_.places[node_.places.size() - 2]) {
      world_.complain("places do not ascend");
    }
    const auto known = world_.key_of_.emplace(std::pair{sent.sender, sent.number}, seq).first;
    if (known->second != seq) world_.complain("the place is another one than elsewhere");
  }
  void deliver(const Delivery& delivery) override { world_.on_delivery(node_, delivery); }
  void install(const View& view) override { world_.on_view(node_, view); }
  void report(const Event& event) override {
    if (event.kind != &event::bad_record) return;
    world_.bad_records_.push_back(
        {node_.index, event.who, static_cast<wire::Drop>(event.a), event.reason->name});
  }
  void fatal(std::string_view reason) override { world_.complain("fatal: " + std::string(reason)); }

 private:
  World& world_;
  Node& node_;
};

World::World(const Shape& shape, std::uint64_t seed)
    : shape_(shape),
      random_(seed),
      fabric_(schedule_, seed * 31 + 7, shape.fabric),
      loss_(shape.packet_loss) {
  std::vector<NodeId> all;
  std::vector<std::vector<NodeId>> domains;
  std::uint32_t next = 1;
  for (const std::uint32_t size : shape.domains) {
    std::vector<NodeId>& domain = domains.emplace_back();
    for (std::uint32_t i = 0; i < size; ++i) domain.push_back({next++});
    all.insert(all.end(), domain.begin(), domain.end());
  }
  for (std::uint32_t i = 0; i < shape.outsiders; ++i) all.push_back({next++});
  layout_ = std::make_unique<Layout>(all, domains);
  delivered_.resize(domains.size() + 1);
  views_.resize(domains.size() + 1);
  for (const NodeId id : all) {
    nodes_.push_back(std::make_unique<Node>(static_cast<std::uint32_t>(nodes_.size()), id));
  }
}

World::~World() = default;

// ---- processes ----

void World::start(std::uint32_t index) {
  Node& node = *nodes_[index];
  PEAL_ASSERT(!node.engine);
  node.self = {node.id, ++node.epochs};
  node.pool = std::make_unique<BufferPool>(shape_.options.packet_bytes_max + 1'000, 40'000);
  node.memory = fabric_.attach(node.self, [this, index] { wake(index); });
  node.keys.clear();
  node.places.clear();
  node.elsewhere.clear();
  node.last.clear();
  node.view.clear();
  node.view_id = {};
  node.largest = 0;
  node.submitted = 0;
  node.on_pull = [this](const Sent& sent) { sent_[{sent.sender, sent.number}] = sent; };
  Config config;
  config.self = node.self;
  for (const auto& each : nodes_) config.nodes.push_back(each->id);
  for (unsigned each = 1; each <= layout_->domains(); ++each) {
    std::vector<NodeId>& list = config.domains.emplace_back();
    for (const NodeIndex server : layout_->servers(each)) {
      list.push_back(layout_->role(server).node);
    }
  }
  config.cluster = kCluster;
  config.options = shape_.options;
  config.memory = node.memory.get();
  config.seed = random_.next();
  const unsigned domain = layout_->role(static_cast<NodeIndex>(index)).domain;
  if (domain != 0 && domain <= shape_.clocks.size()) config.first_count = shape_.clocks[domain - 1];
  node.engine = std::make_unique<RamcastEngine>(config, *node.pool, node);
  call(index, [this](Node& n, Output& out) { n.engine->start(schedule_.now(), out); });
}

void World::start_all() {
  for (std::uint32_t node = 0; node < nodes(); ++node) start(node);
}

void World::crash(std::uint32_t index) {
  Node& node = *nodes_[index];
  node.engine.reset();
  node.memory.reset();
  node.packets.clear();
  node.queue.clear();
  node.pulled.clear();
  node.buffers.clear();
  node.pool.reset();
  node.paused = false;
  ++node.timer;
  node.armed.reset();
}

bool World::is_up(std::uint32_t node) const { return nodes_[node]->engine != nullptr; }

void World::pause(std::uint32_t index) {
  nodes_[index]->paused = true;
  nodes_[index]->paused_at = schedule_.now();
}

void World::resume(std::uint32_t index) {
  Node& node = *nodes_[index];
  if (!node.paused) return;
  node.paused = false;
  if (!node.engine) return;
  const Duration gap = schedule_.now() - node.paused_at;
  call(index, [&](Node& n, Output& out) { n.engine->on_pause(schedule_.now(), gap, out); });
  wake(index);
}

void World::cut(std::uint32_t from, std::uint32_t to) {
  cuts_.insert({from, to});
  fabric_.cut(nodes_[from]->id, nodes_[to]->id);
}

void World::cut(std::uint32_t from, std::uint32_t to, Area region) {
  fabric_.cut(nodes_[from]->id, nodes_[to]->id, static_cast<std::uint8_t>(region));
}

void World::heal_all() {
  cuts_.clear();
  fabric_.heal_all();
}

void World::submit(std::uint32_t index, Domain domain, std::uint32_t bytes) {
  Node& node = *nodes_[index];
  if (!node.engine) return;
  Sent sent;
  sent.sender = node.self;
  sent.number = ++node.submitted;
  sent.domain = domain;
  sent.bytes = std::max<std::uint32_t>(bytes, kUnitBytesMin);
  node.queue.push_back(sent);
  if (!node.paused) {
    call(index, [this](Node& n, Output& out) { n.engine->on_work(schedule_.now(), out); });
  }
}

// ---- time ----

void World::call(std::uint32_t index, const std::function<void(Node&, Output&)>& action) {
  Node& node = *nodes_[index];
  Output out(*this, node);
  action(node, out);
  if (++calls_ % 32 == 0) node.engine->check_invariants();
  node.memory->flush();
  arm(index);
}

void World::arm(std::uint32_t index) {
  Node& node = *nodes_[index];
  const std::optional<Instant> next = node.engine->next_deadline();
  if (!next || node.armed == next) return;
  node.armed = next;
  const std::uint64_t timer = ++node.timer;
  schedule_.plan(*next, [this, index, timer] {
    Node& n = *nodes_[index];
    if (!n.engine || timer != n.timer) return;
    n.armed.reset();
    if (n.paused) return;
    call(index, [this](Node& each, Output& out) { each.engine->on_timer(schedule_.now(), out); });
  });
}

/// Something came: the process runs after a while.
void World::wake(std::uint32_t index) {
  Node& node = *nodes_[index];
  if (node.woken || node.paused || !node.engine) return;
  node.woken = true;
  const Duration wait{random_.between(0, shape_.reaction_most.ns)};
  schedule_.plan(schedule_.now() + wait, [this, index] {
    Node& n = *nodes_[index];
    n.woken = false;
    if (!n.engine || n.paused) return;
    while (!n.packets.empty()) {
      const std::vector<std::byte> bytes = std::move(n.packets.front());
      n.packets.pop_front();
      BufferRef packet = n.pool->take(0, static_cast<std::uint32_t>(bytes.size()));
      if (!packet) continue;
      std::copy(bytes.begin(), bytes.end(), packet.data());
      call(index, [&](Node& each, Output& out) {
        each.engine->on_packet(schedule_.now(), Lane::control, packet, out);
      });
    }
    call(index, [this](Node& each, Output& out) { each.engine->on_memory(schedule_.now(), out); });
  });
}

bool World::step(Instant limit) {
  const auto planned = schedule_.advance(limit);
  if (!planned) return false;
  schedule_.take_action(planned->a)();
  return true;
}

void World::run(Duration span) {
  const Instant limit = schedule_.now() + span;
  while (step(limit)) {
  }
}

void World::send(std::uint32_t from, NodeId to, const BufferRef& packet) {
  ++packets_;
  if (observer_) observer_(from, packet.view());
  const auto target =
      std::find_if(nodes_.begin(), nodes_.end(), [to](const auto& node) { return node->id == to; });
  PEAL_ASSERT(target != nodes_.end());
  const auto index = static_cast<std::uint32_t>(target - nodes_.begin());
  if (random_.chance(loss_)) return;
  std::vector<std::byte> bytes(packet.view().begin(), packet.view().end());
  const Duration travel{random_.between(shape_.packet_least.ns, shape_.packet_most.ns)};
  schedule_.plan(schedule_.now() + travel, [this, from, index, bytes = std::move(bytes)] {
    if (cuts_.contains({from, index}) || !nodes_[index]->engine) return;
    nodes_[index]->packets.push_back(bytes);
    wake(index);
  });
}

void World::take_buffers(std::uint32_t index, std::uint32_t free) {
  Node& node = *nodes_[index];
  while (node.pool->free_count() > free) node.buffers.push_back(node.pool->take());
}

void World::give_buffers(std::uint32_t index) { nodes_[index]->buffers.clear(); }

void World::inject(std::uint32_t index, ByteView bytes) {
  nodes_[index]->packets.emplace_back(bytes.begin(), bytes.end());
  wake(index);
}

void World::forge(std::uint32_t from, std::uint32_t to, Area area, std::uint64_t offset,
                  ByteView bytes) {
  nodes_[to]->memory->put({nodes_[from]->self, static_cast<std::uint8_t>(area)}, offset, bytes);
}

std::vector<std::byte> World::written(std::uint32_t from, std::uint32_t to, Area area,
                                      std::uint64_t offset, std::size_t bytes) const {
  std::vector<std::byte> copy(bytes);
  const port::Region region{nodes_[from]->self, static_cast<std::uint8_t>(area)};
  PEAL_ASSERT(nodes_[to]->memory->load(region, offset, copy));
  return copy;
}

// ---- what is delivered ----

void World::complain(const std::string& what) {
  if (broken_.empty()) broken_ = what;
}

void World::on_view(Node& node, const View& view) {
  Life& life = lives_[node.self];
  life.domain = layout_->role(static_cast<NodeIndex>(node.index)).domain;
  if (view.transitional) return;
  if (view.id.number <= node.view_id.number) complain("views do not ascend");
  const Seq key = view.id.number;
  // Others were in a view in between: the node was excluded from it.
  std::set<Seq>& views = views_[life.domain];
  const auto next = views.upper_bound(node.view_id.number);
  const bool excluded = next != views.end() && *next < key;
  views.insert(key);
  if (excluded || life.spans.empty()) life.spans.push_back({key, key});
  life.spans.back().second = std::max(life.spans.back().second, key);
  node.view.assign(view.members.begin(), view.members.end());
  node.view_id = view.id;
  history_.add(key);
}

void World::on_delivery(Node& node, const Delivery& delivery) {
  const ByteView unit = delivery.unit.view();
  const std::string who = "node " + std::to_string(node.id.value) + ": ";
  if (unit.size() < kUnitBytesMin) return complain(who + "a unit that nobody sent");
  const MemberId sender{{load<std::uint32_t>(unit)}, load<std::uint64_t>(unit.subspan(4))};
  const auto number = load<std::uint32_t>(unit.subspan(12));
  const auto found = sent_.find({sender, number});
  if (found == sent_.end()) return complain(who + "a unit that nobody sent");
  const Sent& sent = found->second;
  if (load<std::uint32_t>(unit.subspan(16)) != unit.size()) complain(who + "another size");
  for (const std::byte b : unit.subspan(kUnitBytesMin)) {
    if (b != static_cast<std::byte>(number)) return complain(who + "other bytes");
  }
  if (delivery.origin != sender) complain(who + "another origin");
  std::uint32_t& last = node.last[sender];
  if (number <= last) complain(who + "messages of one sender out of turn");
  last = number;
  const unsigned domain = layout_->role(static_cast<NodeIndex>(node.index)).domain;
  if (domain == 0 || (sent.domain != 0 && sent.domain != domain)) {
    complain(who + "a message of another domain");
  }
  if (sender == node.self && node.places.size() < number) complain(who + "a unit before its place");
  if (node.elsewhere.contains(delivery.seq)) complain(who + "delivers what others should");
  if (delivery.seq <= sent.after) complain(who + "a message before its cause");
  if (!node.keys.empty() && node.keys.back() >= delivery.seq) complain(who + "keys do not ascend");
  if (delivery.view != node.view_id) complain(who + "delivered in another view");
  const std::pair<MemberId, std::uint32_t> id{sender, number};
  if (by_key_.emplace(delivery.seq, id).first->second != id) {
    complain(who + "two messages with one key");
  }
  if (key_of_.emplace(id, delivery.seq).first->second != delivery.seq) {
    complain(who + "a message with two keys");
  }
  node.keys.push_back(delivery.seq);
  node.largest = std::max(node.largest, delivery.seq);
  delivered_[domain].insert(delivery.seq);
  Life& life = lives_[node.self];
  if (life.spans.empty()) return complain(who + "a delivery before the first view");
  life.spans.back().second = delivery.seq;
  life.keys.push_back(delivery.seq);
  history_.add(node.id.value);
  history_.add(delivery.seq);
}

/// Within the spans in which a process was a member, it has delivered all that anybody has.
void World::check_holes(std::string& wrong) const {
  for (const auto& [self, life] : lives_) {
    std::vector<Seq> expected;
    for (const auto& [begin, end] : life.spans) {
      const std::set<Seq>& all = delivered_[life.domain];
      for (auto key = all.upper_bound(begin); key != all.end() && *key <= end; ++key) {
        expected.push_back(*key);
      }
    }
    if (expected != life.keys && wrong.empty()) {
      wrong = "node " + std::to_string(self.node.value) + " delivered " +
              std::to_string(life.keys.size()) + " of " + std::to_string(expected.size());
    }
  }
}

std::string World::broken() const {
  std::string wrong = broken_;
  check_holes(wrong);
  return wrong;
}

// ---- questions ----

RamcastEngine& World::engine(std::uint32_t node) { return *nodes_[node]->engine; }

std::optional<std::uint32_t> World::leader(unsigned domain) const {
  for (const NodeIndex server : layout_->servers(domain)) {
    const Node& node = *nodes_[server];
    if (node.engine && !node.paused && node.engine->leads()) return server;
  }
  return std::nullopt;
}

bool World::is_settled() const {
  for (unsigned domain = 1; domain <= layout_->domains(); ++domain) {
    std::vector<MemberId> running;
    for (const NodeIndex server : layout_->servers(domain)) {
      if (nodes_[server]->engine) running.push_back(nodes_[server]->self);
    }
    for (const NodeIndex server : layout_->servers(domain)) {
      if (nodes_[server]->engine && nodes_[server]->view != running) return false;
    }
    if (!leader(domain)) return false;
  }
  return true;
}

bool World::is_quiet() const {
  for (const auto& node : nodes_) {
    if (!node->engine) continue;
    if (!node->queue.empty() || node->places.size() != node->pulled.size()) return false;
  }
  for (unsigned domain = 1; domain <= layout_->domains(); ++domain) {
    Seq last = 0;
    for (const auto& [id, key] : key_of_) {
      const Sent& sent = sent_.at(id);
      if (sent.domain == 0 || sent.domain == domain) last = std::max(last, key);
    }
    for (const NodeIndex server : layout_->servers(domain)) {
      const Node& node = *nodes_[server];
      if (!node.engine) continue;
      const Seq reached = std::max(node.keys.empty() ? 0 : node.keys.back(), node.view_id.number);
      if (reached < last) return false;
    }
  }
  return true;
}

std::uint64_t World::delivered(std::uint32_t node) const { return nodes_[node]->keys.size(); }
const std::vector<Seq>& World::keys(std::uint32_t node) const { return nodes_[node]->keys; }
const std::vector<Seq>& World::places(std::uint32_t node) const { return nodes_[node]->places; }
bool World::is_outside(std::uint32_t node) const {
  return nodes_[node]->engine->describe().find(" outside") != std::string::npos;
}

std::size_t World::backlog(std::uint32_t node) const { return nodes_[node]->queue.size(); }

std::uint32_t World::buffers_held(std::uint32_t node) const {
  const BufferPool& pool = *nodes_[node]->pool;
  return pool.slab_count() - pool.free_count();
}

std::vector<NodeId> World::view(std::uint32_t node) const {
  std::vector<NodeId> members;
  for (const MemberId& member : nodes_[node]->view) members.push_back(member.node);
  return members;
}

void World::set_room(std::uint32_t index, std::uint32_t units) {
  nodes_[index]->room = units;
  call(index, [this](Node& n, Output& out) { n.engine->on_work(schedule_.now(), out); });
}

std::unique_ptr<World> settled(const Shape& shape) {
  auto world = std::make_unique<World>(shape, 1);
  world->start_all();
  const bool views = world->run_until([&] { return world->is_settled(); }, seconds(2));
  PEAL_ASSERT(views);
  return world;
}

}  // namespace peal::order::ramcast::test
