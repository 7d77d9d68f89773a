// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/node/cluster_dir.h"
#include "cli/node/report.h"
#include "cli/node/report_lines.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kAnswerTimeoutMs = 2'000;
/// A node answers four queries at once, and then four per second (docs/daemon.md). So the first
/// three pauses between queries are short.
constexpr int kQuickAsks = 3;
constexpr int kAskSoonMs = 20;
constexpr int kAskAgainMs = 260;

bool is_absent(const NodeReport& report) { return report.absent; }

/// True if the nodes of each domain with views of its own, or else all nodes, are in one view.
bool in_their_views(const std::vector<NodeReport>& reports, std::uint32_t members) {
  std::map<std::string, std::vector<NodeReport>> parts;
  for (const NodeReport& report : reports) parts[report.view_of].push_back(report);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [members](const auto& part) {
    return in_one_view(part.second, members);
  });
}

bool holds(const StatusCommand& command, std::vector<NodeReport> reports) {
  if (command.wait_members && !in_their_views(reports, *command.wait_members)) {
    // A killed node leaves its socket file. Such a node is not a member, so it is ignored.
    std::erase_if(reports, is_absent);
    if (!in_their_views(reports, *command.wait_members)) return false;
  }
  if (!command.wait_delivered) return true;
  std::erase_if(reports, is_absent);
  return !reports.empty() && std::all_of(reports.begin(), reports.end(), [&](const auto& report) {
    return report.problem.empty() && report.delivered_messages >= *command.wait_delivered;
  });
}

std::string wanted(const StatusCommand& command) {
  std::string text;
  if (command.wait_members) text = "members=" + std::to_string(*command.wait_members);
  if (command.wait_delivered) {
    text += (text.empty() ? "" : " and ") + std::string("delivered=") +
            std::to_string(*command.wait_delivered);
  }
  return text;
}

void print_json(const std::vector<NodeReport>& reports) {
  Json out = Json::array();
  for (const NodeReport& report : reports) {
    if (report.problem.empty()) {
      out.push_back(Json::parse(report.json, nullptr, false));
    } else {
      out.push_back({{"node", report.name}, {"problem", report.problem}});
    }
  }
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const StatusCommand& command, const std::vector<NodeReport>& reports) {
  for (const std::string& line : table_of(reports, {})) std::printf("%s\n", line.c_str());
  for (const std::string& line : order_lines(reports)) std::printf("%s\n", line.c_str());
  for (const std::string& line : domain_lines(reports)) std::printf("%s\n", line.c_str());
  for (const std::string& line : drop_lines(reports)) std::printf("%s\n", line.c_str());
  for (const NodeReport& report : reports) {
    for (const std::string& line : missing_lines(report)) std::printf("%s\n", line.c_str());
  }
  for (const NodeReport& report : reports) {
    for (const std::string& line : address_lines(report)) std::printf("%s\n", line.c_str());
  }
  for (const NodeReport& report : reports) {
    for (const std::string& line : list_lines(report)) std::printf("%s\n", line.c_str());
  }
  if (command.clients) {
    for (const NodeReport& report : reports) {
      for (const std::string& line : client_lines(report)) std::printf("%s\n", line.c_str());
    }
  }
  if (!command.views) return;
  for (const NodeReport& report : reports) {
    for (const ViewReport& view : report.views) {
      std::printf("%s view=%s members=", report.name.c_str(), view.shown.c_str());
      for (std::size_t i = 0; i < view.members.size(); ++i) {
        std::printf("%s%s", i == 0 ? "" : ",", view.members[i].c_str());
      }
      std::printf(" messages=%llu order=%s", static_cast<unsigned long long>(view.messages),
                  view.order.c_str());
      if (view.unplaced > 0) {
        std::printf(" without_place=%llu", static_cast<unsigned long long>(view.unplaced));
      }
      std::printf(" gap_ms=%.1f\n", view.gap_ms);
    }
  }
}

}  // namespace

int run_status(const StatusCommand& command) {
  const bool waits = command.wait_members || command.wait_delivered;
  const auto deadline = Clock::now() + std::chrono::duration<double>(command.timeout_s);
  NodePoller poller;
  if (command.clients) poller.set_clients(*command.clients);
  for (int asked = 0;; ++asked) {
    const auto sockets = find_sockets(command.to);
    std::vector<NodeReport> reports;
    if (sockets) {
      poller.set_sockets(*sockets);
      reports = poller.ask(kAnswerTimeoutMs);
    } else if (!waits) {
      return fail(1, "status: " + sockets.error());
    }
    const bool done = !waits || (!reports.empty() && holds(command, reports));
    const bool late = !done && Clock::now() >= deadline;
    if (!done && !late) {
      ::poll(nullptr, 0, asked < kQuickAsks ? kAskSoonMs : kAskAgainMs);
      continue;
    }
    if (command.json) {
      print_json(reports);
    } else if (sockets) {
      print_text(command, reports);
    }
    if (late) {
      return fail(1, "status: --wait " + wanted(command) + " did not come true in " +
                         decimal(command.timeout_s) + " s" +
                         (sockets ? "" : "; " + sockets.error()));
    }
    const bool any = std::any_of(reports.begin(), reports.end(),
                                 [](const auto& report) { return report.problem.empty(); });
    return any ? 0 : 1;
  }
}

}  // namespace peal::cli
