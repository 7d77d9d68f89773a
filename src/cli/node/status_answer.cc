// SPDX-License-Identifier: Apache-2.0
#include "cli/node/status_answer.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.h"
#include "cli/json.h"
#include "config/file/policies.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

double milliseconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e6; }

Json json_of(const ViewHistory& history) {
  const daemon::ViewNotice& view = history.view;
  Json out;
  out["id"] = view.id;
  out["members"] = view.members;
  if (view.primary) out["primary"] = *view.primary;
  out["gap_ms"] = milliseconds_of(history.gap);
  out["messages"] = history.digest.messages;
  out["bytes"] = history.digest.bytes;
  out["order"] = hex(history.digest.value);
  return out;
}

Json json_of(const session::MembershipStatus& membership) {
  Json out;
  out["group"] = membership.group;
  out["slow"] = config::policy_name(membership.policy);
  out["memory_bytes"] = membership.memory_bytes;
  out["memory_bytes_max"] = membership.memory_bytes_max;
  out["disk_bytes"] = membership.disk_bytes;
  out["disk_bytes_max"] = membership.disk_bytes_max;
  out["left_out"] = membership.left_out;
  return out;
}

std::string or_nothing(const std::string& waits_for) {
  return waits_for.empty() ? "nothing" : waits_for;
}

Json json_of(const session::SessionStatus& session) {
  Json out;
  out["name"] = session.name;
  out["identity"] = session.identity;
  out["connected"] = session.connected;
  out["sent"] = session.sent;
  out["settled"] = session.settled;
  out["events"] = session.events;
  out["events_seen"] = session.events_seen;
  out["oldest_ms"] = milliseconds_of(session.oldest);
  out["waits_for"] = or_nothing(session.waits_for);
  out["groups_count"] = session.memberships_count;
  out["groups"] = Json::array();
  for (const auto& membership : session.memberships) out["groups"].push_back(json_of(membership));
  return out;
}

}  // namespace

std::string status_json(const NodeState& state, const StatusFacts& facts) {
  Json out;
  out["node"] = facts.node;
  out["member"] = facts.member.id;
  out["cluster"] = facts.cluster;
  out["pid"] = ::getpid();
  out["uptime_s"] = milliseconds_of(facts.uptime) / 1e3;
  if (!state.views().empty()) {
    out["view"] = json_of(state.views().back());
    out["view"]["changing"] = state.transitional();
    // The claim made when the view was installed ends as soon as most acceptors are silent.
    if (facts.member.without_majority) out["view"]["primary"] = false;
  }
  out["order"] = facts.member.order;
  for (const runtime::ChosenOption& each : facts.member.options) {
    const std::string name = each.key.substr(each.key.rfind('.') + 1);
    const auto number = number_in<std::int64_t>(each.text, 0, INT64_MAX);
    out[name] = each.is_number && number ? Json(*number) : Json(each.text);
  }
  if (!facts.member.domains.empty()) out["domains"] = facts.member.domains;
  out["waits_for"] = or_nothing(facts.member.waits_for);
  out["missing"] = Json::array();
  for (const runtime::MissingNode& each : facts.member.missing) {
    out["missing"].push_back({{"name", each.name}, {"reason", each.reason}});
  }
  out["multicast"] = facts.member.multicast;
  out["data"] = facts.member.data;
  out["seal"] = facts.member.seal;
  out["nodes"] = Json::array();
  for (const runtime::NodeAddress& each : facts.member.nodes) {
    out["nodes"].push_back({{"name", each.name},
                            {"number", each.number},
                            {"address", each.address},
                            {"at", each.at},
                            {"problem", each.problem}});
  }
  out["list"] = {{"nodes", facts.member.list}};
  if (!facts.member.next_list.empty()) {
    out["list"]["next"] = facts.member.next_list;
    out["list"]["waits_for"] = or_nothing(facts.member.list_waits_for);
  }
  out["delivered"] = {{"messages", state.messages()}, {"bytes", state.bytes()}};
  out["queued"] = {{"messages", facts.member.queued_messages},
                   {"bytes", facts.member.queued_bytes}};
  out["connections"] = {{"now", facts.clients.connections},
                        {"accepted", facts.accepted},
                        {"turned_away", facts.turned_away}};
  out["clients"] = {{"count", facts.clients.sessions_count},
                    {"memory_bytes", facts.clients.memory_bytes},
                    {"disk_bytes", facts.clients.disk_bytes},
                    {"input_bytes", facts.clients.input_bytes}};
  out["clients"]["shared_memory"] = {{"regions", facts.clients.regions},
                                     {"bytes", facts.clients.region_bytes},
                                     {"bytes_in_use", facts.clients.region_bytes_in_use}};
  out["clients"]["sessions"] = Json::array();
  for (const auto& session : facts.clients.sessions) {
    out["clients"]["sessions"].push_back(json_of(session));
  }
  out["counters"] = Json::object();
  for (const auto& [name, value] : facts.member.counters) out["counters"][name] = value;
  out["dropped_s_ago"] = Json::object();
  for (const auto& [name, ago] : facts.dropped_ago) {
    out["dropped_s_ago"][name] = milliseconds_of(ago) / 1e3;
  }
  out["views"] = Json::array();
  for (const ViewHistory& history : state.views()) out["views"].push_back(json_of(history));
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace peal::cli
