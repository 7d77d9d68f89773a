// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/takeover.h"

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

/// Entries that a member reads of the old leader's log, after it has revoked its right.
constexpr std::size_t kDrainMax = 1U << 20;

port::Region log_of(const MemberId& coordinator) {
  return {coordinator, static_cast<std::uint8_t>(Area::log)};
}

}  // namespace

Takeover::Takeover(const Parts& parts, Links& links, Messages& messages, DomainState& state,
                   Outlet& outlet, LogReader& reader, std::uint64_t seed)
    : parts_(parts),
      links_(links),
      messages_(messages),
      state_(state),
      outlet_(outlet),
      reader_(reader),
      random_(seed) {
  if (parts.serves()) answers_.resize(parts.layout.servers(parts.domain).size());
}

void Takeover::note_round(const wire::Round& round) {
  if (parts_.standing.is_foreign(round)) return;
  count_ = std::max(count_, round.count);
}

bool Takeover::counts(Place place, const MemberId& from) const {
  return place < view_.roster.size() && view_.roster[place] == from;
}

// ---- the candidate ----

void Takeover::start(Instant now, const wire::DomainView& view, bool bootstrap, LogTaker& taker,
                     Effects& out) {
  PEAL_ASSERT(view.roster.size() == answers_.size());
  Standing& standing = parts_.standing;
  // Rounds of other orders, that were heard of before this server had an order, do not count.
  if (standing.is_foreign({count_, {}})) count_ = 0;
  note_round(standing.promised);
  close_old_log(taker);
  if (bootstrap && standing.has_order()) return;  // it has just read the base of one
  if (bootstrap) {
    state_.bind(view);
    count_ = first_count_of(view.roster, count_);
  }
  if (number_in_order({count_ + 1, {}}) == 0) return;  // README.md, Limits
  standing.promised = {++count_, parts_.self};
  standing.role = Standing::Role::candidate;
  standing.active = false;
  view_ = view;
  bootstrap_ = bootstrap;
  seed_ = static_cast<std::uint32_t>(random_.next());
  asking_ = 0;
  ++parts_.counts.takeovers;
  for (Place place = 0; place < answers_.size(); ++place) {
    answers_[place] = {};
    const NodeIndex node = parts_.layout.servers(parts_.domain)[place];
    if (node == parts_.index) continue;
    answers_[place].grant = ++grants_;
    asking_ = static_cast<std::uint16_t>(asking_ | (1U << place));
    ask(node, out);
  }
  next_ = now + parts_.options.takeover();
  answer_self();
}

/// First the old leader's right ends, then this server reads what was written: so all that the old
/// leader believes to be here is part of this server's state.
void Takeover::close_old_log(LogTaker& taker) {
  const wire::Round& promised = parts_.standing.promised;
  if (promised == wire::Round{} || promised.coordinator == parts_.self) return;
  if (!PEAL_MUTANT(rc_revoke_forgotten)) parts_.memory.revoke(log_of(promised.coordinator));
  while (reader_.read(taker, kDrainMax) == kDrainMax) {
  }
  reader_.begin({}, 0, 0);
}

void Takeover::ask(NodeIndex node, Effects& out) {
  if (parts_.standing.leads()) view_ = state_.view();
  wire::Takeover takeover;
  takeover.round = parts_.standing.promised;
  takeover.seed = seed_;
  takeover.bootstrap = bootstrap_;
  takeover.grant = answers_[parts_.layout.role(node).place].grant;
  takeover.view = view_;
  parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_takeover(header, takeover, bytes);
  });
}

void Takeover::ask_again(Instant now, NodeIndex node, Effects& out) {
  const Place place = parts_.layout.role(node).place;
  view_ = state_.view();
  bootstrap_ = false;
  answers_[place] = {};
  answers_[place].grant = ++grants_;
  if (asking_ == 0) next_ = now + parts_.options.takeover();
  asking_ = static_cast<std::uint16_t>(asking_ | (1U << place));
  ask(node, out);
}

void Takeover::on_timer(Instant now, Effects& out) {
  if (asking_ == 0 || now < next_) return;
  next_ = now + parts_.options.takeover();
  for (Place place = 0; place < answers_.size(); ++place) {
    if (is_asked(place)) ask(parts_.layout.servers(parts_.domain)[place], out);
  }
}

std::optional<Instant> Takeover::deadline() const {
  return asking_ == 0 ? std::nullopt : std::optional(next_);
}

bool Takeover::on_state(const MemberId& from, NodeIndex node, const wire::MemberState& state) {
  const Place place = parts_.layout.role(node).place;
  Answer& answer = answers_[place];
  const bool awaited = is_asked(place) && state.round == parts_.standing.promised &&
                       state.grant == answer.grant && counts(place, from);
  if (!awaited) {
    parts_.drop(wire::Drop::wrong_state);
    return false;
  }
  if (!is_plausible(state) || answer.records.size() + state.records.size() > records_max(parts_)) {
    parts_.drop(wire::Drop::bad_value);
    return false;
  }
  if (answer.parts.size() != state.parts) {
    // The first part, or the member knows more messages than when it answered before.
    answer.parts.assign(state.parts, false);
    answer.records.clear();
  }
  if (answer.parts[state.part]) return false;
  answer.parts[state.part] = true;
  answer.records.insert(answer.records.end(), state.records.begin(), state.records.end());
  answer.first = state;
  answer.first.records.clear();
  answer.complete =
      std::find(answer.parts.begin(), answer.parts.end(), false) == answer.parts.end();
  if (answer.complete) forget(place);
  return answer.complete;
}

/// What this server uses of the state can be used. A state that is not is dropped: its member is
/// one that has not answered.
bool Takeover::is_plausible(const wire::MemberState& state) const {
  const Clock& clock = parts_.clock;
  for (const wire::DomainView* view : {&state.view, &state.proposed}) {
    if (view->id.number != 0 || !view->roster.empty()) {
      if (!parts_.layout.is_roster(view->roster, parts_.domain)) return false;
    }
    if (!clock.believes(view->id.number)) return false;
  }
  if (!clock.believes_clock(state.clock) || !clock.believes(state.delivered)) return false;
  return std::all_of(
      state.records.begin(), state.records.end(), [&](const wire::StateRecord& record) {
        const bool known = parts_.is_for_us(record.head.to) &&
                           parts_.layout.index_of(record.sender.node).has_value();
        const bool own = record.stamp == 0 || domain_of_key(record.stamp) == parts_.domain;
        return known && own && clock.believes(record.stamp) && clock.believes(record.key);
      });
}

void Takeover::on_nack(const wire::Nack& nack) {
  Standing& standing = parts_.standing;
  if (standing.is_foreign(nack.promised)) return;
  note_round(nack.promised);
  if (standing.role != Standing::Role::candidate || nack.round != standing.promised) return;
  if (nack.promised > standing.promised || (bootstrap_ && nack.promised != wire::Round{})) {
    // Another one is ahead. Who tries again is decided anew.
    standing.role = Standing::Role::follower;
    end();
  }
}

void Takeover::answer_self() {
  Answer& own = answers_[parts_.place];
  wire::MemberState state = own_state(parts_.standing.promised, 1);
  own.records = std::move(state.records);
  state.records.clear();
  own.first = state;
  own.complete = true;
}

bool Takeover::can_decide() const {
  const auto complete = std::count_if(answers_.begin(), answers_.end(),
                                      [](const Answer& answer) { return answer.complete; });
  std::size_t needed = bootstrap_ ? answers_.size() : parts_.quorum();
  if (PEAL_MUTANT(rc_quorum_not_needed)) --needed;
  return static_cast<std::size_t>(complete) >= needed;
}

Decision Takeover::decide() const {
  Decision decision;
  wire::Round newest;
  for (const Answer& answer : answers_) {
    if (answer.complete) newest = std::max(newest, answer.first.synchronized);
  }
  std::map<wire::MessageId, BaseMessage> all;
  for (Place place = 0; place < answers_.size(); ++place) {
    const Answer& answer = answers_[place];
    if (!answer.complete) continue;
    decision.answered = static_cast<std::uint16_t>(decision.answered | (1U << place));
    const wire::MemberState& state = answer.first;
    decision.clock = std::max({decision.clock, state.clock, clock_of(state.delivered),
                               clock_of(state.view.id.number), clock_of(state.proposed.id.number)});
    if (state.view.id.number > decision.view.id.number || decision.view.roster.empty()) {
      decision.view = state.view;
    }
    const bool is_newest = state.synchronized == newest || PEAL_MUTANT(rc_old_stamps_count);
    if (is_newest && state.proposed.id.number > decision.proposed.id.number) {
      decision.proposed = state.proposed;
    }
    for (const wire::StateRecord& record : answer.records) {
      decision.clock = std::max({decision.clock, clock_of(record.stamp), clock_of(record.key)});
      // A member that lags may not know that the message is past. Then nobody may have its unit.
      const NodeIndex sender = *parts_.layout.index_of(record.sender.node);
      const bool past = messages_.is_past(record.sender, sender, record.head);
      if (past && !PEAL_MUTANT(rc_past_in_base)) continue;
      BaseMessage& message = all[{record.sender, record.head.number}];
      message.id = {record.sender, record.head.number};
      message.head = record.head;
      if (is_newest) message.stamp = std::max(message.stamp, record.stamp);
      message.key = std::max(message.key, record.key);
      if (record.body) message.bodies = static_cast<std::uint16_t>(message.bodies | 1U << place);
    }
  }
  for (Place place = 0; place < answers_.size(); ++place) {
    const Answer& answer = answers_[place];
    const bool inside = ((decision.view.members >> place) & 1U) != 0;
    const bool delivered = answer.complete && answer.first.view.id == decision.view.id;
    if (inside && delivered) decision.delivered_by_member = true;
  }
  if (decision.proposed.id.number <= decision.view.id.number) decision.proposed = {};
  MemberId loser;
  for (const auto& [id, message] : all) {
    // Nor was a later message of its sender acknowledged.
    const bool lost = message.key == 0 && (message.bodies == 0 || id.sender == loser);
    if (lost) loser = id.sender;
    if (!lost || PEAL_MUTANT(rc_lost_units_stay)) decision.messages.push_back(message);
  }
  std::stable_sort(decision.messages.begin(), decision.messages.end(),
                   [](const BaseMessage& a, const BaseMessage& b) { return a.stamp < b.stamp; });
  return decision;
}

// ---- the member ----

bool Takeover::accepts(const MemberId& from, NodeIndex node, const wire::Takeover& takeover) const {
  const wire::DomainView& asked = takeover.view;
  const NodeRole& role = parts_.layout.role(node);
  if (role.domain != parts_.domain || takeover.round.coordinator != from) return false;
  if (!parts_.layout.is_roster(asked.roster, parts_.domain)) return false;
  if (asked.roster[parts_.place] != parts_.self || asked.roster[role.place] != from) return false;
  if (parts_.standing.is_foreign(takeover.round)) return false;
  const wire::DomainView& known = state_.view();
  if (!takeover.bootstrap) {
    // A process that knows nothing may have been taken in by one view and left out by the next.
    if (known.roster.empty()) return true;
    return known.id.number != 0 || asked.id.number != 0 || known.roster == asked.roster ||
           replaces_beginning(from, node, takeover);
  }
  // The order has not begun here. This process is bound to the first roster that it takes part in,
  // unless the candidate of that one has restarted, or asks with another one.
  if (parts_.standing.has_order() || known.id.number != 0) return false;
  if (known.roster.empty() || known.roster == asked.roster) return true;
  const MemberId& bound_by = parts_.standing.promised.coordinator;
  const auto node_of_binder = parts_.layout.index_of(bound_by.node);
  return bound_by == from || (node_of_binder && links_.peer(*node_of_binder) != bound_by &&
                              *node_of_binder != parts_.index);
}

/// This process has promised a round that was to begin an order, and `from` belongs to an order
/// that has begun. That beginning needs the answer of this very incarnation of `from`, or of an
/// earlier one while it lived. No server answers it that has an order, so it has failed. README.md,
/// *Two orders*.
bool Takeover::replaces_beginning(const MemberId& from, NodeIndex node,
                                  const wire::Takeover& takeover) const {
  const Standing& standing = parts_.standing;
  const auto& asked = state_.view().roster;
  if (takeover.bootstrap || standing.has_order() || asked.empty()) return false;
  // Promises within an order that has begun count for ever.
  const bool below = order_of(takeover.round) == order_of(pledged_) && takeover.round < pledged_;
  return !below && order_of(takeover.round) != order_of(standing.promised) &&
         from.epoch >= asked[parts_.layout.role(node).place].epoch;
}

Takeover::Result Takeover::on_takeover(const MemberId& from, NodeIndex node,
                                       const wire::Takeover& takeover, LogTaker& taker,
                                       Effects& out) {
  Standing& standing = parts_.standing;
  if (parts_.layout.role(node).domain == parts_.domain) note_round(takeover.round);
  const bool same = takeover.round == standing.promised && from == reader_.round().coordinator &&
                    reader_.round() == takeover.round;
  const bool known = same && takeover.grant <= reader_.grant();
  bool lower = takeover.round < standing.promised || (takeover.round == standing.promised && !same);
  if (takeover.bootstrap && standing.promised != wire::Round{} && !same) {
    lower = order_of(takeover.round) <= order_of(standing.promised);
  }
  if (replaces_beginning(from, node, takeover)) lower = false;
  const auto refuse = [&](const wire::Round& reason) {
    const wire::Nack nack{takeover.round, reason};
    parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_nack(header, nack, bytes);
    });
    return Result::refused;
  };
  if (!accepts(from, node, takeover)) return refuse({});
  if (lower) return refuse(standing.promised);
  if (known) {
    if (takeover.grant == reader_.grant()) answer(node, out);
    return Result::repeated;
  }
  const MemberId old = standing.promised.coordinator;
  close_old_log(taker);
  // It has just read the base of an order that has begun.
  if (takeover.bootstrap && standing.has_order()) return refuse({});
  standing.promised = takeover.round;
  if (!takeover.bootstrap) pledged_ = takeover.round;
  standing.role = Standing::Role::follower;
  standing.active = false;
  end();
  if (takeover.bootstrap) state_.bind(takeover.view);
  if (old != from && old != parts_.self) parts_.memory.drop(log_of(old));
  const auto exposed = parts_.memory.expose(log_of(from), port::Epoch{takeover.grant},
                                            bytes_of(Area::log, parts_.options, parts_.layout));
  reader_.begin(takeover.round, takeover.seed, exposed ? takeover.grant : 0);
  if (!exposed) return Result::refused;  // the candidate asks again
  told_ = own_state(standing.promised, takeover.grant);
  answer(node, out);
  return same ? Result::granted : Result::promised;
}

wire::MemberState Takeover::own_state(const wire::Round& round, std::uint64_t grant) const {
  wire::MemberState state;
  state.round = round;
  state.grant = grant;
  state.synchronized = parts_.standing.synchronized;
  state.clock = PEAL_MUTANT(rc_clock_lost) ? 0 : parts_.clock.value();
  state.delivered = state_.delivered();
  state.view = state_.view();
  if (const wire::DomainView* proposed = outlet_.proposed_view()) state.proposed = *proposed;
  for (const auto& row : messages_.rows()) {
    for (const Record& record : row->records) {
      if (!record.used() || (record.delivered && record.index <= row->released)) continue;
      wire::StateRecord& told = state.records.emplace_back();
      told.sender = record.id.sender;
      told.head = record.head;
      const bool current = record.own.round == parts_.standing.synchronized;
      told.stamp = current ? record.own.key : 0;
      told.key = record.key;
      told.body = (record.has_body && record.body) || !record.kept.empty();
    }
  }
  return state;
}

void Takeover::answer(NodeIndex node, Effects& out) const {
  const std::vector<wire::StateRecord>& records = told_.records;
  wire::MemberState whole = told_;
  // Each part has as many records as surely fit a packet.
  const std::size_t space = parts_.options.packet_bytes_max - wire::kStateFixedBytesMax;
  const std::size_t each = std::max<std::size_t>(
      1,
      std::min(wire::kStateRecordsMax, space / wire::state_record_bytes(parts_.layout.domains())));
  const std::size_t parts = std::max<std::size_t>(1, (records.size() + each - 1) / each);
  if (parts > wire::kStatePartsMax) {
    ++parts_.counts.refused;  // hundreds of thousands of messages in tiny packets
    return;
  }
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(part * each);
    const auto end =
        records.begin() + static_cast<std::ptrdiff_t>(std::min(records.size(), (part + 1) * each));
    whole.records.assign(begin, end);
    whole.part = static_cast<std::uint16_t>(part);
    whole.parts = static_cast<std::uint16_t>(parts);
    parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_member_state(header, whole, bytes);
    });
  }
}

}  // namespace peal::order::ramcast
