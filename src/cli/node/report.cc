// SPDX-License-Identifier: Apache-2.0
#include "cli/node/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/client/connect.h"
#include "cli/text.h"
#include "daemon/drops.h"

namespace peal::cli {
namespace {

using Parsed = nlohmann::json;

template <class T>
T field(const Parsed& object, const char* key, T otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<T>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<T>() : otherwise;
  } else {
    return found->is_number() ? found->template get<T>() : otherwise;
  }
}

/// The texts in the list `key` of `object`, separated by commas.
std::string names_in(const Parsed& object, const char* key) {
  std::vector<std::string> all;
  const Parsed found = object.is_object() ? object.value(key, Parsed::array()) : Parsed();
  for (const Parsed& name : found) {
    if (name.is_string()) all.push_back(name.get<std::string>());
  }
  return comma_separated(all);
}

std::string number_field(const Parsed& object, const char* key) {
  return std::to_string(field<std::uint64_t>(object, key, 0));
}

ViewReport view_of(const Parsed& object) {
  ViewReport view;
  view.id = field(object, "id", std::string());
  view.shown = short_id(view.id);
  if (const auto members = object.find("members"); members != object.end() && members->is_array()) {
    for (const Parsed& member : *members) {
      if (!member.is_string()) continue;
      view.members.emplace_back(short_id(member.get_ref<const std::string&>()));
    }
  }
  if (object.contains("primary")) view.primary = field(object, "primary", false);
  view.messages = field<std::uint64_t>(object, "messages", 0);
  view.order = field(object, "order", std::string());
  view.unplaced = field<std::uint64_t>(object, "without_place", 0);
  view.gap_ms = field(object, "gap_ms", 0.0);
  return view;
}

std::string name_of_socket(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".sock")) name.resize(name.size() - 5);
  return name;
}

}  // namespace

std::optional<NodeReport> parse_report(std::string_view json) {
  const Parsed object = Parsed::parse(json, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  NodeReport report;
  report.name = field(object, "node", std::string());
  report.pid = field<std::int64_t>(object, "pid", 0);
  if (const auto view = object.find("view"); view != object.end() && view->is_object()) {
    report.view = view_of(*view);
    report.changing = field(*view, "changing", false);
  }
  if (const auto delivered = object.find("delivered"); delivered != object.end()) {
    report.delivered_messages = field<std::uint64_t>(*delivered, "messages", 0);
    report.delivered_bytes = field<std::uint64_t>(*delivered, "bytes", 0);
  }
  if (const auto queued = object.find("queued"); queued != object.end()) {
    report.queued_messages = field<std::uint64_t>(*queued, "messages", 0);
  }
  // Domains with leaders have views of their own.
  if (object.contains("leader")) report.view_of = names_in(object, "domains");
  report.waits_for = field(object, "waits_for", std::string());
  if (const auto counters = object.find("counters"); counters != object.end()) {
    for (const std::string& name : daemon::drop_counters()) {
      const auto count = field<std::uint64_t>(*counters, name.c_str(), 0);
      if (count > 0) report.dropped.emplace_back(name, count);
    }
  }
  if (const auto ago = object.find("dropped_s_ago"); ago != object.end() && ago->is_object()) {
    for (const auto& [name, count] : report.dropped) {
      if (ago->contains(name)) report.dropped_s_ago[name] = field(*ago, name.c_str(), 0.0);
    }
  }
  if (const auto views = object.find("views"); views != object.end()) {
    for (const Parsed& view : *views) {
      if (view.is_object()) report.views.push_back(view_of(view));
    }
  }
  report.json = json;
  return report;
}

struct NodePoller::Source {
  std::string path;
  std::optional<v0::Client> client;
};

NodePoller::NodePoller() = default;
NodePoller::~NodePoller() = default;

void NodePoller::set_sockets(const std::vector<std::string>& sockets) {
  std::vector<Source> sources;
  for (const std::string& path : sockets) {
    const auto known = std::find_if(sources_.begin(), sources_.end(),
                                    [&](const Source& source) { return source.path == path; });
    if (known != sources_.end()) {
      sources.push_back(std::move(*known));
      known->path.clear();
    } else {
      sources.push_back({path, std::nullopt});
    }
  }
  sources_ = std::move(sources);
}

std::vector<NodeReport> NodePoller::ask(int timeout_ms) {
  std::vector<NodeReport> reports;
  for (Source& source : sources_) reports.push_back(ask_one(source, timeout_ms));
  return reports;
}

void NodePoller::set_clients(const std::string& prefix) { question_ = "status " + prefix; }

NodeReport NodePoller::ask_one(Source& source, int timeout_ms) const {
  const std::chrono::milliseconds patience(timeout_ms);
  NodeReport report;
  report.name = name_of_socket(source.path);
  // The node at the other end of an open connection may have ended. So a query that fails over such
  // a connection is repeated once over a new connection.
  for (const bool fresh : {!source.client.has_value(), true}) {
    if (fresh) {
      v0::ClientOptions options;
      options.connect_timeout = patience;
      auto client = connect_to(source.path, options);
      if (!client) {
        report.absent = client.error().absent;
        report.problem = client.error().text;
        return report;
      }
      source.client = std::move(*client);
    }
    const auto answer = source.client->ask(question_, patience);
    if (answer) {
      if (auto parsed = parse_report(answer.value())) return std::move(*parsed);
    }
    if (answer) {
      report.problem = "answers nonsense";
    } else if (answer.error().code == v0::ErrorCode::timed_out) {
      report.problem = silent_text(source.path);
    } else {
      report.problem = answer.error().message;
    }
    source.client.reset();
    if (fresh) break;
  }
  return report;
}

std::vector<std::string> table_of(const std::vector<NodeReport>& reports,
                                  const std::vector<double>& rates) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"node", "pid", "view", "members", "delivered", "queued", "waits for"});
  if (!rates.empty()) rows.front().insert(rows.front().begin() + 5, "per second");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const NodeReport& report = reports[i];
    std::vector<std::string> row = {report.name, std::to_string(report.pid)};
    if (!report.problem.empty()) {
      rows.push_back({report.name, "-", report.problem});
      continue;
    }
    row.push_back(report.view ? report.view->shown : "none yet");
    row.push_back(report.view ? comma_separated(report.view->members) : "-");
    row.push_back(grouped(report.delivered_messages));
    if (!rates.empty()) row.push_back(grouped(static_cast<std::uint64_t>(rates[i] + 0.5)));
    row.push_back(grouped(report.queued_messages));
    row.push_back(report.waits_for);
    if (report.view && report.view->primary) {
      row[3] += *report.view->primary ? " (primary)" : " (not primary)";
    }
    rows.push_back(std::move(row));
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    if (row.size() != widths.size()) continue;
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += row[c];
      if (c + 1 < row.size()) line.append(widths[c] + 2 - std::min(widths[c], row[c].size()), ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

/// When `counter` grew last: "last 3 s ago"; empty if the node does not report the time.
std::string last_text(const NodeReport& report, const std::string& counter) {
  const auto ago = report.dropped_s_ago.find(counter);
  if (ago == report.dropped_s_ago.end()) return {};
  return "last " + grouped(static_cast<std::uint64_t>(std::max(ago->second, 0.0))) + " s ago";
}

/// `remedy` and `last` in brackets, to follow a number; empty if both are empty.
std::string in_brackets(std::string_view remedy, const std::string& last) {
  if (remedy.empty() && last.empty()) return {};
  return " (" + std::string(remedy) + (remedy.empty() || last.empty() ? "" : "; ") + last + ")";
}

}  // namespace

std::vector<std::string> drop_lines(const std::vector<NodeReport>& reports) {
  std::vector<std::string> lines;
  for (const NodeReport& report : reports) {
    std::string reasons;
    std::uint64_t packets = 0;
    for (const auto& [name, count] : report.dropped) {
      const std::string last = last_text(report, name);
      if (name == daemon::kLogLines) {
        lines.push_back(report.name + " dropped " + counted(count, "log line") +
                        in_brackets("nobody read them, or the disk or pipe was full", last));
      } else if (name == daemon::kTraceLines) {
        lines.push_back(report.name + " lost " + counted(count, "line") + " of its trace" +
                        in_brackets("peal check will refuse it", last));
      } else {
        reasons += (reasons.empty() ? "" : ", ") + name + " " + grouped(count) +
                   in_brackets(daemon::drop_remedy(name), last);
        packets += count;
      }
    }
    if (packets == 0) continue;
    lines.push_back(report.name + " dropped " + counted(packets, "packet") +
                    " that it cannot use: " + reasons);
  }
  return lines;
}

std::vector<std::string> address_lines(const NodeReport& report) {
  std::vector<std::string> lines;
  const Parsed answer = Parsed::parse(report.json, nullptr, false);
  const Parsed nodes = answer.is_object() ? answer.value("nodes", Parsed::array()) : Parsed();
  if (!nodes.is_array()) return lines;
  for (const Parsed& node : nodes) {
    const auto address = field(node, "address", std::string());
    const auto at = field(node, "at", std::string());
    const auto problem = field(node, "problem", std::string());
    if (at == address) continue;  // the address is numeric
    lines.push_back(report.name + " node=" + quote(field(node, "name", std::string())) +
                    " name=" + quote(address) + " at=" + quote(at.empty() ? "not found" : at) +
                    (problem.empty() ? "" : " reason=" + quote(problem)));
  }
  return lines;
}

std::vector<std::string> missing_lines(const NodeReport& report) {
  const Parsed answer = Parsed::parse(report.json, nullptr, false);
  const Parsed nodes = answer.is_object() ? answer.value("missing", Parsed::array()) : Parsed();
  if (!nodes.is_array()) return {};
  std::vector<std::string> lines;
  std::vector<std::string> unknown;
  for (const Parsed& node : nodes) {
    const auto name = field(node, "name", std::string());
    const auto reason = field(node, "reason", std::string());
    if (reason.empty()) {
      unknown.push_back(name);
    } else {
      lines.push_back(report.name + " missing=" + name + " reason=" + quote(reason));
    }
  }
  if (!unknown.empty()) {
    lines.insert(lines.begin(), report.name + " missing=" + comma_separated(unknown));
  }
  return lines;
}

std::vector<std::string> list_lines(const NodeReport& report) {
  const Parsed answer = Parsed::parse(report.json, nullptr, false);
  const Parsed list = answer.is_object() ? answer.value("list", Parsed::object()) : Parsed();
  const std::string next = names_in(list, "next");
  if (next.empty()) return {};
  return {report.name + " nodes=" + names_in(list, "nodes") + " next=" + next +
          " waits_for=" + quote(field(list, "waits_for", std::string()))};
}

std::vector<std::string> order_lines(const std::vector<NodeReport>& reports) {
  // Options, and the nodes with these options.
  std::vector<std::pair<std::string, std::vector<std::string>>> ways;
  std::vector<std::string> fabrics;  // of each node by itself: how it reaches the others
  for (const NodeReport& report : reports) {
    const Parsed answer = Parsed::parse(report.json, nullptr, false);
    const auto order = field(answer, "order", std::string());
    if (order.empty() || order == "ring") continue;
    std::string way = "order=" + order;
    const auto ensembles = field<std::uint64_t>(answer, "ensembles", 0);
    if (const auto delivery = field(answer, "delivery", std::string()); delivery == "all-ack") {
      way += " delivery=" + delivery;
    }
    for (const char* key : {"dissemination", "merge"}) {
      const auto value = field(answer, key, std::string());
      const bool says = ensembles > 1 || key != std::string_view("merge");
      if (!value.empty() && says) way += " " + std::string(key) + "=" + value;
    }
    if (ensembles > 1) way += " ensembles=" + std::to_string(ensembles);
    const std::string domains = names_in(answer, "domains");
    if (!domains.empty()) way += " domains=" + domains;
    if (const auto leader = field(answer, "leader", std::string()); !leader.empty()) {
      way += " leader=" + leader + " round=" + number_field(answer, "round");
    }
    const auto memory = field(answer, "memory", std::string());
    if (!memory.empty()) fabrics.push_back(report.name + " memory=" + quote(memory));
    // "datagrams" or "streams"; with streams, also the peers without a connection.
    const auto data = field(answer, "data", std::string());
    if (!data.empty() && data != "datagrams") way += " data=" + quote(data);
    auto same =
        std::find_if(ways.begin(), ways.end(), [&](const auto& each) { return each.first == way; });
    if (same == ways.end()) same = ways.insert(same, {way, {}});
    same->second.push_back(report.name);
  }
  std::vector<std::string> lines;
  for (const auto& [way, names] : ways) lines.push_back(comma_separated(names) + " " + way);
  lines.insert(lines.end(), fabrics.begin(), fabrics.end());
  return lines;
}

std::vector<std::string> client_lines(const NodeReport& report) {
  std::vector<std::string> lines;
  const Parsed answer = Parsed::parse(report.json, nullptr, false);
  const Parsed clients = answer.is_object() ? answer.value("clients", Parsed::object()) : Parsed();
  const Parsed sessions =
      clients.is_object() ? clients.value("sessions", Parsed::array()) : Parsed();
  if (!sessions.is_array()) return lines;
  const Parsed shared = clients.value("shared_memory", Parsed::object());
  if (shared.is_object() && field<std::uint64_t>(shared, "regions", 0) > 0) {
    lines.push_back(report.name + " shared_memory regions=" + number_field(shared, "regions") +
                    " bytes_in_use=" + number_field(shared, "bytes_in_use") + "/" +
                    number_field(shared, "bytes"));
  }
  for (const Parsed& session : sessions) {
    const std::string name =
        report.name + " client=" + quote(field(session, "name", std::string()));
    lines.push_back(name + " who=" + quote(field(session, "identity", std::string())) +
                    " connected=" + (field(session, "connected", false) ? "yes" : "no") + " sent=" +
                    number_field(session, "sent") + " settled=" + number_field(session, "settled") +
                    " events=" + number_field(session, "events") +
                    " seen=" + number_field(session, "events_seen") +
                    " groups=" + number_field(session, "groups_count") +
                    " waits_for=" + quote(field(session, "waits_for", std::string())));
    const auto groups = session.find("groups");
    if (groups == session.end() || !groups->is_array()) continue;
    for (const Parsed& group : *groups) {
      const auto waiting = field<std::uint64_t>(group, "memory_bytes", 0) +
                           field<std::uint64_t>(group, "disk_bytes", 0);
      if (waiting == 0) continue;
      lines.push_back(name + " group=" + quote(field(group, "group", std::string())) +
                      " slow=" + quote(field(group, "slow", std::string())) +
                      " memory_bytes=" + number_field(group, "memory_bytes") + "/" +
                      number_field(group, "memory_bytes_max") +
                      " disk_bytes=" + number_field(group, "disk_bytes") + "/" +
                      number_field(group, "disk_bytes_max"));
    }
  }
  const auto count = field<std::uint64_t>(clients, "count", 0);
  if (count > sessions.size()) {
    lines.push_back(report.name + " clients=" + std::to_string(count) + " shown=" +
                    std::to_string(sessions.size()) + ": --clients PREFIX shows others");
  }
  return lines;
}

bool in_one_view(const std::vector<NodeReport>& reports, std::size_t members) {
  return !reports.empty() && std::all_of(reports.begin(), reports.end(), [&](const auto& report) {
    return report.problem.empty() && report.view && !report.changing &&
           report.view->members.size() == members && report.view->id == reports.front().view->id;
  });
}

}  // namespace peal::cli
