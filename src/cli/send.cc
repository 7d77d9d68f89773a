// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>

#include "cli/commands.h"
#include "cli/local_client.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputBytesMax = 1U << 20;  // queued towards the node
constexpr std::size_t kReadBytes = 256U << 10;

/// The lines of several files, one after the other; reads only when asked.
class Lines {
 public:
  explicit Lines(const std::vector<std::string>& files) : files_(files.begin(), files.end()) {
    if (files_.empty()) files_.push_back("-");
  }
  ~Lines() { close(); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// The descriptor to wait for; -1 if all has been read. Opens the next file.
  Result<int, std::string> fd() {
    if (fd_ >= 0 || files_.empty()) return fd_;
    name_ = files_.front();
    files_.pop_front();
    line_ = 0;
    fd_ = name_ == "-" ? STDIN_FILENO : ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) return tl::unexpected(problem("cannot be opened"));
    return fd_;
  }

  /// Reads once, and calls `use` for each whole line: Result<void, std::string>(ByteView).
  template <class Use>
  Result<void, std::string> read(std::size_t line_bytes_max, Use use) {
    const std::size_t before = text_.size();
    text_.resize(before + kReadBytes);
    const ssize_t got = ::read(fd_, text_.data() + before, kReadBytes);
    const int error = errno;
    text_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0) {
      if (error == EINTR || error == EAGAIN) return {};
      errno = error;
      return tl::unexpected(problem("cannot be read"));
    }
    std::size_t begin = 0;
    for (auto end = text_.find('\n', before); end != std::string::npos;
         end = text_.find('\n', begin)) {
      auto done = take(begin, end, line_bytes_max, use);
      if (!done) return done;
      begin = end + 1;
    }
    text_.erase(0, begin);
    if (got == 0) {
      if (!text_.empty()) {
        auto done = take(0, text_.size(), line_bytes_max, use);
        if (!done) return done;
        text_.clear();
      }
      close();
    }
    if (text_.size() > line_bytes_max) return tl::unexpected(too_long(line_bytes_max));
    return {};
  }

 private:
  template <class Use>
  Result<void, std::string> take(std::size_t begin, std::size_t end, std::size_t line_bytes_max,
                                 Use use) {
    if (end - begin > line_bytes_max) return tl::unexpected(too_long(line_bytes_max));
    ++line_;
    return use(as_bytes_view(std::string_view(text_).substr(begin, end - begin)));
  }

  std::string problem(const std::string& what) const {
    return quote(name_) + " " + what + " (" + std::strerror(errno) +
           "): accepted are files that can be read, and - for standard input";
  }
  std::string too_long(std::size_t line_bytes_max) const {
    return (name_ == "-" ? "standard input" : name_) + ":" + std::to_string(line_ + 1) +
           ": the line is too long for one message: accepted are up to " +
           std::to_string(line_bytes_max) + " bytes (limits.message_bytes_max)";
  }
  void close() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
    fd_ = -1;
  }

  std::deque<std::string> files_;
  std::string name_;
  std::string text_;  ///< read, without the lines already used
  std::uint64_t line_ = 0;
  int fd_ = -1;
};

class Sender {
 public:
  Sender(LocalClient client, const SendCommand& command)
      : client_(std::move(client)), lines_(command.files), service_(command.service) {}

  Result<void, std::string> run() {
    bool finished = false;
    while (true) {
      if (auto input = read_input(); !input) {
        // What was sent before is ordered all the same: it is waited for and counted.
        problem_ = std::move(input.error());
        input_over_ = true;
        fd_ = -1;
      }
      auto sent = client_.send_some();
      if (!sent) return sent;
      auto more = read_answers();
      if (!more) return tl::unexpected(std::move(more.error()));
      if (input_over_ && !client_.has_output()) {
        if (ordered_ == submitted_) return outcome();
        if (!finished) client_.finish_output();
        finished = true;
      }
      readable_ = client_.wait(-1, may_read() ? fd_ : -1);
    }
  }
  std::uint64_t submitted() const { return submitted_; }
  std::uint64_t ordered() const { return ordered_; }

 private:
  bool may_read() const { return !input_over_ && client_.has_room(kOutputBytesMax); }

  Result<void, std::string> outcome() const {
    if (problem_.empty()) return {};
    return tl::unexpected(problem_);
  }

  Result<void, std::string> read_input() {
    if (!problem_.empty()) return {};
    auto fd = lines_.fd();
    if (!fd) return tl::unexpected(std::move(fd.error()));
    fd_ = *fd;
    input_over_ = fd_ < 0;
    if (!readable_ || input_over_) return {};
    readable_ = false;
    auto done = lines_.read(client_.welcome().message_bytes_max, [this](ByteView line) {
      append_send(client_.output(), service_, line);
      ++submitted_;
      return Result<void, std::string>();
    });
    if (!done) return done;
    return read_input();  // the next file, or the end
  }

  Result<void, std::string> read_answers() {
    Record record;
    while (true) {
      const auto arrival = client_.next(record);
      if (!arrival) return tl::unexpected(arrival.error());
      if (*arrival == LocalClient::Arrival::nothing) return {};
      if (*arrival == LocalClient::Arrival::ended) {
        if (input_over_ && ordered_ == submitted_) return {};
        return tl::unexpected("the node at " + client_.path() + " is gone");
      }
      const auto count =
          record.kind == RecordKind::ordered ? parse_ordered(record.body) : std::nullopt;
      if (count) ordered_ = *count;
    }
  }

  LocalClient client_;
  Lines lines_;
  Service service_;
  int fd_ = -1;
  bool readable_ = false;
  bool input_over_ = false;
  std::string problem_;  ///< with the input, where it ended
  std::uint64_t submitted_ = 0;
  std::uint64_t ordered_ = 0;
};

}  // namespace

int run_send(const SendCommand& command) {
  auto client = connect_any(command.to);
  if (!client) return fail(1, "send: " + client.error());
  const std::string node = client->welcome().node;
  const auto began = Clock::now();
  Sender sender(std::move(*client), command);
  const auto done = sender.run();
  if (!done) {
    return fail(1, "send: " + done.error() + "; " + std::to_string(sender.ordered()) + " of " +
                       std::to_string(sender.submitted()) + " messages were delivered in order");
  }
  if (::isatty(STDERR_FILENO) == 1) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    std::fprintf(stderr, "%llu messages delivered in order through %s, %.3f s\n",
                 static_cast<unsigned long long>(sender.ordered()), node.c_str(), seconds);
  }
  return 0;
}

}  // namespace peal::cli
