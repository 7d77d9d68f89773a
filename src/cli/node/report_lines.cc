// SPDX-License-Identifier: Apache-2.0
#include "cli/node/report_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/node/answer.h"
#include "cli/text.h"
#include "daemon/drops.h"

namespace peal::cli {
namespace {

/// Of the text that says how a node reaches each other one.
constexpr std::size_t kMemoryShown = 1'000;

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

namespace {

/// The fabric by which a node reaches all others, such as "shm"; empty if there are several, or if
/// a connection has a problem. `memory` has a name and a fabric for each node.
std::string one_fabric(const std::string& memory) {
  std::string fabric;
  for (std::size_t at = 0; at < memory.size();) {
    const std::size_t end = std::min(memory.find(", ", at), memory.size());
    const std::string entry = memory.substr(at, end - at);
    const std::size_t space = entry.find(' ');
    if (space == entry.npos) return {};
    std::string here = entry.substr(space + 1);
    if (here.find_first_of(" ;") != here.npos || (!fabric.empty() && here != fabric)) return {};
    fabric = std::move(here);
    at = end + 2;
  }
  return fabric;
}

}  // namespace

std::vector<std::string> domain_lines(const std::vector<NodeReport>& reports) {
  std::vector<std::string> lines;
  for (const NodeReport& report : reports) {
    const Parsed answer = Parsed::parse(report.json, nullptr, false);
    const Parsed domains =
        answer.is_object() ? answer.value("all_domains", Parsed::array()) : Parsed();
    for (const Parsed& domain : domains) {
      const auto name = field(domain, "name", std::string());
      if (name.empty()) continue;
      std::string line = "domain=" + name + " nodes=" + names_in(domain, "nodes") +
                         " groups=" + quote(names_in(domain, "groups"));
      const auto count = field<std::uint64_t>(domain, "groups_count", 0);
      if (count > domain.value("groups", Parsed::array()).size()) {
        line += " groups_count=" + std::to_string(count);
      }
      const bool known = std::find(lines.begin(), lines.end(), line) != lines.end();
      if (!known) lines.push_back(std::move(line));
    }
  }
  return lines;
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
    if (const std::string fabric = one_fabric(memory); !fabric.empty()) {
      way += " memory=" + fabric;
    } else if (!memory.empty()) {
      fabrics.push_back(report.name + " memory=" + quote(memory, kMemoryShown));
    }
    // "datagrams" or "streams"; with streams, also the peers without a connection. Engines that
    // write into memory always use streams.
    const auto data = field(answer, "data", std::string());
    const bool usual = data == (memory.empty() ? "datagrams" : "streams");
    if (!data.empty() && !usual) way += " data=" + quote(data);
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
      const auto domain = field(group, "domain", std::string());
      lines.push_back(name + " group=" + quote(field(group, "group", std::string())) +
                      (domain.empty() ? "" : " domain=" + domain) +
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

}  // namespace peal::cli
