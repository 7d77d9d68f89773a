// SPDX-License-Identifier: Apache-2.0
#include "ring_bench.h"

#include <algorithm>
#include <cstring>

#include "order/member_set.h"

namespace peal::order::test {
namespace {

const MemberSet& all_of_three() {
  static const MemberSet all{{{1}, 101}, {{2}, 102}, {{3}, 103}};
  return all;
}

}  // namespace

void RingBench::be(const MemberId& self, const ring::Options& options) {
  self_ = self;
  ring::Config config;
  config.self = self;
  config.universe = {{1}, {2}, {3}};
  config.cluster = kRingCluster;
  config.options = options;
  config.seed = 3;
  engine_ = ring::make_engine(config, pool_, *this);
  engine_->start(now_, *this);
  recover(gather());
  install();
  sent_.clear();
  log_.clear();
}

std::size_t RingBench::index() const { return index_in(all_of_three(), self_); }
const MemberId& RingBench::predecessor() const { return all_of_three()[(index() + 2) % 3]; }

// ---- changes of view ----

void RingBench::join() {
  for (const MemberId& member : all_of_three()) {
    if (member == self_) continue;
    wire::Join join;
    join.number = ++joins_;
    join.committed = view_;
    join.processes = join.heard = all_of_three();
    join.list = 1;
    say(member, Kind::join, join, wire::encode_join);
  }
}

wire::Commit RingBench::gather(const Change& change) {
  join();
  run(milliseconds(3));
  join();
  if (index() != 0) {
    wire::Commit commit;
    commit.view = {view_.number + 10, all_of_three().front()};
    commit.members = all_of_three();
    commit.hops = static_cast<std::uint32_t>(index());
    commit.options = ring::encode(agreed_);
    commit.list = 1;
    for (std::size_t i = 0; i < index() && view_.number == 0; ++i) {
      const MemberId& member = all_of_three()[i];
      ring::OldViewRecord record;
      record.obligation = {member};
      commit.old_views.push_back({{0, member}, {member}, ring::encode(record)});
    }
    change(commit);
    say(predecessor(), Kind::commit, commit, ring::encode_commit);
  }
  const auto commit = last_commit();
  EXPECT_TRUE(commit.has_value());
  return commit.value_or(wire::Commit{});
}

void RingBench::recover(wire::Commit commit, const Change& change) {
  ASSERT_EQ(commit.members.size(), 3U);
  for (std::size_t i = 0; i < 3 && view_.number == 0; ++i) {
    const MemberId& member = all_of_three()[i];
    const bool there =
        std::any_of(commit.old_views.begin(), commit.old_views.end(),
                    [&](const auto& old) { return contains(old.survivors, member); });
    ring::OldViewRecord record;
    record.obligation = {member};
    if (!there) commit.old_views.push_back({{0, member}, {member}, ring::encode(record)});
  }
  change(commit);
  commit.hops = static_cast<std::uint32_t>(3 + index());
  const std::size_t before = events(&event::recovery_started);
  say(predecessor(), Kind::commit, commit, ring::encode_commit);
  ASSERT_EQ(events(&event::recovery_started), before + 1);
  token_ = {};
  token_.view = commit.view;
  if (index() != 0) return;
  commit.hops = 6;
  say(predecessor(), Kind::commit, commit, ring::encode_commit);
  token_ = last_token().value_or(token_);
}

wire::Token RingBench::recovery_token() {
  wire::Token token = token_;
  token.hop += token_.hop == 0 ? 1 : 2;
  token.recovery_run = 2;
  return token;
}

void RingBench::install() {
  for (int visits = 0; visits < 2 && view_ != token_.view; ++visits) {
    pass(recovery_token());
    token_.recovery_run = 3;
  }
  ASSERT_EQ(view_, token_.view);
}

// ---- packets of other members ----

template <class Frame, class Encode>
void RingBench::say(const MemberId& from, Kind kind, const Frame& frame, Encode encode) {
  std::vector<std::byte> bytes(60'000);
  bytes.resize(encode(wire::Header{kind, kRingCluster, from}, frame, ByteSpan(bytes)));
  ASSERT_FALSE(bytes.empty());
  hear(bytes);
}

void RingBench::hear(const std::vector<std::byte>& bytes) {
  BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), packet.data());
  engine_->on_packet(now_, Lane::data, packet, *this);
  engine_->check_invariants();
}

void RingBench::hear(const MemberId& from, const wire::Token& token) {
  say(from, Kind::token, token, wire::encode_token);
}
void RingBench::hear(const MemberId& from, const wire::HoldCancel& cancel) {
  say(from, Kind::hold_cancel, cancel, wire::encode_hold_cancel);
}
void RingBench::hear(const MemberId& from, const wire::Data& data, std::string_view text) {
  std::vector<std::byte> bytes(wire::kDataHeaderBytes + text.size());
  std::memcpy(bytes.data() + wire::kDataHeaderBytes, text.data(), text.size());
  wire::encode_data_in_place(wire::Header{Kind::data, kRingCluster, from}, data, bytes);
  hear(bytes);
}

wire::Data RingBench::unit(const MemberId& origin, Seq seq, Service service) const {
  wire::Data data;
  data.view = view_;
  data.seq = seq;
  data.hop = 1;
  data.origin = origin;
  data.service = service;
  return data;
}

wire::Token RingBench::next() const {
  wire::Token token = token_;
  token.hop += 2;
  return token;
}

std::optional<wire::Token> RingBench::pass(const wire::Token& token) {
  const std::size_t before = count(Kind::token);
  hear(predecessor(), token);
  if (count(Kind::token) == before) return std::nullopt;
  token_ = *last_token();
  return token_;
}

wire::Token RingBench::visit(const wire::Token& token) {
  const auto sent = pass(token);
  EXPECT_TRUE(sent.has_value());
  return sent.value_or(token);
}

// ---- the node ----

void RingBench::submit(int units, Service service) {
  queue_.insert(queue_.end(), static_cast<std::size_t>(units), service);
}

void RingBench::run(Duration span) {
  const Instant end = now_ + span;
  for (auto due = engine_->next_deadline(); due && *due <= end; due = engine_->next_deadline()) {
    now_ = std::max(now_, *due);
    const std::size_t before = count(Kind::token);
    engine_->on_timer(now_, *this);
    engine_->check_invariants();
    if (count(Kind::token) > before) token_ = *last_token();
  }
  now_ = end;
}

bool RingBench::next_unit(std::uint32_t unit_bytes_max, Unit& out) {
  unit_bytes_max_ = unit_bytes_max;
  if (queue_.empty()) return false;
  out.bytes = pool_.take(static_cast<std::uint32_t>(wire::kDataHeaderBytes), 4);
  std::memcpy(out.bytes.data(), "mine", 4);
  out.service = queue_.front();
  queue_.pop_front();
  return true;
}

void RingBench::send(NodeId to, Lane lane, const BufferRef& packet) {
  const ByteView bytes = packet.view();
  sent_.push_back({to, lane, static_cast<Kind>(bytes[3]), {bytes.begin(), bytes.end()}});
}

void RingBench::deliver(const Delivery& delivery) {
  deliveries_.push_back(delivery);
  deliveries_.back().unit.reset();
  log_.push_back((delivery.transitional ? "t" : "") + std::to_string(delivery.seq) + ":" +
                 std::string(as_text(delivery.unit.view())));
}

void RingBench::install(const View& view) {
  views_.push_back(view);
  views_.back().members = {};
  std::string line = view.transitional ? "trans " : "view ";
  for (const MemberId& member : view.members) line += std::to_string(member.node.value);
  log_.push_back(line);
  if (!view.transitional) view_ = view.id;
}

// ---- output of the engine ----

std::size_t RingBench::count(Kind kind) const {
  return static_cast<std::size_t>(std::count_if(
      sent_.begin(), sent_.end(), [kind](const Sent& each) { return each.kind == kind; }));
}

std::vector<wire::Data> RingBench::data() const {
  std::vector<wire::Data> data;
  for (const Sent& each : sent_) {
    if (each.kind != Kind::data) continue;
    EXPECT_EQ(wire::decode_data(each.bytes, data.emplace_back()), Drop::none);
  }
  return data;
}

std::optional<wire::Commit> RingBench::last_commit() const {
  std::optional<wire::Commit> last;
  for (const Sent& each : sent_) {
    if (each.kind != Kind::commit) continue;
    EXPECT_EQ(ring::decode_commit(each.bytes, last.emplace()), Drop::none);
  }
  return last;
}

std::optional<wire::Token> RingBench::last_token() const {
  std::optional<wire::Token> last;
  for (const Sent& each : sent_) {
    if (each.kind != Kind::token) continue;
    EXPECT_EQ(wire::decode_token(each.bytes, last.emplace()), Drop::none);
  }
  return last;
}

std::uint64_t RingBench::counter(std::string_view name) const {
  for (const Counter& each : engine_->counters()) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

std::size_t RingBench::events(const EventKind* kind) const {
  return static_cast<std::size_t>(std::count_if(
      events_.begin(), events_.end(), [kind](const Event& each) { return each.kind == kind; }));
}

}  // namespace peal::order::test
