// SPDX-License-Identifier: Apache-2.0
#include "cli/client/event_lines.h"

#include <array>
#include <nlohmann/json.hpp>
#include <variant>

#include "cli/json.h"
#include "cli/text.h"
#include "config/file/policies.h"
#include "group/message.h"
#include "trace/words.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view cause_name(v0::ViewCause cause) {
  constexpr std::array<std::string_view, 4> kNames = {"join", "leave", "disconnect", "network"};
  return kNames.at(static_cast<std::size_t>(cause));
}

Json json_of(const v0::Place& place) {
  return {{"view", place.view}, {"position", place.position}, {"index", place.index}};
}

/// Invalid UTF-8 is replaced: names of groups may be any bytes.
std::string dumped(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_line(const v0::GroupMessage& message) {
  Json out;
  out["event"] = "message";
  out["sender"] = message.sender;
  out["targets"] = Json::array();
  for (const std::string_view target : message.targets) out["targets"].push_back(target);
  out["service"] = trace::word_of(message.service);
  out["type"] = message.type;
  out["place"] = json_of(message.place);
  if (message.place.position == 0) out["number"] = message.number;
  if (is_utf8(message.text())) {
    out["text"] = message.text();
  } else {
    out["hex"] = hex_bytes(message.payload);
  }
  return dumped(out);
}

std::string json_line(const v0::GroupView& view) {
  Json out;
  out["event"] = "view";
  out["group"] = view.group;
  out["view"] = view.id;
  out["cause"] = cause_name(view.cause);
  if (!view.changed.empty()) out["changed"] = view.changed;
  if (view.reason != v0::Reason::none) out["reason"] = v0::reason_name(view.reason);
  out["members"] = Json::array();
  for (const v0::GroupMember& member : view.members) {
    out["members"].push_back({{"name", member.name}, {"came_with_us", member.came_with_us}});
  }
  return dumped(out);
}

std::string text_line(const v0::GroupView& view) {
  std::string out = "# view " + short_view(view.id) + " group=" + view.group + " members=";
  for (const v0::GroupMember& member : view.members) {
    if (out.back() != '=') out += ',';
    out += member.name;
  }
  out += " cause=" + std::string(cause_name(view.cause));
  if (!view.changed.empty()) out += " changed=" + view.changed;
  if (view.reason != v0::Reason::none) {
    out += " reason=" + std::string(v0::reason_name(view.reason));
  }
  return out;
}

std::string event_line(bool json, const char* event, std::string_view group) {
  if (json) return dumped(Json{{"event", event}, {"group", group}});
  return "# " + std::string(event) + " group=" + std::string(group);
}

}  // namespace

std::string short_view(std::string_view id) {
  const auto dot = id.find('.');
  const auto slash = id.find('/');
  if (dot == id.npos || slash == id.npos || slash < dot) return std::string(id);
  const auto index = number_in<std::uint64_t>(id.substr(slash + 1), 1, ~std::uint64_t{0});
  if (!index) return std::string(id);
  const std::uint64_t branch = *index >> group::kBranchShift;
  const std::uint64_t count = *index - (branch << group::kBranchShift);
  const bool whole = branch == group::kViewBranch >> group::kBranchShift;
  return std::string(id.substr(0, dot)) + "/" + (whole ? "" : std::to_string(branch) + ".") +
         std::to_string(count);
}

bool EventLines::take(const v0::ClientEvent& event) {
  return std::visit([this](const auto& content) { return on(content); }, event);
}

void EventLines::finish() {
  for (auto& [name, group] : groups_) end_view(name, group);
}

bool EventLines::on(const v0::GroupMessage& message) {
  for (const std::string_view target : message.targets) {
    const auto group = groups_.find(target);
    if (group == groups_.end()) continue;
    if (message.place.position == 0) {
      ++group->second.unplaced;
    } else {
      group->second.digest.add(message.sender, message.place.position, message.payload);
    }
  }
  if (options_.digest) return true;
  line(options_.json ? json_line(message) : std::string(message.text()));
  return true;
}

bool EventLines::on(const v0::GroupView& view) {
  Group& group = groups_[view.group];
  end_view(view.group, group);
  group.view = view.id;
  if (options_.views) line(options_.json ? json_line(view) : text_line(view));
  return false;
}

bool EventLines::on(const v0::Transitional& over) {
  if (options_.views) line(event_line(options_.json, "transitional", over.group));
  return false;
}

bool EventLines::on(const v0::Left& left) {
  const auto group = groups_.find(left.group);
  if (group != groups_.end()) {
    end_view(left.group, group->second);
    groups_.erase(group);
  }
  if (options_.views) line(event_line(options_.json, "left", left.group));
  return false;
}

bool EventLines::on(const v0::Gap& gap) {
  if (const auto group = groups_.find(gap.group); group != groups_.end()) {
    group->second.missing += gap.messages;
    group->second.away = group->second.away || gap.reason == v0::GapReason::away;
  }
  const std::string reason = gap.reason == v0::GapReason::away ? "away" : "slow";
  if (options_.json) {
    line(dumped(Json{{"event", "gap"},
                     {"group", gap.group},
                     {"reason", reason},
                     {"messages", gap.messages},
                     {"bytes", gap.bytes},
                     {"first", json_of(gap.first)},
                     {"last", json_of(gap.last)}}));
  } else {
    line("# gap group=" + gap.group + " reason=" + reason +
         " messages=" + std::to_string(gap.messages) + " bytes=" + std::to_string(gap.bytes));
  }
  return false;
}

bool EventLines::on(const v0::SlowWarning& warning) {
  if (!options_.views) return false;
  const std::string_view policy =
      config::policy_name(static_cast<wire::SlowPolicy>(warning.policy));
  if (options_.json) {
    line(dumped(Json{{"event", "slow"},
                     {"group", warning.group},
                     {"policy", policy},
                     {"bytes", warning.bytes},
                     {"bytes_max", warning.bytes_max},
                     {"age_ms", warning.age.count()},
                     {"age_ms_max", warning.age_max.count()}}));
  } else {
    line("# slow group=" + warning.group + " policy=" + std::string(policy) + " bytes=" +
         std::to_string(warning.bytes) + " bytes_max=" + std::to_string(warning.bytes_max));
  }
  return false;
}

void EventLines::end_view(std::string_view name, Group& group) {
  const Group ended = std::exchange(group, {});
  if (ended.view.empty() || !options_.digest) return;
  if (options_.json) {
    Json out{{"event", "digest"},           {"group", name},
             {"view", ended.view},          {"messages", ended.digest.messages},
             {"bytes", ended.digest.bytes}, {"order", hex_digits(ended.digest.value)}};
    if (ended.unplaced > 0) out["without_place"] = ended.unplaced;
    if (ended.missing > 0) out["missing"] = ended.missing;
    if (ended.away) out["away"] = true;
    return line(dumped(out));
  }
  std::string out = "# digest view=" + short_view(ended.view) +
                    " messages=" + std::to_string(ended.digest.messages) +
                    " bytes=" + std::to_string(ended.digest.bytes) +
                    " order=" + hex_digits(ended.digest.value) + " group=" + std::string(name);
  if (ended.unplaced > 0) out += " without_place=" + std::to_string(ended.unplaced);
  if (ended.missing > 0) out += " missing=" + std::to_string(ended.missing);
  if (ended.away) out += " away=1";
  line(out);
}

}  // namespace peal::cli
