// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>

#include "cli/client/connect.h"
#include "cli/commands.h"
#include "cli/node/cluster.h"
#include "cli/node/cluster_dir.h"
#include "cli/node/process.h"
#include "cli/node/report.h"
#include "cli/node/report_lines.h"
#include "cli/text.h"
#include "io/line_writer.h"
#include "io/stop_signals.h"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRefreshMs = 500;
constexpr int kRoundTimeoutMs = 300;
constexpr int kStopNodesTimeoutMs = 5'000;

/// Only one `peal up` may use a folder; the kernel releases the lock when the process ends.
Result<int, std::string> lock_dir(const std::string& dir) {
  const std::string path = dir + "/up.lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return unexpected("--dir " + quote(dir) + ": " + quote(path) + " cannot be made (" +
                      std::strerror(errno) + "): accepted is a folder in which files can be made");
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return unexpected("--dir " + quote(dir) +
                      " is in use by another `peal up`: accepted is another folder, such as "
                      "--dir /tmp/second");
  }
  return fd;
}

class Up {
 public:
  Up(const UpCommand& command, LocalCluster cluster, std::unique_ptr<io::LineWriter> output)
      : command_(command),
        cluster_(std::move(cluster)),
        output_(std::move(output)),
        live_(::isatty(STDOUT_FILENO) == 1) {}

  int run() {
    for (const std::string& name : cluster_.names) {
      // Files of an earlier run would be misleading.
      ::unlink(path(name, ".sock").c_str());
      ::unlink(path(name, ".log").c_str());
      ::unlink(path(name, ".trace").c_str());
      sockets_.push_back(path(name, ".sock"));
    }
    poller_.set_sockets(sockets_);
    for (const std::string& name : cluster_.names) {
      auto child = start(name);
      if (!child) {
        stop_all(children_, kStopNodesTimeoutMs);
        return fail(1, "up: " + child.error());
      }
      children_.push_back(std::move(*child));
    }
    explain();
    const int status = watch();
    stop();
    return status;
  }

 private:
  std::string path(const std::string& name, const char* suffix) const {
    return cluster_.dir + "/" + name + suffix;
  }

  Result<Child, std::string> start(const std::string& name) const {
    std::vector<std::string> arguments = {"node", "--config", cluster_.config, "--name", name};
    if (command_.trace) {
      arguments.insert(arguments.end(), {"--trace", path(name, ".trace")});
    }
    return Child::start(own_program(), arguments, path(name, ".log"));
  }

  void explain() const {
    output_->write(counted(cluster_.names.size(), "node") +
                   " on 127.0.0.1; configuration, sockets and logs are in " + cluster_.dir + "\n" +
                   explain_domains() + "\nIn other terminals:\n" + aligned(hints()) +
                   "Your programs connect to a node's socket, such as " + sockets_.front() +
                   "\nTo run a node again: peal node --config " + shell_word(cluster_.config) +
                   " --name NAME\nCtrl-C stops all nodes.\n\n");
  }

  /// The nodes and groups of each domain; empty without domains.
  std::string explain_domains() const {
    std::string text;
    for (const LocalDomain& domain : cluster_.domains) {
      const bool rest = domain.groups == "*";
      text += "Domain " + domain.name + " has the nodes " + comma_separated(domain.nodes) +
              (rest ? " and all groups that no other domain has"
                    : " and the groups whose names begin with " + domain.name) +
              "\n";
    }
    return text;
  }

  /// A command, and what it does.
  using Hint = std::pair<std::string, std::string>;

  std::vector<Hint> hints() const {
    const std::string to = command_.dir.empty() ? "" : " --to " + shell_word(cluster_.dir);
    std::vector<Hint> all;
    all.emplace_back("peal recv --views" + to, "what is delivered, and the members");
    if (cluster_.domains.size() > 1) {
      const LocalDomain& other = cluster_.domains[1];
      const std::string group = " --group " + other.name + "-all";
      all.front().second += " of the group all";
      all.emplace_back(
          "peal recv --views --to " + shell_word(path(other.nodes.front(), ".sock")) + group,
          "the same of a group of " + other.name);
      all.emplace_back("seq 1000 | peal send" + to + " --group all" + group,
                       "send lines as messages to both domains");
    } else {
      all.emplace_back("seq 1000 | peal send" + to, "send lines as messages");
    }
    all.emplace_back("peal status --views" + to, "what each node does");
    all.emplace_back("kill -9 PID", "and see the others go on");
    return all;
  }

  static std::string aligned(const std::vector<Hint>& hints) {
    std::size_t width = 0;
    for (const auto& [command, meaning] : hints) width = std::max(width, command.size());
    std::string text;
    for (const auto& [command, meaning] : hints) {
      text += "  " + command + std::string(width + 3 - command.size(), ' ') + meaning + "\n";
    }
    return text;
  }

  /// Shows the nodes' state until a signal comes or all nodes have ended.
  int watch() {
    while (true) {
      pollfd wake{signals_.fd(), POLLIN, 0};
      ::poll(&wake, 1, shown_once_ ? kRefreshMs : 50);
      if (signals_.take() != 0) return 0;
      const std::vector<NodeReport> reports = ask();
      if (live_)
        draw(reports);
      else
        print_changes(reports);
      if (all_ended(reports))
        return fail(1, "up: all nodes have ended; see the logs in " + cluster_.dir);
    }
  }

  std::vector<NodeReport> ask() {
    std::vector<NodeReport> reports = poller_.ask(kRoundTimeoutMs);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      NodeReport& report = reports[i];
      if (report.problem.empty()) {
        shown_once_ = true;
      } else if (const auto& ended = children_[i].ended()) {
        report.problem = "ended: " + *ended;
        const std::string line = last_line(path(cluster_.names[i], ".log"));
        if (children_[i].status() > 0 && !line.empty()) report.problem += " (" + line + ")";
      } else if (report.absent) {
        report.problem = "starting";
      }
    }
    return reports;
  }

  bool all_ended(const std::vector<NodeReport>& reports) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (reports[i].problem.empty() || !children_[i].ended()) return false;
    }
    return true;
  }

  static std::size_t terminal_columns() {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 200;
  }

  void draw(const std::vector<NodeReport>& reports) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - drawn_).count();
    std::vector<double> rates;
    for (const NodeReport& report : reports) {
      std::uint64_t& before = delivered_[report.name];
      // A restarted node counts from zero.
      const std::uint64_t more =
          report.delivered_messages >= before ? report.delivered_messages - before : 0;
      rates.push_back(lines_ == 0 ? 0.0 : static_cast<double>(more) / seconds);
      before = report.delivered_messages;
    }
    drawn_ = now;
    std::string out;
    if (lines_ > 0) out += "\x1b[" + std::to_string(lines_) + "A";
    auto table = table_of(reports, rates);
    for (std::string& line : drop_lines(reports)) table.push_back(std::move(line));
    lines_ = 0;
    for (const std::string& line : table) {
      // Folds long lines. Otherwise the terminal would wrap a long line into two rows, and the next
      // table would be misplaced.
      for (const std::string& part : folded(line, terminal_columns())) {
        out += "\x1b[2K" + part + "\n";
        ++lines_;
      }
    }
    out += "\x1b[J";  // removes the rest of a longer table
    output_->write(std::move(out));
  }

  void print_changes(const std::vector<NodeReport>& reports) {
    for (const NodeReport& report : reports) {
      std::string line = report.name;
      if (!report.problem.empty()) {
        line += " " + report.problem;
      } else if (report.view) {
        line += " pid=" + std::to_string(report.pid) + " view=" + report.view->shown + " members=";
        for (const std::string& member : report.view->members) {
          line += (line.back() == '=' ? "" : ",") + member;
        }
      } else {
        line += " pid=" + std::to_string(report.pid) + " view=none";
      }
      std::string& before = printed_[report.name];
      if (line == before) continue;
      output_->write(line + "\n");
      before = line;
    }
  }

  void stop() {
    output_->write((live_ ? "\r\x1b[2K" : "") + ("stopping " + counted(children_.size(), "node")) +
                   "\n");
    stop_all(children_, kStopNodesTimeoutMs);
    // A killed node left its socket file. Removes the file, unless a node that was started by hand
    // listens there.
    for (const std::string& socket : sockets_) {
      const auto client = connect_to(socket, {});
      if (!client && client.error().absent) ::unlink(socket.c_str());
    }
    if (!command_.trace) return;
    output_->write("check the run with:\n  peal check " + shell_word(cluster_.dir) + "/*.trace\n");
  }

  const UpCommand& command_;
  LocalCluster cluster_;
  std::unique_ptr<io::LineWriter> output_;  ///< does not block if its reader stops reading
  bool live_;
  io::StopSignals signals_;
  std::vector<Child> children_;
  std::vector<std::string> sockets_;
  NodePoller poller_;
  bool shown_once_ = false;
  std::size_t lines_ = 0;  ///< number of lines of the table on the terminal
  Clock::time_point drawn_{};
  std::map<std::string, std::uint64_t> delivered_;
  std::map<std::string, std::string> printed_;
};

}  // namespace

int run_up(const UpCommand& command) {
  const std::string dir = command.dir.empty() ? default_dir() : command.dir;
  const auto made = make_private_dir(dir);
  if (!made) return fail(2, "up: " + made.error());
  const auto lock = lock_dir(dir);
  if (!lock) return fail(2, "up: " + lock.error());
  auto cluster = make_local_cluster(dir, "up", command.nodes,
                                    {.order = command.order,
                                     .options = command.options,
                                     .streams = command.streams,
                                     .domains = command.domains});
  if (!cluster) return fail(1, "up: " + cluster.error());
  // The cluster continues if the reader of standard output ends, as in `peal up | head`.
  ::signal(SIGPIPE, SIG_IGN);
  auto output = io::LineWriter::open(STDOUT_FILENO, [](std::uint64_t lines) {
    return counted(lines, "line") + " of this output could not be written, and were dropped\n";
  });
  if (!output) return fail(1, "up: " + output.error().message);
  Up up(command, std::move(*cluster), std::move(*output));
  const int status = up.run();
  ::close(*lock);
  return status;
}

}  // namespace peal::cli
