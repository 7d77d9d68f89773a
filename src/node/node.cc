// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <utility>

#include "base/result.h"
#include "node/core.h"

namespace peal::node {

Node::Node(const Limits& limits, BufferPool& units, const EngineFactory& make_engine,
           port::Transport& transport, Sink& sink)
    : core_(std::make_unique<Core>(limits, units, transport, sink)) {
  core_->set_engine(make_engine(*core_));
}
Node::~Node() = default;

void Node::start(Instant now) { core_->start(now); }

Result<std::uint64_t, Errc> Node::submit(Instant now, ByteView payload, Service service,
                                         DomainSet domains) {
  const auto number = core_->submit(payload, service, domains);
  if (number) core_->flush(now);
  return number;
}

Result<std::uint64_t, Errc> Node::enqueue(ByteView payload, Service service, DomainSet domains) {
  return core_->submit(payload, service, domains);
}

Result<std::uint64_t, Errc> Node::submit_lent(ByteView payload, Service service,
                                              DomainSet domains) {
  return core_->submit_lent(payload, service, domains);
}

Result<std::uint64_t, Errc> Node::submit_block(Gathered& message, Service service,
                                               DomainSet domains) {
  return core_->submit_block(message, service, domains);
}

Result<std::uint64_t, Errc> Node::submit_control(ByteView payload, Service service,
                                                 DomainSet domains) {
  return core_->submit_control(payload, service, domains);
}

Result<void, Errc> Node::replace_control(ByteView payload, Service service, DomainSet domains) {
  return core_->replace_control(payload, service, domains);
}

void Node::drop_control() {
  const auto dropped = core_->replace_control({}, Service::agreed, {});
  ignore(dropped, "nothing is submitted");
}
std::uint64_t Node::block(bool blocked) { return core_->block(blocked); }

std::uint64_t Node::released() const { return core_->queue().popped(); }

void Node::flush(Instant now) { core_->flush(now); }

void Node::on_packet(Instant now, Lane lane, const BufferRef& packet) {
  if (core_->running()) core_->engine().on_packet(now, lane, packet, *core_);
}

void Node::on_old_incarnation(Instant now, const MemberId& newest) {
  if (core_->running()) core_->engine().on_old_incarnation(now, newest, *core_);
}

void Node::on_timer(Instant now) {
  if (core_->running()) core_->engine().on_timer(now, *core_);
}

void Node::on_durable(Instant now) {
  if (core_->running()) core_->engine().on_durable(now, *core_);
}

void Node::on_memory(Instant now) {
  if (core_->running()) core_->engine().on_memory(now, *core_);
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

std::optional<order::Leadership> Node::leadership() const { return core_->engine().leadership(); }

std::string Node::describe() const { return core_->engine().describe(); }
std::span<const order::Counter> Node::counters() const { return core_->counters(); }
std::uint64_t Node::queued_messages() const { return core_->queued_messages(); }
std::uint64_t Node::queued_bytes() const { return core_->queued_bytes(); }
std::uint64_t Node::reassembly_bytes() const { return core_->reassembly_bytes(); }
void Node::check_invariants() const { core_->check_invariants(); }
std::uint64_t Node::digest() const { return core_->digest(); }

}  // namespace peal::node
