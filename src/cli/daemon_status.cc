// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_status.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view policy_name(wire::SlowPolicy policy) {
  constexpr std::array<std::string_view, 5> kNames = {"normal", "block", "spill", "drop", "evict"};
  return kNames.at(static_cast<std::size_t>(policy));
}

Json json_of(const session::MembershipStatus& membership) {
  Json out;
  out["group"] = membership.group;
  out["slow"] = policy_name(membership.policy);
  out["memory_bytes"] = membership.memory_bytes;
  out["memory_bytes_max"] = membership.memory_bytes_max;
  out["disk_bytes"] = membership.disk_bytes;
  out["disk_bytes_max"] = membership.disk_bytes_max;
  out["left_out"] = membership.left_out;
  return out;
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
  out["oldest_ms"] = static_cast<double>(session.oldest.ns) / 1e6;
  out["waits_for"] = session.waits_for.empty() ? "nothing" : session.waits_for;
  out["groups"] = Json::array();
  for (const auto& membership : session.memberships) out["groups"].push_back(json_of(membership));
  return out;
}

}  // namespace

std::string daemon_status_json(const std::string& node, const session::Status& clients) {
  Json out = Json::parse(node, nullptr, false);
  out["connections"]["now"] = clients.connections;
  out["clients"] = {{"memory_bytes", clients.memory_bytes},
                    {"disk_bytes", clients.disk_bytes},
                    {"input_bytes", clients.input_bytes}};
  out["clients"]["sessions"] = Json::array();
  for (const auto& session : clients.sessions) {
    out["clients"]["sessions"].push_back(json_of(session));
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace peal::cli
