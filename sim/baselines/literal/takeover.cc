// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/takeover.h"

#include <algorithm>

namespace peal::sim::genuine::literal {
namespace {

constexpr std::uint32_t kAroundPart = static_cast<std::uint32_t>(wire::kHeaderBytes) + 17;

template <class Write>
void append(std::vector<std::byte>& to, std::size_t most, Write write) {
  const std::size_t at = to.size();
  to.resize(at + most);
  wire::Writer out(ByteSpan(to).subspan(at));
  write(out);
  PEAL_ASSERT(!out.failed());
  to.resize(at + out.written());
}

}  // namespace

bool Takeover::Arriving::add(std::uint32_t total, std::uint32_t offset, ByteView bytes) {
  if (!whole.empty() || !parts.try_emplace(offset, bytes.begin(), bytes.end()).second) return false;
  got += static_cast<std::uint32_t>(bytes.size());
  if (got != total) return false;
  for (const auto& [at, each] : parts) whole.insert(whole.end(), each.begin(), each.end());
  return true;
}

// ---- states ----

/// Rounds, clocks, and the messages that some server may lack.
std::vector<std::byte> Takeover::state_bytes(bool of_leader) const {
  std::vector<std::byte> bytes;
  std::uint32_t count = 0;
  std::vector<std::byte> messages;
  for (const auto& [client, stream] : p_.store.streams()) {
    for (const auto& each : stream.messages) {
      const Message& message = each.second;
      const Proposal& own = message.columns[p_.domain()];
      const bool stamped = own.round == p_.standing.current || message.key != 0;
      if (!stamped) continue;
      // As published: only what has a unit, and, of a leader, only what it has not finished.
      const bool has_body = message.body != nullptr;
      if (p_.options.has(Published::x7) && (!has_body || (of_leader && message.done))) continue;
      ++count;
      append(messages, head_bytes(kDomainMax) + 21, [&](wire::Writer& out) {
        write_head(out, message.head);
        out.u(own.stamp);
        out.u(message.key);
        out.u(has_body ? static_cast<std::uint32_t>(message.body->size()) : 0U);
      });
      if (has_body) messages.insert(messages.end(), message.body->begin(), message.body->end());
    }
  }
  append(bytes, 24, [&](wire::Writer& out) {
    out.u(p_.standing.current);
    out.u(p_.store.clock());
    out.u(count);
  });
  bytes.insert(bytes.end(), messages.begin(), messages.end());
  return bytes;
}

bool Takeover::read_state(ByteView bytes, State& out) const {
  wire::ByteReader in(bytes);
  out.current = in.u<Round>();
  out.clock = in.u<std::uint64_t>();
  const auto messages = in.u<std::uint32_t>();
  for (std::uint32_t i = 0; i < messages && !in.failed(); ++i) {
    Known known;
    known.head = read_head(in, p_.layout);
    known.stamp = in.u<Key>();
    known.key = in.u<Key>();
    const ByteView body = in.bytes(in.u<std::uint32_t>());
    if (in.failed() || !known.head.to.has(p_.domain())) return false;
    if (!body.empty()) {
      known.body = std::make_shared<const std::vector<std::byte>>(body.begin(), body.end());
    }
    out.messages[p_.store.place_of(known.head)] = std::move(known);
  }
  return in.finish() == wire::Drop::none;
}

void Takeover::send_parts(NodeId to, Round round, Sort sort, const std::vector<std::byte>& bytes,
                          order::Effects& out) const {
  const std::uint32_t each = p_.post.bytes_max() - kAroundPart;
  const auto total = static_cast<std::uint32_t>(bytes.size());
  for (std::uint32_t offset = 0; offset < total; offset += each) {
    const std::uint32_t size = std::min(each, total - offset);
    p_.post.send(out, to, number(Kind::part), Lane::data, [&](wire::Writer& in) {
      in.u(round);
      in.u(static_cast<std::uint8_t>(sort));
      in.u(total);
      in.u(offset);
      in.bytes(ByteView(bytes).subspan(offset, size));
    });
  }
}

// ---- Tasks 7 and 8 ----

/// The old leader's right to write ends; what it has written so far counts.
void Takeover::promise(Round round, const MemberId& leader) {
  if (!p_.standing.leads && p_.standing.current != 0) {
    const MemberId old = p_.member(leader_of(p_.standing.promised));
    p_.links.revoke_log(old);
    if (p_.standing.in_step()) tasks_.read_log();
  }
  answer_ = state_bytes(p_.standing.leads);
  p_.standing.promised = round;
  p_.standing.leads = p_.standing.active = false;
  collecting_ = false;
  arriving_ = {};
  if (leader != p_.post.self()) p_.links.expose_log(leader, round);
}

void Takeover::start(Instant now, Round highest, order::Effects& out) {
  ++started_;
  promise(round_of(count_of(highest) + 1, p_.post.self().node), p_.post.self());
  collecting_ = true;
  deadline_ = now + p_.options.suspect * 4;
  states_.clear();
  states_[p_.self()].whole = answer_;
  decide();
  asked_at_ = {};
  tick(now, out);
}

bool Takeover::on_new_leader(const MemberId& from, wire::ByteReader in, order::Effects& out) {
  const auto round = in.u<Round>();
  if (in.failed() || !p_.roster.is_member(from) || leader_of(round) != from.node) return false;
  const bool fresh = round > p_.standing.promised;
  if (fresh) promise(round, from);
  if (round == p_.standing.promised) send_parts(from.node, round, Sort::state, answer_, out);
  return fresh;
}

bool Takeover::on_part(const MemberId& from, wire::ByteReader in) {
  const auto round = in.u<Round>();
  const auto sort = in.u<std::uint8_t>();
  const auto total = in.u<std::uint32_t>();
  const auto offset = in.u<std::uint32_t>();
  const ByteView bytes = in.bytes(in.remaining());
  if (in.failed() || !p_.roster.is_member(from)) return false;
  // A server that was not asked, and is told what a new round begins with.
  const bool newer = round > p_.standing.promised && leader_of(round) == from.node;
  if (newer && static_cast<Sort>(sort) == Sort::base) promise(round, from);
  if (round != p_.standing.promised || p_.standing.current == round) return false;
  if (static_cast<Sort>(sort) == Sort::state) {
    if (!collecting_ || !states_[from.node].add(total, offset, bytes)) return false;
    decide();
    return p_.standing.current == round;
  }
  State base;
  if (leader_of(round) != from.node || !arriving_.add(total, offset, bytes)) return false;
  if (!read_state(arriving_.whole, base)) return false;
  adopt(base);
  p_.standing.active = p_.options.has(Published::x14);
  return true;
}

// ---- Task 9 ----

/// True if the message has no key here. As published, the others of the new leader's are left out.
bool Takeover::is_undecided(const Place& place) const {
  const Message* message = p_.store.find(place);
  return message == nullptr || !message->done;
}

/// With the states of a majority, this server leads.
void Takeover::decide() {
  std::vector<State> states;
  for (const auto& [node, arriving] : states_) {
    State state;
    if (!arriving.whole.empty() && read_state(arriving.whole, state)) {
      states.push_back(std::move(state));
    }
  }
  const bool alone = p_.options.has(Published::x6);  // before the quorum has answered
  if (states.size() < (alone ? 1 : p_.majority())) return;
  collecting_ = false;
  State base;
  for (const State& each : states) {
    base.current = std::max(base.current, each.current);
    base.clock = std::max(base.clock, each.clock);
  }
  for (const State& each : states) {
    // Stamps of earlier rounds that the latest one did not know are dead.
    const bool counts = each.current == base.current;
    for (const auto& [place, known] : each.messages) {
      if (p_.options.has(Published::x7) && !is_undecided(place)) continue;
      Known& all = base.messages[place];
      all.head = known.head;
      if (counts || known.key != 0) all.stamp = known.stamp;
      if (known.key != 0) all.key = known.key;
      if (all.body == nullptr) all.body = known.body;
    }
  }
  // What has no unit anywhere was not acknowledged by a majority.
  std::erase_if(base.messages, [](const auto& each) {
    return each.second.body == nullptr || (each.second.stamp == 0 && each.second.key == 0);
  });
  p_.standing.current = p_.standing.promised;
  adopt(base);
  p_.standing.leads = true;
  p_.standing.active = alone || p_.options.has(Published::x14);
  base_ = state_bytes(true);
  note_members();
}

void Takeover::adopt(const State& base) {
  p_.standing.current = p_.standing.promised;
  Store& store = p_.store;
  for (auto& [client, stream] : store.streams()) {
    // Stamps of other domains have to come again, too, from the new leader: by then its clock is
    // above them. With a key, the own domain's stamp stays for ever.
    for (auto& [index, message] : stream.messages) {
      const Proposal own{p_.standing.current, message.columns[p_.domain()].stamp};
      message.columns = {};
      const bool stays = message.key != 0 && !p_.options.has(Published::x7);
      if (stays) message.columns[p_.domain()] = own;
    }
  }
  store.raise(stamp_of(base.clock, 0));
  for (const auto& [place, known] : base.messages) {
    Message* message = store.know(known.head);
    if (message == nullptr) continue;
    if (message->body == nullptr) message->body = known.body;
    if (message->key == 0) message->key = known.key;
    if (known.stamp != 0) message->columns[p_.domain()] = {p_.standing.current, known.stamp};
    Stream& stream = store.stream(place.first);
    if (stream.next == place.second) ++stream.next;
  }
  for (auto& [client, stream] : store.streams()) {
    std::uint64_t index = stream.done;
    while (true) {
      const auto found = stream.messages.find(index + 1);
      if (found == stream.messages.end()) break;
      const bool placed = found->second.columns[p_.domain()].round != 0 || found->second.key != 0;
      if (!placed) break;
      ++index;
    }
    stream.proposed = index;
    stream.log_next = index + 1;
  }
  tasks_.begin_round();
}

/// A member that is in the round has exposed its memory.
void Takeover::note_members() {
  if (!p_.standing.leads || !p_.standing.in_step()) return;
  std::size_t count = 1;
  p_.for_others([&](NodeId node) {
    const auto peer = p_.peers.find(node);
    if (peer == p_.peers.end() || peer->second.said.current != p_.standing.current) return;
    ++count;
    leader_.grant(node);
  });
  if (count >= p_.majority()) p_.standing.active = true;
}

void Takeover::tick(Instant now, order::Effects& out) {
  if (now < asked_at_ + p_.options.retry) return;
  asked_at_ = now;
  if (collecting_ && now >= deadline_) {
    collecting_ = false;
    hold_back_until_ = now + p_.options.suspect * 3;
  }
  p_.for_others([&](NodeId node) {
    if (collecting_ && states_[node].whole.empty()) {
      p_.post.send(out, node, number(Kind::new_leader), Lane::control,
                   [&](wire::Writer& in) { in.u(p_.standing.promised); });
    }
    const bool lacks =
        p_.standing.leads && !base_.empty() && p_.peers[node].said.current < p_.standing.current;
    if (lacks) send_parts(node, p_.standing.current, Sort::base, base_, out);
  });
}

}  // namespace peal::sim::genuine::literal
