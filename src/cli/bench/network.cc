// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/network.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include "cli/node/process.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

using Done = Result<void, std::string>;

constexpr const char* kBridge = "bridge";
constexpr const char* kOtherwise = ", or measure on the loopback interface with --loopback";
// A whole batch of one system call passes a shaped link at once: splitting it into packets would
// make the machine's processors the bottleneck instead of the link.
constexpr std::uint32_t kBurstBytes = 72U << 10;
// The queue is longer than the data that a socket may have in progress. So packets wait for the
// link, and are not dropped.
constexpr std::uint32_t kNodeQueueBytes = 16U << 20;

std::string because() { return std::string(" (") + std::strerror(errno) + ")"; }

bool write_text(const char* path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

/// Moves this process to a network namespace of its own, which the process may configure.
Done leave_home() {
  if (::unshare(CLONE_NEWNET) == 0) return {};
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return unexpected("this user may not make network namespaces" + because() + ": run it as root" +
                      kOtherwise);
  }
  const auto root_is = [](unsigned id) { return "0 " + std::to_string(id) + " 1"; };
  if (!write_text("/proc/self/setgroups", "deny") ||
      !write_text("/proc/self/uid_map", root_is(user)) ||
      !write_text("/proc/self/gid_map", root_is(group))) {
    return unexpected("this user's namespace cannot be set up: run it as root" +
                      std::string(kOtherwise));
  }
  return {};
}

Result<io::Fd, std::string> current_space() {
  io::Fd fd = io::Fd::for_children(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!fd) return unexpected("/proc/self/ns/net cannot be opened" + because());
  return fd;
}

/// Runs `ip` and `tc`.
class NetworkTools {
 public:
  static Result<NetworkTools, std::string> find(bool shaped) {
    NetworkTools tools;
    tools.ip_ = find_program("ip");
    tools.tc_ = find_program("tc");
    if (tools.ip_.empty() || (shaped && tools.tc_.empty())) {
      return unexpected(std::string("the program ") + (tools.ip_.empty() ? "ip" : "tc") +
                        " is not there: install the package iproute2" + kOtherwise);
    }
    return tools;
  }
  Done ip(const std::vector<std::string>& arguments) { return run(ip_, arguments); }
  Done tc(const std::vector<std::string>& arguments) { return run(tc_, arguments); }
  const std::string& output() const { return output_; }

 private:
  Done run(const std::string& path, const std::vector<std::string>& arguments) {
    auto finished = run_program(path, arguments);
    if (!finished) return unexpected(finished.error());
    output_ = std::move(finished->output);
    if (finished->status == 0) return {};
    std::string line = path.substr(path.rfind('/') + 1);
    for (const std::string& word : arguments) line += " " + word;
    return unexpected("`" + line + "` failed: " + output_.substr(0, output_.find('\n')) +
                      ": run it as root" + kOtherwise);
  }

  std::string ip_;
  std::string tc_;
  std::string output_;
};

/// Limits the rate of packets that leave through `device`.
Done shape(NetworkTools& tools, const std::string& device, double bits_per_s, std::uint32_t queue) {
  const auto rate = static_cast<std::uint64_t>(bits_per_s);
  return tools.tc({"qdisc", "add", "dev", device, "root", "tbf", "rate",
                   std::to_string(rate) + "bit", "burst", std::to_string(kBurstBytes), "limit",
                   std::to_string(queue)});
}

/// Sets up the node's end of the cable. The process must be in the node's namespace.
Done set_up_node(NetworkTools& tools, std::uint32_t node, double link_bits_per_s) {
  auto done = tools.ip({"link", "set", "lo", "up"});
  if (done) {
    done = tools.ip({"addr", "add", BenchNetwork::address(node) + "/24", "dev", "e0"});
  }
  if (done && link_bits_per_s > 0) {
    done = shape(tools, "e0", link_bits_per_s, kNodeQueueBytes);
  }
  return done ? tools.ip({"link", "set", "e0", "up"}) : done;
}

/// Creates a namespace with one cable to the bridge.
Result<io::Fd, std::string> add_node(NetworkTools& tools, const io::Fd& home, std::uint32_t node,
                                     double link_bits_per_s) {
  if (::unshare(CLONE_NEWNET) != 0) {
    return unexpected("a network namespace cannot be made" + because());
  }
  auto space = current_space();
  if (!space) return space;
  const auto enter = [](const io::Fd& there) { return ::setns(there.get(), CLONE_NEWNET) == 0; };
  if (!enter(home)) return unexpected("a namespace cannot be entered" + because());

  const std::string port = "port" + std::to_string(node + 1);
  // The child process `ip` opens /proc/self/fd/N. So it must inherit the descriptor N.
  const io::Fd inherited = io::Fd::for_children(::dup(space->get()));
  auto done = tools.ip({"link", "add", port, "type", "veth", "peer", "name", "e0", "netns",
                        "/proc/self/fd/" + std::to_string(inherited.get())});
  if (done && link_bits_per_s > 0) {
    done = shape(tools, port, link_bits_per_s, BenchNetwork::kSwitchQueueBytes);
  }
  if (done) done = tools.ip({"link", "set", port, "master", kBridge, "up"});
  if (!done) return unexpected(done.error());
  if (!enter(*space)) return unexpected("a namespace cannot be entered" + because());
  done = set_up_node(tools, node, link_bits_per_s);
  if (!enter(home)) return unexpected("a namespace cannot be left" + because());
  if (!done) return unexpected(done.error());
  return space;
}

/// Waits until the bridge forwards to all nodes: the kernel brings links up in the background.
Done wait_forwarding(NetworkTools& tools, std::uint32_t nodes) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (true) {
    if (auto done = tools.ip({"-d", "link", "show", "type", "veth"}); !done) return done;
    std::uint32_t forwarding = 0;
    const std::string& text = tools.output();
    for (auto at = text.find("state forwarding"); at != std::string::npos;
         at = text.find("state forwarding", at + 1)) {
      ++forwarding;
    }
    if (forwarding >= nodes) return {};
    if (Clock::now() > deadline) {
      return unexpected("only " + std::to_string(forwarding) + " of " +
                        counted(nodes, "bridge port") + " came up in 10 s");
    }
    ::poll(nullptr, 0, 10);
  }
}

}  // namespace

Result<BenchNetwork, std::string> BenchNetwork::make(std::uint32_t nodes, double link_bits_per_s) {
  auto tools = NetworkTools::find(link_bits_per_s > 0);
  if (!tools) return unexpected(tools.error());
  auto done = leave_home();
  if (!done) return unexpected(done.error());
  const auto home = current_space();
  if (!home) return unexpected(home.error());
  // Without snooping, multicast reaches every port, as it does through a plain switch.
  done = tools->ip({"link", "add", kBridge, "type", "bridge", "mcast_snooping", "0", "stp_state",
                    "0", "forward_delay", "0"});
  if (done) done = tools->ip({"link", "set", kBridge, "up"});
  BenchNetwork network;
  for (std::uint32_t node = 0; done && node < nodes; ++node) {
    auto space = add_node(*tools, *home, node, link_bits_per_s);
    if (!space) return unexpected(space.error());
    network.spaces_.push_back(std::move(*space));
  }
  if (done) done = wait_forwarding(*tools, nodes);
  if (!done) return unexpected(done.error());
  return network;
}

}  // namespace peal::cli
