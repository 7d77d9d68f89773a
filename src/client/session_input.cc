// SPDX-License-Identifier: Apache-2.0
// Handles the daemon's records. The daemon may be faulty or hostile. Each record is either accepted
// or ends the session with a text that says what is wrong.

#include <algorithm>
#include <string>
#include <utility>

#include "client/session.h"
#include "wire/client.h"

namespace peal::client {
namespace {

/// Upper bound for the length of a record before the welcome; texts may have their maximum length.
constexpr std::uint64_t kGreetingLengthMax = 16'384;

std::uint64_t length_max(const Terms& terms) {
  return terms.welcomed ? terms.message_bytes_max + Session::kRecordExtraMax : kGreetingLengthMax;
}

std::string number_text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

void Session::fault(const std::string& what) {
  end(wire::ClientCode::bad_record,
      "the daemon broke the protocol: " + what + "; are both of the same release?");
}

void Session::received(ByteView bytes) {
  if (phase_ != Phase::greeting && phase_ != Phase::open) return;
  // Complete records are read in place. Only an incomplete record at the end is copied.
  const bool buffered = !input_.empty();
  if (buffered) {
    input_.insert(input_.end(), bytes.begin(), bytes.end());
    bytes = input_;
  }
  while (phase_ == Phase::greeting || phase_ == Phase::open) {
    const wire::Framed framed = wire::next_record(bytes, length_max(terms_));
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
  if (inbox_.is_torn() && record.kind != RecordKind::closing) return;
  if (phase_ == Phase::greeting) {
    if (record.kind == RecordKind::welcome) return on_welcome(record.body);
    if (record.kind == RecordKind::closing) return on_closing(record.body);
    return fault("the first record is neither welcome nor closing");
  }
  if (wire::is_event(record.kind)) return check(inbox_.push_event(record));
  switch (record.kind) {
    case RecordKind::shared: return check(inbox_.push_shared(record.body));
    case RecordKind::acked: return on_acked(record.body);
    case RecordKind::refused: return on_refused(record.body);
    case RecordKind::reply: return on_reply(record.body);
    case RecordKind::closing: return on_closing(record.body);
    case RecordKind::warning: {
      wire::Warning warning;
      if (decode(record.body, warning) != wire::Drop::none) return fault("a damaged warning");
      return inbox_.push_record(record);
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
    return fault("a welcome with impossible limits");
  }
  if (welcome.shared_bytes > 0 && !options_.shares) return fault("memory that nobody asked for");
  if (terms_.welcomed && !welcome.resumed) {
    return end(wire::ClientCode::session_lost, "the daemon does not know the session any more");
  }
  terms_.message_bytes_max = welcome.message_bytes_max;
  outbox_.set_limits(welcome.unsettled_messages_max, welcome.unsettled_bytes_max);
  terms_.keep_ms = welcome.keep_ms;
  terms_.ping_ms = welcome.ping_ms;
  if (terms_.welcomed) {
    if (!resume_session(welcome)) return;
  } else {
    if (welcome.resumed || welcome.received != 0 || welcome.acked != 0 ||
        welcome.events_next != 1) {
      return fault("a welcome to a session that was never there");
    }
    terms_.welcomed = true;
    terms_.token = welcome.session;
    terms_.name = welcome.name;
    terms_.node = welcome.node;
    terms_.cluster = welcome.cluster;
  }
  phase_ = Phase::open;
  if (inbox_.shared_bytes() != welcome.shared_bytes) inbox_.share({});
  if (inbox_.shared_bytes() > 0) wire::append(outbox_.say(), wire::RecordKind::mapped);
  requests_.each_open([this](std::uint32_t number, const std::vector<std::byte>& record) {
    outbox_.say_request(record, number);
  });
}

bool Session::resume_session(const wire::Welcome& welcome) {
  if (welcome.events_next != inbox_.events_seen() + 1) {
    fault("the next event has number " + number_text(welcome.events_next) + ", not " +
          number_text(inbox_.events_seen() + 1));
    return false;
  }
  // If the daemon is going to repeat refusals, its welcome acknowledges only the messages before
  // the refused ones. Later messages may have been acknowledged on an earlier connection.
  const std::uint64_t settled = std::max(outbox_.settled(), welcome.acked);
  if (welcome.session != terms_.token || welcome.name != terms_.name ||
      welcome.received < settled || welcome.received > outbox_.sent()) {
    fault("a welcome that is not of this session");
    return false;
  }
  outbox_.resume(settled, welcome.received);
  requests_.resume();
  inbox_.push_notice(Item::Kind::reconnected, nullptr);
  return true;
}

// ---- The session

void Session::on_acked(ByteView body) {
  wire::Acked acked;
  if (decode(body, acked) != wire::Drop::none) return fault("a damaged acknowledgement");
  if (acked.number < outbox_.settled() || acked.number > outbox_.taken()) {
    return fault("message " + number_text(acked.number) + " is acknowledged, of " +
                 number_text(outbox_.settled() + 1) + " to " + number_text(outbox_.taken()));
  }
  outbox_.settle(acked.number);
  acked_ = acked.number;
  refused_.erase(refused_.begin(), refused_.upper_bound(acked_));
}

void Session::on_refused(ByteView body) {
  wire::Refused refused;
  if (decode(body, refused) != wire::Drop::none) return fault("a damaged refusal");
  if (refused.number == 0 || refused.number > outbox_.sent()) {
    return fault("message " + number_text(refused.number) + " is refused, and was never sent");
  }
  // After a reconnection the daemon may repeat refusals, because it does not know whether they
  // arrived.
  if (refused.number <= acked_ || !refused_.insert(refused.number).second) return;
  inbox_.push_record({wire::RecordKind::refused, body});
}

void Session::on_reply(ByteView body) {
  wire::Reply reply;
  if (decode(body, reply) != wire::Drop::none) return fault("a damaged reply");
  requests_.answer(reply);
}

void Session::on_closing(ByteView body) {
  wire::Closing closing;
  if (decode(body, closing) != wire::Drop::none) return fault("a damaged end");
  const std::string text(closing.text);
  // The daemon ends only the connection, because it received nothing from the client for too long.
  if (closing.code == wire::ClientCode::silent && terms_.resumable()) return disconnected(text);
  end(closing.code, text);
}

}  // namespace peal::client
