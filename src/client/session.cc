// SPDX-License-Identifier: Apache-2.0
#include "client/session.h"

#include <memory>
#include <utility>

#include "base/assert.h"

// The application's calls, and the output. session_input.cc handles the daemon's records.

namespace peal::client {
namespace {

/// Upper bound for the bytes of a message's record, not counting the payload and the targets.
constexpr std::size_t kSendExtraBytes = 32;

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)) {}

void Session::connected() {
  PEAL_ASSERT(phase_ == Phase::apart);
  phase_ = Phase::greeting;
  wire::Hello hello;
  hello.name = options_.name;
  hello.session = terms_.token;
  hello.events_seen = inbox_.events_seen();
  hello.keep_ms = options_.keep_ms;
  hello.shares = options_.shares;
  hello.secret = options_.secret;
  wire::append(outbox_.say(), hello);
}

void Session::disconnected(const std::string& why) {
  if (phase_ == Phase::ended) return;
  const bool was_open = phase_ == Phase::open;
  inbox_.fetch_all();
  phase_ = Phase::apart;
  input_.clear();
  outbox_.disconnected();
  inbox_.disconnected();
  if (goodbye_ == Goodbye::queued) goodbye_ = Goodbye::wanted;
  if (!was_open) return;
  if (!terms_.resumable()) return end(wire::ClientCode::session_lost, why);
  auto notice = std::make_unique<End>();
  notice->text = why;
  inbox_.push_notice(Item::Kind::disconnected, std::move(notice));
}

void Session::end(wire::ClientCode code, std::string text) {
  if (phase_ == Phase::ended) return;
  inbox_.fetch_all();
  phase_ = Phase::ended;
  end_.code = code;
  end_.text = std::move(text);
  end_.unsettled = outbox_.unsettled();
  end_.unsettled_first = end_.unsettled == 0 ? 0 : outbox_.settled() + 1;
  requests_.end(end_.text);
  outbox_.end();
  if (terms_.welcomed) inbox_.push_notice(Item::Kind::ended, std::make_unique<End>(end_));
}

// ---- The application

Result<std::uint64_t, Errc> Session::send(std::span<const std::string_view> targets,
                                          ByteView payload, Service service, std::uint16_t type,
                                          bool self_discard) {
  if (phase_ == Phase::ended || saying_goodbye()) return unexpected(Errc::closed);
  if (targets.empty() || targets.size() > wire::kClientTargetsMax) {
    return unexpected(Errc::invalid_option);
  }
  std::size_t bytes = kSendExtraBytes + payload.size();
  wire::SendRequest request;
  for (const std::string_view target : targets) {
    if (target.empty() || target.size() > wire::kClientNameMax) {
      return unexpected(Errc::invalid_option);
    }
    bytes += 1 + target.size();
    request.targets.push_back(target);
  }
  if (payload.size() > terms_.message_bytes_max) return unexpected(Errc::too_large);
  if (!outbox_.fits(payload.size())) return unexpected(Errc::would_block);
  request.service = service;
  request.type = type;
  request.self_discard = self_discard;
  request.payload = payload;
  return outbox_.push(std::move(request), bytes);
}

bool Session::has_room(std::size_t payload_bytes) const {
  return phase_ == Phase::ended || saying_goodbye() || outbox_.fits(payload_bytes);
}

std::uint32_t Session::request(wire::RecordKind kind, std::uint32_t id,
                               std::vector<std::byte> record) {
  std::optional<Answer> answer;
  if (phase_ == Phase::ended) {
    answer = Answer{wire::ClientCode::session_lost, end_.text};
  } else if (may_speak()) {
    outbox_.say_request(record, id);
  }
  requests_.add(id, kind, std::move(record), std::move(answer));
  return id;
}

std::uint32_t Session::join(std::string_view group, const wire::SlowLimits& limits) {
  wire::JoinRequest join{requests_.next_number(), group, limits};
  std::vector<std::byte> record;
  wire::append(record, join);
  return request(wire::RecordKind::join, join.request, std::move(record));
}

std::uint32_t Session::leave(std::string_view group) {
  wire::LeaveRequest leave{requests_.next_number(), group};
  std::vector<std::byte> record;
  wire::append(record, leave);
  return request(wire::RecordKind::leave, leave.request, std::move(record));
}

std::uint32_t Session::ask(std::string_view what) {
  wire::AskRequest ask{requests_.next_number(), what};
  std::vector<std::byte> record;
  wire::append(record, ask);
  return request(wire::RecordKind::ask, ask.request, std::move(record));
}

std::optional<Item> Session::take(wire::MessageEvent& message) {
  Inbox::Wrong wrong;
  std::optional<Item> item = inbox_.take(message, phase_ == Phase::open, wrong);
  check(wrong);
  return item;
}

// ---- The output

bool Session::has_output() const {
  return has_more_than_seen() || (may_speak() && inbox_.seen_due());
}

bool Session::has_more_than_seen() const {
  if (phase_ == Phase::apart || phase_ == Phase::ended) return false;
  if (outbox_.has_control()) return true;
  return may_speak() && (outbox_.has_messages() || goodbye_ == Goodbye::wanted);
}

void Session::ping() {
  if (!may_speak() || has_output()) return;
  wire::append(outbox_.say(), wire::RecordKind::ping, wire::Acked{inbox_.events_seen()});
}

void Session::gather(std::vector<ByteView>& out, std::size_t chunks_max) {
  if (phase_ == Phase::apart || phase_ == Phase::ended) return;
  if (may_speak()) {
    if (inbox_.seen_due()) {
      wire::append(outbox_.say(), wire::RecordKind::seen, wire::Acked{inbox_.tell_seen()});
    }
    if (goodbye_ == Goodbye::wanted && !outbox_.has_messages()) {
      goodbye_ = Goodbye::queued;
      wire::append(outbox_.say(), wire::RecordKind::goodbye);
    }
  }
  outbox_.gather(out, chunks_max, phase_ == Phase::open);
}

}  // namespace peal::client
