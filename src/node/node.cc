// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"
#include "node/packer.h"
#include "node/reassembly.h"
#include "node/submit_queue.h"
#include "node/unit.h"
#include "wire/frames.h"

namespace peal::node {

namespace {

/// A control message waits for the one before it at most.
Limits control_limits(const Limits& limits) {
  Limits own = limits;
  own.submit_messages_max = 16;
  own.submit_small_bytes_max = 4'096;
  return own;
}

}  // namespace

class Node::Core final : public order::Host, public order::Effects {
 public:
  Core(const Limits& limits, BufferPool& units, port::Transport& transport, Sink& sink)
      : limits_(limits),
        transport_(transport),
        sink_(sink),
        queue_(limits),
        control_(control_limits(limits)),
        packer_(queue_, control_, units) {}

  void set_engine(std::unique_ptr<order::Engine> engine) {
    PEAL_ASSERT(engine != nullptr);
    engine_ = std::move(engine);
    counters_.reserve(engine_->counters().size() + kOwnCounters);
  }
  order::Engine& engine() { return *engine_; }
  const order::Engine& engine() const { return *engine_; }
  const SubmitQueue& queue() const { return queue_; }
  std::uint64_t queued_messages() const { return queue_.messages() + control_.messages(); }
  std::uint64_t queued_bytes() const { return queue_.bytes() + control_.bytes(); }
  const Reassembly& reassembly() const { return reassembly_; }

  bool running() const { return state_ == State::running; }
  void start(Instant now);
  void leave(Instant now);
  Result<std::uint64_t> submit(ByteView payload, Service service) {
    return enqueue(payload, service, [&] { return queue_.push(payload, service); });
  }
  Result<std::uint64_t> submit_lent(ByteView payload, Service service) {
    return enqueue(payload, service, [&] { return queue_.push_lent(payload, service); });
  }
  Result<std::uint64_t> submit_block(Gathered& message, Service service) {
    const ByteView payload{message.bytes.get(), message.size};
    return enqueue(payload, service,
                   [&] { return queue_.push_block(payload, message.bytes, service); });
  }
  Result<std::uint64_t> submit_control(ByteView payload, Service service);
  void drop_control() { packer_.drop_control(); }
  void block(bool blocked);
  void flush(Instant now);

  std::span<const order::Counter> counters();
  void check_invariants() const;
  std::uint64_t digest() const;

  // order::Host
  std::uint32_t backlog_units() const override { return packer_.backlog_units(); }
  bool next_unit(std::uint32_t unit_bytes_max, order::Unit& out) override;
  std::uint32_t receive_room_units() const override { return sink_.receive_room_units(); }

  // order::Effects
  void send(NodeId to, Lane lane, const BufferRef& packet) override {
    transport_.send(to, lane, packet);
  }
  void multicast(Lane lane, const BufferRef& packet) override {
    transport_.multicast(lane, packet);
  }
  void originate(const ViewId& view, Seq seq) override;
  void deliver(const order::Delivery& delivery) override;
  void install(const order::View& view) override;
  void report(const order::Event& event) override { sink_.on_event(event); }
  void fatal(std::string_view reason) override;

 private:
  enum class State : std::uint8_t { created, running, stopped };
  /// What next_unit() handed over and originate() has not placed yet.
  struct Pending {
    bool set = false;
    Service service{};
    ByteView unit;  ///< alive in the engine's hands until originate()
    Packed packed;
  };
  static constexpr std::size_t kOwnCounters = 14;

  template <class Push>
  Result<std::uint64_t> enqueue(ByteView payload, Service service, Push push);
  void deliver_chunk(const Chunk& chunk, Message& message);

  Limits limits_;
  port::Transport& transport_;
  Sink& sink_;
  SubmitQueue queue_;
  SubmitQueue control_;
  Packer packer_;
  Reassembly reassembly_;
  std::unique_ptr<order::Engine> engine_;
  State state_ = State::created;
  bool engine_knows_ = false;  ///< of the work that waits
  Pending pending_;
  Chunks chunks_;  ///< of the unit being delivered

  std::vector<order::Counter> counters_;
  std::uint64_t submit_blocked_ = 0;
  std::uint64_t originated_messages_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t delivered_messages_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t gathered_messages_ = 0;
  std::uint64_t bad_units_ = 0;
  std::uint64_t ignored_chunks_ = 0;
  Digest outcome_;  ///< of all that was submitted, placed and delivered
};

void Node::Core::start(Instant now) {
  PEAL_ASSERT(state_ == State::created);
  state_ = State::running;
  engine_knows_ = !packer_.idle();
  engine_->start(now, *this);
}

void Node::Core::leave(Instant now) {
  if (running()) engine_->leave(now, *this);
  state_ = State::stopped;
}

template <class Push>
Result<std::uint64_t> Node::Core::enqueue(ByteView payload, Service service, Push push) {
  if (state_ == State::stopped) return unexpected(Errc::closed);
  const Result<std::uint64_t> number = push();
  if (!number) {
    if (number.error() == Errc::would_block) ++submit_blocked_;
    return number;
  }
  outcome_.add(payload.size() * 4 + static_cast<std::uint64_t>(service));
  return number;
}

Result<std::uint64_t> Node::Core::submit_control(ByteView payload, Service service) {
  auto number = enqueue(payload, service, [&] { return control_.push(payload, service); });
  if (number) *number |= kControlNumber;
  engine_knows_ = false;
  return number;
}

void Node::Core::block(bool blocked) {
  packer_.block(blocked);
  engine_knows_ = false;  // whatever it saw waiting before
}

void Node::Core::flush(Instant now) {
  // Work that the engine knows of needs no second call: it comes back for it by itself.
  if (!running() || engine_knows_ || packer_.idle()) return;
  engine_knows_ = true;
  engine_->on_work(now, *this);
}

bool Node::Core::next_unit(std::uint32_t unit_bytes_max, order::Unit& out) {
  PEAL_ASSERT(!pending_.set);
  if (!packer_.next(unit_bytes_max, out, pending_.packed)) {
    engine_knows_ = false;
    return false;
  }
  pending_.set = true;
  pending_.service = out.service;
  pending_.unit = out.bytes.view();
  if (packer_.idle()) engine_knows_ = false;
  return true;
}

void Node::Core::originate(const ViewId& view, Seq seq) {
  PEAL_ASSERT(pending_.set);
  pending_.set = false;
  sink_.on_unit_originated(view, seq, pending_.service, pending_.unit);
  const Packed& packed = pending_.packed;
  for (std::uint32_t index = 0; index < packed.completed; ++index) {
    sink_.on_originate(packed.first_completed + index, view, seq, index, packed.services[index]);
  }
  originated_messages_ += packed.completed;
  outcome_.add(seq);
  outcome_.add(packed.completed);
}

void Node::Core::deliver(const order::Delivery& delivery) {
  PEAL_ASSERT(!pending_.set);
  sink_.on_unit_delivered(delivery);
  outcome_.add(delivery.seq);
  const wire::Drop drop =
      decode_unit(delivery.unit.view(), delivery.service, limits_.message_bytes_max, chunks_);
  if (drop != wire::Drop::none) {
    ++bad_units_;
    PEAL_PROBE("node.bad_unit");
    return;
  }
  if (PEAL_MUTANT(pack_wrong_order) && chunks_.size() > 1 && chunks_[0].whole() &&
      chunks_[1].whole()) {
    std::swap(chunks_[0], chunks_[1]);
  }
  Message message;
  message.sender = delivery.origin;
  message.view = delivery.view;
  message.transitional = delivery.transitional;
  message.seq = delivery.seq;
  for (const Chunk& chunk : chunks_) {
    deliver_chunk(chunk, message);
    // Every last chunk counts, delivered or not: so does the sender.
    if (chunk.last) ++message.index;
  }
}

void Node::Core::deliver_chunk(const Chunk& chunk, Message& message) {
  Gathered gathered;
  switch (reassembly_.feed(message.sender, chunk)) {
    case Reassembly::Fed::open: return;
    case Reassembly::Fed::ignored: ++ignored_chunks_; return;
    case Reassembly::Fed::whole: message.payload = chunk.bytes; break;
    case Reassembly::Fed::complete:
      gathered = reassembly_.take();
      message.payload = {gathered.bytes.get(), gathered.size};
      message.gathered = &gathered;
      ++gathered_messages_;
      break;
  }
  message.number = chunk.number;
  message.service = chunk.service;
  ++delivered_messages_;
  delivered_bytes_ += message.payload.size();
  outcome_.add(chunk.number);
  sink_.on_message(message);
  message.gathered = nullptr;
  reassembly_.give_back(std::move(gathered));  // unless the sink took it
}

void Node::Core::install(const order::View& view) {
  PEAL_ASSERT(!pending_.set);
  outcome_.add(view.id.number * 2 + (view.transitional ? 1 : 0));
  if (!view.transitional) {
    // A message belongs to the view that orders its end, and whoever joins has none of its start:
    // all forget what is unfinished, and its sender begins again.
    if (!PEAL_MUTANT(fragment_tail_kept)) {
      reassembly_.clear();
      if (packer_.half_done() && !PEAL_MUTANT(fragment_not_restarted)) {
        packer_.restart();
        ++restarts_;
        PEAL_PROBE("node.message_restarted");
      }
    }
    transport_.set_audience(view.members);
  }
  sink_.on_view(view);
}

void Node::Core::fatal(std::string_view reason) {
  state_ = State::stopped;
  sink_.on_fatal(reason);
}

std::span<const order::Counter> Node::Core::counters() {
  const std::array<order::Counter, kOwnCounters> own{{
      {"node_submit_blocked", submit_blocked_},
      {"node_queued_messages", queued_messages()},
      {"node_queued_bytes", queued_bytes()},
      {"node_units_built", packer_.units()},
      {"node_parts_built", packer_.parts()},
      {"node_pool_empty", packer_.pool_empty()},
      {"node_originated_messages", originated_messages_},
      {"node_restarted_messages", restarts_},
      {"node_delivered_messages", delivered_messages_},
      {"node_delivered_bytes", delivered_bytes_},
      {"node_gathered_messages", gathered_messages_},
      {"node_dropped_partials", reassembly_.drops()},
      {"node_bad_units", bad_units_},
      {"node_ignored_chunks", ignored_chunks_},
  }};
  const auto engine = engine_->counters();
  counters_.assign(engine.begin(), engine.end());
  counters_.insert(counters_.end(), own.begin(), own.end());
  return counters_;
}

void Node::Core::check_invariants() const {
  PEAL_ASSERT(!pending_.set);
  queue_.check_invariants();
  control_.check_invariants();
  packer_.check_invariants();
  reassembly_.check_invariants(limits_.message_bytes_max);
  engine_->check_invariants();
}

std::uint64_t Node::Core::digest() const {
  Digest digest = outcome_;
  digest.add(static_cast<std::uint64_t>(state_));
  digest.add(queued_messages());
  digest.add(queued_bytes());
  digest.add(packer_.digest());
  reassembly_.add_to(digest);
  digest.add(engine_->digest());
  return digest.value();
}

Node::Node(const Limits& limits, BufferPool& units, const EngineFactory& make_engine,
           port::Transport& transport, Sink& sink)
    : core_(std::make_unique<Core>(limits, units, transport, sink)) {
  core_->set_engine(make_engine(*core_));
}
Node::~Node() = default;

void Node::start(Instant now) { core_->start(now); }

Result<std::uint64_t> Node::submit(Instant now, ByteView payload, Service service) {
  const auto number = core_->submit(payload, service);
  if (number) core_->flush(now);
  return number;
}

Result<std::uint64_t> Node::enqueue(ByteView payload, Service service) {
  return core_->submit(payload, service);
}

Result<std::uint64_t> Node::submit_lent(ByteView payload, Service service) {
  return core_->submit_lent(payload, service);
}

Result<std::uint64_t> Node::submit_block(Gathered& message, Service service) {
  return core_->submit_block(message, service);
}

Result<std::uint64_t> Node::submit_control(ByteView payload, Service service) {
  return core_->submit_control(payload, service);
}

void Node::drop_control() { core_->drop_control(); }
void Node::block(bool blocked) { core_->block(blocked); }

std::uint64_t Node::released() const { return core_->queue().popped(); }

void Node::flush(Instant now) { core_->flush(now); }

void Node::on_packet(Instant now, const BufferRef& packet) {
  if (core_->running()) core_->engine().on_packet(now, packet, *core_);
}

void Node::on_old_incarnation(Instant now, const MemberId& newest) {
  if (core_->running()) core_->engine().on_old_incarnation(now, newest, *core_);
}

void Node::on_timer(Instant now) {
  if (core_->running()) core_->engine().on_timer(now, *core_);
}

void Node::on_room(Instant now) {
  if (core_->running()) core_->engine().on_work(now, *core_);
}

void Node::on_pause(Instant now, Duration gap) {
  if (core_->running()) core_->engine().on_pause(now, gap, *core_);
}

void Node::on_drained(Instant now) {
  if (core_->running()) core_->engine().on_drained(now, *core_);
}

void Node::leave(Instant now) { core_->leave(now); }

void Node::set_nodes(Instant now, const order::NodeList& nodes) {
  if (core_->running()) core_->engine().set_nodes(now, nodes, *core_);
}
order::NodesWait Node::nodes_wait() const { return core_->engine().nodes_wait(); }

std::optional<Instant> Node::next_deadline() const {
  if (!core_->running()) return std::nullopt;
  return core_->engine().next_deadline();
}

Lane Node::preferred_lane() const { return core_->engine().preferred_lane(); }
MemberId Node::self() const { return core_->engine().self(); }
order::WaitReason Node::why() const { return core_->engine().why(); }
std::span<const order::Counter> Node::counters() const { return core_->counters(); }
std::uint64_t Node::queued_messages() const { return core_->queued_messages(); }
std::uint64_t Node::queued_bytes() const { return core_->queued_bytes(); }
std::uint64_t Node::reassembly_bytes() const { return core_->reassembly().bytes(); }
void Node::check_invariants() const { core_->check_invariants(); }
std::uint64_t Node::digest() const { return core_->digest(); }

}  // namespace peal::node
