// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/local_client.h"
#include "cli/signals.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr std::size_t kOutputBytes = 64U << 10;

class Receiver {
 public:
  Receiver(LocalClient client, const RecvCommand& command, int signal_fd)
      : client_(std::move(client)), command_(command), signal_fd_(signal_fd) {}

  /// Runs until the count is reached or a signal comes; the error is why it ended otherwise.
  Result<void, std::string> run() {
    append_record(client_.output(), RecordKind::subscribe, {});
    auto ended = loop();
    if (command_.digest && in_view_) print_digest();
    auto written = write_out();
    return ended ? written : ended;
  }

 private:
  Result<void, std::string> loop() {
    Record record;
    while (true) {
      const auto arrival = client_.next(record);
      if (!arrival) return tl::unexpected(arrival.error());
      if (*arrival == LocalClient::Arrival::ended) {
        return tl::unexpected("the node at " + client_.path() + " is gone");
      }
      if (*arrival == LocalClient::Arrival::record) {
        if (!take(record)) return {};
        if (out_.size() < kOutputBytes) continue;
      }
      auto written = write_out();
      if (!written) return written;
      if (*arrival == LocalClient::Arrival::record) continue;
      auto sent = client_.send_some();
      if (!sent) return sent;
      if (client_.wait(-1, signal_fd_)) return {};
    }
  }

  /// False if that was the last one.
  bool take(const Record& record) {
    if (record.kind == RecordKind::view) {
      if (const auto view = parse_view(record.body)) on_view(*view);
    } else if (record.kind == RecordKind::message) {
      if (const auto message = parse_message(record.body)) {
        on_message(*message);
        ++messages_;
      }
    }
    return !command_.count || messages_ < *command_.count;
  }

  void on_message(const MessageRecord& message) {
    digest_.add(message.sender, message.number, message.payload);
    if (command_.digest) return;
    out_ += command_.json ? json_of(message) : std::string(as_text(message.payload));
    out_ += '\n';
  }

  void on_view(const ViewRecord& view) {
    if (!view.transitional) {
      if (command_.digest && in_view_) print_digest();
      in_view_ = true;
      view_ = view.id;
      digest_ = view.digest;
    }
    if (!command_.views) return;
    if (command_.json) {
      out_ += json_of(view) + "\n";
      return;
    }
    out_ += view.transitional ? "# leaving view " + std::string(short_id(view.old)) + " with"
                              : "# view " + std::string(short_id(view.id));
    out_ += " members=";
    const char* comma = "";
    for (const std::string& member : view.members) {
      out_ += comma;
      out_ += short_id(member);
      comma = ",";
    }
    if (view.primary) out_ += *view.primary ? " primary=yes" : " primary=no";
    if (view.transitional) out_ += " reason=\"" + view.reason + "\"";
    out_ += '\n';
  }

  void print_digest() {
    out_ += command_.json
                ? json_of(view_, digest_)
                : "# digest view=" + std::string(short_id(view_)) +
                      " messages=" + std::to_string(digest_.messages) +
                      " bytes=" + std::to_string(digest_.bytes) + " order=" + hex(digest_.value);
    out_ += '\n';
  }

  Result<void, std::string> write_out() {
    std::string_view rest = out_;
    while (!rest.empty()) {
      const ssize_t done = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        return tl::unexpected(std::string("cannot write to standard output: ") +
                              std::strerror(errno));
      }
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    out_.clear();
    return {};
  }

  LocalClient client_;
  const RecvCommand& command_;
  int signal_fd_;
  std::string out_;
  std::uint64_t messages_ = 0;
  bool in_view_ = false;
  std::string view_;
  OrderDigest digest_;
};

}  // namespace

int run_recv(const RecvCommand& command) {
  auto client = connect_any(command.to);
  if (!client) return fail(1, "recv: " + client.error());
  const StopSignals signals;
  Receiver receiver(std::move(*client), command, signals.fd());
  const auto done = receiver.run();
  return done ? 0 : fail(1, "recv: " + done.error());
}

}  // namespace peal::cli
