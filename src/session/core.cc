// SPDX-License-Identifier: Apache-2.0
#include "session/core.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "base/hooks.h"

// The life of connections and sessions, and what is due when.

namespace peal::session {
namespace {

constexpr Duration kClosePatience = seconds(1);
constexpr Duration kCheckEvery = milliseconds(10);
constexpr std::int64_t kSilentPings = 3;

group::Options group_options(const Options& options) {
  return {options.node, options.nodes, options.message_bytes_max, options.sessions_max,
          options.domains};
}

}  // namespace

Sessions::Core::Core(const Options& options, Host& host, Spool& spool)
    : options_(options), host_(host), spool_(spool), groups_(group_options(options), *this) {
  by_rule_.resize(options_.clients.size());
}

Sessions::Core::~Core() {
  sessions_.clear();  // their events refer to chunks_
}

Connection* Sessions::Core::connection(ConnectionId id) {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : at->second.get();
}

Session* Sessions::Core::session(std::uint32_t id) {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : at->second.get();
}

void Sessions::Core::due(Instant deadline) {
  next_check_ = std::min(next_check_.value_or(deadline), deadline);
}

// ---- connections ----

void Sessions::Core::accepted(Instant now, ConnectionId id, const Identity& identity) {
  now_ = now;
  auto made = std::make_unique<Connection>();
  made->id = id;
  made->identity = identity;
  made->deadline = now + options_.hello_patience;
  due(made->deadline);
  ++counters_.connections;
  const bool fresh = connections_.emplace(id, std::move(made)).second;
  PEAL_ASSERT(fresh);
}

void Sessions::Core::want_write(Connection& to) {
  if (to.wants_write) return;
  to.wants_write = true;
  wanted_.write.push_back(to.id);
}

void Sessions::Core::set_pause(Connection& of, Pause reason) {
  if (of.pause == Pause::input) --input_waiters_;
  of.pause = reason;
  if (of.pause == Pause::input) ++input_waiters_;
}

void Sessions::Core::pause(Connection& from, Pause reason) {
  PEAL_ASSERT(reason != Pause::none);
  if (from.pause == Pause::none) paused_.push_back(from.id);
  set_pause(from, reason);
  if (reason == Pause::output && from.reserved > 0) {
    // Others may wait for what its record takes: it has to read its replies soon.
    from.record_begun = now_;
    due(record_deadline(from));
  }
  if (reason == Pause::input && input_waiters_ == 1) due(now_);  // records have to hurry now
}

/// It is to be read again.
void Sessions::Core::resume(Connection& from) {
  set_pause(from, Pause::none);
  from.last_heard = now_;
  from.record_begun = now_;
  // While it was not read, nothing was expected of it, and nothing was due.
  due(record_deadline(from));
  wanted_.read.push_back(from.id);
}

void Sessions::Core::resume_one(Connection& from) {
  std::erase(paused_, from.id);
  resume(from);
}

void Sessions::Core::resume_all(Pause reason) {
  if (reason == Pause::node && PEAL_MUTANT(sm5_blocked_forever)) return;
  std::erase_if(paused_, [&](ConnectionId id) {
    Connection* it = connection(id);
    if (it == nullptr) return true;
    if (it->pause != reason) return false;
    resume(*it);
    return true;
  });
}

void Sessions::Core::close_connection(Connection& it, wire::ClientCode code,
                                      std::string_view text) {
  if (it.state == State::closing) return;
  if (it.session != nullptr) {
    it.session->connection = nullptr;
    // What was begun is ended, so that the client can read what comes then.
    if (it.session->events.unfinished() > 0) {
      std::tie(it.tail, it.tail_rest) = it.session->events.begun();
    }
    tell_acked(it);
    it.session = nullptr;
    it.repeat = 0;
  }
  append(it.control, wire::Closing{code, text});
  it.state = State::closing;
  it.deadline = now_ + kClosePatience;
  release(it);
  due(it.deadline);
  want_write(it);
}

void Sessions::Core::forget_connection(Connection& it) {
  it.state = State::closing;
  release(it);
  PEAL_ASSERT(it.pause != Pause::input);
  connections_.erase(it.id);
}

void Sessions::Core::closed(Instant now, ConnectionId id) {
  now_ = now;
  Connection* it = connection(id);
  if (it == nullptr) return;
  Session* session = it->session;
  forget_connection(*it);
  if (session != nullptr) detach(*session);
}

// ---- sessions ----

/// Its connection is gone.
void Sessions::Core::detach(Session& it) {
  it.connection = nullptr;
  it.detached_at = now_;
  if (it.leaving) return;  // ends once all is settled
  if (it.keep == Duration{}) {
    end_later(it, wire::ClientCode::silent, "the connection is gone");
  } else {
    due(now_ + it.keep);
  }
}

void Sessions::Core::end_later(Session& it, wire::ClientCode code, std::string text) {
  if (it.ending != wire::ClientCode::ok) return;
  it.ending = code;
  it.ending_text = std::move(text);
  ending_.push_back(it.id);
}

void Sessions::Core::end_sessions() {
  for (std::size_t i = 0; i < ending_.size(); ++i) {
    Session* it = session(ending_[i]);
    if (it == nullptr) continue;
    if (it->ending == wire::ClientCode::slow) ++counters_.evicted;
    if (it->ending == wire::ClientCode::silent) ++counters_.silent;
    end_session(*it, it->ending, it->ending_text);
  }
  ending_.clear();
}

void Sessions::Core::end_session(Session& it, wire::ClientCode code, std::string_view text) {
  if (it.connection != nullptr) {
    keep_places(it);
    close_connection(*it.connection, code, text);
  }
  groups_.disconnect(it.id, code);
  if (it.keep > Duration{}) {
    note_ended(it, code, text);
    tokens_.erase(it.token);
  }
  std::erase(blocking_, &it);
  if (it.waits()) --waiting_;
  if (it.rule_index) --by_rule_[*it.rule_index];
  disk_bytes_ -= it.events.disk_bytes();
  leave_shelf(it);
  sessions_.erase(it.id);
}

void Sessions::Core::note_ended(const Session& it, wire::ClientCode code, std::string_view text) {
  // One that said goodbye will not ask, and whoever stayed away too long is told that it is lost.
  if (code == wire::ClientCode::goodbye || code == wire::ClientCode::silent) return;
  if (ended_.size() == kEndedMax) ended_.pop_front();
  ended_.push_back({it.token, it.person, code, std::string(text)});
}

bool Sessions::Core::evict(Instant now, std::string_view private_name) {
  now_ = now;
  for (const auto& [id, it] : sessions_) {
    if (it->private_name != private_name) continue;
    end_later(*it, wire::ClientCode::evicted, "an administrator ended the session");
    return true;
  }
  return false;
}

// ---- the node ----

void Sessions::Core::on_view(Instant now, const order::View& view, MemberId self) {
  now_ = now;
  self_ = self;
  groups_.on_view(view, self);
  // Whoever came along has delivered what was delivered here.
  if (!view.transitional) settle();
}

void Sessions::Core::on_message(Instant now, const Delivered& message) {
  now_ = now;
  current_ = &message;
  groups_.on_message(message.sender, message.service, {message.seq, message.index},
                     message.payload);
  current_ = nullptr;
  const bool own = !message.control && message.sender == self_;
  if (own && settlement_.came_back(message.number)) settle();
}

/// All that came back is settled.
void Sessions::Core::settle() {
  settlement_.settle([this](const Settlement::Entry& entry) {
    if (entry.session == 0) return;
    ++counters_.settled;
    Session* it = session(entry.session);
    if (it == nullptr) return;
    Account& account = it->account;
    account.settled = entry.up_to;
    --account.unsettled_messages;
    account.unsettled_bytes -= entry.bytes;
    outcome_.add(entry.up_to ^ std::uint64_t{it->id} << 32);
    if (it->connection == nullptr) {
      if (it->leaving) finish_goodbye(*it);
      return;
    }
    want_write(*it->connection);
    if (it->connection->pause == Pause::unsettled) resume_one(*it->connection);
    if (it->leaving) finish_goodbye(*it);
  });
}

void Sessions::Core::finish_goodbye(Session& it) {
  if (it.account.settled != it.account.received) return;
  end_later(it, wire::ClientCode::goodbye, "all that was sent is settled");
}

void Sessions::Core::settled(const ViewId& view) {
  host_.tables_equal(view, groups_.table().hash());
}

void Sessions::Core::on_room(Instant now) {
  now_ = now;
  resume_all(Pause::node);
}

// ---- time ----

void Sessions::Core::work(Instant now) {
  now_ = now;
  if (next_check_ && *next_check_ <= now) {
    next_check_.reset();
    std::vector<ConnectionId> ids;
    for (const auto& [id, it] : connections_) ids.push_back(id);
    for (const ConnectionId id : ids) {
      if (Connection* it = connection(id)) check_connection(*it);
    }
    for (const auto& [id, it] : sessions_) check_session(*it);
    check_shelves();
    if (next_check_) next_check_ = std::max(*next_check_, now + kCheckEvery);
  }
  end_sessions();
  end_memberships();
  groups_.work();
  if (settlement_.needs_marker() && groups_.mark()) {
    settlement_.add({submitted_, 0, 0, 0, true});
    ++counters_.markers;
  }
}

void Sessions::Core::check_connection(Connection& it) {
  if (it.state == State::closing || it.state == State::hello) {
    if (it.deadline > now_) return due(it.deadline);
    if (it.state == State::hello) {
      ++counters_.silent;
      ++counters_.turned_away;
      close_connection(it, wire::ClientCode::silent,
                       "no hello came; a client speaks first, and soon");
      return;
    }
    wanted_.close.push_back(it.id);
    forget_connection(it);
    return;
  }
  const bool holds_others = it.pause == Pause::output && it.reserved > 0;
  if (it.pause != Pause::none && !holds_others) return;
  std::optional<Instant> deadline;
  if (!it.identity.local && !holds_others) {
    deadline = it.last_heard + options_.ping * kSilentPings;
  }
  if (it.record_bytes > 0) {
    const Instant record = record_deadline(it);
    deadline = std::min(deadline.value_or(record), record);
  }
  if (!deadline) return;
  if (*deadline > now_) return due(*deadline);
  ++counters_.silent;
  Session* session = it.session;
  close_connection(it, wire::ClientCode::silent,
                   holds_others ? "replies are not read, and a large message waits behind them"
                   : it.record_bytes > 0 ? "a record did not come to its end in time"
                                         : "nothing was heard; send a ping in time");
  detach(*session);
}

void Sessions::Core::check_session(Session& it) {
  if (it.connection == nullptr && !it.leaving) {  // without a keep it is ending already
    const Instant deadline = it.detached_at + it.keep;
    if (deadline > now_) {
      due(deadline);
    } else {
      end_later(it, wire::ClientCode::silent, "the client did not come back in time");
    }
  }
  check_ages(it);
}

std::optional<Instant> Sessions::Core::next_deadline() const {
  if (!ending_.empty() || (judged_ && !waits_for_room_)) return now_;
  return next_check_;
}

void Sessions::Core::stop(Instant now) {
  now_ = now;
  while (!sessions_.empty()) {
    Session& it = *sessions_.begin()->second;
    end_session(it, wire::ClientCode::shutdown, "the daemon stops");
  }
  for (const auto& [id, it] : connections_) {
    close_connection(*it, wire::ClientCode::shutdown, "the daemon stops");
  }
}

void Sessions::Core::take_wanted(Wanted& out) {
  out.write.clear();
  out.read.clear();
  out.close.clear();
  std::swap(out, wanted_);
  for (const ConnectionId id : out.write) {
    if (Connection* it = connection(id)) it->wants_write = false;
  }
}

bool Sessions::Core::idle() const {
  return groups_.state() == group::Groups::State::operational && !groups_.has_work() &&
         settlement_.empty() && ending_.empty();
}

}  // namespace peal::session
