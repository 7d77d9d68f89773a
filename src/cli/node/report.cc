// SPDX-License-Identifier: Apache-2.0
#include "cli/node/report.h"

#include <algorithm>
#include <utility>

#include "cli/client/connect.h"
#include "cli/node/answer.h"
#include "cli/text.h"
#include "daemon/drops.h"

namespace peal::cli {
namespace {

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

bool in_one_view(const std::vector<NodeReport>& reports, std::size_t members) {
  return !reports.empty() && std::all_of(reports.begin(), reports.end(), [&](const auto& report) {
    return report.problem.empty() && report.view && !report.changing &&
           report.view->members.size() == members && report.view->id == reports.front().view->id;
  });
}

}  // namespace peal::cli
