// SPDX-License-Identifier: Apache-2.0
#include "daemon/status_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.h"
#include "config/file/policies.h"

namespace peal::daemon {
namespace {

using Json = nlohmann::ordered_json;

double milliseconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e6; }

Json json_of(const ViewHistory& history) {
  const ViewNotice& view = history.view;
  Json out;
  out["id"] = view.id;
  out["members"] = view.members;
  if (view.primary) out["primary"] = *view.primary;
  out["gap_ms"] = milliseconds_of(history.gap);
  out["messages"] = history.digest.messages;
  out["bytes"] = history.digest.bytes;
  out["order"] = hex_digits(history.digest.value);
  if (history.unplaced > 0) out["without_place"] = history.unplaced;
  return out;
}

Json json_of(const session::MembershipStatus& membership) {
  Json out;
  out["group"] = membership.group;
  if (!membership.domain.empty()) out["domain"] = membership.domain;
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

/// `node_waits_for`: what the node waits for; so does a client with messages under way.
Json json_of(const session::SessionStatus& session, const std::string& node_waits_for) {
  const bool waits_here = session.waits_for.empty() && session.sent > session.settled;
  Json out;
  out["name"] = session.name;
  out["identity"] = session.identity;
  out["connected"] = session.connected;
  out["sent"] = session.sent;
  out["settled"] = session.settled;
  out["events"] = session.events;
  out["events_seen"] = session.events_seen;
  out["oldest_ms"] = milliseconds_of(session.oldest);
  out["waits_for"] = or_nothing(waits_here ? node_waits_for : session.waits_for);
  out["groups_count"] = session.memberships_count;
  out["groups"] = Json::array();
  for (const auto& membership : session.memberships) out["groups"].push_back(json_of(membership));
  return out;
}

Json json_of(const runtime::NodeAddress& node) {
  return {{"name", node.name},
          {"number", node.number},
          {"address", node.address},
          {"at", node.at},
          {"problem", node.problem}};
}

/// What only some engines say of themselves.
void add_engine(Json& out, const runtime::Snapshot& member) {
  if (!member.domains.empty()) out["domains"] = member.domains;
  for (const runtime::DomainStatus& each : member.all_domains) {
    out["all_domains"].push_back({{"name", each.name},
                                  {"nodes", each.nodes},
                                  {"groups", each.groups},
                                  {"groups_count", each.groups_count}});
  }
  if (!member.memory.empty()) out["memory"] = member.memory;
  if (!member.leader.empty()) {
    out["leader"] = member.leader;
    out["round"] = member.round;
  }
  if (!member.engine.empty()) out["engine"] = member.engine;
}

}  // namespace

std::string status_json(const Status& status) {
  Json out;
  const std::string& ordering = status.member.waits_for;
  const std::string& waits_for = ordering.empty() ? status.clients.waits_for : ordering;
  out["node"] = status.node;
  out["member"] = status.member.id;
  out["cluster"] = status.cluster;
  out["pid"] = status.pid;
  out["uptime_s"] = milliseconds_of(status.uptime) / 1e3;
  if (!status.delivered.views().empty()) {
    out["view"] = json_of(status.delivered.views().back());
    out["view"]["changing"] = status.delivered.transitional();
    // A primary view is not shown as primary while no majority of acceptors is heard.
    if (status.member.without_majority) out["view"]["primary"] = false;
  }
  out["order"] = status.member.order;
  for (const runtime::ChosenOption& each : status.member.options) {
    const std::string name = each.key.substr(each.key.rfind('.') + 1);
    const auto number = number_in<std::int64_t>(each.text, 0, INT64_MAX);
    out[name] = each.is_number && number ? Json(*number) : Json(each.text);
  }
  out["waits_for"] = or_nothing(waits_for);
  out["missing"] = Json::array();
  for (const runtime::MissingNode& each : status.member.missing) {
    out["missing"].push_back({{"name", each.name}, {"reason", each.reason}});
  }
  out["multicast"] = status.member.multicast;
  out["data"] = status.member.data;
  add_engine(out, status.member);
  out["seal"] = status.member.seal;
  out["nodes"] = Json::array();
  for (const auto& each : status.member.nodes) out["nodes"].push_back(json_of(each));
  out["list"] = {{"nodes", status.member.list}};
  if (!status.member.next_list.empty()) {
    out["list"]["next"] = status.member.next_list;
    out["list"]["waits_for"] = or_nothing(status.member.list_waits_for);
  }
  out["delivered"] = {{"messages", status.delivered.messages()},
                      {"bytes", status.delivered.bytes()}};
  out["queued"] = {{"messages", status.member.queued_messages},
                   {"bytes", status.member.queued_bytes}};
  out["connections"] = {{"now", status.clients.connections},
                        {"accepted", status.accepted},
                        {"turned_away", status.turned_away}};
  out["clients"] = {{"count", status.clients.sessions_count},
                    {"memory_bytes", status.clients.memory_bytes},
                    {"disk_bytes", status.clients.disk_bytes},
                    {"input_bytes", status.clients.input_bytes}};
  out["clients"]["shared_memory"] = {{"regions", status.clients.regions},
                                     {"bytes", status.clients.region_bytes},
                                     {"bytes_in_use", status.clients.region_bytes_in_use}};
  out["clients"]["sessions"] = Json::array();
  for (const auto& session : status.clients.sessions) {
    out["clients"]["sessions"].push_back(json_of(session, waits_for));
  }
  out["counters"] = Json::object();
  for (const auto& [name, value] : status.member.counters) out["counters"][name] = value;
  out["dropped_s_ago"] = Json::object();
  for (const auto& [name, ago] : status.dropped_ago) {
    out["dropped_s_ago"][name] = milliseconds_of(ago) / 1e3;
  }
  out["views"] = Json::array();
  for (const ViewHistory& history : status.delivered.views())
    out["views"].push_back(json_of(history));
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace peal::daemon
