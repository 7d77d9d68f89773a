// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "cli/client/connect.h"
#include "cli/client/event_lines.h"
#include "cli/commands.h"
#include "cli/text.h"
#include "io/fd.h"
#include "io/stop_signals.h"

namespace peal::cli {
namespace {

constexpr std::size_t kOutputBytes = 64U << 10;

/// Joins groups on a thread of its own. The reply to a join follows messages of the groups joined
/// before, and another thread must read these messages meanwhile.
class Joiner {
 public:
  Joiner(v0::Client& client, const RecvCommand& command)
      : failed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this, &client, &command] { join_all(client, command); }) {}
  /// Close the client before the destruction. Otherwise the destructor may wait long for a reply.
  ~Joiner() { thread_.join(); }
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  /// The descriptor becomes readable when a join has failed.
  int fd() const { return failed_.get(); }
  std::string why() const {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  void join_all(v0::Client& client, const RecvCommand& command) {
    v0::JoinOptions options;
    options.policy = static_cast<v0::SlowPolicy>(command.policy);
    for (const std::string& group : command.groups) {
      const auto joined = client.join(group, options);
      if (joined) continue;
      const std::lock_guard lock(mutex_);
      why_ = "group " + quote(group) + " cannot be joined: " + joined.error().message;
      ::eventfd_write(failed_.get(), 1);
      return;
    }
  }

  mutable std::mutex mutex_;
  std::string why_;
  io::Fd failed_;
  std::thread thread_;
};

class Receiver {
 public:
  Receiver(v0::Client& client, const RecvCommand& command, int signal_fd)
      : client_(client),
        command_(command),
        signal_fd_(signal_fd),
        lines_({command.views, command.json, command.digest}) {}

  /// Runs until the count is reached or a signal comes. The error is any other reason for the end.
  Result<void, std::string> run() {
    Result<void, std::string> ended;
    {
      Joiner joiner(client_, command_);
      ended = loop(joiner);
      client_.close();
    }
    lines_.finish();
    auto written = write_out();
    return ended ? written : ended;
  }

 private:
  Result<void, std::string> loop(const Joiner& joiner) {
    while (true) {
      const auto event = client_.next();
      if (event && !take(*event)) return outcome();
      if (event && lines_.text().size() < kOutputBytes) continue;
      auto written = write_out();
      if (!written) return written;
      if (event) continue;
      std::array<pollfd, 3> fds{pollfd{client_.fd(), POLLIN, 0}, pollfd{signal_fd_, POLLIN, 0},
                                pollfd{joiner.fd(), POLLIN, 0}};
      ::poll(fds.data(), fds.size(), -1);
      if (fds[1].revents != 0) return {};
      // If the session has ended, the joins failed because of that. The event Ended then has the
      // details.
      if (fds[2].revents != 0 && !client_.status().ended) return unexpected(joiner.why());
    }
  }

  /// Handles an event. False if no more events are wanted.
  bool take(const v0::ClientEvent& event) {
    if (const auto* ended = std::get_if<v0::Ended>(&event)) {
      problem_ = "the session with " + client_.status().node + " has ended: " + ended->message;
      return false;
    }
    if (lines_.take(event)) ++messages_;
    return !command_.count || messages_ < *command_.count;
  }

  Result<void, std::string> outcome() const {
    if (problem_.empty()) return {};
    return unexpected(problem_);
  }

  Result<void, std::string> write_out() {
    std::string_view rest = lines_.text();
    while (!rest.empty()) {
      const ssize_t done = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        return unexpected(std::string("cannot write to standard output: ") + std::strerror(errno));
      }
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    lines_.text().clear();
    return {};
  }

  v0::Client& client_;
  const RecvCommand& command_;
  int signal_fd_;
  EventLines lines_;
  std::string problem_;
  std::uint64_t messages_ = 0;
};

}  // namespace

int run_recv(const RecvCommand& command) {
  v0::ClientOptions options;
  options.name = command.name;
  auto client = connect_any(command.to, options);
  if (!client) return fail(1, "recv: " + client.error());
  // Not before connect_any(): a signal during that call must end the process at once.
  const io::StopSignals signals;
  Receiver receiver(*client, command, signals.fd());
  const auto done = receiver.run();
  return done ? 0 : fail(1, "recv: " + done.error());
}

}  // namespace peal::cli
