// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/client/connect.h"
#include "cli/client/lines.h"
#include "cli/commands.h"
#include "cli/text.h"
#include "io/stop_signals.h"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Interval between checks of the node's events while messages wait for space or acknowledgement.
constexpr int kLookMs = 50;
constexpr std::chrono::milliseconds kLook(kLookMs);
constexpr const char* kInterrupted = "interrupted";
/// After this time without progress, the user is notified.
constexpr std::chrono::seconds kStuck{2};

class Sender {
 public:
  Sender(v0::Client& client, const SendCommand& command, const io::StopSignals& signals)
      : client_(client),
        signals_(signals),
        lines_(command.files),
        to_(command.to),
        targets_(command.groups.begin(), command.groups.end()),
        line_bytes_max_(client.status().message_bytes_max) {
    options_.service = command.service;
  }

  /// Sends all lines, and waits until they are acknowledged. The error is one line.
  Result<void, std::string> run() {
    while (problem_.empty() && send_lines()) wait();
    moved_ = Clock::now();
    // Messages that were sent before a problem are ordered nevertheless. So run() waits until they
    // are acknowledged.
    while (!ended_) {
      tell_if_stuck();
      take_events();
      const auto done = client_.flush(kLook);
      if (done || done.error().code != v0::ErrorCode::timed_out) break;
      if (interrupted_ || signals_.take() != 0) {
        stop(kInterrupted);
        break;
      }
    }
    take_events();  // the event Refused arrives before the refused message counts as acknowledged
    if (ended_) problem_ = *ended_;
    if (problem_.empty()) return {};
    return unexpected(problem_);
  }

  std::uint64_t sent() const { return client_.status().sent; }
  std::uint64_t ordered() const { return client_.status().settled - refused_; }

 private:
  /// Sends the available lines. False: no more lines will follow.
  bool send_lines() {
    take_events();
    blocked_ = false;
    while (problem_.empty() && !ended_) {
      if (!pending_) {
        auto line = lines_.next(line_bytes_max_);
        if (!line) return stop(std::move(line.error()));
        if (!*line) break;
        pending_ = **line;
      }
      const auto ticket = client_.send(targets_, as_bytes_view(*pending_), options_);
      if (!ticket && ticket.error().code == v0::ErrorCode::would_block) {
        blocked_ = true;
        return true;
      }
      if (!ticket) return stop(ticket.error().message);
      pending_.reset();
    }
    auto input = lines_.fd();
    if (!input) return stop(std::move(input.error()));
    input_ = *input;
    return input_ >= 0 && problem_.empty() && !ended_;
  }

  bool stop(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  /// Waits for more lines, for space, or for an event of the node.
  void wait() {
    std::array<pollfd, 3> fds{pollfd{client_.fd(), POLLIN, 0},
                              pollfd{blocked_ ? client_.room_fd() : input_, POLLIN, 0},
                              pollfd{signals_.fd(), POLLIN, 0}};
    ::poll(fds.data(), fds.size(), blocked_ ? kLookMs : -1);
    if (blocked_) {
      tell_if_stuck();
    } else {
      moved_ = Clock::now();
    }
    if (signals_.take() != 0) {
      interrupted_ = true;
      stop(kInterrupted);
      return;
    }
    if (blocked_ || fds[1].revents == 0) return;
    if (auto read = lines_.read(); !read) stop(std::move(read.error()));
  }

  /// If there is no progress for kStuck, notifies the user once.
  void tell_if_stuck() {
    const v0::ClientStatus status = client_.status();
    const auto now = Clock::now();
    if (status.settled != std::exchange(settled_, status.settled)) moved_ = now;
    if (told_ || now - moved_ < kStuck || ::isatty(STDERR_FILENO) != 1) return;
    told_ = true;
    const std::uint64_t waiting = status.sent - status.settled;
    std::fprintf(stderr,
                 "%s not acknowledged yet: `peal status%s%s` says what the nodes wait for\n",
                 (counted(waiting, "message") + (waiting == 1 ? " is" : " are")).c_str(),
                 to_.empty() ? "" : " --to ", to_.c_str());
  }

  void take_events() {
    while (const auto event = client_.next()) {
      if (const auto* refused = std::get_if<v0::Refused>(&*event)) {
        ++refused_;
        stop("the node refuses message " + std::to_string(refused->number) + ": " +
             refused->message);
      } else if (const auto* ended = std::get_if<v0::Ended>(&*event)) {
        ended_ = "the session with " + client_.status().node + " has ended: " + ended->message;
      }
    }
  }

  v0::Client& client_;
  const io::StopSignals& signals_;
  Lines lines_;
  const std::string& to_;
  std::vector<std::string_view> targets_;
  v0::SendOptions options_;
  std::size_t line_bytes_max_;
  std::optional<std::string_view> pending_;  ///< a line that waits for space
  bool blocked_ = false;
  bool interrupted_ = false;
  int input_ = -1;
  std::string problem_;  ///< the first problem
  std::optional<std::string> ended_;
  std::uint64_t refused_ = 0;
  std::uint64_t settled_ = 0;
  /// When messages were last acknowledged, or no messages waited.
  Clock::time_point moved_{};
  bool told_ = false;
};

/// The text about messages that may or may not have been delivered.
std::string unsettled_text(std::uint64_t unsettled) {
  if (unsettled == 0) return "";
  return ", and " + std::to_string(unsettled) + " may have been or not";
}

}  // namespace

int run_send(const SendCommand& command) {
  v0::ClientOptions options;
  options.name = command.name;
  auto client = connect_any(command.to, options);
  if (!client) return fail(1, "send: " + client.error());
  // Handle signals only from now on: a signal during connect_any() ends the process at once.
  const io::StopSignals signals;
  const auto began = Clock::now();
  Sender sender(*client, command, signals);
  const auto done = sender.run();
  const v0::ClientStatus status = client->status();
  if (!done) {
    return fail(1, "send: " + done.error() + "; " + std::to_string(sender.ordered()) + " of " +
                       std::to_string(sender.sent()) + " messages were delivered in order" +
                       unsettled_text(status.sent - status.settled));
  }
  client->close();
  if (::isatty(STDERR_FILENO) == 1) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    std::fprintf(stderr, "%llu messages delivered in order through %s, %.3f s\n",
                 static_cast<unsigned long long>(sender.ordered()), status.node.c_str(), seconds);
  }
  return 0;
}

}  // namespace peal::cli
