// SPDX-License-Identifier: Apache-2.0
#include "client_samples.h"

#include <utility>

#include "wire/client.h"

namespace peal::wire::test {
namespace {

const ViewId kClientView{7, {NodeId{2}, 1'000}};
const Place kFirst{kClientView, 41, 0};
const Place kLast{kClientView, 44, 3};
const Place kNoPlace{kClientView, 0, 0};

template <class... Record>
ClientSample sample(std::string name, const Record&... record) {
  ClientSample made{std::move(name), {}};
  append(made.bytes, record...);
  return made;
}

SessionToken token() {
  SessionToken token{};
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::byte>(0xa0 + i);
  return token;
}

SendRequest send(std::initializer_list<std::string_view> targets, std::string_view payload) {
  SendRequest record;
  record.number = 9;
  record.type = 0x1234;
  for (const std::string_view target : targets) record.targets.push_back(target);
  record.payload = as_bytes_view(payload);
  return record;
}

Welcome welcome() {
  Welcome record;
  record.session = token();
  record.resumed = true;
  record.name = "#feed#a";
  record.node = "a";
  record.cluster = "demo";
  record.message_bytes_max = 1'000'000;
  record.unsettled_messages_max = 100;
  record.unsettled_bytes_max = 5'000'000;
  record.acked = 3;
  record.received = 5;
  record.events_next = 8;
  record.keep_ms = 60'000;
  record.ping_ms = 5'000;
  record.shared_bytes = 64U << 20;
  return record;
}

MessageEvent message(std::string_view payload) {
  MessageEvent record;
  record.place = kLast;
  record.service = Service::safe;
  record.type = 0x1234;
  record.sender = "#feed#a";
  record.targets.push_back("asks");
  record.targets.push_back("bids");
  record.payload = as_bytes_view(payload);
  return record;
}

MessageEvent unplaced(std::string_view payload) {
  MessageEvent record = message(payload);
  record.place = kNoPlace;
  record.number = 21;
  record.service = Service::causal;
  return record;
}

GroupViewEvent view(ViewCause cause, ClientCode reason, std::string_view changed) {
  GroupViewEvent record;
  record.group = "bids";
  record.view = kClientView;
  record.index = 12;
  record.cause = cause;
  record.reason = reason;
  record.changed = changed;
  record.own_set = 1;
  record.members = {{"#feed#a", 0}, {"#x#b", 1}};
  return record;
}

}  // namespace

std::vector<ClientSample> client_samples() {
  Hello resume;
  resume.name = "feed";
  resume.session = token();
  resume.events_seen = 17;
  resume.keep_ms = 60'000;
  resume.shares = true;
  resume.secret = "open sesame";
  SendRequest discarding = send({"#x#b"}, "");
  discarding.self_discard = true;
  discarding.service = Service::safe;
  const SlowLimits limits{SlowPolicy::spill, 1'000, 2'000'000, 500};
  return {
      sample("hello", Hello{}),
      sample("hello, resuming", resume),
      sample("join", JoinRequest{1, "bids", {}}),
      sample("join, with limits", JoinRequest{2, "bids", limits}),
      sample("leave", LeaveRequest{3, "bids"}),
      sample("send", send({"bids"}, "payload")),
      sample("send, several targets, any order", send({"bids", "#x#b", "bids"}, "payload")),
      sample("send, empty, not to itself", discarding),
      sample("seen", RecordKind::seen, Acked{18}),
      sample("goodbye", RecordKind::goodbye),
      sample("ask", AskRequest{4, "status"}),
      sample("ping", RecordKind::ping, Acked{5}),
      sample("mapped", RecordKind::mapped),
      sample("message", message("payload")),
      sample("message, empty", message("")),
      sample("message, without a place", unplaced("payload")),
      sample("group_view, join", view(ViewCause::join, ClientCode::ok, "#x#b")),
      sample("group_view, disconnect", view(ViewCause::disconnect, ClientCode::slow, "#y#b")),
      sample("group_view, network", view(ViewCause::network, ClientCode::ok, "")),
      sample("transitional", RecordKind::transitional, GroupEvent{"bids"}),
      sample("left", RecordKind::left, GroupEvent{"bids"}),
      sample("gap", GapEvent{"bids", 4, 400, kFirst, kLast, GapReason::slow}),
      sample("gap, without a place", GapEvent{"bids", 4, 400, kNoPlace, kNoPlace, GapReason::slow}),
      sample("gap, away", GapEvent{"bids", 0, 0, {}, {}, GapReason::away}),
      sample("gap, away, private name", GapEvent{"", 0, 0, {}, {}, GapReason::away}),
      sample("shared", Shared{128, 1'400, 77}),
      sample("welcome", welcome()),
      sample("acked", RecordKind::acked, Acked{6}),
      sample("refused", Refused{7, ClientCode::over_quota, "too fast"}),
      sample("reply", Reply{8, ClientCode::ok, "fine"}),
      sample("warning", Warning{"bids", SlowPolicy::drop, 500, 1'000, 20, 0}),
      sample("closing", Closing{ClientCode::replaced, "went on elsewhere"}),
      sample("pong", RecordKind::pong, Acked{5}),
  };
}

}  // namespace peal::wire::test
