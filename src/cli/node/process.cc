// SPDX-License-Identifier: Apache-2.0
#include "cli/node/process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/text.h"
#include "io/stop_signals.h"

namespace peal::cli {
namespace {

constexpr std::size_t kOutputBytesMax = 1U << 20;

/// `program` and its arguments in the form for exec; valid as long as `program` and `arguments`.
std::vector<char*> argument_vector(const std::string& program,
                                   const std::vector<std::string>& arguments) {
  std::vector<char*> pointers = {const_cast<char*>(program.c_str())};
  for (const std::string& text : arguments) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void fail_in_child(const char* what) {
  const char* reason = std::strerror(errno);
  for (const char* text : {"peal: ", what, ": ", reason, "\n"}) {
    ignore(::write(STDERR_FILENO, text, std::strlen(text)), "the exit status says it as well");
  }
  ::_exit(127);
}

/// Runs `program` in the child process. Never returns.
[[noreturn]] void become(const char* program, char* const* arguments, int output, pid_t parent,
                         int network) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above
  // The child has a process group of its own. So the terminal sends the signal of Ctrl-C only to
  // the parent, which then stops all children.
  ::setpgid(0, 0);
  io::unblock_stop_signals();
  // The parent may ignore SIGPIPE. The child must not inherit this setting.
  ::signal(SIGPIPE, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (network >= 0 && ::setns(network, CLONE_NEWNET) != 0) fail_in_child("the node's network");
  ::execv(program, arguments);
  fail_in_child(program);
}

/// Reads to the end; keeps only the first kOutputBytesMax bytes.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 4'096> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    const std::size_t room = kOutputBytesMax - text.size();
    text.append(chunk.data(), std::min(static_cast<std::size_t>(got), room));
  }
}

bool binds(std::uint16_t port, int type) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // As in a node, old connections in TIME_WAIT do not occupy the port.
  const int on = 1;
  if (type == SOCK_STREAM) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool done = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return done;
}

/// True if the port is free for all that a node may need: UDP for tokens and data, TCP for data.
bool is_free(std::uint16_t port) { return binds(port, SOCK_DGRAM) && binds(port, SOCK_STREAM); }

std::string why_silent(const std::filesystem::path& folder) {
  constexpr std::uintmax_t kLeast = 4'096;
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available >= kLeast) return "its log is empty";
  return "no space is left in " + quote(folder.string()) + ": free some, or take another folder";
}

}  // namespace

Result<Child, std::string> Child::start(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        const std::string& output, int network) {
  const int fd = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) {
    return unexpected("cannot write " + quote(output) + ": " + std::strerror(errno));
  }
  const std::vector<char*> pointers = argument_vector(program, arguments);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(program.c_str(), pointers.data(), fd, parent, network);
  const int error = errno;
  ::close(fd);
  if (pid < 0) {
    return unexpected("cannot start a process: " + std::string(std::strerror(error)));
  }
  return Child(pid);
}

void Child::collect(int options) {
  int status = 0;
  if (ended_ || ::waitpid(pid_, &status, options) != pid_) return;
  if (WIFEXITED(status)) {
    status_ = WEXITSTATUS(status);
    ended_ = "exit status " + std::to_string(status_);
  } else {
    ended_ = "killed by signal " + std::to_string(WTERMSIG(status));
  }
}

const std::optional<std::string>& Child::ended() {
  collect(WNOHANG);
  return ended_;
}

void Child::wait() { collect(0); }

void Child::signal(int number) {
  // The kernel gives the child's id to no other process before waitpid() has returned the child's
  // status.
  if (!ended()) ::kill(pid_, number);
}

void stop_all(std::vector<Child>& children, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const auto all_ended = [&children] {
    return std::all_of(children.begin(), children.end(),
                       [](Child& child) { return child.ended().has_value(); });
  };
  for (Child& child : children) {
    child.signal(SIGTERM);
    child.signal(SIGCONT);  // a stopped process does not handle SIGTERM
  }
  while (!all_ended()) {
    if (Clock::now() >= deadline) {
      for (Child& child : children) child.signal(SIGKILL);
    }
    ::poll(nullptr, 0, 5);
  }
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  // The PATH of ordinary users often lacks the folders of administrators' programs, although these
  // users may run the programs.
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

Result<Finished, std::string> run_program(const std::string& path,
                                          const std::vector<std::string>& arguments) {
  const std::vector<char*> pointers = argument_vector(path, arguments);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return unexpected("cannot make a pipe: " + std::string(std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(path.c_str(), pointers.data(), ends[1], parent, -1);
  const int error = errno;
  ::close(ends[1]);
  Finished finished;
  if (pid > 0) finished.output = read_all(ends[0]);
  ::close(ends[0]);
  if (pid < 0) {
    return unexpected("cannot start a process: " + std::string(std::strerror(error)));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) finished.status = WEXITSTATUS(status);
  return finished;
}

std::vector<std::uint16_t> free_port_pairs(std::size_t count) {
  // All these ports are below the kernel's ephemeral ports (32768 and up).
  constexpr std::uint32_t kFirst = 20'000, kPairs = 6'000;
  std::vector<std::uint16_t> found;
  const auto start = static_cast<std::uint32_t>(::getpid());
  for (std::uint32_t i = 0; i < kPairs && found.size() < count; ++i) {
    // Each process starts at another pair, so that two processes at the same time rarely collide.
    const std::uint32_t pair = (start * 97 + i) % kPairs;
    const auto port = static_cast<std::uint16_t>(kFirst + 2 * pair);
    if (is_free(port) && is_free(static_cast<std::uint16_t>(port + 1))) found.push_back(port);
  }
  if (found.size() < count) found.clear();
  return found;
}

std::string last_line(const std::string& path) {
  std::ifstream in(path);
  std::string line, last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? why_silent(std::filesystem::path(path).parent_path()) : last;
}

}  // namespace peal::cli
