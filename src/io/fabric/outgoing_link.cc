// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/outgoing_link.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "io/fabric/records.h"
#include "io/fabric/shm_route.h"
#include "io/fabric/tcp_route.h"

namespace peal::io::fabric {

void OutgoingLink::write(const port::Place& place, ByteView bytes, std::uint64_t token) {
  PEAL_ASSERT(!bytes.empty());
  ++writes_.writes;
  writes_.bytes += bytes.size();
  staged_.push(place, bytes, token);
}

void OutgoingLink::flush(Instant now) {
  if (staged_.empty()) return;
  staged_.release(now);
  pump(now);
  if (staged_.size() > options_.limits.queue_bytes_max) {
    ++counters_.overflows;
    if (channel_ != nullptr) {
      channel_->give_up("it does not take what is written to it", false);
      return end(now);
    }
    end_all();
  }
}

bool OutgoingLink::receive(Instant now) {
  bool may_leave = staged_.released() > 0;
  if (channel_ == nullptr) {
    auto opened = dialer_.work(now);
    if (opened) open(now, std::move(*opened));
    take_frames();
  }
  // A read ends at each descriptor, and the loop does not report again what was left.
  std::size_t got = 1;
  for (int reads = 0; reads < kReadsPerTurn && got > 0; ++reads) {
    if (channel_ == nullptr || !channel_->may_read()) break;
    got = channel_->read();
    may_leave = may_leave || got > 0;
    take_frames();
  }
  const bool more = got > 0 && channel_ != nullptr && channel_->may_read();
  if (channel_ != nullptr) {
    route_->on_turn(now, *channel_);
    channel_->write();
  }
  if (channel_ != nullptr && channel_->is_broken()) {
    end(now);
    return false;
  }
  if (may_leave || has_news()) pump(now);
  if (settle(now)) pump(now);
  return more;
}

/// Does what the frames say that have been read.
void OutgoingLink::take_frames() {
  while (channel_ != nullptr) {
    const auto frame = channel_->next();
    if (!frame) return;
    RecordReader reader(*frame);
    while (const auto record = reader.next()) route_->on_record(*record, *channel_);
    if (reader.failed()) channel_->give_up("a record that makes no sense", true);
  }
}

void OutgoingLink::open(Instant now, Dialer::Open opened) {
  channel_ = std::move(opened.channel);
  owner_ = opened.owner;
  key_ = opened.key;
  ended_.clear();
  auto route = make_route(opened.bell);
  if (!route) {
    channel_->give_up(route.error(), false);
    return end(now);
  }
  route_ = std::move(*route);
  pump(now);
}

/// The error is one line.
Result<std::unique_ptr<Route>, std::string> OutgoingLink::make_route(const Fd& bell) {
  if (channel_->kind() == Kind::tcp) return std::make_unique<TcpRoute>(owner_, writes_);
  if (channel_->kind() == Kind::verbs) {
    auto made = verbs_.device->make_route(owner_, peer_.at, counters_, writes_);
    // It is this process that lacks something, whichever peer it writes to.
    if (!made) verbs_.fail(made.error());
    return made;
  }
  auto page = map_pages_of_peer(bell, kBellBytes);
  if (!page) {
    ++counters_.refused_memory;
    const bool is_bad = page.error().code == Errc::invalid_option;
    const auto kind = is_bad ? Offence::Kind::memory : Offence::Kind::unmapped;
    offences_.note({kind, owner_, {}, page.error().message});
    channel_->give_up(page.error().message, is_bad);
    return unexpected(page.error().message);
  }
  return std::make_unique<ShmRoute>(owner_, WriterBell(std::move(*page)), options_.limits,
                                    counters_, offences_, writes_);
}

/// The connection is over.
void OutgoingLink::end(Instant now) {
  ++counters_.broken;
  if (channel_->has_bad_input()) {
    ++counters_.bad_input;
    offences_.note({Offence::Kind::rule, owner_, {}, channel_->problem()});
  }
  ended_ = channel_->peer().text + ": " + channel_->problem();
  const bool is_untried = route_ != nullptr && route_->is_untried();
  channel_.reset();
  if (route_ != nullptr) route_->finish(ends_);
  route_.reset();
  waits_for_region_ = false;
  end_all();
  dialer_.note_end(now, is_untried ? ended_ : std::string());
}

/// Lets writes leave, and ends those that cannot.
void OutgoingLink::pump(Instant now) {
  settle(now);
  while (channel_ != nullptr) {
    // The peer's earlier incarnations are gone.
    while (staged_.released() > 0 && staged_.front().place.owner < owner_) end_front();
    const std::size_t before = staged_.count();
    route_->on_turn(now, *channel_);
    waits_for_region_ = !route_->pump(staged_, *channel_, ends_);
    if (channel_->is_broken()) return end(now);
    if (waits_for_region_ || staged_.count() == before) return;
  }
}

/// True if the first released write cannot leave now, whatever the network does.
bool OutgoingLink::is_held() const {
  return staged_.released() > 0 &&
         (channel_ == nullptr || waits_for_region_ || staged_.front().place.owner != owner_);
}

/// Ends the writes that have waited too long, or that need not wait. True if it ended any.
bool OutgoingLink::settle(Instant now) {
  if (!is_held()) return false;
  const std::size_t before = staged_.count();
  const bool is_hopeless = channel_ == nullptr && !dialer_.is_busy() && !dialer_.hurry(now);
  while (is_held() && (is_hopeless || staged_.front().staged + options_.limits.hold <= now)) {
    if (!is_hopeless) ++counters_.expired;
    end_front();
  }
  return staged_.count() != before;
}

void OutgoingLink::end_front() {
  ends_.add(staged_.front().token, port::WriteEnd::down, writes_);
  staged_.pop();
}

void OutgoingLink::end_all() {
  while (!staged_.empty()) end_front();
}

std::optional<Instant> OutgoingLink::next_deadline() const {
  std::optional<Instant> next =
      channel_ == nullptr ? dialer_.next_deadline() : route_->next_deadline();
  if (is_held()) {
    const Instant until = staged_.front().staged + options_.limits.hold;
    if (!next || until < *next) next = until;
  }
  return next;
}

void OutgoingLink::on_keys(Instant now) {
  const bool is_stale =
      key_ ? !options_.keys || options_.keys->find({*key_}) == nullptr : options_.keys.has_value();
  if (channel_ != nullptr && is_stale) {
    channel_->give_up("its key is not accepted any more", false);
    end(now);
  }
  dialer_.restart(now);
}

void OutgoingLink::on_address(Instant now) {
  if (channel_ != nullptr && channel_->kind() != Kind::shm) {
    channel_->give_up("it has another address", false);
    end(now);
  }
  dialer_.restart(now);
}

void OutgoingLink::fill(PeerStatus& out) const {
  out.kind = kind();
  out.owner = channel_ == nullptr ? MemberId{} : owner_;
  out.problem = channel_ == nullptr && dialer_.problem().empty() ? ended_ : dialer_.problem();
  out.writes = writes_;
}

}  // namespace peal::io::fabric
