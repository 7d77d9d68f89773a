// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include "examine.h"
#include "wire/paxos.h"

namespace peal::wire::test {
namespace {

constexpr std::uint64_t kLast = 0x7fff'ffff'ffff'ffff;

bool is_node(const MemberId& member) {
  return member.node.value >= 1 && member.node.value <= 65'535;
}
bool begun(const Round& round) {
  return round.count >= 1 && round.count <= kLast && is_node(round.coordinator);
}
bool no_round(const Round& round) {
  return round.count == 0 && round.coordinator.node.value == 0 && round.coordinator.epoch == 0;
}
bool instance(Instance number) { return number >= 1 && number <= kLast; }

/// Compares the count, then the node, then the epoch. Does not use the comparison of Round, which
/// is under test.
bool higher(const Round& a, const Round& b) {
  if (a.count != b.count) return a.count > b.count;
  const MemberId& left = a.coordinator;
  const MemberId& right = b.coordinator;
  if (left.node.value != right.node.value) return left.node.value > right.node.value;
  return left.epoch > right.epoch;
}

const char* broken_members(const std::vector<ViewMember>& members) {
  if (members.size() > 128) return "too many members";
  std::set<std::uint32_t> nodes;
  std::uint32_t highest = 0;
  for (const ViewMember& each : members) {
    const std::uint32_t node = each.member.node.value;
    if (!is_node(each.member)) return "a member that is no node";
    if (each.came_from > kLast) return "came_from";
    if (!nodes.insert(node).second) return "a node twice";
    if (node < highest) return "members not sorted";
    highest = node;
  }
  return nullptr;
}

/// Checks the bytes of a view: they must decode, and the members must encode to the same bytes.
const char* broken_view(ByteView bytes) {
  static std::vector<ViewMember> members;
  if (decode_view_members(bytes, members) != Drop::none) return "a view without members";
  if (members.empty()) return "a view of nobody";
  std::vector<std::byte> again(2 + 128 * 20);
  again.resize(encode_view_members(members, again));
  if (!std::equal(bytes.begin(), bytes.end(), again.begin(), again.end())) {
    return "members encode to other bytes";
  }
  return broken_members(members);
}

const char* broken_nodes(const Nodes& nodes) {
  if (nodes.hash == 0) return "a list without a hash";
  if (nodes.all.empty() || nodes.acceptors.empty()) return "a list of no nodes or no acceptors";
  if (nodes.all.size() > 128) return "too many nodes";
  std::set<std::uint32_t> all;
  for (const NodeId node : nodes.all) {
    if (node.value < 1 || node.value > 65'535) return "a listed node that is none";
    if (!all.empty() && node.value <= *all.rbegin()) return "nodes not sorted";
    all.insert(node.value);
  }
  std::uint32_t highest = 0;
  for (const NodeId node : nodes.acceptors) {
    if (all.count(node.value) == 0) return "an acceptor that is no node";
    if (node.value <= highest) return "acceptors not sorted";
    highest = node.value;
  }
  if (nodes.lives.empty()) return nullptr;
  if (nodes.lives.size() != nodes.acceptors.size()) return "not a life for each acceptor";
  const bool each = std::find(nodes.lives.begin(), nodes.lives.end(), 0) == nodes.lives.end();
  return each ? nullptr : "a life without an epoch";
}

std::uint64_t number_at(ByteView bytes, std::size_t offset, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) {
    number = number * 256 + std::to_integer<std::uint64_t>(bytes[offset + i]);
  }
  return number;
}

/// Checks the bytes of a list of nodes. They are read here byte by byte, and the codec must read
/// the same list.
const char* broken_list(ByteView bytes) {
  static Nodes nodes;
  nodes = {};
  if (bytes.size() < 10) return "a list without its front";
  nodes.hash = number_at(bytes, 0, 8);
  const std::uint64_t count = number_at(bytes, 8, 2) % 0x8000;
  const bool lives = number_at(bytes, 8, 2) >= 0x8000;
  const std::size_t end = 10 + 4 * count;
  if (lives ? bytes.size() < end : bytes.size() != end) return "a list of another length";
  for (std::size_t at = 10; at < end; at += 4) {
    const std::uint64_t entry = number_at(bytes, at, 4);
    const NodeId node{static_cast<std::uint32_t>(entry % 0x8000'0000)};
    nodes.all.push_back(node);
    if (entry >= 0x8000'0000) nodes.acceptors.push_back(node);
  }
  if (lives && bytes.size() != end + 8 * nodes.acceptors.size()) return "lives of another length";
  for (std::size_t at = end; at < bytes.size(); at += 8) {
    nodes.lives.push_back(number_at(bytes, at, 8));
  }
  if (const char* broken = broken_nodes(nodes)) return broken;
  static Nodes decoded;
  decoded.number = decoded.first = 0;  // the bytes do not contain these
  if (decode_nodes(bytes, decoded) != Drop::none) return "a list that does not decode";
  if (decoded != nodes) return "a list that decodes to another";
  std::vector<std::byte> again(10 + (4 + 8) * 128);
  again.resize(encode_nodes(decoded, again));
  return std::equal(bytes.begin(), bytes.end(), again.begin(), again.end())
             ? nullptr
             : "nodes encode to other bytes";
}

/// Checks the placing in front of a unit, if there is one. It is read here byte by byte. The codec
/// must accept the same placings, with the same result, and refuse all others.
const char* broken_placing(ByteView unit) {
  static Placing decoded;
  const Drop drop = decode_placing(unit, decoded);
  if (unit.size() < 24) return drop == Drop::truncated ? nullptr : "a placing that is cut off";
  const Placing placing{number_at(unit, 0, 8), number_at(unit, 8, 8), number_at(unit, 16, 8)};
  const bool fine = placing.stamp <= kLast && instance(placing.view) && instance(placing.number);
  if (drop != (fine ? Drop::none : Drop::bad_value)) return "placing";
  if (!fine) return nullptr;
  if (decoded != placing) return "a placing that decodes to another";
  std::vector<std::byte> again(24);
  encode_placing_in_place(decoded, again);
  return std::equal(again.begin(), again.end(), unit.begin()) ? nullptr
                                                              : "placing encodes to other bytes";
}

const char* broken_value(const ValueHead& head, ByteView bytes) {
  if (head.service != Service::agreed && head.service != Service::safe) return "value.service";
  if (!is_node(head.origin)) return "value.origin";
  if (head.view > kLast || head.number > kLast) return "value counters";
  switch (head.kind) {
    case ValueKind::unit:
      if (head.view == 0 || head.number == 0) return "a unit without a view or number";
      return broken_placing(bytes);
    case ValueKind::nothing:
      if (head.view != 0) return "nothing with a view";
      if (head.service != Service::agreed) return "nothing that is safe";
      return bytes.empty() ? nullptr : "nothing with bytes";
    case ValueKind::view:
      if (head.view == 0) return "a view without its number";
      if (head.service != Service::agreed) return "a view that is safe";
      return broken_view(bytes);
    case ValueKind::nodes:
      if (head.view < 1 || head.view > 8'388'607) return "number of a list";
      if (head.number != 0) return "a list that is counted";
      if (head.service != Service::agreed) return "a list that is safe";
      return broken_list(bytes);
  }
  return "value.kind";
}

}  // namespace

const char* broken_rule(const ValueFrame& value, PaxosKind kind, ByteView bytes) {
  switch (kind) {
    case PaxosKind::submit:
      if (value.count > kEarlyStampMax) return "submit stamp";
      if (value.instance != 0 || value.behind != 0) return "submit numbers";
      if (value.head.kind != ValueKind::unit) return "submit of no unit";
      break;
    case PaxosKind::propose:
      if (value.count < 1 || value.count > kLast) return "propose.count";
      if (!instance(value.instance)) return "propose.instance";
      if (value.behind >= value.instance) return "propose.behind";
      break;
    case PaxosKind::decided:
      if (value.count != 0 || value.behind != 0) return "decided numbers";
      if (!instance(value.instance)) return "decided.instance";
      break;
    default: return "a kind that has no value";
  }
  return broken_value(value.head, bytes);
}

const char* broken_rule(const State& state, const MemberId& sender) {
  if (!no_round(state.round) && !begun(state.round)) return "state.round";
  if (!no_round(state.voted_round) && !begun(state.voted_round)) return "state.voted_round";
  if (higher(state.voted_round, state.round)) return "state.voted_round above round";
  if (no_round(state.voted_round) && state.voted_upto != 0) return "state.voted_upto";
  for (const std::uint64_t each :
       {state.voted_upto, state.decided_upto, state.next, state.oldest, state.view, state.from}) {
    if (each > kLast) return "state counters";
  }
  if (state.decided_upto > state.voted_upto) return "state.decided_upto";
  if (state.oldest > state.next) return "state.oldest";
  if (state.leading && (no_round(state.round) || state.round.coordinator != sender)) {
    return "state.leading";
  }
  if (state.joined && (state.view == 0 || state.next == 0)) return "state.joined";
  if (state.list > 8'388'607) return "state.list";
  if (state.next == 0 && state.list != 0) return "a list that counts nowhere";
  if (static_cast<int>(state.fitness) > 3) return "state.fitness";
  if (state.log > kLast) return "state.log";
  if (static_cast<int>(state.log_word) > 2) return "state.log_word";
  const bool says = state.log != 0 || static_cast<int>(state.log_word) != 0;
  if (says && state.life < 0x8000'0000'0000'0000) return "a word on no log";
  if (state.next == 0 && !state.unheard.empty()) return "unheard of no list";
  return nullptr;
}

const char* broken_rule(const Prepare& prepare) {
  if (prepare.count < 1 || prepare.count > kLast) return "prepare.count";
  return instance(prepare.from) ? nullptr : "prepare.from";
}

const char* broken_rule(const Promise& promise) {
  if (!begun(promise.round)) return "promise.round";
  if (promise.next > kLast) return "promise.next";
  if (promise.runs.size() > 1'024) return "promise.runs";
  const VoteRun* before = nullptr;
  for (const VoteRun& run : promise.runs) {
    if (!instance(run.first) || run.first < promise.next) return "run.first";
    if (run.length < 1 || run.length > 1'048'576) return "run.length";
    if (kLast - run.first < run.length) return "run wraps";
    if (!begun(run.round) || higher(run.round, promise.round)) return "run.round";
    if (before != nullptr) {
      if (run.first <= before->first) return "runs not sorted";
      const std::uint64_t away = run.first - before->first;
      if (away < before->length) return "runs overlap";
      if (away == before->length && run.round == before->round) return "one run as two";
    }
    before = &run;
  }
  return nullptr;
}

const char* broken_rule(const Fetch& fetch) {
  if (!begun(fetch.round)) return "fetch.round";
  return instance(fetch.instance) ? nullptr : "fetch.instance";
}

const char* broken_rule(const Fetched& fetched, ByteView bytes) {
  if (!begun(fetched.round)) return "fetched.round";
  if (!instance(fetched.instance)) return "fetched.instance";
  return broken_value(fetched.head, bytes);
}

const char* broken_rule(const Relay& relay, ByteView bytes) {
  if (!begun(relay.round)) return "relay.round";
  if (!instance(relay.instance)) return "relay.instance";
  if (relay.behind >= relay.instance) return "relay.behind";
  if (relay.chain == 0) return "relay.chain";
  if (relay.own && relay.head.kind != ValueKind::unit) return "relay.own";
  if (relay.own && !bytes.empty()) return "relay.own has bytes";
  return broken_value(relay.head, bytes);
}

const char* broken_rule(const Repeat& repeat) {
  if (!instance(repeat.first)) return "repeat.first";
  if (repeat.count < 1 || repeat.count > 64) return "repeat.count";
  return kLast - repeat.first < repeat.count ? "repeat wraps" : nullptr;
}

const char* broken_rule(const Recall& recall) {
  if (!instance(recall.first)) return "recall.first";
  if (recall.count < 1 || recall.count > 64) return "recall.count";
  return kLast - recall.first < recall.count ? "recall wraps" : nullptr;
}

const char* broken_rule(const Word& word, ByteView bytes) {
  if (!instance(word.instance)) return "word.instance";
  if (no_round(word.round)) {
    if (word.head != ValueHead{}) return "word.head without a vote";
    return bytes.empty() ? nullptr : "word without a vote has bytes";
  }
  if (!begun(word.round)) return "word.round";
  return broken_value(word.head, bytes);
}

const char* broken_rule(const LinkCheck& check) {
  if (check.number == 0) return "link_check.number";
  return check.bytes < 36 ? "link_check.bytes" : nullptr;
}

const char* broken_rule(const Lacks& lacks) {
  if (!instance(lacks.view)) return "lacks.view";
  if (!instance(lacks.first)) return "lacks.first";
  if (lacks.count < 1 || lacks.count > 64) return "lacks.count";
  return kLast - lacks.first < lacks.count ? "lacks wraps" : nullptr;
}

const char* broken_rule(const Pass& pass) {
  return pass.key >= 1 && pass.key <= 0x01ff'ffff'ffff'ffff ? nullptr : "pass.key";
}

const char* broken_rule(const LogAnswer& answer) {
  if (answer.asker == 0) return "log_heard.asker";
  if (answer.life < 0x8000'0000'0000'0000) return "log_heard.life";
  if (answer.heard.size() > 2) return "log_heard.heard";
  std::uint64_t before = 0;
  for (const LogHeard& heard : answer.heard) {
    if (heard.epoch <= before || heard.epoch >= answer.asker) return "log_heard.epoch";
    if (heard.position < 1 || heard.position > kLast) return "log_heard.position";
    before = heard.epoch;
  }
  return nullptr;
}

const char* broken_rule(const Lives& lives) {
  if (lives.list == 0) return "lives.list";
  if (lives.lives.empty() || lives.lives.size() > 128) return "lives.lives";
  const bool all = std::find(lives.lives.begin(), lives.lives.end(), 0) == lives.lives.end();
  return all ? nullptr : "a life without an epoch";
}

const char* broken_rule(const Checkpoint& checkpoint) {
  if (!instance(checkpoint.next)) return "checkpoint.next";
  if (checkpoint.key > 0x02ff'ffff'ffff'fffe) return "checkpoint.key";
  const Nodes& nodes = checkpoint.nodes;
  if (nodes.number > 8'388'607) return "checkpoint.nodes.number";
  if (nodes.number == 0 && nodes.lives.empty() && nodes.first != nodes.hash) {
    return "a first list that is not the first";
  }
  if (const char* broken = broken_nodes(nodes)) return broken;
  if (checkpoint.numbers.size() != checkpoint.members.size()) return "checkpoint.numbers";
  for (const std::uint64_t each : checkpoint.numbers) {
    if (each > kLast) return "checkpoint number";
  }
  const ViewId& view = checkpoint.view;
  if (view.number == 0) {
    if (view.representative != MemberId{}) return "checkpoint of no view by somebody";
    return checkpoint.members.empty() ? nullptr : "members of no view";
  }
  if (view.number > kLast || !is_node(view.representative)) return "checkpoint.view";
  return checkpoint.members.empty() ? "a view without members" : broken_members(checkpoint.members);
}

}  // namespace peal::wire::test
