// SPDX-License-Identifier: Apache-2.0
#include "client/session.h"

#include <utility>

#include "base/assert.h"

// What the application wishes, and what is written. session_input.cc has what comes.

namespace peal::client {
namespace {

/// Bytes of a record around its payload and the names of its targets, at most.
constexpr std::size_t kSendExtraBytes = 32;

bool is_message(const Item& item) {
  return item.kind == Item::Kind::record && item.record == wire::RecordKind::message;
}

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)) {}

void Session::connected() {
  PEAL_ASSERT(phase_ == Phase::apart);
  phase_ = Phase::greeting;
  wire::Hello hello;
  hello.name = options_.name;
  hello.session = token_;
  hello.events_seen = events_seen_;
  hello.keep_ms = options_.keep_ms;
  hello.shares = options_.shares;
  hello.secret = options_.secret;
  wire::append(say(), hello);
}

void Session::disconnected(const std::string& why) {
  if (phase_ == Phase::ended) return;
  const bool was_open = phase_ == Phase::open;
  fetch_all();
  phase_ = Phase::apart;
  input_.clear();
  control_.clear();
  out_ = 0;
  partial_ = 0;
  gathered_.clear();
  gathered_bytes_.clear();
  seen_due_ = false;
  memory_ = {};
  told_bytes_ = taken_bytes_ = 0;
  torn_ = false;
  if (goodbye_ == Goodbye::queued) goodbye_ = Goodbye::wanted;
  if (!was_open) return;
  if (!resumable()) return end(wire::ClientCode::session_lost, why);
  Item item;
  item.kind = Item::Kind::disconnected;
  item.end = std::make_unique<End>();
  item.end->text = why;
  push(std::move(item));
}

void Session::end(wire::ClientCode code, std::string text) {
  if (phase_ == Phase::ended) return;
  fetch_all();
  phase_ = Phase::ended;
  end_.code = code;
  end_.text = std::move(text);
  end_.unsettled = unsettled_.size();
  end_.unsettled_first = unsettled_.empty() ? 0 : settled_ + 1;
  for (auto& [id, request] : requests_) {
    if (!request.answer) request.answer = Answer{wire::ClientCode::session_lost, end_.text};
  }
  control_.clear();
  gathered_.clear();
  gathered_bytes_.clear();
  if (!welcomed_) return;
  Item item;
  item.kind = Item::Kind::ended;
  item.end = std::make_unique<End>(end_);
  push(std::move(item));
}

// ---- The application

Result<std::uint64_t> Session::send(std::span<const std::string_view> targets, ByteView payload,
                                    Service service, std::uint16_t type, bool self_discard) {
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
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  if (!fits(payload.size())) return unexpected(Errc::would_block);
  request.number = sent() + 1;
  request.service = service;
  request.type = type;
  request.self_discard = self_discard;
  request.payload = payload;
  Message message;
  message.record = spare_records_.take();
  message.record.reserve(bytes);
  message.payload_bytes = payload.size();
  wire::append(message.record, request);
  unsettled_.push_back(std::move(message));
  unsettled_bytes_ += payload.size();
  return sent();
}

bool Session::fits(std::size_t payload_bytes) const {
  return unsettled_.empty() || (unsettled_.size() < unsettled_messages_max_ &&
                                unsettled_bytes_ + payload_bytes <= unsettled_bytes_max_);
}

bool Session::has_room(std::size_t payload_bytes) const {
  return phase_ == Phase::ended || saying_goodbye() || fits(payload_bytes);
}

std::uint32_t Session::request(wire::RecordKind kind, std::uint32_t id,
                               std::vector<std::byte> record) {
  Request made;
  made.kind = kind;
  if (phase_ == Phase::ended) {
    made.answer = Answer{wire::ClientCode::session_lost, end_.text};
  } else if (may_speak()) {
    control_.push_back({record, id});
  }
  made.record = std::move(record);
  requests_.emplace(id, std::move(made));
  return id;
}

std::uint32_t Session::join(std::string_view group, const wire::SlowLimits& limits) {
  wire::JoinRequest join{++last_request_, group, limits};
  std::vector<std::byte> record;
  wire::append(record, join);
  return request(wire::RecordKind::join, join.request, std::move(record));
}

std::uint32_t Session::leave(std::string_view group) {
  wire::LeaveRequest leave{++last_request_, group};
  std::vector<std::byte> record;
  wire::append(record, leave);
  return request(wire::RecordKind::leave, leave.request, std::move(record));
}

std::uint32_t Session::ask(std::string_view what) {
  wire::AskRequest ask{++last_request_, what};
  std::vector<std::byte> record;
  wire::append(record, ask);
  return request(wire::RecordKind::ask, ask.request, std::move(record));
}

std::optional<Answer> Session::take_answer(std::uint32_t request) {
  const auto found = requests_.find(request);
  if (found == requests_.end() || !found->second.answer) return std::nullopt;
  std::optional<Answer> answer = std::move(found->second.answer);
  requests_.erase(found);
  return answer;
}

std::optional<Item> Session::take(wire::MessageEvent& message) {
  PEAL_ASSERT(!items_.empty());
  if (items_.front().is_place()) {
    if (!fetch(items_.front(), message)) return std::nullopt;
  } else if (is_message(items_.front())) {
    const wire::Drop damage = decode(items_.front().body, message);
    PEAL_ASSERT(damage == wire::Drop::none);  // it was looked at when it came
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  unread_bytes_ -= item.bytes();
  note_seen(item);
  return item;
}

// ---- What is written

bool Session::has_output() const { return has_more_than_seen() || (may_speak() && seen_due_); }

bool Session::has_more_than_seen() const {
  if (phase_ == Phase::apart || phase_ == Phase::ended) return false;
  if (!control_.empty()) return true;
  return may_speak() && (out_ < unsettled_.size() || goodbye_ == Goodbye::wanted);
}

void Session::ping() {
  if (!may_speak() || has_output()) return;
  wire::append(say(), wire::RecordKind::ping, wire::Acked{events_seen_});
}

void Session::gather(std::vector<ByteView>& out, std::size_t chunks_max) {
  gathered_.clear();
  gathered_bytes_.clear();
  if (phase_ == Phase::apart || phase_ == Phase::ended) return;
  if (may_speak()) {
    if (std::exchange(seen_due_, false)) {
      told_bytes_ -= std::exchange(taken_bytes_, 0);
      wire::append(say(), wire::RecordKind::seen, wire::Acked{events_seen_});
    }
    if (goodbye_ == Goodbye::wanted && out_ == unsettled_.size()) {
      goodbye_ = Goodbye::queued;
      wire::append(say(), wire::RecordKind::goodbye);
    }
  }
  const auto add = [&](const std::vector<std::byte>& record, std::size_t from, bool is_message) {
    out.push_back(ByteView(record).subspan(from));
    gathered_.push_back(is_message);
    gathered_bytes_.push_back(record.size() - from);
  };
  std::size_t message = out_;
  if (partial_ > 0 && partial_is_message_) add(unsettled_[message++].record, partial_, true);
  for (const Control& control : control_) {
    const bool first = partial_ > 0 && !partial_is_message_ && gathered_.empty();
    if (gathered_.size() < chunks_max) add(control.record, first ? partial_ : 0, false);
  }
  if (phase_ != Phase::open) return;
  for (; message < unsettled_.size() && gathered_.size() < chunks_max; ++message) {
    add(unsettled_[message].record, 0, true);
  }
}

void Session::written(std::size_t bytes) {
  for (std::size_t i = 0; i < gathered_.size() && bytes > 0; ++i) {
    if (bytes < gathered_bytes_[i]) {
      partial_ += bytes;
      partial_is_message_ = gathered_[i];
      break;
    }
    bytes -= gathered_bytes_[i];
    partial_ = 0;
    if (gathered_[i]) {
      ++out_;
    } else {
      const auto request = requests_.find(control_.front().request);
      if (request != requests_.end()) request->second.written = true;
      control_.pop_front();
    }
  }
  gathered_.clear();
  gathered_bytes_.clear();
}

}  // namespace peal::client
