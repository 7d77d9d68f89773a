// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/sim_client.h"

#include <utility>

#include "base/assert.h"
#include "wire/shared.h"

namespace peal::sim {
namespace {

using wire::Drop;
using wire::RecordKind;

constexpr std::uint64_t kRecordBytesMax = 64ULL << 20;

template <class T>
std::optional<T> decoded(ByteView body) {
  T value;
  if (decode(body, value) != Drop::none) return std::nullopt;
  return value;
}

}  // namespace

void SimClient::connect(std::uint32_t keep_ms, bool shares) {
  PEAL_ASSERT(state_ == State::apart);
  state_ = State::greeting;
  wire::Hello hello;
  hello.name = name_;
  hello.session = token_;
  hello.events_seen = events_;
  hello.keep_ms = keep_ms;
  hello.shares = shares;
  append(output_, hello);
}

void SimClient::cut() {
  if (state_ == State::over) return;
  state_ = State::apart;
  output_.clear();
  taken_ = 0;
  input_.clear();
  memory_ = {};
  // A client whose session has not started cannot resume. A client that has sent its goodbye does
  // not resume either, although the daemon may not have received the goodbye.
  if (!started_) return end(wire::ClientCode::silent);
  if (leaving_) end(wire::ClientCode::goodbye);
}

bool SimClient::send(std::span<const std::string_view> targets, Service service, bool self_discard,
                     ByteView payload) {
  if (state_ != State::talking || leaving_ || unsettled_.size() >= unsettled_max_) return false;
  wire::SendRequest request;
  request.number = ++sent_;
  request.service = service;
  request.self_discard = self_discard;
  for (const std::string_view target : targets) request.targets.push_back(target);
  request.payload = payload;
  Unsettled message{sent_, {}};
  append(message.record, request);
  output_.insert(output_.end(), message.record.begin(), message.record.end());
  unsettled_.push_back(std::move(message));
  return true;
}

bool SimClient::join(std::string_view group, const wire::SlowLimits& limits) {
  if (state_ != State::talking || leaving_ || request_) return false;
  request_ = Request{true, std::string(group), limits};
  ask();
  return true;
}

bool SimClient::leave(std::string_view group) {
  if (state_ != State::talking || leaving_ || request_) return false;
  request_ = Request{false, std::string(group), {}};
  ask();
  return true;
}

void SimClient::ask() {
  ++requests_;
  if (request_->join) {
    append(output_, wire::JoinRequest{requests_, request_->group, request_->limits});
  } else {
    append(output_, wire::LeaveRequest{requests_, request_->group});
  }
}

void SimClient::goodbye() {
  if (state_ != State::talking || leaving_) return;
  leaving_ = true;
  append(output_, RecordKind::goodbye);
}

void SimClient::took(std::size_t bytes) {
  taken_ += bytes;
  PEAL_ASSERT(taken_ <= output_.size());
  if (taken_ < output_.size()) return;
  output_.clear();
  taken_ = 0;
}

void SimClient::hear(ByteView bytes) {
  input_.insert(input_.end(), bytes.begin(), bytes.end());
  const std::uint64_t before = events_;
  std::size_t done = 0;
  while (state_ != State::over && state_ != State::apart) {
    const wire::Framed framed = wire::next_record(ByteView(input_).subspan(done), kRecordBytesMax);
    if (framed.state == wire::Framed::State::incomplete) break;
    if (framed.state != wire::Framed::State::complete) return wrong("a record of a bad length");
    on_record(framed.record);
    done += framed.bytes;
  }
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(done));
  if (events_ != before && state_ == State::talking && !leaving_) {
    append(output_, RecordKind::seen, wire::Acked{events_});
  }
}

bool SimClient::quiet() const {
  if (state_ == State::over) return true;
  return state_ == State::talking && !leaving_ && !request_ && unsettled_.empty() &&
         output_.empty() && input_.empty();
}

void SimClient::on_record(const wire::Record& record) {
  if (wire::is_event(record.kind)) return on_event(record);
  if (record.kind == RecordKind::welcome) {
    const auto welcome = decoded<wire::Welcome>(record.body);
    return welcome ? on_welcome(*welcome) : wrong("a welcome that is none");
  }
  if (record.kind == RecordKind::closing) {
    const auto closing = decoded<wire::Closing>(record.body);
    return closing ? end(closing->code) : wrong("a closing that is none");
  }
  if (state_ != State::talking) return wrong("a record before the welcome");
  if (record.kind == RecordKind::shared) {
    const auto place = decoded<wire::Shared>(record.body);
    return place ? on_shared(*place) : wrong("a shared that is none");
  }
  if (record.kind == RecordKind::acked) {
    const auto acked = decoded<wire::Acked>(record.body);
    return acked ? on_acked(acked->number) : wrong("an acked that is none");
  }
  if (record.kind == RecordKind::refused) {
    const auto refused = decoded<wire::Refused>(record.body);
    return refused ? on_refused(*refused) : wrong("a refused that is none");
  }
  if (record.kind == RecordKind::reply) {
    const auto reply = decoded<wire::Reply>(record.body);
    return reply ? on_reply(*reply) : wrong("a reply that is none");
  }
  if (record.kind == RecordKind::warning) {
    if (!decoded<wire::Warning>(record.body)) wrong("a warning that is none");
    return;
  }
  wrong("a record that no daemon sends");
}

void SimClient::on_shared(const wire::Shared& place) {
  wire::Record record;
  std::vector<std::byte> body;
  switch (wire::read_shared(memory_, place, record.kind, body)) {
    case wire::SharedRead::ok: break;
    case wire::SharedRead::gone: return wrong("what it is told is not in memory any more");
    case wire::SharedRead::bad: return wrong("what it is told cannot be in memory");
  }
  if (!wire::is_event(record.kind)) return wrong("no event is in memory");
  watcher_.shared(*this);
  record.body = body;
  on_event(record);
}

void SimClient::on_welcome(const wire::Welcome& welcome) {
  if (state_ != State::greeting) return wrong("a second welcome");
  if (welcome.resumed != started_) return wrong("a welcome to another session");
  if (welcome.events_next != events_ + 1) {
    return wrong("goes on with event " + std::to_string(welcome.events_next) + " after " +
                 std::to_string(events_));
  }
  if (welcome.received > sent_ || welcome.received < acked_) {
    return wrong("has " + std::to_string(welcome.received) + " messages of " +
                 std::to_string(sent_) + ", " + std::to_string(acked_) + " of them settled");
  }
  if (welcome.shared_bytes != memory_.size()) return wrong("memory that is not there");
  state_ = State::talking;
  if (!memory_.empty()) append(output_, RecordKind::mapped);
  unsettled_max_ = welcome.unsettled_messages_max;
  if (!started_) {
    started_ = true;
    token_ = welcome.session;
    private_name_ = std::string(welcome.name);
    watcher_.started(*this);
    return;
  }
  watcher_.resumed(*this);
  on_acked(welcome.acked);
  for (const Unsettled& message : unsettled_) {
    if (message.number <= welcome.received) continue;
    output_.insert(output_.end(), message.record.begin(), message.record.end());
  }
  if (request_) ask();
}

void SimClient::on_acked(std::uint64_t number) {
  if (number > sent_ || number < acked_) {
    return wrong("settles up to " + std::to_string(number) + " after " + std::to_string(acked_) +
                 ", of " + std::to_string(sent_));
  }
  acked_ = number;
  while (!unsettled_.empty() && unsettled_.front().number <= number) {
    if (!unsettled_.front().refused) watcher_.settled(*this, unsettled_.front().number);
    unsettled_.pop_front();
  }
}

void SimClient::on_refused(const wire::Refused& refused) {
  if (refused.number > sent_) return wrong("refuses what was not sent");
  for (Unsettled& message : unsettled_) {
    if (message.number == refused.number) message.refused = true;
  }
}

void SimClient::on_reply(const wire::Reply& reply) {
  // Ignore replies to requests that were sent before the connection broke: on_welcome() has
  // repeated these requests.
  if (!request_ || reply.request != requests_) return;
  request_.reset();
}

void SimClient::on_place(const wire::Place& place) {
  if (!place.has_position()) return;  // delivered without a place (order::Traits::causal)
  const bool ascends = place.view != last_.view || place > last_;
  if (!ascends) return wrong("a message in the place of the one before, or an earlier one");
  last_ = place;
}

void SimClient::on_event(const wire::Record& record) {
  if (state_ != State::talking) return wrong("an event before the welcome");
  ++events_;
  if (record.kind == RecordKind::message) {
    const auto event = decoded<wire::MessageEvent>(record.body);
    if (!event) return wrong("a message that is none");
    on_place(event->place);
    watcher_.message(*this, *event);
  } else if (record.kind == RecordKind::group_view) {
    const auto event = decoded<wire::GroupViewEvent>(record.body);
    if (!event) return wrong("a view that is none");
    watcher_.view(*this, *event);
  } else if (record.kind == RecordKind::gap) {
    const auto event = decoded<wire::GapEvent>(record.body);
    if (!event) return wrong("a gap that is none");
    watcher_.gap(*this, *event);
  } else {
    const auto event = decoded<wire::GroupEvent>(record.body);
    if (!event) return wrong("an event of a group that is none");
    if (record.kind == RecordKind::left) return watcher_.left(*this, event->group);
    watcher_.transitional(*this, event->group);
  }
}

void SimClient::end(wire::ClientCode code) {
  if (state_ == State::over) return;
  if (leaving_ && code == wire::ClientCode::goodbye && state_ != State::apart &&
      !unsettled_.empty()) {
    wrong("a goodbye before all is settled");
  }
  state_ = State::over;
  output_.clear();
  taken_ = 0;
  watcher_.ended(*this, code);
}

void SimClient::wrong(const std::string& text) {
  watcher_.wrong(*this, text);
  state_ = State::over;
}

}  // namespace peal::sim
