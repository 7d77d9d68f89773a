// SPDX-License-Identifier: Apache-2.0
#include "session/native/connections.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace peal::session::native {
namespace {

constexpr Duration kClosePatience = seconds(1);
constexpr std::int64_t kSilentPings = 3;
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

}  // namespace

// ---- notifications from the session ----

void Connection::welcome(const wire::Welcome& welcome, std::uint64_t repeat) {
  all_.welcome(*this, welcome, repeat);
}

void Connection::warn(const wire::Warning& warning) {
  output.say(warning);
  want_write();
}

void Connection::membership_ends(std::string_view why) {
  if (!output.is_small()) return;
  output.say(wire::Reply{0, wire::ClientCode::not_permitted, why});
  want_write();
}

void Connection::resume() { all_.resume(*this); }

void Connection::close(wire::ClientCode code, std::string_view text) {
  all_.close(*this, code, text);
}

void Connections::welcome(Connection& it, const wire::Welcome& welcome, std::uint64_t repeat) {
  PEAL_ASSERT(it.state == State::hello);
  it.state = State::open;
  it.output.begin(welcome.acked, repeat);
  it.output.say(welcome);
  if (!it.identity.local) context_.due(context_.now + context_.options.ping);
  it.want_write();
}

void Connections::close(Connection& it, wire::ClientCode code, std::string_view text) {
  if (it.state == State::closing) return;
  if (it.session != nullptr) {
    it.session->link = nullptr;
    it.output.finish(*it.session);
    it.session = nullptr;
  }
  it.output.say(wire::Closing{code, text});
  it.state = State::closing;
  it.deadline = context_.now + kClosePatience;
  input_flow_.release(it);
  context_.due(it.deadline);
  it.want_write();
}

// ---- the life of connections ----

Connection* Connections::find(ConnectionId id) const {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : at->second.get();
}

void Connections::accepted(ConnectionId id, const Identity& identity) {
  auto made = std::make_unique<Connection>(id, identity, wanted_, *this);
  made->deadline = context_.now + context_.options.hello_patience;
  context_.due(made->deadline);
  ++context_.counters.connections;
  const bool fresh = connections_.emplace(id, std::move(made)).second;
  PEAL_ASSERT(fresh);
}

void Connections::forget(Connection& it) {
  it.state = State::closing;
  input_flow_.release(it);
  input_flow_.forget(it);
  connections_.erase(it.id);
}

void Connections::closed(ConnectionId id) {
  Connection* it = find(id);
  if (it == nullptr) return;
  Session* session = it->session;
  forget(*it);
  if (session != nullptr) lifecycle_.detach(*session);
}

RegionId Connections::region_of(ConnectionId id) const {
  const Connection* it = find(id);
  return it == nullptr ? 0 : it->region;
}

void Connections::take_wanted(Wanted& out) {
  out.write.clear();
  out.read.clear();
  out.close.clear();
  std::swap(out, wanted_);
  for (const ConnectionId id : out.write) {
    if (Connection* it = find(id)) it->wants_write = false;
  }
}

void Connections::check() {
  std::vector<ConnectionId> ids;
  for (const auto& [id, it] : connections_) ids.push_back(id);
  for (const ConnectionId id : ids) {
    if (Connection* it = find(id)) check(*it);
  }
}

void Connections::check(Connection& it) {
  const Instant now = context_.now;
  if (it.state == State::closing || it.state == State::hello) {
    if (it.deadline > now) return context_.due(it.deadline);
    if (it.state == State::hello) {
      ++context_.counters.silent;
      ++context_.counters.turned_away;
      close(it, wire::ClientCode::silent, "no hello came; a client speaks first, and soon");
      return;
    }
    wanted_.close.push_back(it.id);
    forget(it);
    return;
  }
  const bool holds_others = it.pause == Pause::output && it.reserved > 0;
  if (it.pause != Pause::none && !holds_others) return;
  std::optional<Instant> deadline;
  if (!it.identity.local && !holds_others) {
    deadline = it.last_heard + context_.options.ping * kSilentPings;
  }
  if (it.record_bytes > 0) {
    const Instant record = input_flow_.record_deadline(it);
    deadline = std::min(deadline.value_or(record), record);
  }
  if (!deadline) return;
  if (*deadline > now) return context_.due(*deadline);
  ++context_.counters.silent;
  Session* session = it.session;
  close(it, wire::ClientCode::silent,
        holds_others          ? "replies are not read, and a large message waits behind them"
        : it.record_bytes > 0 ? "a record did not come to its end in time"
                              : "nothing was heard; send a ping in time");
  lifecycle_.detach(*session);
}

void Connections::stop() {
  for (const auto& [id, it] : connections_) {
    close(*it, wire::ClientCode::shutdown, "the daemon stops");
  }
}

// ---- input ----

std::uint64_t Connections::length_max(const Connection& from) const {
  if (from.state == State::hello) return wire::kHelloLengthMax;
  return std::uint64_t{wire::kRequestLengthMax} + context_.payload_bytes_max();
}

std::size_t Connections::received(ConnectionId id, ByteView bytes) {
  Connection* from = find(id);
  if (from == nullptr || from->state == State::closing) return bytes.size();
  from->last_heard = context_.now;
  if (from->pause != Pause::none) {  // the owner called too early: the pause continues
    return 0;
  }
  std::size_t taken = 0;
  for (;;) {
    if (!from->input.empty()) {
      taken += complete(*from, bytes.subspan(taken));
      if (from->pause != Pause::none) return taken;
    }
    const ByteView rest = from->input.empty() ? bytes.subspan(taken) : ByteView(from->input);
    const wire::Framed framed = wire::next_record(rest, length_max(*from));
    if (framed.state == wire::Framed::State::bad_length) {
      bad_record(*from, "the length of a record is 0, or more than any may have");
      return bytes.size();
    }
    if (framed.state == wire::Framed::State::incomplete) {
      if (!from->input.empty()) return taken;
      if (framed.bytes > 0 && !input_flow_.reserve(*from, framed.bytes)) return taken;
      from->input.assign(rest.begin(), rest.end());
      return bytes.size();
    }
    const Handled handled = handle(*from, framed.record);
    if (handled == Handled::closed) return bytes.size();
    if (handled == Handled::paused) return taken;
    if (from->input.empty()) {
      taken += framed.bytes;
    } else {
      input_flow_.release(*from);
    }
  }
}

/// Appends bytes to the unfinished record until it is complete. Returns the number of bytes taken.
std::size_t Connections::complete(Connection& from, ByteView bytes) {
  std::size_t taken = 0;
  for (;;) {
    const wire::Framed framed = wire::next_record(from.input, length_max(from));
    if (framed.state != wire::Framed::State::incomplete) return taken;
    if (framed.bytes > 0 && from.record_bytes == 0 && !input_flow_.reserve(from, framed.bytes)) {
      return taken;
    }
    const std::size_t whole = framed.bytes > 0 ? framed.bytes : kLengthBytes;
    const std::size_t part = std::min(whole - from.input.size(), bytes.size() - taken);
    if (part == 0) return taken;
    const ByteView next = bytes.subspan(taken, part);
    from.input.insert(from.input.end(), next.begin(), next.end());
    taken += part;
  }
}

// ---- output ----

std::span<const ByteView> Connections::output(ConnectionId id) {
  pieces_.clear();
  Connection* to = find(id);
  if (to == nullptr) return {};
  to->output.gather(to->session, pieces_);
  return pieces_;
}

void Connections::written(ConnectionId id, std::size_t bytes) {
  Connection* to = find(id);
  if (to == nullptr) return;
  Session* session = to->session;
  const std::size_t of_events = to->output.written(session, bytes);
  if (to->output.empty()) {
    if (to->state == State::closing) {
      wanted_.close.push_back(id);
      forget(*to);
      return;
    }
    if (to->output.repeats()) {
      to->want_write();
    } else if (to->pause == Pause::output) {
      input_flow_.resume_one(*to);
    }
  }
  if (session == nullptr) return;
  if (of_events > 0) session->events.written(of_events);
  backlog_.on_written(*session);
}

void Connections::check_invariants() const {
  std::uint64_t input_bytes = 0;
  std::uint64_t input_waiters = 0;
  for (const auto& [id, it] : connections_) {
    input_bytes += it->reserved;
    PEAL_ASSERT(it->record_bytes == 0 || it->input.size() <= it->record_bytes);
    if (it->pause == Pause::input) ++input_waiters;
    PEAL_ASSERT((it->state == State::open) == (it->session != nullptr));
    PEAL_ASSERT(it->session == nullptr || it->session->link == it.get());
    it->output.check_invariants();
  }
  PEAL_ASSERT(input_bytes == input_flow_.input_bytes());
  PEAL_ASSERT(input_bytes <= context_.options.input_bytes_max);
  PEAL_ASSERT(input_waiters == input_flow_.input_waiters());
}

}  // namespace peal::session::native
