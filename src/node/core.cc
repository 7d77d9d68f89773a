// SPDX-License-Identifier: Apache-2.0
#include "node/core.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "wire/frames.h"

namespace peal::node {

namespace {

/// The limits of the queue of control messages. The queue is small, because only few of these
/// messages wait at a time.
Limits control_limits(const Limits& limits) {
  Limits own = limits;
  own.message_bytes_max = longest_message_bytes(limits);
  own.submit_messages_max = 16;
  own.submit_small_bytes_max = 4'096;
  return own;
}

}  // namespace

Node::Core::Core(const Limits& limits, BufferPool& units, port::Transport& transport, Sink& sink)
    : limits_(limits),
      transport_(transport),
      sink_(sink),
      queue_(limits),
      control_(control_limits(limits)),
      packer_(queue_, control_, units, limits.causal_units) {}

void Node::Core::set_engine(std::unique_ptr<order::Engine> engine) {
  PEAL_ASSERT(engine != nullptr);
  engine_ = std::move(engine);
  counters_.reserve(engine_->counters().size() + kOwnCounters);
}

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

Result<std::uint64_t, Errc> Node::Core::submit_control(ByteView payload, Service service,
                                                       DomainSet domains) {
  auto number = enqueue(payload, service, [&] { return control_.push(payload, service, domains); });
  if (number) *number |= kControlNumber;
  engine_knows_ = false;
  return number;
}

/// Units with outdated control messages may still be under way, and stay it over several views.
Result<void, Errc> Node::Core::replace_control(ByteView payload, Service service,
                                               DomainSet domains) {
  late_.reset();
  packer_.drop_control();
  if (payload.empty()) return {};
  const auto number = submit_control(payload, service, domains);
  if (number) return {};
  if (number.error() != Errc::would_block) return unexpected(number.error());
  late_ = Late{{payload.begin(), payload.end()}, service, domains};
  PEAL_PROBE("node.control_waits");
  return {};
}

/// Units have left the queue of control messages.
void Node::Core::submit_late() {
  if (late_ && submit_control(late_->payload, late_->service, late_->domains)) late_.reset();
}

std::uint64_t Node::Core::block(bool blocked) {
  packer_.block(blocked);
  engine_knows_ = false;  // the next flush() notifies the engine of the messages that may go now
  return queue_.last_taken();
}

void Node::Core::flush(Instant now) {
  // While the engine knows of waiting work, the engine itself calls next_unit().
  if (!running() || engine_knows_ || packer_.idle()) return;
  engine_knows_ = true;
  engine_->on_work(now, *this);
}

bool Node::Core::next_unit(std::uint32_t unit_bytes_max, order::Unit& out) {
  if (transport_.congested() != NodeId{}) {
    engine_knows_ = false;
    return false;
  }
  // `next` is filled and read in place: a copy of bytes that were just written would stall the
  // processor.
  Pending& next = pending_.push_back();
  if (!packer_.next(unit_bytes_max, out, next.packed)) {
    pending_.pop_back();
    engine_knows_ = false;
    return false;
  }
  next.unit = out.bytes.view();
  if (packer_.idle()) engine_knows_ = false;
  return true;
}

void Node::Core::originate(const ViewId& view, Seq seq) {
  PEAL_ASSERT(!pending_.empty());
  const Pending& placed = pending_.front();
  const std::uint64_t first = placed.packed.first_completed;
  const std::uint32_t completed = placed.packed.completed;
  const DomainSet domains = placed.packed.domains;
  SubmitQueue& queue = is_control(first) ? control_ : queue_;
  // A control message may have been dropped after a part of it went into a unit that stays.
  PEAL_ASSERT(completed == 0 || (first & ~kControlNumber) == queue.popped() + 1);
  // The unit's messages leave the queue before the sink is notified: the sink may submit messages
  // into the freed space.
  std::array<Service, kChunksMax> services;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::uint32_t index = 0; index < completed; ++index) {
    services[index] = queue.taken_service(index);
  }
  queue.pop(completed);
  sink_.on_unit_originated(view, seq, placed.packed.service, domains, placed.unit);
  pending_.pop_front();
  for (std::uint32_t index = 0; index < completed; ++index) {
    sink_.on_originate({first + index, view, seq, index, services[index], domains});
  }
  submit_late();
  originated_messages_ += completed;
  outcome_.add(seq);
  outcome_.add(completed);
}

void Node::Core::take_back_pending() {
  // A message counts as restarted if a part of it has a place already: the other members hold that
  // part.
  const bool begun = pending_.empty() ? packer_.half_done() : pending_.front().packed.continues;
  pending_.clear();
  packer_.rewind();
  submit_late();
  if (!begun) return;
  ++restarts_;
  PEAL_PROBE("node.message_restarted");
}

void Node::Core::deliver(const order::Delivery& delivery) {
  sink_.on_unit_delivered(delivery);
  outcome_.add(delivery.seq);
  if (take_apart(delivery)) return deliver_chunks(delivery, false);
  ++bad_units_;
  PEAL_PROBE("node.bad_unit");
}

void Node::Core::opt_deliver(const order::Delivery& early) {
  sink_.on_unit_early(early);
  if (take_apart(early)) deliver_chunks(early, true);
}

bool Node::Core::take_apart(const order::Delivery& delivery) {
  return decode_unit(delivery.unit.view(), delivery.service, longest_message_bytes(limits_),
                     chunks_) == wire::Drop::none;
}

void Node::Core::deliver_chunks(const order::Delivery& delivery, bool early) {
  const bool turned = PEAL_MUTANT(pack_wrong_order) || (early && PEAL_MUTANT(op_wrong_order));
  if (turned && chunks_.size() > 1 && chunks_[0].whole() && chunks_[1].whole()) {
    std::swap(chunks_[0], chunks_[1]);
  }
  Message message;
  message.sender = delivery.origin;
  message.view = delivery.view;
  message.transitional = delivery.transitional;
  message.seq = delivery.seq;
  message.domains = delivery.domains;
  message.set = delivery.set;
  message.as_guessed = !early && delivery.guess != 0 && delivery.guess == delivery.seq;
  for (const Chunk& chunk : chunks_) {
    deliver_chunk(chunk, message, early);
    // The index counts each last chunk, even if its message is not delivered. The sender counts the
    // same way.
    if (chunk.last) ++message.index;
  }
}

void Node::Core::deliver_chunk(const Chunk& chunk, Message& message, bool early) {
  Gathered gathered;
  Reassembly& reassembly = early ? early_ : reassembly_;
  switch (reassembly.feed(message.sender, chunk)) {
    case Reassembly::Fed::open: return;
    case Reassembly::Fed::ignored:
      if (!early) ++ignored_chunks_;
      return;
    case Reassembly::Fed::whole: message.payload = chunk.bytes; break;
    case Reassembly::Fed::complete:
      gathered = reassembly.take();
      message.payload = {gathered.bytes.get(), gathered.size};
      message.gathered = &gathered;
      if (!early) ++gathered_messages_;
      break;
  }
  message.number = chunk.number;
  message.service = chunk.service;
  if (early) {
    tell_early(message);
  } else {
    ++delivered_messages_;
    delivered_bytes_ += message.payload.size();
    outcome_.add(chunk.number);
    sink_.on_message(message);
  }
  message.gathered = nullptr;
  reassembly.give_back(std::move(gathered));  // holds nothing if the sink took the bytes
}

void Node::Core::tell_early(const Message& message) {
  ++early_messages_;
  if (!PEAL_MUTANT(op_other_message)) return sink_.on_early(message);
  Message other = message;
  ++other.number;
  sink_.on_early(other);
}

void Node::Core::install(const order::View& view) {
  outcome_.add(view.id.number * 2 + (view.transitional ? 1 : 0));
  if (limits_.units_stay) {
    transport_.set_audience(view.members);
  } else if (!view.transitional) {
    // A message belongs to the view that orders its last chunk, and joining members lack its
    // earlier chunks. So all members drop unfinished messages, and their senders restart them.
    const bool cut_stays = PEAL_MUTANT(fragment_tail_kept) || PEAL_MUTANT(fragment_not_restarted);
    if (!PEAL_MUTANT(fragment_tail_kept)) reassembly_.clear();
    early_.clear();
    if (!pending_.empty() || !cut_stays) take_back_pending();
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
      {"node_early_messages", early_messages_},
      {"node_ignored_chunks", ignored_chunks_},
  }};
  const auto engine = engine_->counters();
  counters_.assign(engine.begin(), engine.end());
  counters_.insert(counters_.end(), own.begin(), own.end());
  return counters_;
}

void Node::Core::check_invariants() const {
  std::uint64_t completed = 0;
  std::uint64_t completed_control = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const Packed& packed = pending_[i].packed;
    (is_control(packed.first_completed) ? completed_control : completed) += packed.completed;
  }
  PEAL_ASSERT(queue_.taken() == completed);
  // Control messages that were dropped behind messages in units count as taken.
  PEAL_ASSERT(completed_control > 0 ? control_.taken() >= completed_control
                                    : control_.taken() == 0);
  queue_.check_invariants();
  control_.check_invariants();
  packer_.check_invariants();
  reassembly_.check_invariants(longest_message_bytes(limits_));
  early_.check_invariants(longest_message_bytes(limits_));
  engine_->check_invariants();
}

std::uint64_t Node::Core::digest() const {
  Digest digest = outcome_;
  digest.add(static_cast<std::uint64_t>(state_));
  digest.add(queued_messages());
  digest.add(queued_bytes());
  digest.add(packer_.digest());
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const Pending& pending = pending_[i];
    digest.add(pending.packed.first_completed);
    digest.add(pending.packed.completed);
    digest.add(pending.unit.size());
  }
  digest.add(control_.forgotten());
  reassembly_.add_to(digest);
  early_.add_to(digest);
  digest.add(engine_->digest());
  return digest.value();
}

}  // namespace peal::node
