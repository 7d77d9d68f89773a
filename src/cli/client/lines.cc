// SPDX-License-Identifier: Apache-2.0
#include "cli/client/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr std::size_t kPieceBytes = 256U << 10;

}  // namespace

Lines::Lines(const std::vector<std::string>& files) : files_(files.begin(), files.end()) {
  if (files_.empty()) files_.push_back("-");
}

Result<std::optional<std::string_view>, std::string> Lines::next(std::size_t line_bytes_max) {
  const std::string_view rest = std::string_view(text_).substr(used_);
  const auto end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  if (line.size() > line_bytes_max) {
    return unexpected((name_ == "-" ? "standard input" : name_) + ":" + std::to_string(line_ + 1) +
                      ": the line is too long for one message: accepted are up to " +
                      std::to_string(line_bytes_max) +
                      " bytes, which follows from limits.message_bytes_max, or where each message "
                      "fits into one packet from network.packet_bytes");
  }
  const bool last = whole_ && !line.empty();
  if (end == rest.npos && !last) return std::nullopt;
  used_ += line.size() + (end == rest.npos ? 0 : 1);
  ++line_;
  return line;
}

Result<int, std::string> Lines::fd() {
  if (fd_ >= 0 || files_.empty()) return fd_;
  name_ = files_.front();
  files_.pop_front();
  line_ = 0;
  whole_ = false;
  // Opening a pipe must not wait for its writer: signals and the node must be handled meanwhile.
  fd_ = name_ == "-" ? STDIN_FILENO : ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) return unexpected(problem("cannot be opened", errno));
  return fd_;
}

Result<void, std::string> Lines::read() {
  text_.erase(0, used_);
  used_ = 0;
  const std::size_t before = text_.size();
  text_.resize(before + kPieceBytes);
  const ssize_t got = ::read(fd_, text_.data() + before, kPieceBytes);
  const int error = errno;
  text_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got < 0) {
    if (error == EINTR || error == EAGAIN) return {};
    return unexpected(problem("cannot be read", error));
  }
  if (got == 0) {
    whole_ = true;
    close();
  }
  return {};
}

std::string Lines::problem(const char* what, int error) const {
  return quote(name_) + " " + what + " (" + std::strerror(error) +
         "): accepted are files that can be read, and - for standard input";
}

void Lines::close() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
  fd_ = -1;
}

}  // namespace peal::cli
