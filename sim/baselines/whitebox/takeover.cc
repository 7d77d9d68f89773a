// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/takeover.h"

#include <algorithm>
#include <utility>

namespace peal::sim::genuine::whitebox {
namespace {

/// Parts that answer one request.
constexpr std::uint32_t kPartsAtOnce = 16;
constexpr std::size_t kEarlyPartsMax = std::size_t{4} * kPartsAtOnce;
constexpr std::uint32_t kPartHeaderBytes = static_cast<std::uint32_t>(wire::kHeaderBytes) + 17;

template <class T>
void add_number(std::vector<std::byte>& to, T value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  store(ByteSpan(to).subspan(at), value);
}

void add_message(std::vector<std::byte>& to, const Message& message) {
  std::array<std::byte, head_bytes(kDomainMax)> head{};
  wire::Writer out(head);
  write_head(out, message.head);
  to.insert(to.end(), head.begin(), head.begin() + static_cast<std::ptrdiff_t>(out.written()));
  add_number(to, message.stamp);
  add_number(to, message.key);
  add_number(to, static_cast<std::uint32_t>(message.body->size()));
  to.insert(to.end(), message.body->begin(), message.body->end());
}

void add_messages(std::vector<std::byte>& to, const std::vector<const Message*>& messages) {
  add_number(to, static_cast<std::uint32_t>(messages.size()));
  for (const Message* each : messages) add_message(to, *each);
}

void read_messages(wire::ByteReader& in, const Layout& layout, std::vector<Message>& out) {
  const auto count = in.u<std::uint32_t>();
  in.holds(count, 1);
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    Message message;
    message.head = read_head(in, layout);
    message.stamp = wire::read_counter(in);
    message.key = wire::read_counter(in);
    const ByteView bytes = in.bytes(in.u<std::uint32_t>());
    in.require(!bytes.empty(), wire::Drop::bad_value);
    message.body = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    if (!in.failed()) out.push_back(std::move(message));
  }
}

}  // namespace

void Takeover::Arriving::add(const Part& part) {
  if (!begun) total = part.total;
  begun = true;
  if (part.total != total || part.offset < bytes.size() || early.size() > kEarlyPartsMax) return;
  early.try_emplace(part.offset, part.bytes.begin(), part.bytes.end());
  while (!early.empty() && early.begin()->first <= bytes.size()) {
    const auto next = early.begin();
    if (next->first == bytes.size()) {
      bytes.insert(bytes.end(), next->second.begin(), next->second.end());
    }
    early.erase(next);
  }
}

// ---- states ----

/// The state as bytes. `tip`: number of messages in the candidate's order.
std::vector<std::byte> Takeover::state_for(std::uint64_t tip) const {
  const Store& store = p_.store;
  std::vector<std::byte> state;
  add_number(state, p_.rounds.current);
  add_number(state, store.clock());
  add_number(state, store.tip());
  const bool whole = tip + 1 >= store.first();
  add_number(state, static_cast<std::uint8_t>(whole));
  std::vector<const Message*> ordered;
  for (std::uint64_t place = tip + 1; whole && place <= store.tip(); ++place) {
    ordered.push_back(&store.at(place));
  }
  add_messages(state, ordered);
  std::vector<const Message*> open;
  for (const auto& [sender, stream] : store.streams()) {
    for (const auto& [index, message] : stream.open) {
      if (message.stamp != 0) open.push_back(&message);
    }
  }
  add_messages(state, open);
  return state;
}

bool Takeover::read_state(ByteView bytes, Answer& out) const {
  wire::ByteReader in(bytes);
  out.current = wire::read_counter(in);
  out.clock = wire::read_counter(in);
  out.tip = wire::read_counter(in);
  out.whole = in.u<std::uint8_t>() != 0;
  read_messages(in, p_.layout, out.ordered);
  read_messages(in, p_.layout, out.open);
  return in.finish() == wire::Drop::none && out.clock < wire::kCounterMax >> 4;
}

void Takeover::send_parts(NodeId to, Ballot ballot, State state, std::uint32_t offset,
                          order::Effects& out) const {
  const std::vector<std::byte>& bytes = state == State::answer ? answer_ : base_;
  const std::uint32_t each = part_bytes();
  const auto total = static_cast<std::uint32_t>(bytes.size());
  for (std::uint32_t i = 0; i < kPartsAtOnce && offset < total; ++i) {
    const std::uint32_t size = std::min(each, total - offset);
    p_.send(out, to, Kind::part, Lane::data,
            Part{ballot, state, total, offset, ByteView(bytes).subspan(offset, size)});
    offset += size;
  }
}

void Takeover::on_get(const MemberId& from, const Get& get, order::Effects& out) const {
  if (!p_.roster.is_member(from) || get.ballot == 0) return;
  const Ballot mine = get.state == State::answer ? answered_ : built_;
  if (get.ballot == mine) send_parts(from.node, get.ballot, get.state, get.offset, out);
}

std::uint32_t Takeover::part_bytes() const { return p_.post.bytes_max() - kPartHeaderBytes; }

void Takeover::ask_for_rest(NodeId from, State state, Arriving& arriving,
                            order::Effects& out) const {
  arriving.asked = static_cast<std::uint32_t>(arriving.bytes.size());
  p_.send(out, from, Kind::get, Lane::control, Get{p_.rounds.promised, state, arriving.asked});
}

/// Asks for more once all parts of the last request are there.
void Takeover::go_on_asking(NodeId from, State state, Arriving& arriving,
                            order::Effects& out) const {
  if (arriving.bytes.size() < arriving.asked + std::size_t{part_bytes()} * kPartsAtOnce) return;
  ask_for_rest(from, state, arriving, out);
}

// ---- the promise ----

void Takeover::promise(Ballot ballot, std::uint64_t tip) {
  p_.rounds.promised = ballot;
  p_.rounds.leading = false;
  collecting_ = false;
  arriving_base_ = {};
  answered_ = ballot;
  answer_ = state_for(tip);
}

void Takeover::start(Instant now, Ballot highest, order::Effects& out) {
  ++started_;
  promise(ballot_of(count_of(highest) + 1, p_.self()), p_.store.tip());
  collecting_ = true;
  deadline_ = now + p_.options.suspect * 4;
  answers_.clear();
  Arriving& own = answers_[p_.self()];
  own = {answer_, {}, static_cast<std::uint32_t>(answer_.size()), true, 0};
  decide();
  asked_at_ = {};
  tick(now, out);
}

bool Takeover::on_new_leader(const MemberId& from, const NewLeader& asked, order::Effects& out) {
  if (!p_.roster.is_member(from) || leader_of(asked.ballot) != from.node) return false;
  if (count_of(asked.ballot) > count_of(p_.rounds.promised) + kClockAhead) return false;
  const bool fresh = asked.ballot > p_.rounds.promised;
  if (fresh) promise(asked.ballot, asked.tip);
  if (asked.ballot == answered_) send_parts(from.node, asked.ballot, State::answer, 0, out);
  return fresh;
}

bool Takeover::on_part(Instant now, const MemberId& from, const Part& part, order::Effects& out) {
  const bool newer = part.state == State::base && part.ballot > p_.rounds.promised &&
                     count_of(part.ballot) <= count_of(p_.rounds.promised) + kClockAhead;
  if (!p_.roster.is_member(from) || (newer && leader_of(part.ballot) != from.node)) return false;
  // A majority has promised this ballot, and this server was not asked.
  if (newer) promise(part.ballot, p_.store.tip());
  if (part.ballot != p_.rounds.promised || p_.rounds.current == part.ballot) return false;
  if (part.state == State::answer) {
    if (!collecting_) return false;
    Arriving& arriving = answers_[from.node];
    if (arriving.complete()) return false;
    arriving.add(part);
    deadline_ = now + p_.options.suspect * 4;
    if (arriving.complete()) decide();
    if (!arriving.complete()) go_on_asking(from.node, State::answer, arriving, out);
    return p_.rounds.current == part.ballot;
  }
  if (leader_of(part.ballot) != from.node) return false;
  arriving_base_.add(part);
  if (arriving_base_.complete()) return take_base(arriving_base_.bytes);
  go_on_asking(from.node, State::base, arriving_base_, out);
  return false;
}

// ---- the new leader ----

/// With the states of a majority: takes what may have been acknowledged by a majority.
void Takeover::decide() {
  std::vector<Answer> answers;
  for (const auto& [node, arriving] : answers_) {
    if (!arriving.complete()) continue;
    Answer answer;
    if (read_state(arriving.bytes, answer)) answers.push_back(std::move(answer));
  }
  if (answers.size() < p_.majority()) return;
  for (const Answer& each : answers) {
    if (!each.whole) lost_ = true;
  }
  collecting_ = false;
  if (!lost_) build_base(answers);
}

/// Only the states of the highest ballot count: a message that an earlier leader proposed, and that
/// a later one did not know, may have been overtaken by messages with larger keys.
void Takeover::build_base(const std::vector<Answer>& answers) {
  Store& store = p_.store;
  Ballot highest = 0;
  for (const Answer& each : answers) {
    store.raise(stamp_of(each.clock, 0));
    for (const Message& message : each.ordered) {
      if (store.is_ordered(message.head)) continue;
      store.know(message.head);
      store.append(message);
    }
    if (highest == 0 || !PEAL_MUTANT(wb_first_state_counts)) {
      highest = std::max(highest, each.current);
    }
  }
  std::vector<Message> open;
  for (const Answer& each : answers) {
    const bool counts = each.current == highest || PEAL_MUTANT(wb_old_states_count);
    if (counts) open.insert(open.end(), each.open.begin(), each.open.end());
  }
  if (PEAL_MUTANT(wb_new_stamps)) {
    for (Message& each : open) each.stamp = store.next_stamp();
  }
  p_.rounds.current = p_.rounds.promised;
  store.adopt(p_.rounds.current, open);
  built_ = p_.rounds.current;
  base_.clear();
  add_number(base_, store.clock());
  std::vector<const Message*> messages;
  for (const auto& [sender, stream] : store.streams()) {
    for (const auto& [index, message] : stream.open) {
      if (message.stamp != 0) messages.push_back(&message);
    }
  }
  add_messages(base_, messages);
}

bool Takeover::take_base(ByteView bytes) {
  wire::ByteReader in(bytes);
  const std::uint64_t clock = wire::read_counter(in);
  std::vector<Message> open;
  read_messages(in, p_.layout, open);
  if (in.finish() != wire::Drop::none || clock >= wire::kCounterMax >> 4) {
    arriving_base_ = {};
    return false;
  }
  p_.store.raise(stamp_of(clock, 0));
  p_.rounds.current = p_.rounds.promised;
  p_.store.adopt(p_.rounds.current, open);
  arriving_base_ = {};
  return true;
}

/// The leader proposes nothing before a majority has its base: a later leader would not know it. It
/// delivers nothing either, as servers without the base do not acknowledge.
bool Takeover::begins_to_lead() const {
  const Rounds& rounds = p_.rounds;
  if (rounds.leading || !rounds.in_step() || built_ != rounds.current) return false;
  std::size_t count = 1;
  p_.for_others([&](NodeId node) {
    count += p_.hearing.peer(node).said.current == rounds.current ? 1U : 0U;
  });
  return count >= p_.majority();
}

void Takeover::tick(Instant now, order::Effects& out) {
  if (now < asked_at_ + p_.options.retry) return;
  asked_at_ = now;
  if (collecting_ && now >= deadline_) {
    collecting_ = false;
    hold_back_until_ = now + p_.options.suspect * 3;
  }
  if (collecting_) {
    p_.for_others([&](NodeId node) {
      Arriving& arriving = answers_[node];
      if (!arriving.begun) {
        p_.send(out, node, Kind::new_leader, Lane::control,
                NewLeader{p_.rounds.promised, p_.store.tip()});
      } else if (!arriving.complete()) {
        ask_for_rest(node, State::answer, arriving, out);
      }
    });
    return;
  }
  if (p_.rounds.in_step() && built_ == p_.rounds.current) {
    // A server that is not heard may hear; most are dead.
    const bool to_all = turns_++ % 8 == 0;
    p_.for_others([&](NodeId node) {
      const bool has_it = p_.hearing.peer(node).said.current >= built_;
      if (!has_it && (to_all || p_.hearing.is_live(now, node))) {
        send_parts(node, built_, State::base, 0, out);
      }
    });
  } else if (!p_.rounds.in_step() && arriving_base_.begun) {
    ask_for_rest(leader_of(p_.rounds.promised), State::base, arriving_base_, out);
  }
}

}  // namespace peal::sim::genuine::whitebox
