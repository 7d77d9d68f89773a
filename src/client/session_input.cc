// SPDX-License-Identifier: Apache-2.0
// What a daemon says. It may be broken or hostile: whatever it says is taken, or ends the session
// with a text that names what was wrong.

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "client/session.h"
#include "wire/shared.h"

namespace peal::client {
namespace {

/// Before the welcome: one of its records, with texts of their greatest length.
constexpr std::uint64_t kGreetingLengthMax = 16'384;

std::string number_text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

std::uint64_t Session::length_max() const {
  return welcomed_ ? message_bytes_max_ + kRecordExtraMax : kGreetingLengthMax;
}

void Session::fault(const std::string& what) {
  end(wire::ClientCode::bad_record,
      "the daemon broke the protocol: " + what + "; are both of the same release?");
}

void Session::received(ByteView bytes) {
  if (phase_ != Phase::greeting && phase_ != Phase::open) return;
  // Whole records are read where they are; only what is cut off at the end is copied.
  const bool buffered = !input_.empty();
  if (buffered) {
    input_.insert(input_.end(), bytes.begin(), bytes.end());
    bytes = input_;
  }
  while (phase_ == Phase::greeting || phase_ == Phase::open) {
    const wire::Framed framed = wire::next_record(bytes, length_max());
    if (framed.state == wire::Framed::State::bad_length)
      return fault("a record of an impossible length");
    if (framed.state == wire::Framed::State::incomplete) break;
    handle(framed.record);
    bytes = bytes.subspan(framed.bytes);
  }
  if (phase_ == Phase::ended || phase_ == Phase::apart) {
    input_.clear();
  } else if (buffered) {
    input_.erase(input_.begin(), input_.end() - static_cast<std::ptrdiff_t>(bytes.size()));
  } else {
    input_.assign(bytes.begin(), bytes.end());
  }
}

void Session::handle(const wire::Record& record) {
  using wire::RecordKind;
  if (torn_ && record.kind != RecordKind::closing) return;
  if (phase_ == Phase::greeting) {
    if (record.kind == RecordKind::welcome) return on_welcome(record.body);
    if (record.kind == RecordKind::closing) return on_closing(record.body);
    return fault("the first record is neither welcome nor closing");
  }
  if (wire::is_event(record.kind)) return on_event(record);
  switch (record.kind) {
    case RecordKind::shared: return on_shared(record.body);
    case RecordKind::acked: return on_acked(record.body);
    case RecordKind::refused: return on_refused(record.body);
    case RecordKind::reply: return on_reply(record.body);
    case RecordKind::closing: return on_closing(record.body);
    case RecordKind::warning: {
      wire::Warning warning;
      if (decode(record.body, warning) != wire::Drop::none) return fault("a damaged warning");
      return push_record(record);
    }
    case RecordKind::pong: {
      wire::Acked pong;
      if (decode(record.body, pong) != wire::Drop::none) return fault("a damaged pong");
      return;
    }
    default:
      return fault("a record of kind " + number_text(static_cast<std::uint8_t>(record.kind)) +
                   " is not due");
  }
}

// ---- The greeting

void Session::on_welcome(ByteView body) {
  wire::Welcome welcome;
  const wire::Drop drop = decode(body, welcome);
  if (drop == wire::Drop::bad_version) {
    return end(wire::ClientCode::bad_version,
               "the daemon speaks version " + number_text(welcome.version) +
                   " of the client protocol, and this client version " +
                   number_text(wire::kClientVersion) + ": bring both to the same release");
  }
  if (drop != wire::Drop::none) return fault("a damaged welcome");
  if (welcome.message_bytes_max == 0 || welcome.message_bytes_max > kMessageBytesMax ||
      welcome.unsettled_messages_max == 0) {
    return fault("a welcome with limits that cannot be");
  }
  if (welcome.shared_bytes > 0 && !options_.shares) return fault("memory that nobody asked for");
  if (welcomed_ && !welcome.resumed) {
    return end(wire::ClientCode::session_lost, "the daemon does not know the session any more");
  }
  message_bytes_max_ = welcome.message_bytes_max;
  unsettled_messages_max_ = welcome.unsettled_messages_max;
  unsettled_bytes_max_ = welcome.unsettled_bytes_max;
  keep_ms_ = welcome.keep_ms;
  ping_ms_ = welcome.ping_ms;
  if (welcomed_) {
    if (!resume_session(welcome)) return;
  } else {
    if (welcome.resumed || welcome.received != 0 || welcome.acked != 0 ||
        welcome.events_next != 1) {
      return fault("a welcome to a session that was never there");
    }
    start_session(welcome);
  }
  phase_ = Phase::open;
  if (welcome.shared_bytes == 0 || memory_.size() != welcome.shared_bytes) memory_ = {};
  if (!memory_.empty()) wire::append(say(), wire::RecordKind::mapped);
  for (auto& [id, request] : requests_) {
    if (!request.answer) control_.push_back({request.record, id});
  }
}

void Session::start_session(const wire::Welcome& welcome) {
  welcomed_ = true;
  token_ = welcome.session;
  name_ = welcome.name;
  node_ = welcome.node;
  cluster_ = welcome.cluster;
}

bool Session::resume_session(const wire::Welcome& welcome) {
  if (welcome.events_next != events_seen_ + 1) {
    fault("the next event has number " + number_text(welcome.events_next) + ", not " +
          number_text(events_seen_ + 1));
    return false;
  }
  // A daemon that says again what it refused begins with what stands before, although more than
  // that was settled.
  const std::uint64_t settled = std::max(settled_, welcome.acked);
  if (welcome.session != token_ || welcome.name != name_ || welcome.received < settled ||
      welcome.received > sent()) {
    fault("a welcome that is not of this session");
    return false;
  }
  settle(settled);
  out_ = static_cast<std::size_t>(welcome.received - settled_);
  for (auto& [id, request] : requests_) request.repeated = request.written;
  Item item;
  item.kind = Item::Kind::reconnected;
  push(std::move(item));
  return true;
}

// ---- The session

namespace {

/// Of an event; a message is left in `message`.
wire::Drop decode_event(wire::RecordKind kind, ByteView body, wire::MessageEvent& message) {
  const auto as = [body](auto event) { return decode(body, event); };
  switch (kind) {
    case wire::RecordKind::message: return decode(body, message);
    case wire::RecordKind::group_view: return as(wire::GroupViewEvent());
    case wire::RecordKind::gap: return as(wire::GapEvent());
    default: return as(wire::GroupEvent());
  }
}

std::string damage_text(wire::Drop damage) {
  return "a damaged event, " + std::string(wire::drop_name(damage));
}

}  // namespace

void Session::on_event(const wire::Record& record) {
  wire::MessageEvent message;
  const wire::Drop damage = decode_event(record.kind, record.body, message);
  if (damage != wire::Drop::none) return fault(damage_text(damage));
  push_record(record);
  // Events are seen in their order: this one stands behind others that still have to be copied.
  items_.back().unseen = true;
  if (places_ == 0) note_seen(items_.back());
}

void Session::on_shared(ByteView body) {
  wire::Shared at;
  if (memory_.empty() || decode(body, at) != wire::Drop::none) {
    return fault("a place in shared memory that cannot be");
  }
  // What waits there to be copied must not be more than that.
  told_bytes_ += at.bytes;
  if (told_bytes_ > wire::kSharedUnseenMax)
    return fault("more events in memory than may be unseen");
  switch (wire::look_at_shared(memory_, at)) {
    case wire::SharedRead::ok: break;
    case wire::SharedRead::gone: torn_ = true; return;
    case wire::SharedRead::bad: return fault("a place in shared memory that cannot be");
  }
  Item item;
  item.unseen = true;
  item.place = at;
  push(std::move(item));
  ++places_;
}

void Session::note_seen(Item& item) {
  if (!std::exchange(item.unseen, false)) return;
  ++events_seen_;
  seen_due_ = true;
}

/// Copies what lies in memory, once, and looks only at the copy. `damage` is that of an event.
wire::SharedRead Session::copy(Item& item, wire::MessageEvent& message, wire::Drop& damage) {
  std::vector<std::byte> body = spare_bodies_.take();
  const wire::SharedRead read = wire::read_shared(memory_, item.place, item.record, body);
  if (read != wire::SharedRead::ok) return read;
  if (!wire::is_event(item.record)) return wire::SharedRead::bad;
  damage = decode_event(item.record, body, message);
  if (damage != wire::Drop::none) return read;
  unread_bytes_ -= item.bytes();
  taken_bytes_ += item.place.bytes;
  item.body = std::move(body);
  item.place = {};
  unread_bytes_ += item.bytes();
  --places_;
  return read;
}

/// The first item is to be taken. If it cannot be, no event behind it is told either.
bool Session::fetch(Item& item, wire::MessageEvent& message) {
  wire::Drop damage = wire::Drop::none;
  const wire::SharedRead read = copy(item, message, damage);
  if (read == wire::SharedRead::ok && damage == wire::Drop::none) return true;
  drop_events(0);
  if (read == wire::SharedRead::gone) {
    torn_ = phase_ == Phase::open;
  } else if (read == wire::SharedRead::bad) {
    fault("a place in shared memory where no event is");
  } else {
    fault(damage_text(damage));
  }
  return false;
}

/// The connection has ended, and the memory goes with it. What is not there any more comes again if
/// the session is gone on with.
void Session::fetch_all() {
  wire::MessageEvent message;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    wire::Drop damage = wire::Drop::none;
    const bool there =
        !items_[i].is_place() || copy(items_[i], message, damage) == wire::SharedRead::ok;
    if (!there || damage != wire::Drop::none) return drop_events(i);
    note_seen(items_[i]);
  }
}

/// Those that are not seen, from one item on.
void Session::drop_events(std::size_t from) {
  std::deque<Item> kept;
  for (; !items_.empty(); items_.pop_front()) {
    Item& item = items_.front();
    const bool goes = from == 0 && item.unseen;
    if (from > 0) --from;
    if (!goes) {
      kept.push_back(std::move(item));
      continue;
    }
    unread_bytes_ -= item.bytes();
    if (item.is_place()) --places_;
  }
  items_ = std::move(kept);
}

void Session::settle(std::uint64_t number) {
  PEAL_ASSERT(number <= sent());
  while (settled_ < number) {
    unsettled_bytes_ -= unsettled_.front().payload_bytes;
    spare_records_.give(std::move(unsettled_.front().record));
    unsettled_.pop_front();
    ++settled_;
  }
}

void Session::on_acked(ByteView body) {
  wire::Acked acked;
  if (decode(body, acked) != wire::Drop::none) return fault("a damaged acknowledgement");
  if (acked.number < settled_ || acked.number > settled_ + out_) {
    return fault("message " + number_text(acked.number) + " is acknowledged, of " +
                 number_text(settled_ + 1) + " to " + number_text(settled_ + out_));
  }
  out_ -= static_cast<std::size_t>(acked.number - settled_);
  settle(acked.number);
  acked_ = acked.number;
  refused_.erase(refused_.begin(), refused_.upper_bound(acked_));
}

void Session::on_refused(ByteView body) {
  wire::Refused refused;
  if (decode(body, refused) != wire::Drop::none) return fault("a damaged refusal");
  if (refused.number == 0 || refused.number > sent()) {
    return fault("message " + number_text(refused.number) + " is refused, and was never sent");
  }
  // A daemon may repeat, after a reconnection, what it cannot know to have arrived.
  if (refused.number <= acked_ || !refused_.insert(refused.number).second) return;
  push_record({wire::RecordKind::refused, body});
}

void Session::on_reply(ByteView body) {
  wire::Reply reply;
  if (decode(body, reply) != wire::Drop::none) return fault("a damaged reply");
  const auto found = requests_.find(reply.request);
  if (found == requests_.end() || found->second.answer) return;  // nobody waits any more
  Request& request = found->second;
  // Its first copy was carried out, and the answer was lost with the connection.
  const bool done =
      request.repeated &&
      ((request.kind == wire::RecordKind::join && reply.code == wire::ClientCode::member_already) ||
       (request.kind == wire::RecordKind::leave && reply.code == wire::ClientCode::no_member));
  request.answer = Answer{done ? wire::ClientCode::ok : reply.code, std::string(reply.text)};
}

void Session::on_closing(ByteView body) {
  wire::Closing closing;
  if (decode(body, closing) != wire::Drop::none) return fault("a damaged end");
  const std::string text(closing.text);
  // The daemon gives up the connection only, as the client was too slow to say something.
  if (closing.code == wire::ClientCode::silent && resumable()) return disconnected(text);
  end(closing.code, text);
}

void Session::push_record(const wire::Record& record) {
  Item item;
  item.record = record.kind;
  item.body = spare_bodies_.take();
  item.body.assign(record.body.begin(), record.body.end());
  push(std::move(item));
}

void Session::push(Item item) {
  unread_bytes_ += item.bytes();
  items_.push_back(std::move(item));
}

}  // namespace peal::client
