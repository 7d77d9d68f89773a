// SPDX-License-Identifier: Apache-2.0
#include "model_daemon.h"

#include <algorithm>
#include <utility>

namespace peal::client::test {

ModelDaemon::ModelDaemon() {
  limits.session.fill(std::byte{7});
  limits.name = "#ada#n1";
  limits.node = "n1";
  limits.cluster = "test";
  limits.message_bytes_max = 1'000;
  limits.unsettled_messages_max = 100;
  limits.unsettled_bytes_max = 10'000;
  limits.keep_ms = 1'000;
}

void ModelDaemon::connect() {
  in_.clear();
  out_.clear();
  welcomed_ = false;
}

void ModelDaemon::received(ByteView bytes) {
  in_.insert(in_.end(), bytes.begin(), bytes.end());
  ByteView rest = in_;
  while (true) {
    const wire::Framed framed = wire::next_record(rest, wire::kRequestLengthMax);
    if (framed.state == wire::Framed::State::bad_length) return complain("bad length");
    if (framed.state == wire::Framed::State::incomplete) break;
    kinds.push_back(framed.record.kind);
    handle(framed.record);
    rest = rest.subspan(framed.bytes);
  }
  in_.erase(in_.begin(), in_.end() - static_cast<std::ptrdiff_t>(rest.size()));
}

void ModelDaemon::handle(const wire::Record& record) {
  if (record.kind == wire::RecordKind::hello) return on_hello(record.body);
  if (!welcomed_) return complain("a record before the welcome");
  if (record.kind == wire::RecordKind::send) return on_send(record.body);
  if (record.kind == wire::RecordKind::seen) {
    wire::Acked seen;
    if (decode(record.body, seen) != wire::Drop::none) return complain("damaged seen");
    if (seen.number < seen_ || seen.number > events_.size()) return complain("seen out of range");
    seen_ = seen.number;
  } else if (!answers) {
    return;
  } else if (record.kind == wire::RecordKind::join) {
    wire::JoinRequest join;
    if (decode(record.body, join) != wire::Drop::none) return complain("damaged join");
    append(out_, wire::Reply{join.request, join_code, join.group});
  } else if (record.kind == wire::RecordKind::leave) {
    wire::LeaveRequest leave;
    if (decode(record.body, leave) != wire::Drop::none) return complain("damaged leave");
    append(out_, wire::Reply{leave.request, join_code, leave.group});
  } else if (record.kind == wire::RecordKind::ask) {
    wire::AskRequest ask;
    if (decode(record.body, ask) != wire::Drop::none) return complain("damaged question");
    append(out_, wire::Reply{ask.request, wire::ClientCode::ok, "fine"});
  } else if (record.kind == wire::RecordKind::ping) {
    if (pongs) append(out_, wire::RecordKind::pong, wire::Acked{});
  } else if (record.kind == wire::RecordKind::goodbye) {
    goodbye = true;
    append(out_, wire::Closing{wire::ClientCode::goodbye, "as you wish"});
  }
}

void ModelDaemon::on_hello(ByteView body) {
  wire::Hello hello;
  if (decode(body, hello) != wire::Drop::none || welcomed_) return complain("bad hello");
  ++hellos;
  secret = hello.secret;
  if (!answers) return;
  if (turns_away != wire::ClientCode::ok) {
    append(out_, wire::Closing{turns_away, "turned away"});
    return;
  }
  const bool goes_on = hello.session != wire::SessionToken{};
  if (goes_on && !known_) {
    append(out_, wire::Closing{wire::ClientCode::session_lost, "no such session"});
    return;
  }
  if (goes_on && (hello.events_seen < seen_ || hello.events_seen > events_.size())) {
    return complain("hello with impossible events");
  }
  known_ = true;
  welcomed_ = true;
  wire::Welcome welcome = limits;
  welcome.resumed = goes_on;
  welcome.acked = acked_;
  welcome.received = messages.size();
  welcome.events_next = hello.events_seen + 1;
  append(out_, welcome);
  for (std::size_t i = hello.events_seen; i < events_.size(); ++i) {
    out_.insert(out_.end(), events_[i].begin(), events_[i].end());
  }
}

void ModelDaemon::on_send(ByteView body) {
  wire::SendRequest send;
  if (decode(body, send) != wire::Drop::none) return complain("damaged send");
  if (send.number != messages.size() + 1) {
    return complain("message " + std::to_string(send.number) + " after " +
                    std::to_string(messages.size()));
  }
  messages.push_back(text_of(send.payload));
  if (!echoes) return;
  tell(messages.back(), send.service);
  acknowledge(send.number);
}

void ModelDaemon::tell(const std::string& text, Service service) {
  wire::MessageEvent event;
  event.place.view = {1, {{1}, 1}};
  const bool placed = !causal || is_ordered(service);
  (placed ? event.place.position : event.number) = events_.size() + 1;
  event.service = service;
  event.sender = "#ada#n1";
  event.targets.push_back("chat");
  event.payload = as_bytes_view(text);
  std::vector<std::byte> record;
  append(record, event);
  tell_record(std::move(record));
}

void ModelDaemon::tell_record(std::vector<std::byte> record) {
  events_.push_back(std::move(record));
  if (welcomed_) out_.insert(out_.end(), events_.back().begin(), events_.back().end());
}

void ModelDaemon::tell_gap(const std::string& group) {
  std::vector<std::byte> record;
  append(record, wire::GapEvent{group, 0, 0, {}, {}, wire::GapReason::away});
  tell_record(std::move(record));
}

void ModelDaemon::acknowledge(std::uint64_t number) {
  acked_ = number;
  if (welcomed_) append(out_, wire::RecordKind::acked, wire::Acked{number});
}

void ModelDaemon::refuse(std::uint64_t number, wire::ClientCode code) {
  if (welcomed_) append(out_, wire::Refused{number, code, "no"});
}

void ModelDaemon::close(wire::ClientCode code, const std::string& text) {
  append(out_, wire::Closing{code, text});
}

void ModelDaemon::say_raw(const std::vector<std::byte>& bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> take_output(Session& session, std::size_t bytes_max) {
  std::vector<std::byte> all;
  while (all.size() < bytes_max) {
    std::vector<ByteView> chunks;
    session.gather(chunks, 3);  // so that long conversations take several turns
    std::size_t taken = 0;
    for (const ByteView chunk : chunks) {
      const std::size_t bytes = std::min(chunk.size(), bytes_max - all.size());
      all.insert(all.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(bytes));
      taken += bytes;
    }
    session.written(taken);
    if (taken == 0) break;
  }
  return all;
}

std::vector<std::string> read_all(Session& session) {
  std::vector<std::string> texts;
  while (session.inbox().has_item()) {
    wire::MessageEvent event;
    const auto taken = session.take(event);
    if (!taken) continue;
    const Item& item = *taken;
    switch (item.kind) {
      case Item::Kind::disconnected: texts.emplace_back("<disconnected>"); break;
      case Item::Kind::reconnected: texts.emplace_back("<reconnected>"); break;
      case Item::Kind::ended: texts.emplace_back("<ended>"); break;
      case Item::Kind::record:
        if (item.record != wire::RecordKind::message) {
          texts.push_back("<" + std::to_string(static_cast<int>(item.record)) + ">");
        } else {
          texts.push_back(text_of(event.payload));
        }
    }
  }
  return texts;
}

void converse(Session& session, ModelDaemon& daemon) {
  while (true) {
    const std::vector<std::byte> up = take_output(session);
    daemon.received(up);
    const std::vector<std::byte> down = daemon.said();
    session.received(down);
    if (up.empty() && down.empty()) return;
  }
}

}  // namespace peal::client::test
