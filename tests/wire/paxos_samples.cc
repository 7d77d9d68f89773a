// SPDX-License-Identifier: Apache-2.0
#include "paxos_samples.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace peal::wire::test {
namespace {

Round random_round(Random& random) {
  return {1 + skewed(random, kCounterMax - 1), random_member(random)};
}

/// A random round that is not above `top`.
Round random_round_upto(Random& random, const Round& top) {
  if (random.chance(0.2)) return top;
  const Round round{1 + skewed(random, top.count - 1), random_member(random)};
  return round <= top ? round : top;
}

Instance random_instance(Random& random) { return 1 + skewed(random, kCounterMax - 1); }

ValueHead random_head(Random& random, ValueKind kind) {
  ValueHead head;
  head.kind = kind;
  head.origin = random_member(random);
  const bool has_key = kind == ValueKind::nothing || kind == ValueKind::view;
  if (has_key && random.chance(0.7)) head.number = skewed(random, kCounterMax);
  if (kind == ValueKind::nothing) return head;
  if (kind == ValueKind::nodes) {
    head.view = 1 + skewed(random, kListMax - 1);
    return head;
  }
  head.view = 1 + skewed(random, kCounterMax - 1);
  if (kind == ValueKind::view) return head;
  head.number = 1 + skewed(random, kCounterMax - 1);
  head.service = random.chance(0.5) ? Service::agreed : Service::safe;
  return head;
}

std::vector<std::byte> random_bytes(Random& random, ValueKind kind) {
  if (kind == ValueKind::nothing) return {};
  if (kind == ValueKind::view) return view_bytes(random_view_members(random));
  if (kind == ValueKind::nodes) return nodes_bytes(random_nodes(random));
  std::vector<std::byte> bytes(random.below(random.chance(0.01) ? 60'000 : 200));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return random.chance(0.4) ? placed_unit(random_placing(random), bytes) : bytes;
}

ValueKind random_value_kind(Random& random) { return static_cast<ValueKind>(1 + random.below(4)); }

ValueHead unit_head() { return {ValueKind::unit, Service::safe, 9, {{1}, 10}, 41}; }

}  // namespace

std::vector<std::byte> packet_of(const ValueSample& sample, Checksum checksum) {
  std::vector<std::byte> packet(kDataHeaderBytes);
  packet.insert(packet.end(), sample.bytes.begin(), sample.bytes.end());
  Header header = header_of(sample.kind);
  header.checksum = checksum;
  encode_value_in_place(header, sample.kind, sample.frame, packet);
  return packet;
}

std::vector<std::byte> packet_of(const FetchedSample& sample, Checksum checksum) {
  std::vector<std::byte> packet(kFetchedHeaderBytes);
  packet.insert(packet.end(), sample.bytes.begin(), sample.bytes.end());
  Header header = header_of(PaxosKind::fetched);
  header.checksum = checksum;
  encode_fetched_in_place(header, sample.frame, packet);
  return packet;
}

std::vector<std::byte> packet_of(const WordSample& sample, Checksum checksum) {
  std::vector<std::byte> packet(kWordHeaderBytes);
  packet.insert(packet.end(), sample.bytes.begin(), sample.bytes.end());
  Header header = header_of(PaxosKind::word);
  header.checksum = checksum;
  encode_word_in_place(header, sample.frame, packet);
  return packet;
}

std::vector<std::byte> packet_of(const RelaySample& sample, Checksum checksum) {
  std::vector<std::byte> packet(kRelayHeaderBytes);
  packet.insert(packet.end(), sample.bytes.begin(), sample.bytes.end());
  Header header = header_of(sample.kind);
  header.checksum = checksum;
  encode_relay_in_place(header, sample.kind, sample.frame, packet);
  return packet;
}

std::vector<std::byte> view_bytes(const std::vector<ViewMember>& members) {
  std::vector<std::byte> bytes(2 + members.size() * kViewMemberBytes);
  bytes.resize(encode_view_members(members, bytes));
  return bytes;
}

std::vector<ViewMember> first_view_members(std::uint32_t count) {
  std::vector<ViewMember> members;
  for (const MemberId& member : first_members(count)) {
    members.push_back({member, member.node.value});
  }
  return members;
}

Nodes first_nodes(std::uint32_t count, std::uint32_t acceptors) {
  Nodes nodes;
  nodes.first = nodes.hash = 77;
  for (std::uint32_t node = 1; node <= count; ++node) {
    nodes.all.push_back({node});
    if (node <= acceptors) nodes.acceptors.push_back({node});
  }
  return nodes;
}

std::vector<std::byte> nodes_bytes(const Nodes& nodes) {
  std::vector<std::byte> bytes(8 + 2 + nodes.all.size() * 4 + nodes.lives.size() * 8);
  bytes.resize(encode_nodes(nodes, bytes));
  return bytes;
}

std::vector<std::byte> placed_unit(const Placing& placing, const std::vector<std::byte>& rest) {
  std::vector<std::byte> unit(kPlacingBytes);
  encode_placing_in_place(placing, unit);
  unit.insert(unit.end(), rest.begin(), rest.end());
  return unit;
}

ValueSample plain_submit() {
  return {PaxosKind::submit, {0, 0, 0, unit_head()}, std::vector<std::byte>(3)};
}
ValueSample plain_propose() {
  return {PaxosKind::propose, {6, 100, 7, unit_head()}, std::vector<std::byte>(3)};
}
ValueSample plain_decided() {
  return {PaxosKind::decided, {0, 100, 0, unit_head()}, std::vector<std::byte>(3)};
}
ValueSample plain_view() {
  const ValueHead head{ValueKind::view, Service::agreed, 10, {{1}, 10}, 0};
  return {PaxosKind::propose, {6, 100, 7, head}, view_bytes(first_view_members(3))};
}
ValueSample plain_nodes() {
  const ValueHead head{ValueKind::nodes, Service::agreed, 2, {{1}, 10}, 0};
  return {PaxosKind::propose, {6, 100, 7, head}, nodes_bytes(first_nodes(4, 3))};
}

State plain_state() {
  return {{6, kSender}, true, false, true, false, 55, {5, {{2}, 20}}, 99, 98, 90, 10, 9, 2, 77, 88};
}

Promise plain_promise() {
  const Round older{4, {{1}, 10}};
  return {kSomeRound, 100, {{100, 5, older}, {105, 1, kSomeRound}, {200, kVotesMax, kSomeRound}}};
}

FetchedSample plain_fetched() {
  return {{kSomeRound, 100, unit_head()}, std::vector<std::byte>(3)};
}

WordSample plain_word() { return {{100, kSomeRound, unit_head()}, std::vector<std::byte>(3)}; }

RelaySample plain_relay(PaxosKind kind) {
  return {kind, {kSomeRound, 100, 7, 5, unit_head()}, std::vector<std::byte>(3)};
}

Checkpoint plain_checkpoint() {
  Checkpoint plain{100, 44, first_nodes(4, 3), kSomeView, first_view_members(3), {7, 0, 12}};
  plain.nodes.number = 2;
  plain.nodes.first = 66;
  return plain;
}

ValueSample random_value(Random& random) {
  constexpr PaxosKind kKinds[]{PaxosKind::submit, PaxosKind::propose, PaxosKind::decided};
  ValueSample sample;
  sample.kind = kKinds[random.below(3)];
  if (sample.kind != PaxosKind::submit) sample.frame.instance = random_instance(random);
  if (sample.kind == PaxosKind::submit && random.chance(0.5)) {
    sample.frame.count = skewed(random, kEarlyStampMax);
  }
  if (sample.kind == PaxosKind::propose) {
    sample.frame.count = 1 + skewed(random, kCounterMax - 1);
    const std::uint64_t most = std::min<std::uint64_t>(sample.frame.instance - 1, 0xffff'ffff);
    sample.frame.behind = static_cast<std::uint32_t>(skewed(random, most));
  }
  const ValueKind kind =
      sample.kind == PaxosKind::submit ? ValueKind::unit : random_value_kind(random);
  sample.frame.head = random_head(random, kind);
  sample.bytes = random_bytes(random, kind);
  return sample;
}

State random_state(Random& random) {
  State state;
  if (random.chance(0.9)) state.round = random_round(random);
  if (state.round.count != 0 && random.chance(0.3)) {
    state.round.coordinator = kSender;
    state.leading = random.chance(0.7);
  }
  state.leaving = random.chance(0.3);
  state.visiting = random.chance(0.3);
  state.asks = random.chance(0.3);
  state.from = random.chance(0.3) ? 0 : skewed(random, kCounterMax);
  if (state.round.count != 0 && random.chance(0.7)) {
    state.voted_round = random_round_upto(random, state.round);
    state.voted_upto = skewed(random, kCounterMax);
    state.decided_upto = skewed(random, state.voted_upto);
  }
  state.next = skewed(random, kCounterMax);
  state.oldest = skewed(random, state.next);
  state.view = skewed(random, kCounterMax);
  state.joined = state.next != 0 && state.view != 0 && random.chance(0.5);
  if (state.next != 0) state.list = skewed(random, kListMax);
  state.first_list = skewed(random, ~0ULL);
  state.next_list = skewed(random, ~0ULL);
  state.misses = random.chance(0.3);
  state.disk_hangs = random.chance(0.3);
  state.app_full = random.chance(0.3);
  state.beat = static_cast<std::uint32_t>(skewed(random, ~0U));
  state.fitness = static_cast<Fitness>(random.below(4));
  state.life = random.chance(0.3) ? 0 : skewed(random, ~0ULL);
  if ((state.life & kLogBit) != 0) {
    state.log = skewed(random, kCounterMax);
    state.log_word = static_cast<LogWord>(random.below(3));
  }
  if (state.next != 0 && random.chance(0.5)) {
    for (std::uint64_t& word : state.unheard.words()) word = skewed(random, ~0ULL);
  }
  return state;
}

Prepare random_prepare(Random& random) {
  return {1 + skewed(random, kCounterMax - 1), random_instance(random)};
}

Promise random_promise(Random& random) {
  Promise promise;
  promise.round = random_round(random);
  promise.next = skewed(random, 1ULL << 40);
  const std::uint64_t count = skewed(random, kVoteRunsMax);
  Instance free = std::max<Instance>(promise.next, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    VoteRun run;
    run.first = free + (random.chance(0.5) ? 0 : skewed(random, 1ULL << 50));
    run.length = static_cast<std::uint32_t>(1 + skewed(random, kVotesMax - 1));
    run.round = random_round_upto(random, promise.round);
    const bool same = !promise.runs.empty() && promise.runs.back().round == run.round;
    if (same && run.first == free) ++run.first;
    free = run.first + run.length;
    promise.runs.push_back(run);
  }
  return promise;
}

Fetch random_fetch(Random& random) { return {random_round(random), random_instance(random)}; }

FetchedSample random_fetched(Random& random) {
  const ValueKind kind = random_value_kind(random);
  const Fetched frame{random_round(random), random_instance(random), random_head(random, kind)};
  return {frame, random_bytes(random, kind)};
}

RelaySample random_relay(Random& random) {
  RelaySample sample;
  sample.kind = random.chance(0.5) ? PaxosKind::relay : PaxosKind::distribute;
  const ValueKind kind = random_value_kind(random);
  sample.frame.round = random_round(random);
  sample.frame.instance = random_instance(random);
  const std::uint64_t most = std::min<std::uint64_t>(sample.frame.instance - 1, 0xffff'ffff);
  sample.frame.behind = static_cast<std::uint32_t>(skewed(random, most));
  sample.frame.chain = static_cast<std::uint16_t>(1 + skewed(random, 0xfffe));
  sample.frame.head = random_head(random, kind);
  sample.frame.own = kind == ValueKind::unit && random.chance(0.3);
  if (!sample.frame.own) sample.bytes = random_bytes(random, kind);
  return sample;
}

Repeat random_repeat(Random& random) {
  const auto count = static_cast<std::uint16_t>(1 + skewed(random, kRepeatMax - 1));
  return {1 + skewed(random, kCounterMax - 1 - count), count, random.chance(0.3)};
}

Recall random_recall(Random& random) {
  const auto count = static_cast<std::uint16_t>(1 + skewed(random, kRecallMax - 1));
  return {1 + skewed(random, kCounterMax - 1 - count), count};
}

WordSample random_word(Random& random) {
  const ValueKind kind = random_value_kind(random);
  Word frame = random_no_vote(random);
  frame.round = random_round(random);
  frame.head = random_head(random, kind);
  return {frame, random_bytes(random, kind)};
}

Word random_no_vote(Random& random) { return {random_instance(random)}; }

LinkCheck random_link_check(Random& random) {
  const auto rest = static_cast<std::uint32_t>(skewed(random, 1'400));
  return {static_cast<std::uint32_t>(1 + skewed(random, ~0U - 1)),
          static_cast<std::uint32_t>(kLinkCheckHeaderBytes) + rest};
}

Lacks random_lacks(Random& random) {
  const auto count = static_cast<std::uint16_t>(1 + skewed(random, kLacksMax - 1));
  return {1 + skewed(random, kCounterMax - 1), 1 + skewed(random, kCounterMax - 1 - count), count};
}

Pass random_pass(Random& random) { return {1 + skewed(random, kStampMax - 1)}; }
LogAnswer random_log_answer(Random& random) {
  LogAnswer answer;
  answer.life = kLogBit | random.next();
  std::uint64_t epoch = 0;
  for (std::uint64_t i = random.below(kLogsHeardMax + 1); i > 0; --i) {
    epoch += 1 + skewed(random, 1ULL << 61);
    answer.heard.push_back({epoch, 1 + skewed(random, kCounterMax - 1)});
  }
  answer.asker = epoch + 1 + skewed(random, 1ULL << 61);
  return answer;
}

Lives random_lives(Random& random) {
  Lives lives{1 + skewed(random, ~0ULL - 1), {}};
  const std::size_t size = 1 + skewed(random, kMembersMax - 1);
  while (lives.lives.size() < size) lives.lives.push_back(1 + skewed(random, ~0ULL - 1));
  return lives;
}

Placing random_placing(Random& random) {
  return {skewed(random, kCounterMax), 1 + skewed(random, kCounterMax - 1),
          1 + skewed(random, kCounterMax - 1)};
}

std::vector<ViewMember> random_view_members(Random& random) {
  std::map<std::uint32_t, ViewMember> members;
  const std::size_t size = 1 + skewed(random, kMembersMax - 1);
  while (members.size() < size) {
    const MemberId member = random_member(random);
    members[member.node.value] = {member, skewed(random, kCounterMax)};
  }
  std::vector<ViewMember> sorted;
  for (const auto& [node, member] : members) sorted.push_back(member);
  return sorted;
}

Nodes random_nodes(Random& random) {
  Nodes nodes;
  nodes.hash = 1 + skewed(random, ~0ULL - 1);
  nodes.number = skewed(random, kListMax);
  std::set<NodeId> all;
  const std::size_t size = 1 + skewed(random, kMembersMax - 1);
  while (all.size() < size) all.insert(random_member(random).node);
  const NodeId sure = *std::next(all.begin(), static_cast<std::ptrdiff_t>(random.below(size)));
  const double others = random.chance(0.2) ? 0.0 : 0.5;
  for (const NodeId node : all) {
    nodes.all.push_back(node);
    if (random.chance(others) || node == sure) nodes.acceptors.push_back(node);
  }
  const bool lives = random.chance(0.3);
  while (lives && nodes.lives.size() < nodes.acceptors.size()) {
    nodes.lives.push_back(1 + skewed(random, ~0ULL - 1));
  }
  const bool plain = nodes.number == 0 && !lives;
  nodes.first = plain ? nodes.hash : skewed(random, ~0ULL);
  return nodes;
}

Checkpoint random_checkpoint(Random& random) {
  Checkpoint checkpoint;
  checkpoint.next = random_instance(random);
  checkpoint.key = random.chance(0.3) ? 0 : skewed(random, kKeyMax);
  checkpoint.nodes = random_nodes(random);
  if (random.chance(0.1)) return checkpoint;
  checkpoint.view = random_view(random);
  checkpoint.members = random_view_members(random);
  for (std::size_t i = 0; i < checkpoint.members.size(); ++i) {
    checkpoint.numbers.push_back(skewed(random, kCounterMax));
  }
  return checkpoint;
}

}  // namespace peal::wire::test
