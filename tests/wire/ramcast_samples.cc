// SPDX-License-Identifier: Apache-2.0
#include "ramcast_samples.h"

#include <algorithm>

namespace peal::wire::test {
namespace {

std::uint64_t random_number(Random& random) { return 1 + skewed(random, kCounterMax - 1); }

Round maybe_round(Random& random) {
  return random.chance(0.3) ? Round{} : random_begun_round(random);
}

Seq maybe_key(Random& random) { return random.chance(0.3) ? 0 : random_number(random); }

}  // namespace

MessageHead plain_head() {
  MessageHead head;
  head.number = 7;
  head.to = 0b110;
  head.indexes.push_back(5);
  head.indexes.push_back(6);
  head.after = 1'616;
  return head;
}

DomainView plain_domain_view() {
  DomainView view;
  view.id = kSomeView;
  view.follows = view.id.number - 1;
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    view.roster.push_back({{node}, 10 * node});
    view.last_in.push_back(node == 2 ? 0 : view.follows);
  }
  view.members = 0b101;
  return view;
}

MemoryHello plain_hello() { return {{{2}, 20}, 9, true}; }

Takeover plain_takeover() { return {{8, kSender}, 77, true, 2, plain_domain_view()}; }

MemberState plain_member_state() {
  MemberState state;
  state.round = {9, kSender};
  state.grant = 2;
  state.synchronized = {8, {{1}, 10}};
  state.clock = 103;
  state.delivered = 1'633;
  state.view = plain_domain_view();
  state.proposed = plain_domain_view();
  state.proposed.id.number = 20;
  state.part = 1;
  state.parts = 2;
  state.records.push_back({kSender, plain_head(), 1'634, 1'650, true});
  state.records.push_back({{{1}, 10}, plain_head(), 0, 0, false});
  return state;
}

Nack plain_nack() { return {{8, kSender}, {9, {{1}, 10}}}; }

std::vector<std::byte> packet_of(const MessageRelay& relay, const std::vector<std::byte>& unit) {
  std::vector<std::byte> packet(relay_header_bytes(relay.head.indexes.size()));
  packet.insert(packet.end(), unit.begin(), unit.end());
  encode_message_relay_in_place(header_of(RamcastKind::relay), relay, packet);
  return packet;
}

Slot plain_slot() { return {plain_head(), 3}; }

LogEntry plain_log_entry() {
  LogEntry entry;
  entry.kind = LogKind::proposal;
  entry.number = 12;
  entry.round = {9, kSender};
  entry.sender = {{1}, 10};
  entry.head = plain_head();
  entry.stamp = 1'634;
  return entry;
}

Cell plain_cell() {
  Cell cell;
  cell.index = 5;
  cell.sender_epoch = 10;
  cell.number = 7;
  cell.round = {9, kSender};
  cell.stamp = 1'634;
  cell.acknowledged = true;
  cell.digest = 0x1234;
  cell.key = 1'650;
  cell.mark_entry = 12;
  cell.mark_clock = 103;
  return cell;
}

Control plain_control_cell() {
  Control control;
  control.beat = 77;
  control.promised = {9, kSender};
  control.entry = 12;
  control.bytes = 4'096;
  control.grant = 2;
  control.delivered = 1'633;
  control.released = 1'601;
  control.released_in = 65;
  control.missing = 0b100;
  control.active = true;
  return control;
}

Round random_begun_round(Random& random) { return {random_number(random), random_member(random)}; }

MessageHead random_head(Random& random) {
  MessageHead head;
  head.number = random_number(random);
  while (head.to == 0) head.to = static_cast<DomainBits>(skewed(random, 0xffff) & 0xfffe);
  for (unsigned i = 0; i < count_of(head.to); ++i) head.indexes.push_back(random_number(random));
  head.service = random.chance(0.5) ? Service::agreed : Service::safe;
  head.after = skewed(random, kCounterMax);
  return head;
}

DomainView random_domain_view(Random& random) {
  DomainView view;
  const bool formed = random.chance(0.7);
  const std::uint64_t nodes = formed ? 1 + skewed(random, 14) : skewed(random, 15);
  std::uint32_t node = 0;
  while (view.roster.size() < nodes) {
    node += 1 + static_cast<std::uint32_t>(random.below(4'000));
    view.roster.push_back({{node}, skewed(random, ~0ULL)});
    view.last_in.push_back(0);
  }
  if (!formed) return view;
  view.id = random_view(random);
  view.follows = skewed(random, view.id.number - 1);
  for (Seq& last : view.last_in) last = skewed(random, view.follows);
  while (view.members == 0) {
    view.members = static_cast<std::uint16_t>(random.below(1ULL << nodes));
  }
  return view;
}

MemoryHello random_hello(Random& random) {
  MemoryHello hello;
  if (random.chance(0.7)) hello.heard = random_member(random);
  hello.message = skewed(random, kCounterMax);
  hello.answer = hello.heard != MemberId{} && random.chance(0.5);
  return hello;
}

Takeover random_takeover(Random& random) {
  Takeover takeover;
  takeover.round = random_begun_round(random);
  takeover.seed = static_cast<std::uint32_t>(random.next());
  takeover.bootstrap = random.chance(0.5);
  takeover.grant = random_number(random);
  while (takeover.view.roster.empty()) takeover.view = random_domain_view(random);
  return takeover;
}

MemberState random_member_state(Random& random) {
  MemberState state;
  state.round = random_begun_round(random);
  state.grant = random_number(random);
  state.synchronized = maybe_round(random);
  state.clock = skewed(random, kCounterMax);
  state.delivered = skewed(random, kCounterMax);
  state.view = random_domain_view(random);
  state.proposed = random_domain_view(random);
  state.parts = static_cast<std::uint16_t>(1 + skewed(random, kStatePartsMax - 1));
  state.part = static_cast<std::uint16_t>(random.below(state.parts));
  const std::size_t size = skewed(random, random.chance(0.05) ? kStateRecordsMax - 150 : 9);
  while (state.records.size() < size) {
    StateRecord& record = state.records.emplace_back();
    record.sender = random_member(random);
    record.head = random_head(random);
    record.stamp = maybe_key(random);
    record.key = maybe_key(random);
    record.body = random.chance(0.5);
  }
  return state;
}

Nack random_nack(Random& random) { return {random_begun_round(random), maybe_round(random)}; }

MessageRelay random_message_relay(Random& random) {
  return {random_member(random), random_head(random)};
}

Slot random_slot(Random& random) {
  Slot slot{random_head(random), 0};
  slot.stable = skewed(random, slot.head.number);
  return slot;
}

LogEntry random_log_entry(Random& random) {
  LogEntry entry;
  entry.kind = static_cast<LogKind>(
      random.between(static_cast<int>(LogKind::base), static_cast<int>(LogKind::commit)));
  entry.number = random_number(random);
  entry.round = random_begun_round(random);
  switch (entry.kind) {
    case LogKind::base:
      entry.stamp = maybe_key(random);
      entry.key = entry.stamp == 0 ? random_number(random) : maybe_key(random);
      break;
    case LogKind::base_view:
      entry.stamp = random_number(random);
      entry.key = maybe_key(random);
      break;
    case LogKind::base_end:
      entry.stamp = skewed(random, kCounterMax);
      entry.key = random_number(random);
      break;
    case LogKind::proposal:
    case LogKind::view: entry.stamp = random_number(random); break;
    case LogKind::base_sender:
      entry.sender = random_member(random);
      entry.stamp = maybe_key(random);
      [[fallthrough]];
    case LogKind::commit: entry.key = random_number(random); break;
    case LogKind::pad:
    case LogKind::active: break;
  }
  if (entry.kind == LogKind::base || entry.kind == LogKind::proposal) {
    entry.sender = random_member(random);
    entry.head = random_head(random);
  }
  return entry;
}

std::vector<std::byte> random_log_unit(Random& random, LogKind kind) {
  std::size_t size = 0;
  switch (kind) {
    case LogKind::base:
    case LogKind::proposal: size = random.chance(0.3) ? 0 : 1 + random.below(200); break;
    case LogKind::base_view:
    case LogKind::base_end:
    case LogKind::view: size = 1 + random.below(200); break;
    case LogKind::pad:
    case LogKind::base_sender:
    case LogKind::active:
    case LogKind::commit: break;
  }
  std::vector<std::byte> unit(size);
  for (std::byte& b : unit) b = static_cast<std::byte>(random.below(256));
  return unit;
}

Cell random_cell(Random& random) {
  Cell cell;
  cell.index = random_number(random);
  cell.sender_epoch = skewed(random, ~0ULL);
  cell.number = random_number(random);
  cell.committed = random.chance(0.3);
  if (!cell.committed || random.chance(0.5)) {
    cell.round = random_begun_round(random);
    cell.stamp = random_number(random);
    cell.acknowledged = random.chance(0.5);
  }
  if (cell.acknowledged) cell.digest = random.next();
  if (cell.acknowledged || cell.committed) cell.key = random_number(random);
  if (cell.acknowledged && random.chance(0.5)) {
    cell.mark_entry = random_number(random);
    cell.mark_clock = skewed(random, kCounterMax);
  }
  return cell;
}

Control random_control(Random& random) {
  Control control;
  control.beat = random_number(random);
  control.promised = maybe_round(random);
  control.entry = skewed(random, kCounterMax);
  control.bytes = skewed(random, kCounterMax) / kLogAlign * kLogAlign;
  control.grant = skewed(random, kCounterMax);
  control.delivered = skewed(random, kCounterMax);
  control.released = skewed(random, control.delivered);
  control.released_in = skewed(random, control.released);
  if (random.chance(0.5)) {
    control.mark_entry = random_number(random);
    control.mark_clock = skewed(random, kCounterMax);
  }
  control.missing = static_cast<std::uint16_t>(random.below(1U << kDomainNodesMax));
  control.active = random.chance(0.5);
  control.full = random.chance(0.5);
  control.outside = random.chance(0.5);
  control.waits = random.chance(0.5);
  return control;
}

}  // namespace peal::wire::test
