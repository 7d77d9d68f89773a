// SPDX-License-Identifier: Apache-2.0
#include "paxos_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "order/engine.h"
#include "order/paxos/records.h"

namespace peal::order::paxos::test {
namespace {

constexpr std::uint64_t kCluster = 7;
constexpr std::size_t kPacketBytes = 65'536;

}  // namespace

Options small_windows() {
  Options options;
  options.max_gap = 32;
  options.checkpoint_every = 8;
  options.window = options.member_window = options.window_first = 8;
  return options;
}

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void put(Store& store, BufferPool& pool, Instance instance, std::uint32_t size) {
  Slot* slot = store.make(instance);
  ASSERT_NE(slot, nullptr);
  slot->decided = true;
  slot->heard.head = unit_head(kOne, instance);
  slot->heard.bytes = pool.take(0, size);
  ASSERT_TRUE(slot->heard.bytes);
  std::fill_n(slot->heard.bytes.data(), size, static_cast<std::byte>(instance));
}

Peers three_peers() {
  Peers peers(kOne, kLog, Options{});
  const std::vector<NodeId> nodes{kOne.node, kTwo.node, kThree.node};
  peers.know({0, 1, 1, nodes, nodes}, {});
  return peers;
}

wire::ValueHead unit_head(const MemberId& origin, std::uint64_t number, std::uint64_t view) {
  return {wire::ValueKind::unit, Service::agreed, view, origin, number};
}

wire::ValueHead view_head(const MemberId& origin, std::uint64_t view) {
  return {wire::ValueKind::view, Service::agreed, view, origin, 0};
}

wire::Nodes first_nodes() {
  const std::vector<NodeId> nodes{kOne.node, kTwo.node, kThree.node};
  return {0, 1, 1, nodes, nodes, {kLog, kLog, kLog}};
}

Bytes view_bytes(const std::vector<wire::ViewMember>& members) {
  Bytes bytes(members.size() * wire::kViewMemberBytes + 64);
  const std::size_t size = wire::encode_view_members(members, bytes);
  PEAL_ASSERT(size != 0);
  bytes.resize(size);
  return bytes;
}

// ---- the log ----

Result<void, port::LogFailure> MemoryLog::replay(port::LogReader& reader) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    reader.on_record(LogPosition{first_ + i}, records_[i]);
  }
  return {};
}

Result<LogPosition, Errc> MemoryLog::append(ByteView first, ByteView rest) {
  if (failure_) return unexpected(Errc::closed);
  if (full_ || last().value - durable_ >= room_) return unexpected(Errc::would_block);
  records_.emplace_back(first.begin(), first.end());
  records_.back().insert(records_.back().end(), rest.begin(), rest.end());
  return last();
}

Result<LogPosition, Errc> MemoryLog::checkpoint(ByteView record, LogPosition keep_from) {
  PEAL_ASSERT(keep_from <= last().next());
  if (failure_) return unexpected(Errc::closed);
  if (checkpoints_full_) return unexpected(Errc::would_block);
  records_.emplace_back(record.begin(), record.end());
  keep_from_ = std::max(keep_from_, keep_from.value);
  return last();
}

void MemoryLog::sync() {
  if (failure_) return;
  durable_ = last().value;
  while (first_ < keep_from_ && !records_.empty()) {
    records_.pop_front();
    ++first_;
  }
}

void MemoryLog::crash() {
  while (last().value > durable_) records_.pop_back();
  keep_from_ = first_;
  failure_.reset();
}

// ---- the engine and its surroundings ----

Bench::Bench(const MemberId& who, const Options& options, Storage storage)
    : self(who), options_(options), storage_(storage) {
  make();
}
std::uint64_t Bench::cluster() { return kCluster; }
Bench::~Bench() {  // engine and packets are freed before the buffers that they use
  engine.reset();
  sent.clear();
}

void Bench::make() {
  Config config;
  config.self = self;
  config.universe = config.acceptors = {kOne.node, kTwo.node, kThree.node};
  config.cluster = kCluster;
  config.options = options_;
  config.storage = storage_;
  config.log = storage_ == Storage::disk ? &disk : nullptr;
  config.owed = storage_ == Storage::disk ? &owed : nullptr;
  config.merger = merger_;
  engine = make_engine(config, pool_, *this);
}

void Bench::start() {
  if (storage_ == Storage::disk && !fresh_ && disk.kept() == 0) begin_order();
  engine->start(now, *this);
  if (storage_ == Storage::disk) sync();
}

void Bench::begin_order() {
  Record record;
  record.kind = Record::Kind::checkpoint;
  record.instance = 1;
  record.state.next = 1;
  record.state.nodes = first_nodes();
  Bytes bytes;
  write_record(record, bytes);
  PEAL_ASSERT(disk.checkpoint(bytes, LogPosition{1}).has_value());
  disk.sync();
}

void Bench::restart() {
  engine.reset();
  disk.crash();
  owed.crash();
  ++self.epoch;
  sent.clear();
  log.clear();
  events.clear();
  introduced_.clear();
  make();
  start();
}

void Bench::sync() {
  disk.sync();
  owed.sync();
  engine->on_durable(now, *this);
  engine->check_invariants();
}

void Bench::run(Duration span) {
  constexpr int kCallsAtOnceMost = 1'000;
  const Instant limit = now + span;
  int at_once = 0;
  for (;;) {
    const std::optional<Instant> deadline = engine->next_deadline();
    if (!deadline || *deadline > limit) break;
    at_once = *deadline > now ? 0 : at_once + 1;
    PEAL_ASSERT(at_once < kCallsAtOnceMost && "timers that do nothing");
    now = std::max(now, *deadline);
    engine->on_timer(now, *this);
    engine->check_invariants();
  }
  now = limit;
}

void Bench::submit(std::string_view unit) {
  queue_.push_back(bytes_of(unit));
  engine->on_work(now, *this);
}

wire::Header Bench::header(const MemberId& from) const {
  wire::Header out;
  out.cluster = kCluster;
  out.sender = from;
  return out;
}

void Bench::hear(const Bytes& packet) {
  BufferRef buffer = pool_.take(0, static_cast<std::uint32_t>(packet.size()));
  if (!packet.empty()) std::memcpy(buffer.data(), packet.data(), packet.size());
  engine->on_packet(now, Lane::data, buffer, *this);
  engine->check_invariants();
}

template <class Encode>
void Bench::say(const MemberId& from, Encode encode) {
  Bytes packet(kPacketBytes);
  const std::size_t size = encode(header(from), ByteSpan(packet));
  PEAL_ASSERT(size != 0);
  packet.resize(size);
  spoke_[from] = now;
  hear(packet);
}

bool Bench::misses(const MemberId& from, const Round& round) const {
  if (round.count == 0) return true;
  if (round.coordinator == from || round.coordinator == self) return false;
  const auto last = spoke_.find(round.coordinator);
  return last == spoke_.end() || now - last->second >= options_.suspect;
}

void Bench::value(wire::PaxosKind kind, const MemberId& from, const wire::ValueFrame& frame,
                  ByteView bytes) {
  Bytes packet(wire::kDataHeaderBytes);
  packet.insert(packet.end(), bytes.begin(), bytes.end());
  wire::encode_value_in_place(header(from), kind, frame, packet);
  hear(packet);
}

void Bench::log_heard(const MemberId& from, const std::vector<wire::LogHeard>& heard) {
  say(from, [&](const wire::Header& h, ByteSpan out) {
    return wire::encode_log_answer(h, {self.epoch, kLog, heard}, out);
  });
}

void Bench::state(const MemberId& from, const wire::State& said) {
  const bool first = std::find(introduced_.begin(), introduced_.end(), from) == introduced_.end();
  introduced_.push_back(from);
  if (first && knows_logs_) log_heard(from, {});
  wire::State state = said;
  if (state.first_list == 0) state.first_list = 1;
  if (state.life == 0) state.life = storage_ == Storage::disk ? kLog : from.epoch;
  if (storage_ == Storage::disk && !fresh_) state.next = std::max<Instance>(state.next, 1);
  state.list = state.next == 0 ? 0 : state.list;
  state.misses = state.misses || misses(from, state.round);
  say(from, [&](const wire::Header& h, ByteSpan out) { return wire::encode_state(h, state, out); });
}

// Before its first packet, a coordinator reports the order that it knows.
void Bench::introduce(const MemberId& coordinator) {
  if (std::find(introduced_.begin(), introduced_.end(), coordinator) != introduced_.end()) return;
  state(coordinator, {});
}

void Bench::prepare(const MemberId& from, std::uint64_t count, Instance first) {
  introduce(from);
  say(from, [&](const wire::Header& h, ByteSpan out) {
    return wire::encode_prepare(h, {count, first}, out);
  });
}

void Bench::promise(const MemberId& from, const wire::Promise& said) {
  say(from,
      [&](const wire::Header& h, ByteSpan out) { return wire::encode_promise(h, said, out); });
}

void Bench::propose(const MemberId& from, std::uint64_t count, Instance instance,
                    const wire::ValueHead& head, std::string_view text, Instance decided_upto) {
  introduce(from);
  wire::ValueFrame frame;
  frame.count = count;
  frame.instance = instance;
  frame.behind = static_cast<std::uint32_t>(instance - decided_upto - 1);
  frame.head = head;
  value(wire::PaxosKind::propose, from, frame, bytes_of(text));
}

void Bench::propose_view(const MemberId& from, std::uint64_t count, Instance instance,
                         std::uint64_t number, const std::vector<wire::ViewMember>& members,
                         Instance decided_upto) {
  introduce(from);
  wire::ValueFrame frame;
  frame.count = count;
  frame.instance = instance;
  frame.behind = static_cast<std::uint32_t>(instance - decided_upto - 1);
  frame.head = view_head(from, number);
  value(wire::PaxosKind::propose, from, frame, view_bytes(members));
}

void Bench::decided(const MemberId& from, Instance instance, const wire::ValueHead& head,
                    std::string_view text) {
  wire::ValueFrame frame;
  frame.instance = instance;
  frame.head = head;
  value(wire::PaxosKind::decided, from, frame, bytes_of(text));
}

void Bench::decided_view(const MemberId& from, Instance instance, std::uint64_t number,
                         const std::vector<wire::ViewMember>& members) {
  wire::ValueFrame frame;
  frame.instance = instance;
  frame.head = view_head(from, number);
  value(wire::PaxosKind::decided, from, frame, view_bytes(members));
}

void Bench::submitted(const MemberId& from, std::uint64_t number, std::string_view text) {
  wire::ValueFrame frame;
  frame.head = unit_head(from, number);
  value(wire::PaxosKind::submit, from, frame, bytes_of(text));
}

void Bench::lacks(const MemberId& from, const wire::Lacks& said) {
  say(from, [&](const wire::Header& h, ByteSpan out) { return wire::encode_lacks(h, said, out); });
}

void Bench::repeat(const MemberId& from, Instance first, std::uint16_t wanted) {
  say(from, [&](const wire::Header& h, ByteSpan out) {
    return wire::encode_repeat(h, {first, wanted}, out);
  });
}

void Bench::fetch(const MemberId& from, const Round& round, Instance instance) {
  say(from, [&](const wire::Header& h, ByteSpan out) {
    return wire::encode_fetch(h, {round, instance}, out);
  });
}

void Bench::fetched(const MemberId& from, const Round& round, Instance instance,
                    const wire::ValueHead& head, std::string_view text) {
  Bytes packet(wire::kFetchedHeaderBytes);
  const Bytes bytes = bytes_of(text);
  packet.insert(packet.end(), bytes.begin(), bytes.end());
  wire::encode_fetched_in_place(header(from), {round, instance, head}, packet);
  hear(packet);
}

void Bench::recall(const MemberId& from, Instance first, std::uint16_t wanted) {
  say(from, [&](const wire::Header& h, ByteSpan out) {
    return wire::encode_recall(h, {first, wanted}, out);
  });
}

void Bench::word(const MemberId& from, const Round& round, Instance instance,
                 const wire::ValueHead& head, std::string_view text) {
  const wire::Word said{instance, round, head};
  if (round.count == 0) {
    return say(from, [&](const wire::Header& h, ByteSpan out) {
      return wire::encode_no_vote(h, said, out);
    });
  }
  Bytes packet(wire::kWordHeaderBytes);
  const Bytes bytes = bytes_of(text);
  packet.insert(packet.end(), bytes.begin(), bytes.end());
  wire::encode_word_in_place(header(from), said, packet);
  hear(packet);
}

void Bench::checkpoint(const MemberId& from, const wire::Checkpoint& said) {
  say(from,
      [&](const wire::Header& h, ByteSpan out) { return wire::encode_checkpoint(h, said, out); });
}

void Bench::lives(const MemberId& from, const wire::Lives& said) {
  say(from, [&](const wire::Header& h, ByteSpan out) { return wire::encode_lives(h, said, out); });
}

void Bench::vote(const MemberId& from, const Round& round, Instance upto, Instance next) {
  wire::State said;
  said.round = said.voted_round = round;
  said.voted_upto = upto;
  said.leading = round.coordinator == from;
  said.next = next;
  said.oldest = 1;
  state(from, said);
}

Round Bench::join(const MemberId& leader, std::uint64_t round_count) {
  const Round round{round_count, leader};
  wire::Checkpoint beginning;
  beginning.next = 1;
  beginning.nodes = first_nodes();
  checkpoint(leader, beginning);
  propose_view(leader, round_count, 1, 1, {{kOne, 0}, {kTwo, 0}, {kThree, 0}});
  sync();
  for (const MemberId& each : {kOne, kTwo, kThree}) {
    if (each.node != self.node) vote(each, round, 1);
  }
  sync();
  return round;
}

Round Bench::lead() {
  const Round round{begin_phase_one({kTwo, kThree}), kOne};
  if (round.count == 0) return {};
  promise(kTwo, {round, 0, {}});
  wire::State here;
  here.next = here.oldest = 1;
  for (const MemberId& each : {kTwo, kThree}) state(each, here);
  run(milliseconds(20));
  sync();
  here.round = here.voted_round = round;
  here.voted_upto = here.view = 1;
  here.joined = true;
  state(kTwo, here);
  run(milliseconds(20));
  sync();
  return round;
}

// ---- output of the engine ----

bool Bench::next_unit(std::uint32_t unit_bytes_max, Unit& out) {
  unit_bytes = unit_bytes_max;
  if (queue_.empty()) return false;
  const Bytes& text = queue_.front();
  out.bytes = pool_.take(static_cast<std::uint32_t>(wire::kDataHeaderBytes),
                         static_cast<std::uint32_t>(text.size()));
  std::memcpy(out.bytes.data(), text.data(), text.size());
  out.service = Service::agreed;
  queue_.pop_front();
  return true;
}

void Bench::send(NodeId to, Lane lane, const BufferRef& packet) {
  wire::Header read;
  const wire::Drop reason = wire::decode_header(packet.view(), read, wire::Checksum::present);
  PEAL_ASSERT(reason == wire::Drop::none);
  const ByteView bytes = packet.view();
  sent.push_back({to,
                  static_cast<wire::PaxosKind>(read.kind),
                  {bytes.begin(), bytes.end()},
                  lane,
                  keeps_packets_ ? packet : BufferRef{}});
}

void Bench::originate(const ViewId& /*view*/, Seq seq) {
  log.push_back("own " + std::to_string(seq));
}

void Bench::deliver(const Delivery& d) {
  log.push_back(std::to_string(d.seq) + ":" + std::string(as_text(d.unit.view())));
}

void Bench::opt_deliver(const Delivery& early) {
  log.push_back("early " + std::to_string(early.seq) + ":" +
                std::string(as_text(early.unit.view())));
}

void Bench::install(const View& view) {
  std::string line =
      (view.transitional ? "trans " : "view ") + std::to_string(view.id.number) + " ";
  for (const MemberId& member : view.members) line += std::to_string(member.node.value);
  if (view.primary != Primary::yes) line += " not primary";
  log.push_back(line);
}

void Bench::report(const Event& event) { events.push_back(event); }
void Bench::fatal(std::string_view /*reason*/) { log.emplace_back("fatal"); }

std::uint64_t Bench::begin_phase_one(std::initializer_list<MemberId> heard) {
  start();
  for (int i = 0; i < 20 && count(wire::PaxosKind::prepare) == 0; ++i) {
    for (const MemberId& each : heard) state(each, {});
    run(milliseconds(20));
  }
  sync();
  wire::Prepare asked;
  if (count(wire::PaxosKind::prepare) == 0) {
    ADD_FAILURE() << "nobody began";
    return 0;
  }
  EXPECT_EQ(wire::decode_prepare(last(wire::PaxosKind::prepare)->bytes, asked), wire::Drop::none);
  return asked.count;
}

std::uint64_t Bench::count(wire::PaxosKind kind) const {
  return static_cast<std::uint64_t>(std::count_if(
      sent.begin(), sent.end(), [kind](const Sent& each) { return each.kind == kind; }));
}

std::uint64_t Bench::proposed(wire::ValueKind kind) const {
  return static_cast<std::uint64_t>(
      std::count_if(sent.begin(), sent.end(), [kind](const Sent& each) {
        wire::ValueFrame frame;
        if (each.kind != wire::PaxosKind::propose || each.to != NodeId{}) return false;
        EXPECT_EQ(wire::decode_value(each.bytes, frame), wire::Drop::none);
        return frame.head.kind == kind;
      }));
}

const Bench::Sent* Bench::last(wire::PaxosKind kind) const {
  const auto at = std::find_if(sent.rbegin(), sent.rend(),
                               [kind](const Sent& each) { return each.kind == kind; });
  return at == sent.rend() ? nullptr : &*at;
}

wire::State Bench::last_state() const {
  wire::State said;
  const Sent* packet = last(wire::PaxosKind::state);
  PEAL_ASSERT(packet != nullptr);
  PEAL_ASSERT(wire::decode_state(packet->bytes, said) == wire::Drop::none);
  return said;
}

std::uint64_t Bench::counter(std::string_view name) const {
  for (const Counter& each : engine->counters()) {
    if (each.name == name) return each.value;
  }
  PEAL_ASSERT(false && "no such counter");
}

std::string Bench::told() const {
  std::string text;
  for (const std::string& line : log) text += (text.empty() ? "" : ", ") + line;
  return text;
}

std::string words_of(Bench& bench, const MemberId& from, Instance first, std::uint16_t count) {
  bench.sent.clear();
  bench.recall(from, first, count);
  std::string text;
  const auto add = [&text](Instance instance, const std::string& what) {
    text += (text.empty() ? "" : ", ") + std::to_string(instance) + what;
  };
  for (const Bench::Sent& each : bench.sent) {
    if (each.to != from.node) continue;
    wire::Word word;
    wire::ValueFrame frame;
    if (each.kind == wire::PaxosKind::word) {
      EXPECT_EQ(wire::decode_word(each.bytes, word), wire::Drop::none);
      const ByteView behind =
          ByteView(each.bytes)
              .subspan(word.round.count == 0 ? wire::kNoVoteBytes : wire::kWordHeaderBytes);
      add(word.instance, word.round.count == 0 ? " no vote" : ":" + std::string(as_text(behind)));
    } else if (each.kind == wire::PaxosKind::decided) {
      EXPECT_EQ(wire::decode_value(each.bytes, frame), wire::Drop::none);
      add(frame.instance, " decided");
    }
  }
  return text;
}

}  // namespace peal::order::paxos::test
