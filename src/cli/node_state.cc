// SPDX-License-Identifier: Apache-2.0
#include "cli/node_state.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/json.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Welcome& welcome, const MemberId& member) {
  const std::uint32_t node = member.node.value;
  if (node >= 1 && node <= welcome.nodes.size()) return welcome.nodes[node - 1];
  return "#" + std::to_string(node);
}

std::string id_of(const Welcome& welcome, const ViewId& view) {
  return std::to_string(view.number) + "@" + name_of(welcome, view.representative) + "." +
         std::to_string(view.representative.epoch);
}

double seconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

Json json_of(const Welcome& welcome, const ViewHistory& history) {
  const ViewRecord& view = history.view;
  Json out;
  out["id"] = id_of(welcome, view.id);
  out["number"] = view.id.number;
  out["representative"] = name_of(welcome, view.id.representative);
  out["members"] = Json::array();
  for (const MemberId& member : view.members) out["members"].push_back(name_of(welcome, member));
  if (view.primary != 0) out["primary"] = view.primary == 1;
  out["took_ms"] = seconds_of(history.took) * 1e3;
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
  transitional_ = view.transitional;
  if (view.transitional) return;
  if (views_.size() == kViewsMax) views_.pop_front();
  views_.push_back({view, now, {}});
}

void NodeState::on_view_took(Duration took) {
  if (!views_.empty()) views_.back().took = took;
}

const ViewRecord& NodeState::current() const {
  static const ViewRecord kNone;
  return views_.empty() ? kNone : views_.back().view;
}

std::string wait_text(const order::WaitReason& reason, const Welcome& welcome) {
  using Kind = order::WaitReason::Kind;
  const std::string who = reason.who.node.value == 0 ? "another node" : name_of(welcome, reason.who);
  const std::string packet = "packet " + std::to_string(reason.seq);
  switch (reason.kind) {
    case Kind::nothing: return "nothing";
    case Kind::token: return "the token";
    case Kind::packet: return packet + ", which has not arrived here";
    case Kind::stability: return who + " to have " + packet + ", before safe delivery";
    case Kind::gathering:
      return reason.who.node.value == 0 ? "other nodes to be found"
                                        : who + " to agree on the members";
    case Kind::recovering: return who + " to get what it missed of the old view";
    case Kind::slow_application: return who + ": its application does not read its messages";
    case Kind::window: return who + " to catch up: too many packets are on their way";
  }
  return "nothing";
}

std::string status_json(const Welcome& welcome, const NodeState& state, const StatusFacts& facts) {
  Json out;
  out["node"] = name_of(welcome, welcome.self);
  out["member"] = name_of(welcome, welcome.self) + "." + std::to_string(welcome.self.epoch);
  out["cluster"] = welcome.cluster;
  out["pid"] = ::getpid();
  out["uptime_s"] = seconds_of(facts.now - facts.started);
  if (!state.views().empty()) {
    out["view"] = json_of(welcome, state.views().back());
    out["view"]["changing"] = state.transitional();
  }
  out["waits_for"] = {{"kind", order::wait_name(facts.waits_for.kind)},
                      {"text", wait_text(facts.waits_for, welcome)}};
  if (facts.waits_for.who.node.value != 0) {
    out["waits_for"]["who"] = name_of(welcome, facts.waits_for.who);
  }
  out["delivered"] = {{"messages", state.messages()}, {"bytes", state.bytes()}};
  out["submitted"] = facts.submitted;
  out["queued"] = {{"messages", facts.queued_messages}, {"bytes", facts.queued_bytes}};
  out["connections"] = {{"now", facts.connections},
                        {"accepted", facts.local.accepted},
                        {"turned_away", facts.local.turned_away},
                        {"bad_requests", facts.local.bad_requests},
                        {"slow_receivers", facts.local.slow_receivers}};
  out["counters"] = Json::object();
  for (const order::Counter& counter : facts.counters) {
    out["counters"][std::string(counter.name)] = counter.value;
  }
  out["views"] = Json::array();
  for (const ViewHistory& history : state.views()) {
    out["views"].push_back(json_of(welcome, history));
  }
  return out.dump();
}

}  // namespace peal::cli
