// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>

#include "examine.h"

namespace peal::wire::test {
namespace {

constexpr std::uint64_t kHighest = 0x7fff'ffff'ffff'ffff;

bool is_counter(std::uint64_t value) { return value <= kHighest; }
bool is_number(std::uint64_t value) { return value >= 1 && value <= kHighest; }
bool is_node(const MemberId& member) {
  return member.node.value >= 1 && member.node.value <= 65'535;
}
bool is_begun(const Round& round) { return is_number(round.count) && is_node(round.coordinator); }
bool is_round_or_none(const Round& round) { return round == Round{} || is_begun(round); }

const char* broken_head(const MessageHead& head) {
  if (!is_number(head.number)) return "head.number";
  if (head.to == 0 || head.to % 2 == 1) return "head.to";
  if (head.indexes.size() != std::bitset<16>(head.to).count()) return "head.indexes";
  if (!std::all_of(head.indexes.begin(), head.indexes.end(), is_number)) return "head.index";
  if (head.service != Service::agreed && head.service != Service::safe) return "head.service";
  return is_counter(head.after) ? nullptr : "head.after";
}

const char* broken_view(const DomainView& view) {
  if (view.roster.size() > 15) return "view.roster";
  for (std::size_t i = 0; i < view.roster.size(); ++i) {
    if (!is_node(view.roster[i])) return "view.roster node";
    if (i > 0 && view.roster[i].node <= view.roster[i - 1].node) return "view.roster order";
    if (view.last_in[i] > view.follows) return "view.last_in";
  }
  if (view.last_in.size() != view.roster.size()) return "view.last_in count";
  if (view.id.number == 0) {
    return view.id == ViewId{} && view.follows == 0 && view.members == 0 ? nullptr
                                                                         : "no view, but members";
  }
  if (!is_number(view.id.number) || !is_node(view.id.representative)) return "view.id";
  if (view.follows >= view.id.number) return "view.follows";
  if (view.members == 0) return "a view without members";
  return view.members < (1U << view.roster.size()) ? nullptr : "view.members";
}

const char* broken_message(const MessageRelay& relay) {
  return is_node(relay.sender) ? broken_head(relay.head) : "relay.sender";
}

}  // namespace

const char* broken_rule(const MemoryHello& hello) {
  if (hello.heard != MemberId{} && !is_node(hello.heard)) return "hello.heard";
  if (hello.answer && hello.heard == MemberId{}) return "hello.answer";
  return is_counter(hello.message) ? nullptr : "hello.message";
}

const char* broken_rule(const Takeover& takeover) {
  if (!is_begun(takeover.round)) return "takeover.round";
  if (!is_number(takeover.grant)) return "takeover.grant";
  if (takeover.view.roster.empty()) return "takeover.view without a roster";
  return broken_view(takeover.view);
}

const char* broken_rule(const MemberState& state) {
  if (!is_begun(state.round)) return "state.round";
  if (!is_number(state.grant)) return "state.grant";
  if (!is_round_or_none(state.synchronized)) return "state.synchronized";
  if (!is_counter(state.clock)) return "state.clock";
  if (!is_counter(state.delivered)) return "state.delivered";
  if (const char* rule = broken_view(state.view)) return rule;
  if (const char* rule = broken_view(state.proposed)) return rule;
  if (state.parts < 1 || state.parts > 65'000 || state.part >= state.parts) return "state.part";
  if (state.records.size() > 512) return "state.records";
  for (const StateRecord& record : state.records) {
    if (!is_node(record.sender)) return "record.sender";
    if (const char* rule = broken_head(record.head)) return rule;
    if (!is_counter(record.stamp) || !is_counter(record.key)) return "record.stamp or key";
  }
  return nullptr;
}

const char* broken_rule(const Nack& nack) {
  if (!is_begun(nack.round)) return "nack.round";
  return is_round_or_none(nack.promised) ? nullptr : "nack.promised";
}

const char* broken_rule(const MessageRelay& relay, ByteView packet) {
  if (const char* rule = broken_message(relay)) return rule;
  return packet.size() > 68 + 8 * relay.head.indexes.size() ? nullptr : "relay without a unit";
}

const char* broken_rule(const AboutMessage& about, RamcastKind kind) {
  if (!is_node(about.message.sender)) return "about.sender";
  if (!is_number(about.message.number)) return "about.number";
  if (kind == RamcastKind::answer) {
    if (!is_round_or_none(about.round)) return "answer.round";
    return is_number(about.key) ? nullptr : "answer.key";
  }
  return about.key == 0 && about.round == Round{} ? nullptr : "a question with a key";
}

const char* broken_rule(const BacklogRequest& request) {
  return is_counter(request.delivered) ? nullptr : "request.delivered";
}

const char* broken_rule(const Backlog& backlog, ByteView packet) {
  if (!is_counter(backlog.before)) return "backlog.before";
  if (!is_number(backlog.key) || backlog.key <= backlog.before) return "backlog.key";
  if (const char* rule = broken_message(backlog.message)) return rule;
  const std::size_t least = 84 + 8 * backlog.message.head.indexes.size();
  return packet.size() >= least ? nullptr : "backlog cut in its indexes";
}

const char* broken_rule(const BacklogView& backlog) {
  if (!is_counter(backlog.before)) return "backlog_view.before";
  if (backlog.view.id.number <= backlog.before) return "backlog_view.view";
  return broken_view(backlog.view);
}

}  // namespace peal::wire::test
