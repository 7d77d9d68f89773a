// SPDX-License-Identifier: Apache-2.0
#include "explore_run.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "order/paxos/records.h"
#include "wire/paxos.h"

namespace peal::order::test {
namespace {

using paxos::Record;
using wire::PaxosKind;

constexpr std::uint32_t kSlabBytes = 512;
constexpr std::uint32_t kSlabs = 256;
/// Node 5 is outside: it sends the view and the checkpoint at the start, and requests decided
/// values at the end. There are six nodes, so the three acceptors are no majority of the nodes. So
/// they propose no other view, only units.
constexpr std::uint32_t kOutsider = 5;
constexpr std::uint32_t kNodes = 6;
/// kSilence is longer than every timeout (kPatience). Heartbeats are so short that no sequence of
/// them lasts for kPatience: rounds begin only by kTakeOver.
constexpr Duration kSilence = seconds(1'000);
constexpr Duration kHeartbeatTime = milliseconds(1);
constexpr Duration kPatience = seconds(60);

BufferPool& pool() {
  static BufferPool pool(kSlabBytes, kSlabs);
  return pool;
}

std::vector<NodeId> first_nodes(std::uint32_t count) {
  std::vector<NodeId> nodes;
  for (std::uint32_t node = 1; node <= count; ++node) nodes.push_back(NodeId{node});
  return nodes;
}

paxos::Config config_of(const MemberId& self, port::Log* log) {
  paxos::Config config;
  config.self = self;
  config.universe = first_nodes(kNodes);
  config.acceptors = first_nodes(kAcceptors);
  config.checksum = wire::Checksum::absent;
  config.log = log;
  config.options.heartbeat = kHeartbeatTime;
  config.options.suspect = config.options.suspect_max = kPatience;
  config.options.resend = config.options.gap = kPatience;
  config.options.votes_apart = {};
  config.options.packet_bytes_max = kSlabBytes;
  config.options.window = config.options.member_window = 8;
  config.options.max_gap = config.options.checkpoint_every = 64;
  config.options.history_bytes_max = 1U << 16;
  PEAL_ASSERT(paxos::validate(config.options).empty());
  return config;
}

wire::Header header_of(std::uint32_t node, std::uint64_t epoch) {
  wire::Header header;
  header.sender = {NodeId{node}, epoch};
  header.checksum = wire::Checksum::absent;
  return header;
}

/// Instance 1 is always decided: the view of the three acceptors.
std::vector<std::byte> first_view() {
  std::vector<wire::ViewMember> members;
  for (const NodeId node : first_nodes(kAcceptors)) members.push_back({{node, 1}, 0});
  std::vector<std::byte> packet(kSlabBytes);
  const std::size_t size =
      wire::encode_view_members(members, ByteSpan(packet).subspan(wire::kDataHeaderBytes));
  packet.resize(wire::kDataHeaderBytes + size);
  wire::ValueFrame frame;
  frame.instance = 1;
  frame.head.kind = wire::ValueKind::view;
  frame.head.view = 1;
  frame.head.origin = {NodeId{1}, 1};
  wire::encode_value_in_place(header_of(kOutsider, 1), PaxosKind::decided, frame, packet);
  return packet;
}

/// The ids of an acceptor's first log, and of its new log after the loss of its disk.
std::uint64_t log_of(std::uint32_t node) { return wire::kLogBit | node; }
std::uint64_t later_log_of(std::uint32_t node) { return wire::kLogBit | 0x100 | node; }

template <class Encode>
std::vector<std::byte> built(Encode encode) {
  std::vector<std::byte> packet(kSlabBytes);
  packet.resize(encode(ByteSpan(packet)));
  PEAL_ASSERT(!packet.empty());
  return packet;
}

wire::Checkpoint beginning() {
  wire::Checkpoint checkpoint;
  checkpoint.next = 1;
  checkpoint.nodes = {0, 1, 1, first_nodes(kNodes), first_nodes(kAcceptors)};
  for (std::uint32_t node = 1; node <= kAcceptors; ++node) {
    checkpoint.nodes.lives.push_back(log_of(node));
  }
  return checkpoint;
}

/// An acceptor's answer that it never heard of the log of the receiver. So the receiver may use the
/// log: it is not an older copy.
std::vector<std::byte> log_unheard_of(std::uint32_t from, std::uint64_t log, std::uint64_t epoch) {
  return built([&](ByteSpan out) {
    return wire::encode_log_answer(header_of(from, 1), {epoch, log, {}}, out);
  });
}

/// The state of the order after the first view, for a node that starts with an empty log.
wire::Checkpoint behind_the_first_view() {
  paxos::OrderState state{beginning()};
  const std::vector<std::byte> packet = first_view();
  wire::ValueFrame frame;
  PEAL_ASSERT(wire::decode_value(packet, frame) == wire::Drop::none);
  static_cast<void>(state.apply(frame.head, ByteView(packet).subspan(wire::kDataHeaderBytes), 0));
  return state.checkpoint();
}

/// A heartbeat without votes, so that the receiver does not suspect its sender.
std::vector<std::byte> sign_of_life(std::uint32_t node, std::uint64_t epoch, std::uint64_t log) {
  return built([&](ByteSpan out) {
    wire::State known;
    known.next = known.oldest = 1;
    known.first_list = 1;
    known.misses = true;  // so that the receiver may take over from any coordinator
    if (node <= kAcceptors) known.life = log;
    return wire::encode_state(header_of(node, epoch), known, out);
  });
}

}  // namespace

// ---- the log ----

Result<void, port::LogFailure> MemoryLog::replay(port::LogReader& reader) {
  for (std::size_t i = 0; i < records_.size(); ++i) reader.on_record({i + 1}, records_[i]);
  return {};
}

Result<LogPosition, Errc> MemoryLog::append(ByteView first, ByteView rest) {
  records_.emplace_back(first.begin(), first.end());
  records_.back().insert(records_.back().end(), rest.begin(), rest.end());
  return last();
}

// Keeps all records. Other tests check which records an acceptor may drop.
Result<LogPosition, Errc> MemoryLog::checkpoint(ByteView record, LogPosition /*keep_from*/) {
  return append(record);
}

// ---- starts and inputs ----

ReplayedNode::ReplayedNode(Shared& shared, std::uint32_t node)
    : shared_(shared), node_(node), pool_(pool()) {
  begin();
}

void ReplayedNode::start() {
  engine_.emplace(config_of({NodeId{node_}, epoch_}, acceptor() ? &log_ : nullptr), pool_, *this,
                  &paxos::make_broadcast);
  engine_->start(now_, *this);
  if (!acceptor()) return;
  log_.sync();
  engine_->on_durable(now_, *this);
  for (std::uint32_t node = 1; node <= kAcceptors; ++node) {
    if (node != node_) receive(log_unheard_of(node, log_.id(), epoch_));
  }
}

void ReplayedNode::begin() {
  if (acceptor()) {
    Record record;
    record.kind = Record::Kind::checkpoint;
    record.state = beginning();
    std::vector<std::byte> bytes;
    paxos::write_record(record, bytes);
    PEAL_ASSERT(log_.append(bytes).has_value());
    log_.sync();
    log_.set_id(log_of(node_));
    units_ = shared_.limits.units[node_ - 1];
  }
  start();
  receive(sign_of_life(kOutsider, 1, 0));
  if (!acceptor()) {
    // While nothing is decided, only acceptors may report the order to a new node.
    hear(1);
    receive(built(
        [](ByteSpan out) { return wire::encode_checkpoint(header_of(1, 1), beginning(), out); }));
  }
  receive(first_view());
  for (std::uint32_t node = 1; node <= kAcceptors; ++node) hear(node);
  log_.sync();
  engine_->on_durable(now_, *this);
  looked_at_ = durable_upto_ = log_.records().size();
}

void ReplayedNode::receive(ByteView bytes) {
  BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
  PEAL_ASSERT(static_cast<bool>(packet));
  std::memcpy(packet.data(), bytes.data(), bytes.size());
  engine_->on_packet(now_, Lane::data, packet, *this);
}

void ReplayedNode::hear(std::uint32_t node) {
  if (node == node_) return;
  const std::uint64_t epoch = heard_[node - 1];
  const bool lost = shared_.limits.crash_loses_disk && epoch > 1;
  receive(sign_of_life(node, epoch, lost ? later_log_of(node) : log_of(node)));
}

void ReplayedNode::take(const Mail::Packet& packet) {
  std::uint64_t& heard = heard_[packet.from - 1];
  heard = std::max(heard, packet.epoch);
  receive(packet.bytes);
}

std::uint64_t ReplayedNode::elections() const {
  for (const Counter& each : engine_->counters()) {
    if (each.name == "quorum_elections") return each.value;
  }
  PEAL_ASSERT(false && "no such counter");
}

bool ReplayedNode::apply(Input input) {
  if (input >= kDeliver) {
    take(shared_.mail.at(input - kDeliver));
  } else if (!acceptor() || !act(input)) {
    return false;
  }
  if (acceptor() && !shared_.limits.slow_disk[node_ - 1]) {
    while (log_.durable() < log_.last()) write_all();
  }
  engine_->check_invariants();
  look_at_log();
  return true;
}

void ReplayedNode::write_all() {
  log_.sync();
  look_at_log();
  engine_->on_durable(now_, *this);
}

bool ReplayedNode::act(Input input) {
  const Limits& limits = shared_.limits;
  const std::uint64_t before = elections();
  switch (input) {
    case kHeartbeat:
      now_ = now_ + kHeartbeatTime;
      engine_->on_timer(now_, *this);
      if (elections() != before) return false;  // only kTakeOver may begin a round
      break;
    case kTakeOver:
      if (rounds_ == limits.rounds[node_ - 1]) return false;
      now_ = now_ + kSilence;
      hear(kAcceptors);
      engine_->on_timer(now_, *this);
      if (elections() == before) return false;
      for (std::uint32_t node = 1; node <= kAcceptors; ++node) hear(node);
      ++rounds_;
      break;
    case kDurable:
      if (log_.durable() == log_.last()) return false;
      write_all();
      break;
    case kCrash:
      if (epoch_ - 1 == limits.crashes[node_ - 1]) return false;
      engine_.reset();
      log_.crash();
      if (limits.crash_loses_disk) lose_disk();
      units_ = 0;  // the units of the crashed incarnation are lost
      heard_.fill(1);
      ++epoch_;
      start();
      looked_at_ = log_.records().size();
      for (std::uint32_t node = 1; node <= kAcceptors; ++node) hear(node);
      if (limits.crash_loses_disk) learn_the_order();
      break;
    default: PEAL_ASSERT(false && "no such input");
  }
  return true;
}

void ReplayedNode::lose_disk() {
  log_ = {};
  log_.set_id(later_log_of(node_));
  durable_upto_ = 0;
}

/// Takes a checkpoint from node 5, which is no acceptor; then reports the id of its new log.
void ReplayedNode::learn_the_order() {
  receive(sign_of_life(kOutsider, 1, 0));
  receive(built([](ByteSpan out) {
    return wire::encode_checkpoint(header_of(kOutsider, 1), behind_the_first_view(), out);
  }));
  post(0, PaxosKind::state, sign_of_life(node_, epoch_, log_.id()));
}

bool ReplayedNode::next_unit(std::uint32_t /*unit_bytes_max*/, Unit& out) {
  if (units_ == 0) return false;
  --units_;
  out.bytes = pool_.take(wire::kDataHeaderBytes, 1);
  PEAL_ASSERT(static_cast<bool>(out.bytes));
  *out.bytes.data() = static_cast<std::byte>(node_);
  return true;
}

void ReplayedNode::fatal(std::string_view reason) { wrong_ = std::string(reason); }

// ---- packets that the node sends ----

void ReplayedNode::send(NodeId to, Lane /*lane*/, const BufferRef& packet) {
  record(to.value, packet);
}

void ReplayedNode::multicast(Lane /*lane*/, const BufferRef& packet) { record(0, packet); }

void ReplayedNode::record(std::uint32_t to, const BufferRef& packet) {
  look_at_log();
  wire::Header header;
  PEAL_ASSERT(wire::decode_header(packet.view(), header, wire::Checksum::absent) ==
              wire::Drop::none);
  const auto kind = static_cast<PaxosKind>(header.kind);
  if (asking_) {
    wire::ValueFrame frame;
    if (kind != PaxosKind::decided || to != kOutsider) return;
    PEAL_ASSERT(wire::decode_value(packet.view(), frame) == wire::Drop::none);
    if (frame.instance > 1) {
      decided_ |= shared_.decisions.bit_of({frame.instance, {}, text_of(frame.head)});
    }
    return;
  }
  if (!acceptor()) return;
  switch (kind) {
    case PaxosKind::promise: {
      wire::Promise promise;
      if (wire::decode_promise(packet.view(), promise) != wire::Drop::none) {
        // The promise has votes in rounds above the promised round: receivers would refuse it.
        wrong_ = "n" + std::to_string(node_) + " promised a round below one of its votes";
        return;
      }
      note_said(promise.round, "promised");
      break;
    }
    case PaxosKind::state: {
      wire::State state;
      PEAL_ASSERT(wire::decode_state(packet.view(), state) == wire::Drop::none);
      // Votes go to all nodes. A STATE without a vote above instance 1 decides nothing.
      if (state.voted_round.count == 0 || state.voted_upto < 2) return;
      return post(0, kind, without_times(state));
    }
    case PaxosKind::propose: to = 0; break;
    case PaxosKind::submit:
      if (!shared_.limits.submits) return;
      break;
    case PaxosKind::prepare:
    case PaxosKind::fetch:
    case PaxosKind::fetched:
    case PaxosKind::decided: break;
    default: return;
  }
  if (to > kAcceptors) return;
  const ByteView bytes = packet.view();
  post(to, kind, {bytes.begin(), bytes.end()});
}

void ReplayedNode::post(std::uint32_t to, PaxosKind kind, std::vector<std::byte> bytes) {
  sent_.insert(shared_.mail.number_of({node_, to, kind, epoch_, std::move(bytes)}));
}

// Overwrites the fields that depend on time, such as the node's reports about its links and about
// the coordinator. The exploration needs none of them, because there any node may take over at any
// time.
std::vector<std::byte> ReplayedNode::without_times(wire::State state) const {
  state.beat = 0;
  state.misses = true;
  state.fitness = wire::Fitness::none;
  state.unheard = {};
  state.log = 0;
  return built(
      [&](ByteSpan out) { return wire::encode_state(header_of(node_, epoch_), state, out); });
}

// ---- checks of the log ----

void ReplayedNode::note_said(const wire::Round& round, const char* what) {
  if (round < said_ && wrong_.empty()) {
    wrong_ = "n" + std::to_string(node_) + " " + what + " in " + text_of(round) +
             " after a promise or a vote in " + text_of(said_);
  }
  said_ = std::max(said_, round);
}

// A round binds the node for ever once a promise or vote in it is durable, or the promise was sent.
void ReplayedNode::look_at_log() {
  const auto& records = log_.records();
  for (; looked_at_ < records.size(); ++looked_at_) {
    Record record;
    PEAL_ASSERT(paxos::read_record(records[looked_at_], record));
    if (record.kind != Record::Kind::vote) continue;
    if (record.round < said_) note_said(record.round, "voted");
  }
  for (; durable_upto_ < log_.durable().value; ++durable_upto_) {
    Record record;
    PEAL_ASSERT(paxos::read_record(records[durable_upto_], record));
    if (record.kind == Record::Kind::vote) {
      votes_ |= shared_.votes.bit_of({record.instance, record.round, text_of(record.head)});
    }
    if (record.kind == Record::Kind::promise || record.kind == Record::Kind::vote) {
      said_ = std::max(said_, record.round);
    }
  }
}

// A restart uses only the last durable record of each kind and instance, and the highest round.
void ReplayedNode::add_log_to(Digest& digest) const {
  std::map<std::pair<Record::Kind, wire::Instance>, ByteView> last;
  wire::Round highest{};
  for (std::size_t i = 0; i < log_.records().size(); ++i) {
    Record record;
    PEAL_ASSERT(paxos::read_record(log_.records()[i], record));
    if (i >= log_.durable().value) {
      digest.add(log_.records()[i]);
      continue;
    }
    highest = std::max(highest, record.round);
    if (record.kind != Record::Kind::promise) {
      last[{record.kind, record.instance}] = log_.records()[i];
    }
  }
  paxos::add_to(digest, highest);
  for (const auto& [key, bytes] : last) digest.add(bytes);
}

std::uint64_t ReplayedNode::finish(NodeState& out) {
  Digest digest;
  digest.add(engine_->digest());
  digest.add(epoch_);
  digest.add(rounds_);
  digest.add(units_);
  add_log_to(digest);
  paxos::add_to(digest, said_);
  digest.add(votes_);
  digest.add(wrong_.size());
  asking_ = true;
  receive(built([](ByteSpan bytes) {
    return wire::encode_repeat(header_of(kOutsider, 1), {1, wire::kRepeatMax}, bytes);
  }));
  digest.add(decided_);
  const std::vector<std::uint32_t> sent(sent_.begin(), sent_.end());
  std::vector<std::uint32_t> told;
  for (const std::uint32_t number : sent) {
    const PaxosKind kind = shared_.mail.at(number).kind;
    if (kind == PaxosKind::propose || kind == PaxosKind::state) told.push_back(number);
  }
  out.sent = shared_.sets.number_of(sent);
  out.told = shared_.sets.number_of(told);
  digest.add(out.sent);
  out.votes = votes_;
  out.decided = decided_;
  out.crashes = static_cast<std::uint32_t>(epoch_ - 1);
  out.wrong = wrong_;
  return digest.value();
}

}  // namespace peal::order::test
