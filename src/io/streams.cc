// SPDX-License-Identifier: Apache-2.0
#include "io/streams.h"

#include <sys/epoll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "io/clock.h"

namespace peal::io {
namespace {

/// All events that a stream can ever need. Registered once, so that switching interest on and off
/// costs no system call.
constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
/// Pause after the machine had no resources for another connection.
constexpr Duration kAcceptAgain = milliseconds(100);
constexpr Duration kLimitAgain = seconds(60);
constexpr std::size_t kWasteBytes = 16U << 10;

}  // namespace

Streams::Streams(const StreamsOptions& options, Loop& loop, StreamsHost& host)
    : options_(options), loop_(loop), host_(host), waste_(kWasteBytes) {}

Streams::~Streams() {
  stop_listening();
  while (!entries_.empty()) remove(entries_.begin()->first);
}

Result<void, IoError> Streams::listen(std::unique_ptr<StreamListener> listener) {
  const int fd = listener->fd();
  const auto watched = loop_.watch(fd, EPOLLIN | EPOLLET, [this, fd](std::uint32_t) {
    for (Door& door : doors_) door.knocked = door.knocked || door.listener->fd() == fd;
  });
  if (!watched) return watched;
  listener->spare_reserve();
  doors_.push_back({std::move(listener)});
  return {};
}

void Streams::stop_listening() {
  for (const Door& door : doors_) loop_.unwatch(door.listener->fd());
  doors_.clear();
}

bool Streams::work(Instant now) {
  now_ = now;
  bytes_left_ = options_.turn_bytes_max;
  end_late();
  accept_some();
  step_handshake();
  // A served stream goes to the back of the queue, so no stream is served twice before all were
  // served once.
  const auto round = std::min<std::size_t>(ready_.size(), options_.served_per_turn);
  for (std::size_t i = 0; i < round && !ready_.empty() && bytes_left_ > 0; ++i) {
    const StreamId id = ready_.front();
    ready_.pop_front();
    serve(id);
  }
  const bool at_door =
      !accept_again_ && std::any_of(doors_.begin(), doors_.end(), [this](const Door& door) {
        return door.knocked && !is_shut(door);
      });
  return at_door || has_ready();
}

bool Streams::has_ready() const {
  return !ready_.empty() || (!ready_handshakes_.empty() && next_step_ <= now_);
}

std::optional<Instant> Streams::next_deadline() const {
  if (has_ready()) return now_;  // after work(), another call has queued a stream
  std::optional<Instant> next = accept_again_;
  const auto take = [&next](Instant at) { next = next ? std::min(*next, at) : at; };
  if (!ready_handshakes_.empty()) take(next_step_);
  if (!handshakes_.empty()) take(handshakes_.begin()->second);
  if (!lingering_.empty()) take(lingering_.begin()->first);
  return next;
}

// ---- Accepting and handshakes
// ----------------------------------------------------------------------------------

void Streams::accept_some() {
  if (accept_again_ && *accept_again_ > now_) return;
  accept_again_.reset();
  std::uint32_t left = options_.accepts_per_turn;
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    while (i < doors_.size() && doors_[i].knocked && !is_shut(doors_[i]) && left > 0) {
      --left;
      auto accepted = doors_[i].listener->accept();
      if (accepted.limit != 0) tell_limit(accepted.limit);
      switch (accepted.answer) {
        case StreamListener::Answer::taken: take_in(std::move(accepted.stream)); break;
        case StreamListener::Answer::nothing: doors_[i].knocked = false; break;
        case StreamListener::Answer::refused: ++counters_.turned_away; break;
        case StreamListener::Answer::exhausted: accept_again_ = now_ + kAcceptAgain; return;
      }
    }
  }
  // The first listener must not starve the others.
  if (doors_.size() > 1) std::rotate(doors_.begin(), doors_.begin() + 1, doors_.end());
}

/// Refused clients try again, so the limit is reported at most once per kLimitAgain.
void Streams::tell_limit(int number) {
  if (limit_told_ && now_ - *limit_told_ < kLimitAgain) return;
  limit_told_ = now_;
  host_.on_exhausted(system_error("take a connection", number));
}

bool Streams::has_place() {
  if (entries_.size() < options_.streams_max) return true;
  // Lingering streams are removed first, then streams in their handshake.
  if (!lingering_.empty()) {
    ++counters_.cut_off;
    remove(lingering_.begin()->second);
  } else if (!handshakes_.empty()) {
    give_way();
  } else if (!host_.make_place()) {
    return false;
  }
  return entries_.size() < options_.streams_max;
}

void Streams::take_in(std::unique_ptr<Stream> stream) {
  ++counters_.accepted;
  if (!has_place()) {
    ++counters_.turned_away;
    return;
  }
  const StreamId id = ++last_id_;
  const int fd = stream->fd();
  const bool proves_itself = stream->has_handshake();
  if (!loop_.watch(fd, kEvents, [this, id](std::uint32_t events) { on_events(id, events); })) {
    ++counters_.turned_away;
    return;
  }
  Entry& entry = entries_[id];
  entry.stream = std::move(stream);
  if (!proves_itself) return open(id, entry);
  if (handshakes_.size() >= options_.handshakes_max) give_way();
  handshakes_.emplace(id, now_ + options_.handshake_patience);
  enqueue(id, entry);
}

void Streams::open(StreamId id, Entry& entry) {
  entry.stage = Stage::open;
  ++counters_.opened;
  host_.on_stream(id, entry.stream->peer());
}

/// True if a new connection would only displace handshakes that wait for their turn.
bool Streams::is_shut(const Door& door) const {
  return !door.listener->is_local() && handshakes_.size() >= options_.handshakes_max &&
         !ready_handshakes_.empty();
}

void Streams::step_handshake() {
  if (next_step_ > now_) return;
  while (!ready_handshakes_.empty()) {
    const StreamId id = ready_handshakes_.front();
    ready_handshakes_.pop_front();
    Entry* entry = find(id);
    if (entry == nullptr) continue;  // the handshake ended before its turn
    entry->queued = false;
    next_step_ = now_ + options_.handshake_gap;
    switch (entry->stream->advance()) {
      case StreamOutcome::ok: handshakes_.erase(id); return open(id, *entry);
      case StreamOutcome::blocked: return;
      default: return refuse(id, IoError(entry->stream->error()));
    }
  }
}

void Streams::refuse(StreamId id, const IoError& why) {
  ++counters_.handshakes_failed;
  Entry& entry = *find(id);
  const StreamPeer peer = entry.stream->peer();
  // Lingers, so that the other side gets the TLS alert with the reason. An immediate close could
  // discard the alert.
  linger(id, entry);
  host_.on_refused(peer, why);
}

void Streams::give_way() {
  end_handshake({Errc::closed, "its handshake gave way to those of others that came later"});
}

/// Ends the oldest handshake, because it is too slow or to make place for a newer one.
void Streams::end_handshake(const IoError& why) {
  const StreamId id = handshakes_.begin()->first;
  ++counters_.handshakes_failed;
  ++counters_.handshakes_late;
  const StreamPeer peer = find(id)->stream->peer();
  remove(id);
  host_.on_refused(peer, why);
}

void Streams::end_late() {
  while (!handshakes_.empty() && handshakes_.begin()->second <= now_) {
    end_handshake({Errc::closed, "its handshake took too long"});
  }
  while (!lingering_.empty() && lingering_.begin()->first <= now_) {
    ++counters_.cut_off;
    remove(lingering_.begin()->second);
  }
}

// ---- Open and lingering streams
// --------------------------------------------------------------------------------

void Streams::on_events(StreamId id, std::uint32_t events) {
  Entry& entry = *find(id);  // the entry exists, because remove() ends its watch
  constexpr std::uint32_t kOver = EPOLLHUP | EPOLLERR;
  if ((events & (EPOLLRDHUP | kOver)) != 0) entry.hung_up = true;
  if ((events & EPOLLIN) != 0 || entry.hung_up) entry.readable = true;
  if ((events & (EPOLLOUT | kOver)) != 0) entry.writable = true;
  enqueue(id, entry);
}

bool Streams::has_work(const Entry& entry) const {
  switch (entry.stage) {
    case Stage::handshake: return true;  // advance() finds out what to do
    case Stage::lingering: return (entry.readable && !entry.ended) || entry.writable;
    case Stage::open: break;
  }
  return (entry.wants_read && entry.readable && !entry.ended) ||
         (entry.writable && (entry.wants_write || entry.stream->has_unsent()));
}

void Streams::enqueue(StreamId id, Entry& entry) {
  if (entry.queued || !has_work(entry)) return;
  entry.queued = true;
  (entry.stage == Stage::handshake ? ready_handshakes_ : ready_).push_back(id);
}

void Streams::serve(StreamId id) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  entry->queued = false;
  if (entry->stage == Stage::lingering) return serve_lingering(id, *entry);
  if (entry->writable && entry->stream->has_unsent()) {
    const StreamOutcome outcome = entry->stream->flush();
    entry->writable = outcome != StreamOutcome::blocked;
    if (outcome == StreamOutcome::broken) {
      ++counters_.broken;
      const IoError why = entry->stream->error();
      remove(id);
      return host_.on_broken(id, why);
    }
  }
  // Each call to host_ may close or finish this stream.
  const auto is_still_open = [&] {
    entry = find(id);
    return entry != nullptr && entry->stage == Stage::open;
  };
  if (entry->writable && entry->wants_write) host_.on_writable(id);
  if (is_still_open() && entry->readable && entry->wants_read && !entry->ended) {
    host_.on_readable(id);
  }
  if (is_still_open()) enqueue(id, *entry);
}

void Streams::serve_lingering(StreamId id, Entry& entry) {
  bool broken = false;
  if (entry.writable) {
    broken = entry.stream->flush() == StreamOutcome::broken;
    entry.writable = false;  // until EPOLLOUT is reported; there is nothing else to write
  }
  if (!broken && entry.readable && !entry.ended) {
    const Transfer got = entry.stream->receive(waste_);
    bytes_left_ -= std::min(bytes_left_, got.bytes);
    note_read(entry, got);
    broken = got.outcome == StreamOutcome::broken;
  }
  if (broken || (entry.ended && !entry.stream->has_unsent())) return remove(id);
  enqueue(id, entry);
}

void Streams::want_read(StreamId id, bool wanted) {
  Entry& entry = open_entry(id);
  entry.wants_read = wanted;
  if (wanted) enqueue(id, entry);
}

void Streams::want_write(StreamId id, bool wanted) {
  Entry& entry = open_entry(id);
  entry.wants_write = wanted;
  if (wanted) enqueue(id, entry);
}

Transfer Streams::read(StreamId id, ByteSpan into) {
  Entry& entry = open_entry(id);
  if (entry.ended) return {0, StreamOutcome::end};
  const Transfer got =
      entry.stream->read(into.first(std::min(into.size(), options_.read_bytes_max)));
  bytes_left_ -= std::min(bytes_left_, got.bytes);
  note_read(entry, got);
  enqueue(id, entry);  // TLS may have produced bytes to send
  return got;
}

void Streams::note_read(Entry& entry, const Transfer& got) {
  // If the end of the stream comes next, the entry stays readable, because the descriptor does not
  // report the end again.
  const bool end_is_next = entry.hung_up && got.bytes > 0;
  if (got.outcome == StreamOutcome::blocked && !end_is_next) entry.readable = false;
  if (got.outcome == StreamOutcome::end) entry.ended = true;
}

Transfer Streams::write(StreamId id, std::span<const ByteView> chunks) {
  Entry& entry = open_entry(id);
  const Transfer put = entry.stream->write(chunks);
  if (put.outcome == StreamOutcome::blocked) entry.writable = false;
  return put;
}

StreamOutcome Streams::finish_writing(StreamId id) {
  Entry& entry = open_entry(id);
  const StreamOutcome outcome = entry.stream->finish_writing();
  if (outcome == StreamOutcome::blocked) entry.writable = false;
  return outcome;
}

const IoError& Streams::error(StreamId id) const { return open_entry(id).stream->error(); }

const StreamPeer& Streams::peer(StreamId id) const { return open_entry(id).stream->peer(); }

bool Streams::is_open(StreamId id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.stage == Stage::open;
}

void Streams::close(StreamId id) {
  PEAL_ASSERT(is_open(id));
  remove(id);
}

void Streams::finish(StreamId id) { linger(id, open_entry(id)); }

void Streams::linger(StreamId id, Entry& entry) {
  if (entry.stream->finish_writing() == StreamOutcome::broken) return remove(id);
  handshakes_.erase(id);
  entry.stage = Stage::lingering;
  entry.linger_end = now_ + options_.linger;
  entry.readable = true;
  entry.writable = true;
  lingering_.emplace(entry.linger_end, id);
  enqueue(id, entry);
}

Streams::Entry* Streams::find(StreamId id) {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

Streams::Entry& Streams::open_entry(StreamId id) {
  Entry* entry = find(id);
  PEAL_ASSERT(entry != nullptr && entry->stage == Stage::open);
  return *entry;
}

const Streams::Entry& Streams::open_entry(StreamId id) const {
  const auto found = entries_.find(id);
  PEAL_ASSERT(found != entries_.end() && found->second.stage == Stage::open);
  return found->second;
}

void Streams::remove(StreamId id) {
  const auto found = entries_.find(id);
  PEAL_ASSERT(found != entries_.end());
  loop_.unwatch(found->second.stream->fd());
  handshakes_.erase(id);
  lingering_.erase({found->second.linger_end, id});
  entries_.erase(found);
}

}  // namespace peal::io
