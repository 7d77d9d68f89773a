// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "session/native/connections.h"

// Decodes the records of clients, calls the module for each record, and encodes the answers.

namespace peal::session::native {
namespace {

/// While a connection has more bytes of unwritten records, it handles no further record.
constexpr std::size_t kUnreadBytesMax = 64 * 1'024;

std::string wrong(std::string_view what, wire::Drop drop) {
  return std::string(what) + " is wrong: " + std::string(wire::drop_name(drop));
}

}  // namespace

Connections::Handled Connections::turn_away(Connection& from, wire::ClientCode code,
                                            std::string_view text) {
  ++context_.counters.turned_away;
  close(from, code, text);
  return Handled::closed;
}

Connections::Handled Connections::bad_record(Connection& from, std::string_view what) {
  ++context_.counters.bad_records;
  if (from.session == nullptr) return turn_away(from, wire::ClientCode::bad_record, what);
  lifecycle_.end(*from.session, wire::ClientCode::bad_record, what);
  return Handled::closed;
}

Connections::Handled Connections::pause(Connection& from, Pause reason) {
  input_flow_.pause(from, reason);
  return Handled::paused;
}

/// If there is no `answer`, the node has no room: the record is handled again later.
Connections::Handled Connections::reply(Connection& to, std::uint32_t request,
                                        const std::optional<Answer>& answer) {
  if (!answer) return pause(to, Pause::node);
  to.output.say(wire::Reply{request, answer->code, answer->text});
  to.want_write();
  return Handled::done;
}

Connections::Handled Connections::handle(Connection& from, const wire::Record& record) {
  if (from.state == State::hello) {
    if (record.kind == wire::RecordKind::hello) return on_hello(from, record.body);
    return bad_record(from, "the first record is no hello");
  }
  if (from.session->leaving) return bad_record(from, "a record came after the goodbye");
  // Repeated refusals must be written before new refusals.
  if (from.output.repeats() || from.output.unread_bytes() > kUnreadBytesMax) {
    return pause(from, Pause::output);
  }
  switch (record.kind) {
    case wire::RecordKind::send: return on_send(from, record.body);
    case wire::RecordKind::seen: return on_seen(from, record.body);
    case wire::RecordKind::join: return on_join(from, record.body);
    case wire::RecordKind::leave: return on_leave(from, record.body);
    case wire::RecordKind::ask: return on_ask(from, record.body);
    case wire::RecordKind::ping: return on_ping(from, record.body);
    case wire::RecordKind::mapped: return on_mapped(from, record.body);
    case wire::RecordKind::goodbye: return on_goodbye(from, record.body);
    case wire::RecordKind::hello: return bad_record(from, "a second hello");
    default:
      return bad_record(from, "the kind of a record is " +
                                  std::to_string(static_cast<unsigned>(record.kind)) +
                                  ", which clients do not say");
  }
}

Connections::Handled Connections::on_hello(Connection& from, ByteView body) {
  wire::Hello hello;
  const wire::Drop drop = decode(body, hello);
  if (drop == wire::Drop::bad_version) {
    return turn_away(from, wire::ClientCode::bad_version,
                     "the client speaks version " + std::to_string(hello.version) +
                         ", this daemon version " + std::to_string(wire::kClientVersion));
  }
  if (drop != wire::Drop::none) return bad_record(from, wrong("the hello", drop));
  if (const auto denial = lifecycle_.enter(from, hello)) {
    return turn_away(from, denial->code, denial->text);
  }
  return Handled::done;
}

Connections::Handled Connections::on_send(Connection& from, ByteView body) {
  wire::SendRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("a send", drop));
  }
  const Sent sent = requests_.send(*from.session, request, body.size());
  switch (sent.state) {
    case Sent::State::taken: break;
    case Sent::State::refused:
      from.output.say(wire::Refused{request.number, sent.code, sent.text});
      from.want_write();
      break;
    case Sent::State::waits: return pause(from, sent.pause);
    case Sent::State::out_of_order: return bad_record(from, sent.text);
  }
  return Handled::done;
}

Connections::Handled Connections::on_join(Connection& from, ByteView body) {
  wire::JoinRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("a join", drop));
  }
  return reply(from, request.request, requests_.join(*from.session, request, body.size()));
}

Connections::Handled Connections::on_leave(Connection& from, ByteView body) {
  wire::LeaveRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("a leave", drop));
  }
  return reply(from, request.request, requests_.leave(*from.session, request.group));
}

Connections::Handled Connections::on_ask(Connection& from, ByteView body) {
  wire::AskRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("an ask", drop));
  }
  return reply(from, request.request, requests_.ask(*from.session, request.what));
}

Connections::Handled Connections::on_seen(Connection& from, ByteView body) {
  wire::Acked request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("a seen", drop));
  }
  Session& it = *from.session;
  if (!backlog_.release_events(it, request.number)) {
    return bad_record(from, "event " + std::to_string(request.number) + " was seen, but only " +
                                std::to_string(it.events.written_events()) + " were told");
  }
  return Handled::done;
}

Connections::Handled Connections::on_ping(Connection& from, ByteView body) {
  wire::Acked request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, wrong("a ping", drop));
  }
  from.output.say(wire::RecordKind::pong, request);
  from.want_write();
  return Handled::done;
}

Connections::Handled Connections::on_mapped(Connection& from, ByteView body) {
  if (!body.empty()) return bad_record(from, "a mapped has more than its kind");
  const std::string_view fault = lifecycle_.map_region(*from.session);
  return fault.empty() ? Handled::done : bad_record(from, fault);
}

Connections::Handled Connections::on_goodbye(Connection& from, ByteView body) {
  if (!body.empty()) return bad_record(from, "a goodbye has more than its kind");
  requests_.goodbye(*from.session);
  return Handled::done;
}

}  // namespace peal::session::native
