// SPDX-License-Identifier: Apache-2.0
#include "cli/node_state.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/json.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

Json json_of(const ViewHistory& history) {
  const ViewRecord& view = history.view;
  Json out;
  out["id"] = view.id;
  out["members"] = view.members;
  if (view.primary) out["primary"] = *view.primary;
  out["gap_ms"] = seconds_of(history.gap) * 1e3;
  out["messages"] = view.digest.messages;
  out["bytes"] = view.digest.bytes;
  out["order"] = hex(view.digest.value);
  return out;
}

}  // namespace

void NodeState::on_message(const MessageRecord& message) {
  ++messages_;
  bytes_ += message.payload.size();
  if (views_.empty()) return;
  views_.back().view.digest.add(message.sender, message.number, message.payload);
}

void NodeState::on_view(Instant now, const ViewRecord& view) {
  if (view.transitional) {
    transitional_ = true;
    left_ = now;
    return;
  }
  if (views_.size() == kViewsMax) views_.pop_front();
  views_.push_back({view, now, transitional_ ? now - left_ : Duration{}});
  transitional_ = false;
}

const ViewRecord& NodeState::current() const {
  static const ViewRecord kNone;
  return views_.empty() ? kNone : views_.back().view;
}

std::string status_json(const NodeState& state, const StatusFacts& facts) {
  Json out;
  out["node"] = facts.node;
  out["member"] = facts.member;
  out["cluster"] = facts.cluster;
  out["pid"] = ::getpid();
  out["uptime_s"] = seconds_of(facts.uptime);
  if (!state.views().empty()) {
    out["view"] = json_of(state.views().back());
    out["view"]["changing"] = state.transitional();
  }
  out["waits_for"] = facts.waits_for.empty() ? "nothing" : facts.waits_for;
  out["multicast"] = facts.multicast;
  out["seal"] = facts.seal;
  out["delivered"] = {{"messages", state.messages()}, {"bytes", state.bytes()}};
  out["submitted"] = facts.submitted;
  out["queued"] = {{"messages", facts.queued_messages}, {"bytes", facts.queued_bytes}};
  out["connections"] = {{"now", facts.connections},
                        {"accepted", facts.local.accepted},
                        {"turned_away", facts.local.turned_away},
                        {"bad_requests", facts.local.bad_requests},
                        {"slow_receivers", facts.local.slow_receivers}};
  out["counters"] = Json::object();
  for (const auto& [name, value] : facts.counters) out["counters"][name] = value;
  out["views"] = Json::array();
  for (const ViewHistory& history : state.views()) out["views"].push_back(json_of(history));
  return out.dump();
}

}  // namespace peal::cli
